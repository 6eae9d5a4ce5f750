//! A pattern as a person writes it, or as a recorded trace shows it: `512 B, stride 1 MiB, hot`.

use std::collections::HashMap;
use std::str::FromStr;

use super::table::{Layout, Test, modern};
use crate::experiment::result::State;
use crate::units::{Bytes, Size};
use crate::workload::trace::{Op, Trace};

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Which blocks.
    pub layout: Layout,
    /// Whether they are written.
    pub is_write: bool,
    /// What the file is like.
    pub state: State,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` is no part of a pattern: write a size of block, `stride SIZE` or `random` or \
     `sequential`, `read` or `write` or `append`, `hot` or `cold`, with commas: 512 B, stride 1 MiB, hot"
)]
pub struct PatternError {
    /// What was not understood.
    pub part: String,
}

impl FromStr for Asked {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let wrong = |part: &str| PatternError { part: part.to_owned() };
        let (mut block, mut layout, mut way, mut is_cold) =
            (None, Layout::Sequential, "read", false);
        for part in text.split(',').map(str::trim) {
            let lower = part.to_ascii_lowercase();
            match lower.as_str() {
                "sequential" => layout = Layout::Sequential,
                "random" => layout = Layout::Random,
                "read" | "write" | "append" => {
                    way = if lower == "read" {
                        "read"
                    } else if lower == "write" {
                        "write"
                    } else {
                        "append"
                    };
                }
                "hot" => is_cold = false,
                "cold" => is_cold = true,
                other => match other.strip_prefix("stride ") {
                    Some(stride) => {
                        layout = Layout::Strided(bytes(stride).ok_or_else(|| wrong(part))?);
                    }
                    None => block = Some(bytes(other).ok_or_else(|| wrong(part))?),
                },
            }
        }
        let state = match way {
            "read" if is_cold => State::Cold,
            "read" => State::Hot,
            // There is nothing to find before it is written.
            _ if is_cold => return Err(wrong("cold")),
            "append" => State::Append,
            _ => State::Overwrite,
        };
        let block_bytes = block.ok_or_else(|| wrong(text))?;
        Ok(Self { block_bytes, layout, is_write: way != "read", state })
    }
}

/// An amount above 0.
fn bytes(text: &str) -> Option<u64> {
    match text.parse() {
        Ok(Size::Absolute(Bytes(bytes))) if bytes > 0 => Some(bytes),
        _ => None,
    }
}

impl Asked {
    /// What most requests of a trace are like: the way, the median size, and how one of a file follows
    /// the one before. Nothing of a trace without reads and writes.
    pub fn of_trace(trace: &Trace) -> Option<Self> {
        let mut lengths = [Vec::new(), Vec::new()];
        let mut ends: HashMap<(u32, bool), (u64, u64)> = HashMap::new();
        let (mut follows, mut steps, mut moves) =
            ([0_u64; 2], [HashMap::new(), HashMap::new()], [0_u64; 2]);
        let (mut filled, mut asked) = (0_u64, 0_u64);
        for record in &trace.records {
            if matches!(record.op, Op::Fill | Op::Readahead) {
                filled += u64::from(record.length_bytes);
            }
            let is_write = match record.op {
                Op::Read => false,
                Op::Write => true,
                _ => continue,
            };
            asked += u64::from(record.length_bytes);
            let way = usize::from(is_write);
            lengths[way].push(u64::from(record.length_bytes));
            let (start, end) =
                (record.offset_bytes, record.offset_bytes + u64::from(record.length_bytes));
            if let Some((before, ended)) = ends.insert((record.file.0, is_write), (start, end)) {
                moves[way] += 1;
                follows[way] += u64::from(start == ended);
                *steps[way].entry(start.wrapping_sub(before)).or_insert(0_u64) += 1;
            }
        }
        let is_write = lengths[1].len() > lengths[0].len();
        let way = usize::from(is_write);
        let block_bytes = crate::experiment::statistics::median_count(lengths[way].iter().copied());
        let often = |count: u64| count * 2 > moves[way] || moves[way] == 0;
        let common = steps[way].iter().max_by_key(|(_, count)| **count);
        let layout = match common {
            _ if often(follows[way]) => Layout::Sequential,
            Some((&step, &count)) if often(count) && step < 1 << 40 && step > 0 => {
                Layout::Strided(step)
            }
            _ => Layout::Random,
        };
        let state = match is_write {
            true => State::Overwrite,
            // More was fetched from the disc than half of what was asked for.
            false if filled * 2 > asked => State::Cold,
            false => State::Hot,
        };
        (block_bytes > 0).then_some(Self { block_bytes, layout, is_write, state })
    }

    /// The test that does it by this path.
    pub fn test(&self, path: &'static str, block_bytes: u64, size_bytes: u64) -> Test {
        let device = super::table::is_direct(path);
        let state = if device { State::Device } else { self.state };
        let test = modern(path, self.is_write, (self.layout, block_bytes), state, 1);
        Test { size_bytes, ..test }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::trace::{FileId, Record};

    #[test]
    fn patterns_as_people_write_them() {
        let check = |text: &str, want: (u64, Layout, State)| {
            let asked: Asked = text.parse().unwrap();
            assert_eq!((asked.block_bytes, asked.layout, asked.state), want, "{text}");
            assert_eq!(asked.is_write, matches!(want.2, State::Append | State::Overwrite));
        };
        let far = Layout::Strided(1 << 20);
        check("512 B, stride 1 MiB, hot", (512, far, State::Hot));
        check("4096, random, cold", (4096, Layout::Random, State::Cold));
        check("1", (1, Layout::Sequential, State::Hot));
        check("append, 4KiB", (4096, Layout::Sequential, State::Append));
        check("64KiB, write", (65536, Layout::Sequential, State::Overwrite));
        for (text, part) in [
            ("", "``"),
            ("hot", "`hot`"),
            ("0, hot", "`0`"),
            ("10 %", "`10 %`"),
            ("1, stride 0", "`stride 0`"),
            ("1, sideways", "`sideways`"),
            ("1, write, cold", "`cold`"),
        ] {
            let error = text.parse::<Asked>().unwrap_err().to_string();
            assert!(error.starts_with(part), "{text}: {error}");
        }
    }

    fn record(op: Op, offset_bytes: u64, length_bytes: u32) -> Record {
        Record {
            time_ns: 0,
            offset_bytes,
            file_bytes: 1 << 30,
            length_bytes,
            file: FileId(0),
            task: 1,
            request: 0,
            op,
        }
    }

    #[test]
    fn patterns_as_traces_show_them() {
        let check = |records: Vec<Record>, want: Option<(u64, Layout, State)>| {
            let mut trace = Trace::default();
            for record in records {
                trace.records.push(record);
            }
            let found = Asked::of_trace(&trace);
            assert_eq!(found.map(|asked| (asked.block_bytes, asked.layout, asked.state)), want);
        };
        let every = |op, step: u64| (0..50).map(move |n| record(op, n * step, 512)).collect();
        check(Vec::new(), None);
        check(every(Op::Read, 512), Some((512, Layout::Sequential, State::Hot)));
        check(every(Op::Read, 8192), Some((512, Layout::Strided(8192), State::Hot)));
        check(every(Op::Write, 512), Some((512, Layout::Sequential, State::Overwrite)));
        let wild = (0..50_u64).map(|n| record(Op::Read, n * n * 7919 % 100_003, 4096));
        check(wild.clone().collect(), Some((4096, Layout::Random, State::Hot)));
        let cold = wild.flat_map(|r| [record(Op::Fill, r.offset_bytes, 4096), r]);
        check(cold.collect(), Some((4096, Layout::Random, State::Cold)));
    }
}

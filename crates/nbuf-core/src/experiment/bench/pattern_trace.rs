//! The pattern that a recorded trace shows.
//!
//! Recordings of the page cache have whole pages: a program that reads 512 bytes at a time asks eight
//! times for the same page, and shows as eight records of it. So what repeats the page before it is
//! taken for more of the same request, and how small the blocks were cannot be known. Not a
//! judgement of programs that do several things: most requests decide.

use std::collections::HashMap;

use super::pattern_text::AccessPattern;
use super::table::{COURSE_BYTES, Layout};
use crate::experiment::result::State;
use crate::experiment::statistics::median_count;
use crate::trace::{CacheEvent, Record, Trace};
use crate::units::PAGE_BYTES;

/// What a trace shows, and what it cannot show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TracePattern {
    /// The pattern.
    pub pattern: AccessPattern,
    /// Whether the records are whole pages, so that smaller blocks would look the same.
    pub is_pages: bool,
    /// Records that repeated the page before them.
    pub repeats: u64,
}

/// Farther apart is another place and no stride.
const STRIDE_MAX: u64 = 1 << 40;

/// One way, reading or writing.
#[derive(Default)]
struct Way {
    lengths: Vec<u64>,
    /// Requests that began where the last one of the file ended.
    follows: u64,
    /// How far from the last beginning, and how often.
    steps: HashMap<u64, u64>,
    moves: u64,
    repeats: u64,
    has_part: bool,
}

/// The last request of a file in a way.
struct Last {
    start: u64,
    end: u64,
    request: u32,
}

impl Way {
    fn add(&mut self, last: Option<&mut Last>, record: &Record) -> Option<Last> {
        let (start, length) = (record.offset_bytes, u64::from(record.length_bytes));
        let end = start + length;
        let is_last_part = end == record.file_bytes;
        self.has_part |= start % PAGE_BYTES != 0 || length % PAGE_BYTES != 0 && !is_last_part;
        let Some(last) = last else {
            self.lengths.push(length);
            return Some(Last { start, end, request: record.request });
        };
        if start == last.start && end == last.end {
            self.repeats += 1;
            last.request = record.request;
            return None;
        }
        // The pages of one request.
        if start == last.end && record.request == last.request {
            last.end = end;
            if let Some(before) = self.lengths.last_mut() {
                *before += length;
            }
            return None;
        }
        self.moves += 1;
        self.follows += u64::from(start == last.end);
        *self.steps.entry(start.wrapping_sub(last.start)).or_insert(0) += 1;
        self.lengths.push(length);
        Some(Last { start, end, request: record.request })
    }

    fn layout(&self) -> Layout {
        let often = |count: u64| count * 2 > self.moves || self.moves == 0;
        match self.steps.iter().max_by_key(|(_, count)| **count) {
            _ if often(self.follows) => Layout::Sequential,
            Some((&step, &count)) if often(count) && (1..STRIDE_MAX).contains(&step) => {
                Layout::Strided(step)
            }
            _ => Layout::Random,
        }
    }
}

/// What most requests of a trace are like: the way, the median size, and how one of a file follows
/// the one before. Nothing of a trace without reads and writes.
pub(super) fn of_trace(trace: &Trace) -> Option<TracePattern> {
    let mut ways = [Way::default(), Way::default()];
    let mut lasts: HashMap<(u32, bool), Last> = HashMap::new();
    let (mut filled, mut requested) = (0_u64, 0_u64);
    for record in &trace.records {
        let length = u64::from(record.length_bytes);
        let is_write = match record.op {
            CacheEvent::Read | CacheEvent::Splice => false,
            CacheEvent::Write => true,
            CacheEvent::Fill | CacheEvent::Readahead => {
                filled += length;
                continue;
            }
            _ => continue,
        };
        requested += length;
        let key = (record.file.0, is_write);
        if let Some(last) = ways[usize::from(is_write)].add(lasts.get_mut(&key), &record) {
            lasts.insert(key, last);
        }
    }
    let is_write = ways[1].lengths.len() > ways[0].lengths.len();
    let way = &ways[usize::from(is_write)];
    let block_bytes = median_count(way.lengths.iter().copied());
    let state = match is_write {
        true => State::Overwrite,
        // More was fetched from the disc than half of what was requested.
        false if filled * 2 > requested => State::Cold,
        false => State::Hot,
    };
    let (layout, file_bytes) = (way.layout(), COURSE_BYTES.max(block_bytes));
    let pattern = AccessPattern {
        block_bytes,
        layout,
        is_write,
        state,
        file_bytes,
        touched_bytes: file_bytes,
        touched_percent: Some(100.0),
        depth: 1,
    };
    let is_pages = !way.has_part;
    (block_bytes > 0).then_some(TracePattern { pattern, is_pages, repeats: way.repeats })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::FileId;

    fn record(op: CacheEvent, offset_bytes: u64, length_bytes: u32, request: u32) -> Record {
        Record {
            time_ns: 0,
            offset_bytes,
            file_bytes: 1 << 30,
            length_bytes,
            file: FileId(0),
            task: 1,
            request,
            op,
        }
    }

    #[track_caller]
    fn check(records: Vec<Record>, want: Option<(u64, Layout, State, bool)>) {
        let mut trace = Trace::default();
        for record in records {
            trace.records.push(record);
        }
        let found = of_trace(&trace).map(|TracePattern { pattern, is_pages, .. }| {
            (pattern.block_bytes, pattern.layout, pattern.state, is_pages)
        });
        assert_eq!(found, want);
    }

    #[test]
    fn patterns_as_traces_show_them() {
        let every = |op, step: u64| {
            (0..50_u32).map(move |n| record(op, u64::from(n) * step, 512, n)).collect()
        };
        check(Vec::new(), None);
        check(every(CacheEvent::Read, 512), Some((512, Layout::Sequential, State::Hot, false)));
        check(every(CacheEvent::Read, 8192), Some((512, Layout::Strided(8192), State::Hot, false)));
        check(
            every(CacheEvent::Write, 512),
            Some((512, Layout::Sequential, State::Overwrite, false)),
        );
        let wild = (0..50_u32).map(|n| {
            record(CacheEvent::Read, u64::from(n) * u64::from(n) * 7919 % 100_003 * 4096, 4096, n)
        });
        check(wild.clone().collect(), Some((4096, Layout::Random, State::Hot, true)));
        let cold = wild.flat_map(|r| [record(CacheEvent::Fill, r.offset_bytes, 4096, 0), r]);
        check(cold.collect(), Some((4096, Layout::Random, State::Cold, true)));
    }

    #[test]
    fn small_blocks_of_a_page_are_that_page_and_large_ones_all_of_theirs() {
        // `dd bs=512`: each page eight times.
        let small = |n: u32| record(CacheEvent::Read, u64::from(n / 8) * 4096, 4096, n);
        check((0..400).map(small).collect(), Some((4096, Layout::Sequential, State::Hot, true)));
        let far = |n: u32| record(CacheEvent::Read, u64::from(n / 8) << 20, 4096, n);
        let want = Some((4096, Layout::Strided(1 << 20), State::Hot, true));
        check((0..400).map(far).collect(), want);
        // `dd bs=64k`: sixteen pages of one request.
        let large = |n: u32| record(CacheEvent::Read, u64::from(n) * 4096, 4096, n / 16);
        check((0..320).map(large).collect(), Some((65536, Layout::Sequential, State::Hot, true)));
    }
}

//! What to use instead: other paths, and larger blocks where the order allows them, measured against
//! what is done now, on a file of the size and of the share that are touched.
//!
//! Every way is tried in two rounds. Those that come close to the best are measured again with now, in
//! rounds that take turns; what the trial said does not count, since it chose them. Advice is given
//! where the best is faster by a tenth, firmly ([`super::compare`]). Not a judgement of what a program
//! would have to change: a mapping and a ring are other programs.

use super::asked::Asked;
use super::compare::{Compared, judge};
use super::measure::{Bench, Effort};
use super::table::{Layout, Test, is_direct, is_synced};
use super::{Error, check};
use crate::experiment::result::{AdviceDocument, AdviceWay, BenchRow, Refused, State};
use crate::path::{self, Direction};

/// Ways that are measured again after all were tried.
const BEST: usize = 6;
/// A way that the trial finds so many times slower than the best is left.
const NEAR: f64 = 2.0;
/// Below this nothing is advised.
pub const GAIN: f64 = 1.1;
/// Larger blocks that are tried in sequence.
const LARGER: [u64; 2] = [4096, 65536];
/// To try a way.
const TRY: Effort = Effort {
    processes: 2,
    processes_device: 2,
    clean: 3,
    samples_max: 9,
    sample_ns: 700_000,
    time_ns_max: 40_000_000,
};
/// To measure it.
const MEASURE: Effort = Effort {
    processes: 11,
    processes_device: 9,
    clean: 5,
    samples_max: 15,
    sample_ns: 700_000,
    time_ns_max: 100_000_000,
};

/// How a pattern is done now, and the other ways to do it.
pub fn candidates(asked: &Asked, now: &'static str) -> Vec<Test> {
    let way = if asked.is_write { Direction::Write } else { Direction::Read };
    // What waits for the device does more than was asked for, `null` does nothing, and without the C
    // library no program reads.
    let serves = |row: &&path::Row| {
        let is_other = row.name == "null"
            || is_synced(row.name)
            || row.name.starts_with("option")
            || row.name.ends_with("-raw");
        let is_past_memory = is_direct(row.name) && asked.state != State::Cold;
        // A file for each stride is a way for strides only.
        let is_for_strides = row.name == "stdio-multi";
        let is_fit = !is_for_strides || matches!(asked.layout, Layout::Strided(_));
        row.directions.contains(&way) && !is_other && !is_past_memory && is_fit
    };
    let mut tests = Vec::new();
    for row in path::PATHS.iter().filter(serves) {
        if row.name != now {
            tests.push(asked.test(row.name, asked.block_bytes));
        }
        let is_plain = ["read", "pread", "stdio", "mmap", "direct"].contains(&row.name);
        if asked.layout == Layout::Sequential && is_plain {
            let is_larger = |block: &u64| *block > asked.block_bytes && *block <= asked.file_bytes;
            let larger = LARGER.into_iter().filter(is_larger);
            tests.extend(larger.map(|block| asked.test(row.name, block)));
        }
    }
    tests
}

/// Processes that a plan of this takes, for progress.
pub fn steps(asked: &Asked, now: &'static str) -> usize {
    let rows = |effort: &Effort, count: usize| {
        count * usize::try_from(effort.processes.max(effort.processes_device)).unwrap_or(0)
    };
    rows(&TRY, candidates(asked, now).len()) + rows(&MEASURE, BEST + 1)
}

/// Measures and advises; with `checks` does the whole job in each way, too. `step` is called before
/// each process. No document where now itself gives no number.
pub fn run(
    bench: &mut Bench<'_>,
    asked: &Asked,
    now: &'static str,
    checks: bool,
    step: &mut dyn FnMut(&str),
) -> Result<Result<AdviceDocument, Refused>, Error> {
    let test = asked.test(now, asked.block_bytes);
    let (mut near, mut refused) = tried(bench, candidates(asked, now), step)?;
    let mut chosen = vec![test.clone()];
    chosen.extend(near.iter().take(BEST).cloned());
    let (rows, ended) = bench.rows(&chosen, &MEASURE, step);
    ended?;
    let mut measured = Vec::new();
    let mut rows = chosen.iter().zip(rows);
    let row = match rows.next() {
        Some((_, Ok(row))) => row,
        Some((_, Err(refused))) => return Ok(Err(refused)),
        None => return Err(Error::Late),
    };
    for (_, other) in rows {
        match other {
            Ok(other) => measured.push(other),
            Err(reason) => refused.push(reason),
        }
    }
    let mut document = document(&test, asked, row, &measured, refused);
    if checks {
        near.insert(0, test);
        document.check = check::run(bench, &near, &document.now, step)?;
    }
    Ok(Ok(document))
}

/// Those that come near the best, fastest first; and those that are refused.
fn tried(
    bench: &mut Bench<'_>,
    tests: Vec<Test>,
    step: &mut dyn FnMut(&str),
) -> Result<(Vec<Test>, Vec<Refused>), Error> {
    let (rows, ended) = bench.rows(&tests, &TRY, step);
    ended?;
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for (test, row) in tests.into_iter().zip(rows) {
        match row {
            Ok(row) => kept.push((test, row.bytes_per_second)),
            Err(reason) => refused.push(reason),
        }
    }
    kept.sort_by(|a, b| b.1.total_cmp(&a.1));
    let best = kept.first().map_or(0.0, |(_, rate)| *rate);
    kept.retain(|(_, rate)| *rate * NEAR >= best);
    Ok((kept.into_iter().map(|(test, _)| test).collect(), refused))
}

fn document(
    test: &Test,
    asked: &Asked,
    now: BenchRow,
    others: &[BenchRow],
    refused: Vec<Refused>,
) -> AdviceDocument {
    let pairs: Vec<(&BenchRow, &BenchRow)> = others.iter().map(|other| (&now, other)).collect();
    let compared = judge(&pairs);
    let mut ways: Vec<AdviceWay> =
        others.iter().zip(&compared).map(|(other, compared)| way(&now, other, compared)).collect();
    ways.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let is_advised =
        ways.first().is_some_and(|best| best.verdict == "faster" && best.ratio >= GAIN);
    AdviceDocument {
        schema: AdviceDocument::SCHEMA.to_owned(),
        pattern: test.pattern(),
        file_bytes: asked.file_bytes,
        touched_bytes: asked.touched_bytes,
        now,
        ways,
        refused,
        is_advised,
        check: None,
    }
}

/// The ends of the ratio: each range's part of its median, both together.
fn way(now: &BenchRow, other: &BenchRow, compared: &Compared) -> AdviceWay {
    let part = |row: &BenchRow, end: f64| (end / row.bytes_per_second - 1.0).abs();
    let ratio = compared.ratio;
    let low = part(other, other.low).hypot(part(now, now.high)).min(1.0);
    let high = part(other, other.high).hypot(part(now, now.low));
    AdviceWay {
        path: other.path.clone(),
        block_bytes: other.block_bytes,
        depth: other.depth,
        ratio,
        low: ratio * (1.0 - low),
        high: ratio * (1.0 + high),
        processes: other.processes,
        verdict: compared.verdict.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_for_each_stride_is_tried_for_strides_only() {
        let has = |pattern: &str| {
            let asked: Asked = pattern.parse().unwrap();
            let tests = candidates(&asked, "read");
            assert!(tests.len() > 5, "{pattern}");
            assert!(tests.iter().all(|test| !test.path.ends_with("-raw")));
            tests.iter().any(|test| test.path == "stdio-multi")
        };
        assert!(has("512, stride 1 MiB, hot"));
        assert!(!has("4096, random, hot") && !has("512, sequential, cold"));
    }

    #[test]
    fn less_than_a_tenth_is_no_advice() {
        let row = |path: &str, rate: f64| BenchRow {
            path: path.to_owned(),
            bytes_per_second: rate,
            low: rate * 0.99,
            high: rate * 1.01,
            process_rates: (0..11).map(|n| rate * (1.0 + f64::from(n) / 1e4)).collect(),
            ..BenchRow::default()
        };
        let asked: Asked = "4KiB, random, hot, file 1MiB, touches 64KiB".parse().unwrap();
        let test = asked.test("read", 4096);
        for (rate, want) in [(109.0, false), (111.0, true), (90.0, false)] {
            let others = [row("mmap", rate), row("stdio", 50.0)];
            let found = document(&test, &asked, row("read", 100.0), &others, Vec::new());
            assert_eq!(found.is_advised, want, "{rate}: {:?}", found.ways);
            let best = &found.ways[0];
            assert!(best.path == "mmap" && best.low < best.ratio && best.ratio < best.high);
            assert_eq!((found.file_bytes, found.touched_bytes), (1 << 20, 64 << 10));
        }
    }
}

//! What to use instead: other paths, and larger blocks where the order allows them, measured against
//! what is done now, on a file of the size and of the share that are touched.
//!
//! Every way is tried by short samples in two rounds. Those that come close to the best do the whole job,
//! in rounds with what is done now; what the trial said does not count, since it chose them. A job that
//! begins cold finds pages that its own readahead brought, so that its first part says little of the
//! rest. Advice is the fastest way that is faster by a tenth, firmly ([`super::compare`]). Not a judgement
//! of what a program would have to change: a mapping and a ring are other programs.
//!
//! ```
//! use nbuf::experiment::bench::AccessPattern;
//!
//! let pattern: AccessPattern = "512 B, stride 1 MiB, hot".parse()?;
//! assert_eq!(pattern.block_bytes, 512);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod run;
mod spec;

pub use run::{AdviceError, run};
pub use spec::{Spec, UnknownPath, Way};

use super::compare::{Compared, Runs, judge};
use super::measure::{Bench, Effort};
use super::pages::is_in_memory;
use super::pattern_text::AccessPattern;
use super::table::{Layout, Test, is_direct, is_synced, is_whole};
use super::{Error, check};
use crate::experiment::result::{AdviceDocument, AdviceWay, BenchRow, Refused, State};
use crate::path::{self, Direction};
use crate::units::whole;

/// Ways that are measured after all were tried.
const BEST: usize = 8;
/// A way that the trial finds this many times slower than the best is left.
const NEAR: f64 = 3.0;
/// Below this nothing is advised.
pub const GAIN: f64 = 1.1;
/// A way this close to the fastest one may be advised instead.
const TIE: f64 = 1.05;
/// Larger blocks that are tried in sequence.
const LARGER: [u64; 2] = [4096, 65536];
/// What a job takes at most, in seconds: one that begins cold, and one in memory, where every part takes
/// as long as any other. A way that takes longer does a part of the job.
const JOB_SECONDS_COLD: f64 = 1.0;
const JOB_SECONDS: f64 = 0.05;
/// To try a way.
const TRY: Effort = Effort {
    processes: 2,
    processes_device: 2,
    clean: 3,
    samples_max: 9,
    sample_ns: 700_000,
    time_ns_max: 40_000_000,
    is_whole_pass: false,
};
/// To do the job: several times where it is in memory, where the first pass also fills buffers and page
/// tables.
pub(super) const JOBS: Effort = Effort {
    processes: 11,
    processes_device: 9,
    clean: 5,
    samples_max: 25,
    sample_ns: 0,
    time_ns_max: 150_000_000,
    is_whole_pass: true,
};
/// The same where it begins cold: once.
pub(super) const JOBS_COLD: Effort = Effort { clean: 1, samples_max: 1, ..JOBS };

/// What is done for the jobs of a pattern.
pub(super) fn effort(asked_state: State) -> &'static Effort {
    if asked_state == State::Cold { &JOBS_COLD } else { &JOBS }
}

/// As much of the job as a way does in the time for it, at this rate in bytes a second.
pub(super) fn job(test: &Test, bytes_per_second: f64) -> Test {
    let touched = if test.touched_bytes == 0 { test.size_bytes } else { test.touched_bytes };
    let seconds = if is_in_memory(test.state) { JOB_SECONDS } else { JOB_SECONDS_COLD };
    let in_time = whole(bytes_per_second * seconds).max(test.block_bytes);
    // What fetches all of a file as it begins takes that long for any part of it.
    let touched_bytes = if is_whole(test.path) { touched } else { touched.min(in_time) };
    Test { touched_bytes, ..test.clone() }
}

/// How a pattern is done now, and the other ways to do it.
fn candidates(pattern: &AccessPattern, now: &'static str) -> Vec<Test> {
    let way = if pattern.is_write { Direction::Write } else { Direction::Read };
    // What waits for the device does more than was asked for, `null` does nothing, and without the C
    // library no program reads.
    let serves = |row: &&path::Row| {
        let is_other = row.name == "null"
            || is_synced(row.name)
            || row.name.starts_with("option")
            || row.name.ends_with("-raw");
        let is_past_memory = is_direct(row.name) && pattern.state != State::Cold;
        // A file for each stride is a way for strides only.
        let is_for_strides = row.name == "stdio-multi";
        let is_fit = !is_for_strides || matches!(pattern.layout, Layout::Strided(_));
        row.directions.contains(&way) && !is_other && !is_past_memory && is_fit
    };
    let mut tests = Vec::new();
    for row in path::PATHS.iter().filter(serves) {
        if row.name != now {
            tests.push(pattern.test(row.name, pattern.block_bytes));
        }
        let is_plain = ["read", "pread", "stdio", "mmap", "direct"].contains(&row.name);
        if pattern.layout == Layout::Sequential && is_plain {
            let is_larger =
                |block: &u64| *block > pattern.block_bytes && *block <= pattern.file_bytes;
            let larger = LARGER.into_iter().filter(is_larger);
            tests.extend(larger.map(|block| pattern.test(row.name, block)));
        }
    }
    tests
}

/// Processes that a plan of this takes, for progress.
fn steps(pattern: &AccessPattern, now: &'static str, checks: bool) -> usize {
    let rows = |effort: &Effort, count: usize| {
        let processes = effort.processes.max(effort.processes_device);
        count.saturating_mul(usize::try_from(processes).unwrap_or(usize::MAX))
    };
    let ways = candidates(pattern, now).len();
    let checking = if checks { check::steps(ways) } else { 0 };
    rows(&TRY, ways + 1) + rows(&JOBS, BEST + 1) + checking
}

/// Measures and advises; with `checks` does the job in each way again. `step` is called before
/// each process. No document where now itself gives no number.
fn measure(
    bench: &mut Bench<'_>,
    pattern: &AccessPattern,
    now: &'static str,
    checks: bool,
    step: &mut dyn FnMut(&str),
) -> Result<Result<AdviceDocument, Refused>, Error> {
    let test = pattern.test(now, pattern.block_bytes);
    let mut tests = candidates(pattern, now);
    tests.insert(0, test.clone());
    let (tried, mut refused) = tried(bench, tests, step)?;
    let is_now = |test: &Test| test.path == now && test.block_bytes == pattern.block_bytes;
    let Some(at) = tried.iter().position(|(test, _)| is_now(test)) else {
        let is_it = |refused: &Refused| refused.test == test.name;
        let at = refused.iter().position(is_it).ok_or(Error::Late)?;
        return Ok(Err(refused.swap_remove(at)));
    };
    let mut ways: Vec<Test> = tried.iter().map(|(test, rate)| job(test, *rate)).collect();
    let now_job = ways.remove(at);
    let best = tried.iter().enumerate().find(|(place, _)| *place != at);
    let best = best.map_or(0.0, |(_, (_, rate))| *rate);
    let is_near = |(_, rate): &&(Test, f64)| rate * NEAR >= best;
    let near = tried.iter().filter(|(test, _)| !is_now(test)).take_while(is_near).count();
    let mut chosen = vec![now_job.clone()];
    chosen.extend(ways.iter().take(near.min(BEST)).cloned());
    let (rows, ended) = bench.rows(&chosen, effort(test.state), step);
    ended?;
    let mut measured = Vec::new();
    let mut rows = rows.into_iter();
    let row = match rows.next() {
        Some(Ok(row)) => row,
        Some(Err(refused)) => return Ok(Err(refused)),
        None => return Err(Error::Late),
    };
    for other in rows {
        match other {
            Ok(other) => measured.push(other),
            Err(reason) => refused.push(reason),
        }
    }
    let mut document = document(&test, pattern, row, &measured, refused);
    if checks {
        let advised = document.advised().map(|way| (way.path.clone(), way.block_bytes));
        document.check = check::run(bench, &now_job, &ways, advised.as_ref(), step)?;
    }
    Ok(Ok(document))
}

/// Tests and their rates, fastest first.
type Tried = Vec<(Test, f64)>;

/// What the trial says of each way; and the ways that are refused.
fn tried(
    bench: &mut Bench<'_>,
    tests: Vec<Test>,
    step: &mut dyn FnMut(&str),
) -> Result<(Tried, Vec<Refused>), Error> {
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
    Ok((kept, refused))
}

fn document(
    test: &Test,
    pattern: &AccessPattern,
    now: BenchRow,
    others: &[BenchRow],
    refused: Vec<Refused>,
) -> AdviceDocument {
    let pairs: Vec<(&BenchRow, &BenchRow)> = others.iter().map(|other| (&now, other)).collect();
    let compared = judge(&pairs, Runs::One);
    let mut ways: Vec<AdviceWay> =
        others.iter().zip(&compared).map(|(other, compared)| way(&now, other, compared)).collect();
    ways.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    // The fastest of all may vary too much.
    let is_sure = |way: &AdviceWay| way.verdict == "faster" && way.low > 1.0;
    let is_advice = |way: &AdviceWay| is_sure(way) && way.ratio >= GAIN;
    let fastest = ways.iter().position(is_advice);
    // A hint for another order is no advice where a way without it is as fast.
    let fits = |way: &AdviceWay| {
        let is_as_fast = fastest.is_some_and(|at| way.ratio * TIE >= ways[at].ratio);
        is_advice(way) && is_as_fast && !has_other_hint(&way.path, pattern.layout)
    };
    let advised = ways.iter().position(fits).or(fastest);
    AdviceDocument {
        schema: AdviceDocument::SCHEMA.to_owned(),
        pattern: test.pattern(),
        file_bytes: pattern.file_bytes,
        touched_bytes: pattern.touched_bytes,
        now,
        ways,
        refused,
        advised,
        check: None,
    }
}

/// Whether a path tells the kernel another order than the pattern has.
fn has_other_hint(path: &str, layout: Layout) -> bool {
    let is_sequential = layout == Layout::Sequential;
    path.ends_with("-sequential") && !is_sequential || path.ends_with("-random") && is_sequential
}

/// The ends of the ratio: how far each range goes from its median, by logarithms, both together.
fn way(now: &BenchRow, other: &BenchRow, compared: &Compared) -> AdviceWay {
    let far = |row: &BenchRow, end: f64| (end / row.bytes_per_second).ln();
    let ratio = compared.ratio;
    let low = far(other, other.low).hypot(far(now, now.high));
    let high = far(other, other.high).hypot(far(now, now.low));
    let (low, high) = (ratio * (-low).exp(), ratio * high.exp());
    // The ranks may be firm where this range, which is of more than chance, is not.
    let is_open = low <= 1.0 && high >= 1.0 && compared.verdict != "no difference seen";
    let verdict = if is_open { "unsure" } else { compared.verdict };
    AdviceWay {
        path: other.path.clone(),
        block_bytes: other.block_bytes,
        depth: other.depth,
        ratio,
        low,
        high,
        processes: other.processes,
        verdict: verdict.to_owned(),
    }
}

#[cfg(test)]
mod tests;

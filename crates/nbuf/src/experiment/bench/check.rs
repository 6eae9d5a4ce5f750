//! Advice checked by doing: the whole job, in fresh processes, in turn.
//!
//! Advice comes from samples, which are parts of a job or several of them. Here each process does all that
//! is touched once, from the state that was asked for, and only its time counts. Jobs that now would
//! take longer for than a second are cut to as many operations as a second has. Cost: a second a
//! process at most where no way is slower than now.

use super::Error;
use super::measure::{Bench, Effort};
use super::table::Test;
use crate::experiment::result::{AdviceCheck, BenchRow, CheckedWay, State};
use crate::experiment::statistics::Spread;

/// Jobs of each way.
const JOBS: u64 = 5;
/// What a job of now takes at most.
const JOB_NS_MAX: f64 = 1e9;
/// One whole pass a process; what is in memory has one before it, so that buffers and tables are there
/// as in a program that runs.
const EFFORT: Effort = Effort {
    processes: JOBS,
    processes_device: JOBS,
    clean: 1,
    samples_max: 3,
    sample_ns: 1,
    time_ns_max: 2_000_000_000,
};

/// The jobs of now, the first of the tests, and of the others; nothing where now cannot be done.
pub(super) fn run(
    bench: &mut Bench<'_>,
    tests: &[Test],
    now: &BenchRow,
    step: &mut dyn FnMut(&str),
) -> Result<Option<AdviceCheck>, Error> {
    let Some(first) = tests.first() else { return Ok(None) };
    let touched = if first.touched_bytes == 0 { first.size_bytes } else { first.touched_bytes };
    let in_time = JOB_NS_MAX / now.operation_ns.max(1.0) * first.block_bytes as f64;
    let job_bytes = if in_time < touched as f64 {
        crate::units::whole(in_time).max(first.block_bytes)
    } else {
        touched
    };
    let jobs: Vec<Test> =
        tests.iter().map(|test| Test { touched_bytes: job_bytes, ..test.clone() }).collect();
    let mut seconds: Vec<Vec<f64>> = vec![Vec::new(); jobs.len()];
    for _ in 0..JOBS {
        for (job, seconds) in jobs.iter().zip(&mut seconds) {
            step(&job.name);
            seconds.extend(one(bench, job)?);
        }
    }
    let median = |seconds: &[f64]| Spread::of(seconds.iter().copied()).map(|spread| spread.median);
    let Some(now_seconds) = median(&seconds[0]) else { return Ok(None) };
    let mut ways: Vec<CheckedWay> = jobs[1..]
        .iter()
        .zip(&seconds[1..])
        .filter_map(|(job, theirs)| {
            let ratios = seconds[0].iter().zip(theirs).map(|(now, theirs)| now / theirs);
            Some(CheckedWay {
                path: job.path.to_owned(),
                block_bytes: job.block_bytes,
                ratio: median(&ratios.collect::<Vec<f64>>())?,
            })
        })
        .collect();
    ways.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    Ok(Some(AdviceCheck { job_bytes, now_seconds, ways }))
}

/// How long a job takes: the best pass of a process, which is the only one where it begins cold.
fn one(bench: &mut Bench<'_>, job: &Test) -> Result<Option<f64>, Error> {
    let is_cold = matches!(job.state, State::Cold);
    let effort = Effort { samples_max: if is_cold { 1 } else { EFFORT.samples_max }, ..EFFORT };
    let (_, heard) = bench.whole_passes(job, &effort)?;
    let seconds = heard.samples.iter().map(|sample| sample.elapsed_ns as f64 / 1e9);
    Ok(Spread::of(seconds).map(|spread| spread.low))
}

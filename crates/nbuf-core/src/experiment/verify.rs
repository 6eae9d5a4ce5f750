//! Runs the command again under real limits and compares the predictions with the kernel's count.
//!
//! Predictions are values made before ([`super::predict`]); nothing here changes them.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::cliff::{Cliff, at_cliff, near_cliff};
use super::fills::{Counter, Meter};
use super::predict::Prediction;
use super::result::{Sample, TOLERANCE, Verified, deviation};
use super::statistics::{Spread, median_count};
use crate::meter::probe::residency::Residency;
use crate::sys::cgroup::{self, Hierarchies, Throttle};
use crate::sys::signal::Signals;
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::command::engine::group_for;
use crate::workload::command::{self, Command, Ended, Input, Job, Until, run};
use crate::workload::record::perf;

/// Fewer pages than this to either side of the band are no proof that a prediction is wrong: the
/// start of any program touches libraries that other processes of the machine bring in and drop as
/// they come and go. Nor are they a proof that it is right.
const OTHERS_PAGES: f64 = 64.0;
/// A band that is wider than 15 % either way predicts nothing, except near a cliff.
const BAND_MAX: f64 = 1.15 / 0.85;

/// A count further outside of its band than this is no noise.
const NOISE_MAX: f64 = 0.25;

/// A run may take this many times its predicted time, or its recorded time.
pub(crate) const PATIENCE: u32 = 10;

/// Returns the default time that a run may take: one that thrashes may not end in days. Short runs
/// have `least`, because they vary most.
pub(crate) fn time_allowed(
    prediction: &Prediction,
    recorded: Duration,
    least: Duration,
) -> Duration {
    let predicted = prediction.seconds.map_or(0.0, |(_, high)| high);
    let predicted = Duration::try_from_secs_f64(predicted).unwrap_or(Duration::MAX);
    predicted.max(recorded).saturating_mul(PATIENCE).max(least)
}

/// What every run needs.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    /// The command, as it was recorded.
    pub command: &'a Command,
    /// Its files, to be dropped from the cache before each run.
    pub files: &'a [String],
    /// Where private groups are made.
    pub hierarchies: &'a Hierarchies,
    /// The rate that the discs are held to, if any.
    pub throttle: Option<&'a Throttle>,
    /// When a run is over.
    pub until: Until,
    /// What the recorded run had as its input.
    pub input: Input,
    /// What the recorded run had as its output.
    pub output: BorrowedFd<'a>,
    /// What counts fills.
    pub meter: Meter,
    /// Cliffs of the curve: near one, a small error of the size is a large error of the fills.
    pub cliffs: &'a [Cliff],
    /// What other programs hold of its files and are charged for: a run has that much less.
    pub shared_text: Bytes,
    /// Pages that stayed in memory when the predictions were made.
    pub left_pages: usize,
}

/// Why a run gave no figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No private group could be made.
    #[error(transparent)]
    Group(#[from] cgroup::Error),
    /// Fills cannot be counted.
    #[error(transparent)]
    Perf(#[from] perf::Error),
    /// The command did not run.
    #[error(transparent)]
    Command(#[from] command::Error),
    /// A limit was refused, most likely because it is below what the group needs to exist.
    #[error(
        "the kernel refuses a limit of {limit}: {source}; leave that size out, or give larger ones with --verify-at"
    )]
    Limit {
        /// The limit.
        limit: Bytes,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A target of stalls, on a kernel that does not count them.
    #[error(
        "this kernel does not measure waits for memory: boot it with psi=1, or give \
         the target slowdown=1.1"
    )]
    NoPressure,
    /// Processes left the group: no limit held them.
    #[error("{0}")]
    Left(command::Left),
    /// Anything else.
    #[error("cannot measure the run: {0}")]
    Io(#[from] io::Error),
}

impl Bench<'_> {
    /// Makes one run and judges its prediction. Also returns the end of the run, for interruptions.
    pub(crate) fn measure(
        &self,
        prediction: &Prediction,
        deadline: Option<Duration>,
        signals: &Signals,
    ) -> Result<(Verified, Ended), Error> {
        let dropped = Residency::drop_files(self.files.iter().map(String::as_str));
        let group = group_for(self.command, self.hierarchies, self.throttle)?;
        if let Some(limit) = prediction.limit {
            let charged = limit.saturating_sub(self.shared_text);
            let limited = group.limiter().limit(Some(charged));
            limited.map_err(|source| Error::Limit { limit, source })?;
        }
        let mut counter = Counter::prepare(self.meter, &group)?;
        let standard = command::repeated(&self.input, self.output)?;
        let job = Job { group: Some(&group), standard, until: self.until, deadline };
        let ended = run(self.command, job, &mut counter, signals)?;
        if let Some(left) = ended.left {
            return Err(Error::Left(left));
        }
        let usage = group.limiter().usage()?;
        let pressure = group.pressure();
        let other_bytes = counter.other_peak();
        let killed = usage.oom_kills > 0 || counter.saw_kill(&ended);
        let (fills, lost) = counter.finish(&ended)?;
        // Without a limit the cache ends nowhere, least of all at a cliff.
        let cliff = prediction.limit.and_then(|_| near_cliff(self.cliffs, prediction.cache));
        let verified = Verified {
            limit_bytes: prediction.limit,
            cache_bytes: prediction.cache,
            predicted_fills_low: prediction.fills_low,
            predicted_fills_high: prediction.fills_high,
            predicted_seconds_low: prediction.seconds.map(|(low, _)| low),
            predicted_seconds_high: prediction.seconds.map(|(_, high)| high),
            measured_fills: fills,
            measured_seconds: seconds(ended.elapsed_ns),
            meter: self.meter,
            within_band: None,
            near_band: false,
            cliff_bytes: cliff.map(|cliff| cliff.cache_bytes),
            timed_out: ended.timed_out,
            allowed_seconds: deadline.map(|deadline| deadline.as_secs_f64()),
            killed,
            exit_status: ended.exit_status,
            measured_cache_bytes: usage.page_cache,
            peak_bytes: usage.peak,
            other_bytes,
            major_faults: usage.major_faults,
            read_bytes: Bytes(ended.bytes_read),
            written_bytes: Bytes(ended.bytes_written),
            memory_pressure_seconds: seconds(pressure.memory_some_ns),
            io_pressure_seconds: seconds(pressure.io_some_ns),
            lost_events: lost,
            stayed_bytes: Bytes(dropped.left.len().abs_diff(self.left_pages) as u64 * PAGE_BYTES),
            samples_within_band: 0,
            samples: vec![Sample {
                measured_fills: fills,
                measured_seconds: seconds(ended.elapsed_ns),
                killed,
                timed_out: ended.timed_out,
            }],
        };
        Ok((judged(verified, self.cliffs), ended))
    }
}

/// Makes one of the runs under one limit, in the order they were made, and judges the median of
/// those that came to their end. A limit under which one was killed is too small, whatever the
/// others did; losses make the count of any of them too low.
pub(crate) fn combine(runs: &[Verified], cliffs: &[Cliff]) -> Option<Verified> {
    let samples: Vec<Sample> = runs.iter().flat_map(|run| run.samples.clone()).collect();
    let mut ended: Vec<&Verified> =
        runs.iter().filter(|run| !run.killed && !run.timed_out).collect();
    if ended.is_empty() {
        ended = runs.iter().collect();
    }
    let count = |of: fn(&Verified) -> u64| median_count(ended.iter().map(|run| of(run)));
    let time = |of: fn(&Verified) -> f64| {
        Spread::of(ended.iter().map(|run| of(run))).map_or(0.0, |spread| spread.median)
    };
    let failed = ended.iter().find(|run| run.exit_status != 0);
    let combined = Verified {
        measured_fills: count(|run| run.measured_fills),
        measured_seconds: time(|run| run.measured_seconds),
        timed_out: runs.iter().all(|run| run.timed_out),
        killed: runs.iter().any(|run| run.killed),
        exit_status: failed.or(ended.first())?.exit_status,
        measured_cache_bytes: Bytes(count(|run| run.measured_cache_bytes.0)),
        peak_bytes: runs.iter().map(|run| run.peak_bytes).max().unwrap_or_default(),
        other_bytes: runs.iter().map(|run| run.other_bytes).max().unwrap_or_default(),
        major_faults: count(|run| run.major_faults),
        read_bytes: Bytes(count(|run| run.read_bytes.0)),
        written_bytes: Bytes(count(|run| run.written_bytes.0)),
        memory_pressure_seconds: time(|run| run.memory_pressure_seconds),
        io_pressure_seconds: time(|run| run.io_pressure_seconds),
        lost_events: runs.iter().map(|run| run.lost_events).max().unwrap_or(0),
        stayed_bytes: runs.iter().map(|run| run.stayed_bytes).max().unwrap_or_default(),
        samples,
        ..runs.first()?.clone()
    };
    let combined = judged(combined, cliffs);
    Some(Verified { samples_within_band: samples_within_band(&combined, cliffs), ..combined })
}

/// How many of these samples were within the band, each by itself.
fn samples_within_band(run: &Verified, cliffs: &[Cliff]) -> u64 {
    let alone = |sample: &Sample| Verified {
        measured_fills: sample.measured_fills,
        killed: sample.killed,
        timed_out: sample.timed_out,
        ..run.clone()
    };
    let is_within = |sample: &&Sample| judged(alone(sample), cliffs).within_band == Some(true);
    run.samples.iter().filter(is_within).count() as u64
}

/// How many more runs a miss needs before it is believed: it may be the noise of one run.
///
/// Three in all, where the count is not far off or there was no limit; five, where these disagree.
pub(crate) fn runs_missing(run: &Verified) -> usize {
    let made = run.samples.len();
    if run.within_band != Some(false) || run.lost_events > 0 {
        return 0;
    }
    let may_be_noise = run.limit_bytes.is_none() || deviation(run) <= NOISE_MAX;
    match made {
        0..3 if may_be_noise => 3 - made,
        3..5 if run.samples_within_band > 0 => 5 - made,
        _ => 0,
    }
}

/// With the verdict.
fn judged(run: Verified, cliffs: &[Cliff]) -> Verified {
    if run.killed || run.timed_out {
        return Verified { within_band: None, ..run };
    }
    // Further from a cliff than a size is known, its other side is a miss.
    let cliff = run.limit_bytes.and_then(|_| at_cliff(cliffs, run.cache_bytes));
    let band = (run.predicted_fills_low, run.predicted_fills_high);
    Verified { within_band: within_band(band, run.measured_fills, run.lost_events, cliff), ..run }
}

/// Whether the count is in the band, and the band is narrow enough to predict anything. Returns
/// `None` for a count so little outside that other processes may have caused it.
fn within_band(
    (low, high): (u64, u64),
    fills: u64,
    lost: u64,
    cliff: Option<&Cliff>,
) -> Option<bool> {
    let (low, high) = (low as f64, high as f64);
    let (low, high) = match cliff {
        // Both sides of a cliff are right: the size is not known to a percent.
        Some(cliff) => (low.min(cliff.fills_above as f64), high.max(cliff.fills_below as f64)),
        None => (low, high),
    };
    let fills = fills as f64;
    let narrow = cliff.is_some() || high <= low * BAND_MAX;
    let is_within = narrow && (low * (1.0 - TOLERANCE)..=high * (1.0 + TOLERANCE)).contains(&fills);
    let few =
        high - low <= OTHERS_PAGES && (low - OTHERS_PAGES..=high + OTHERS_PAGES).contains(&fills);
    match (lost, is_within, few) {
        (1.., ..) => Some(false),
        (0, false, true) => None,
        (0, is_within, _) => Some(is_within),
    }
}

fn seconds(nanos: u64) -> f64 {
    Duration::from_nanos(nanos).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_band_means_that_the_band_is_narrow_too() {
        let cliff = Cliff { cache_bytes: Bytes(0), fills_below: 20_000, fills_above: 10_000 };
        let cases = [
            (10_000, 10_000, 10_000, 0, None, Some(true)),
            (10_000, 10_000, 10_500, 0, None, Some(true)),
            (10_000, 10_000, 10_600, 0, None, Some(false)),
            (10_000, 10_000, 9_400, 0, None, Some(false)),
            (10_000, 11_000, 11_500, 0, None, Some(true)),
            (10_000, 13_500, 11_000, 0, None, Some(true)),
            (10_000, 14_000, 11_000, 0, None, Some(false)),
            (10_000, 14_000, 11_000, 0, Some(&cliff), Some(true)),
            (10_000, 10_000, 19_000, 0, Some(&cliff), Some(true)),
            (10_000, 10_000, 22_000, 0, Some(&cliff), Some(false)),
            (10_000, 10_000, 10_000, 1, None, Some(false)),
            (66, 66, 66, 0, None, Some(true)),
            (66, 66, 7, 0, None, None),
            (66, 66, 131, 0, None, Some(false)),
            (66, 100, 80, 0, None, None),
        ];
        for (fills_low, fills_high, fills, lost, cliff, want) in cases {
            let got = within_band((fills_low, fills_high), fills, lost, cliff);
            assert_eq!(got, want, "{fills} in {fills_low}..{fills_high}");
        }
    }

    /// A run of 1000 predicted fills, with this count and this end.
    fn ran(fills: u64, seconds: f64, end: &str) -> Verified {
        let (killed, timed_out) = (end == "killed", end == "timed out");
        let run = Verified {
            written_bytes: Bytes(0),
            limit_bytes: Some(Bytes(1 << 20)),
            cache_bytes: Bytes(1 << 20),
            predicted_fills_low: 1000,
            predicted_fills_high: 1000,
            predicted_seconds_low: None,
            predicted_seconds_high: None,
            measured_fills: fills,
            measured_seconds: seconds,
            meter: Meter::Tracepoint,
            within_band: None,
            near_band: false,
            cliff_bytes: None,
            timed_out,
            allowed_seconds: None,
            killed,
            exit_status: i32::from(end == "failed"),
            measured_cache_bytes: Bytes(0),
            peak_bytes: Bytes(0),
            other_bytes: Bytes(0),
            major_faults: fills / 10,
            read_bytes: Bytes(0),
            memory_pressure_seconds: 0.0,
            io_pressure_seconds: 0.0,
            lost_events: u64::from(end == "lost"),
            stayed_bytes: Bytes(0),
            samples_within_band: 0,
            samples: vec![Sample {
                measured_fills: fills,
                measured_seconds: seconds,
                killed,
                timed_out,
            }],
        };
        judged(run, &[])
    }

    #[test]
    fn the_other_side_of_a_cliff_counts_only_where_the_size_is_not_known() {
        let check = |cache: u64, fills: u64, want: Option<bool>| {
            let cliffs =
                [Cliff { cache_bytes: Bytes(100 << 20), fills_below: 2000, fills_above: 1000 }];
            let run = Verified { cache_bytes: Bytes(cache << 20), ..ran(fills, 1.0, "") };
            assert_eq!(judged(run, &cliffs).within_band, want, "{cache} MiB, {fills} fills");
        };
        check(100, 1000, Some(true));
        check(100, 2000, Some(true));
        check(102, 1000, Some(true));
        // With the room that a recommendation has above a cliff, twice the fills are a miss.
        check(102, 2000, Some(false));
    }

    #[test]
    fn a_run_has_time_and_no_more() {
        let check = |seconds: Option<(f64, f64)>, recorded, want| {
            let prediction =
                Prediction { limit: None, cache: Bytes(0), fills_low: 0, fills_high: 0, seconds };
            let least = Duration::from_mins(1);
            let got = time_allowed(&prediction, Duration::from_secs(recorded), least);
            assert_eq!(got.as_secs(), want, "{seconds:?} {recorded}");
        };
        check(None, 1, 60);
        check(None, 7, 70);
        check(Some((3.0, 20.0)), 7, 200);
        check(Some((3.0, f64::INFINITY)), 7, Duration::MAX.as_secs());
    }

    #[test]
    fn the_median_of_the_runs_is_judged() {
        let check = |runs: &[(u64, &str)], want: (u64, Option<bool>)| {
            let runs: Vec<_> = runs.iter().map(|&(fills, end)| ran(fills, 1.0, end)).collect();
            let combined = combine(&runs, &[]).unwrap();
            assert_eq!((combined.measured_fills, combined.within_band), want, "{runs:#?}");
            assert_eq!(combined.samples.len(), runs.len());
        };
        check(&[(1001, "")], (1001, Some(true)));
        // One that went astray spoils nothing, two of three do.
        check(&[(1001, ""), (5000, ""), (1003, "")], (1003, Some(true)));
        check(&[(4000, ""), (5000, ""), (1003, "")], (4000, Some(false)));
        // What was cut off has no count, what was killed has a say.
        check(&[(1001, ""), (7, "timed out"), (1003, "")], (1002, Some(true)));
        check(&[(7, "timed out"), (9, "timed out")], (8, None));
        check(&[(1001, ""), (7, "killed"), (1003, "")], (1002, None));
        check(&[(1001, ""), (1002, "lost")], (1002, Some(false)));
        // A miss is believed when three agree, or four of five.
        let missing = |fills: &[u64]| {
            let runs: Vec<_> = fills.iter().map(|&fills| ran(fills, 1.0, "")).collect();
            let combined = combine(&runs, &[]).unwrap();
            (runs_missing(&combined), combined.is_undecided())
        };
        assert_eq!(missing(&[1001]), (0, false));
        assert_eq!(missing(&[1100]), (2, false));
        assert_eq!(missing(&[9000]), (0, false), "further off than any noise");
        assert_eq!(missing(&[1100, 1101, 1102]), (0, false));
        assert_eq!(missing(&[1100, 1001, 1102]), (2, true));
        assert_eq!(missing(&[1100, 1001, 1102, 1002, 1103]), (0, true));
        assert_eq!(missing(&[1100, 1001, 1102, 1104, 1103]), (0, false));
        assert_eq!(missing(&[1100, 1001, 1002]), (0, false));
        assert_eq!(combine(&[], &[]), None);
        // Without a limit, too few runs say nothing, as where `--runs` has no room for more.
        let unlimited = |runs: &[Verified]| {
            let runs = runs.iter().map(|run| Verified { limit_bytes: None, ..run.clone() });
            let runs: Vec<_> = runs.collect();
            combine(&runs, &[]).unwrap().is_undecided()
        };
        let missed = [(); 3].map(|()| ran(9000, 1.0, ""));
        assert_eq!([1, 2, 3].map(|runs| unlimited(&missed[..runs])), [true, true, false]);
        assert!(!unlimited(&[ran(9000, 1.0, "lost")]));

        let runs = [ran(1000, 3.0, ""), ran(1000, 1.0, "failed"), ran(1000, 1.5, "")];
        let combined = combine(&runs, &[]).unwrap();
        assert_eq!((combined.measured_seconds, combined.exit_status), (1.5, 1));
        let order: Vec<f64> = combined.samples.iter().map(|s| s.measured_seconds).collect();
        assert_eq!(order, [3.0, 1.0, 1.5]);
    }
}

//! A row of the report, of the samples of its processes.

use super::super::result::{PingJudged, PingOutcome, PingRange, PingRow, PingSample};
use super::contention::is_clean;
use super::histogram::histogram;
use crate::path::wake::{Placement, Row, Waits};

/// Fewer clean samples than these say nothing.
pub(super) const CLEAN_MIN: usize = 10;

/// A row before anything is measured.
pub(super) fn empty(row: &Row, placement: Placement) -> PingRow {
    PingRow {
        mechanism: row.name.to_owned(),
        placement: placement.name().to_owned(),
        round: row.round.to_owned(),
        waits: row.waits.name().to_owned(),
        ..PingRow::default()
    }
}

/// Fills in what the samples say, of all processes together.
pub(super) fn fill(row: &mut PingRow, samples: &[PingSample], processes: u64) {
    let rated: Vec<(f64, bool)> = samples
        .iter()
        .filter(|sample| sample.elapsed_ns > 0 && sample.rounds > 0)
        .map(|sample| {
            let rate = sample.rounds as f64 * 1e9 / sample.elapsed_ns as f64;
            (rate, is_clean(sample.elapsed_ns, sample.foreign_ns))
        })
        .collect();
    let mut clean: Vec<f64> =
        rated.iter().filter(|(_, clean)| *clean).map(|(rate, _)| *rate).collect();
    row.clean = clean.len() as u64;
    row.samples = rated.len() as u64;
    row.processes = processes;
    row.histogram = histogram(rated.iter().copied());
    let is_told = samples.iter().any(|sample| sample.foreign_ns.is_some());
    let is_busy = is_told && clean.len() < CLEAN_MIN;
    row.judged = if is_told { PingJudged::Clean } else { PingJudged::All };
    if !is_told {
        clean = rated.iter().map(|(rate, _)| *rate).collect();
    }
    if is_busy {
        clean.clear();
    }
    clean.sort_by(f64::total_cmp);
    row.low = percentile(&clean, 0.05);
    row.round_trips_per_second = percentile(&clean, 0.5);
    row.high = percentile(&clean, 0.95);
    (row.outcome, row.reason) = match (is_busy, clean.is_empty()) {
        (true, _) => (PingOutcome::Busy, Some(busy())),
        (false, true) => (PingOutcome::NotMeasured, None),
        (false, false) => (PingOutcome::Measured, None),
    };
    let sum = |of: fn(&PingSample) -> u64| samples.iter().map(of).sum::<u64>();
    row.round_trips = sum(|sample| sample.rounds);
    let each = |count: u64| (row.round_trips > 0).then(|| count as f64 / row.round_trips as f64);
    row.sends_per_round_trip = each(sum(|sample| sample.sends));
    row.wakes_per_round_trip = each(sum(|sample| sample.wakes));
    let elapsed_ns = sum(|sample| sample.elapsed_ns);
    let idle_ns: Option<u64> = samples.iter().map(|sample| sample.idle_ns).sum();
    row.idle = idle_ns.filter(|_| elapsed_ns > 0).map(|idle| idle as f64 / elapsed_ns as f64);
    row.sleeps_per_round_trip = each(sum(|sample| sample.sleeps));
}

/// Why a row of a busy machine has no number.
fn busy() -> String {
    format!(
        "other programs had the processors: fewer than {CLEAN_MIN} samples were clean; try again when \
         the machine is quieter"
    )
}

/// The slowest and the fastest of the ways that two threads sleep by, in each placement. Rings and
/// stars of loops count other rounds, and are not among them.
pub(super) fn ranges(plan: &[Row], rows: &[PingRow]) -> Vec<PingRange> {
    let is_pair = |row: &&PingRow| {
        let of = Row::named(plan, &row.mechanism);
        of.is_some_and(|of| of.threads == 2 && of.waits == Waits::Sleeping)
    };
    let range = |placement: Placement| {
        let here: Vec<&PingRow> = rows
            .iter()
            .filter(|row| row.placement == placement.name())
            .filter(is_pair)
            .filter(|row| row.outcome == PingOutcome::Measured)
            .collect();
        let mut rated: Vec<(f64, &str)> = here
            .into_iter()
            .filter_map(|row| Some((row.round_trips_per_second?, row.mechanism.as_str())))
            .collect();
        rated.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (&(low, slowest), &(high, fastest)) = (rated.first()?, rated.last()?);
        Some(PingRange {
            placement: placement.name().to_owned(),
            mechanisms: rated.len() as u64,
            slowest: slowest.to_owned(),
            low,
            fastest: fastest.to_owned(),
            high,
        })
    };
    Placement::ALL.into_iter().filter_map(range).collect()
}

/// Interpolates between the two nearest of sorted numbers; without numbers, there is no percentile.
fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = last as f64 * share;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most `last`")]
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::path::wake::WAKES;

    fn sample(elapsed_ns: u64, foreign_ns: Option<u64>) -> PingSample {
        let rounds = 100;
        PingSample {
            rounds,
            elapsed_ns,
            foreign_ns,
            sends: 200,
            wakes: 150,
            ..PingSample::default()
        }
    }

    fn row(samples: &[PingSample]) -> PingRow {
        let mut row = PingRow::default();
        fill(&mut row, samples, 1);
        row
    }

    #[test]
    fn the_clean_ones_are_judged_when_there_are_enough() {
        let check = |clean: usize, busy: usize, rate, outcome| {
            let mut samples = vec![sample(100_000, Some(0)); clean];
            samples.extend(vec![sample(1_000_000, Some(500_000)); busy]);
            let row = row(&samples);
            assert_eq!(row.round_trips_per_second, rate, "{clean} {busy}");
            assert_eq!((row.clean, row.samples), (clean as u64, (clean + busy) as u64));
            assert_eq!(row.outcome, outcome, "{clean} {busy}");
            assert_eq!(row.reason.is_some(), outcome == PingOutcome::Busy, "{:?}", row.reason);
        };
        check(10, 100, Some(1e6), PingOutcome::Measured);
        check(9, 100, None, PingOutcome::Busy);
        check(0, 1, None, PingOutcome::Busy);
        check(0, 0, None, PingOutcome::NotMeasured);
        let told = row(&[sample(1000, None), sample(0, None)]);
        assert_eq!((told.samples, told.wakes_per_round_trip), (1, Some(1.5)));
        assert_eq!((told.outcome, told.judged), (PingOutcome::Measured, PingJudged::All));
    }

    #[test]
    fn a_range_is_of_two_threads_that_sleep() {
        let row = |name: &str, placement: Placement, rate| PingRow {
            mechanism: name.to_owned(),
            placement: placement.name().to_owned(),
            outcome: PingOutcome::Measured,
            round_trips_per_second: rate,
            judged: PingJudged::Clean,
            ..PingRow::default()
        };
        let rows = [
            row("futex", Placement::SameCore, Some(3.0)),
            row("pipe", Placement::SameCore, Some(2.0)),
            PingRow { outcome: PingOutcome::Busy, ..row("semaphore", Placement::SameCore, None) },
            row("spin+yield", Placement::SameCore, Some(9.0)),
            row("loop-pummel", Placement::SameCore, Some(99.0)),
            row("eventfd", Placement::SameCore, None),
            row("spin", Placement::OtherCore, Some(7.0)),
        ];
        let [range] = ranges(WAKES, &rows).try_into().unwrap();
        let want = PingRange {
            placement: "same core".into(),
            mechanisms: 2,
            slowest: "pipe".into(),
            low: 2.0,
            fastest: "futex".into(),
            high: 3.0,
        };
        assert_eq!(range, want);
    }

    proptest! {
        #[test]
        fn the_median_lies_between(elapsed in prop::collection::vec(1..1_000_000_u64, 10..50)) {
            let samples: Vec<PingSample> = elapsed.iter().map(|&ns| sample(ns, Some(0))).collect();
            let row = row(&samples);
            let (low, middle, high) =
                (row.low.unwrap(), row.round_trips_per_second.unwrap(), row.high.unwrap());
            prop_assert!(low <= middle && middle <= high);
            let below = elapsed.iter().filter(|&&ns| 1e11 / (ns as f64) < middle).count();
            prop_assert!(below <= elapsed.len() / 2);
        }
    }
}

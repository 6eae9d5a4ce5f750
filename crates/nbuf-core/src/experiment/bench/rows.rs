//! Rows: tests in rounds of fresh processes, their samples sorted into clean and contended, their
//! labels checked.

use super::bound::{Bound, Did, clock_part, disturbed};
use super::child::pattern;
use super::clean::is_clean;
use super::measure::{Bench, Effort};
use super::table::Test;
use super::{Error, label_check};
use crate::clock::Random;
use crate::experiment::result::{BenchRow, BenchSample, BenchTask, Refused, Trust};
use crate::experiment::statistics::{Spread, rerun_interval, serial_factor};
use crate::meter::probe::reference::{self, Reference};
use crate::meter::probe::sibling;
use crate::path::Order;
use crate::sys::calls::c_library;

/// A row of a run that ended early has at least this many processes.
pub(super) const PROCESSES_MIN: u64 = 7;
/// Rates above this many times what the processor copies in its caches are refused.
const CEILING: f64 = 2.0;
/// A median of fewer clean samples of a process is not taken.
const CLEAN_MIN: usize = 2;
/// Where at least this many processes have clean samples, only these count. `--quick` and rows that wait for a
/// device have hardly more.
const PROCESSES_ALONE_MIN: usize = 11;
/// For the order of tests: any number would do, the same in every run.
const SEED: u64 = 0x6e62_7566;

/// What came of a test, round by round.
struct Rounds {
    task: BenchTask,
    groups: Vec<Vec<BenchSample>>,
    refused: Option<String>,
}

impl Rounds {
    fn of(test: &Test) -> Self {
        Self { task: test.task(), groups: Vec::new(), refused: None }
    }
}

impl Bench<'_> {
    /// Rows, in the order of the tests, and how it ended. Where it ended early, rows have fewer
    /// processes, and those with fewer than [`PROCESSES_MIN`] are left out.
    ///
    /// Rounds: one process of each test, in an order drawn by lot, then the next of each. So what changes
    /// during the run (clocks, neighbours, the disc) is in every row's range, and not in one row alone.
    /// Files in memory are made again for each round while the old ones are still there, so that they
    /// lie on other pages: where they lie is worth a factor of two to mappings.
    pub(super) fn rows(
        &mut self,
        tests: &[Test],
        effort: &Effort,
        step: &mut dyn FnMut(&str),
    ) -> (Vec<Result<BenchRow, Refused>>, Result<(), Error>) {
        let mut rounds: Vec<Rounds> = tests.iter().map(Rounds::of).collect();
        let ended = self.rounds(tests, effort, &mut rounds, step);
        let needed = |test: &Test| match ended {
            Ok(()) => 1,
            Err(_) => PROCESSES_MIN.min(effort.processes_of(test)),
        };
        let rows = tests.iter().zip(rounds).filter_map(|(test, rounds)| {
            if let Some(reason) = rounds.refused {
                return Some(Err(refused(test, reason, false)));
            }
            let is_enough = rounds.groups.len() as u64 >= needed(test);
            is_enough.then(|| self.judge(test, &rounds.task, &self.seen_alone(rounds.groups)))
        });
        (rows.collect(), ended)
    }

    fn rounds(
        &mut self,
        tests: &[Test],
        effort: &Effort,
        rounds: &mut [Rounds],
        step: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let mut random = Random::new(SEED);
        let all = effort.processes.max(effort.processes_device);
        for round in 0..all {
            self.renew()?;
            let Reference { copy, calls, loops } = reference::take();
            self.reference.copies.push(copy);
            self.reference.calls.push(calls);
            self.reference.loops.push(loops);
            let mut order: Vec<usize> = (0..tests.len()).collect();
            random.shuffle(&mut order);
            for number in order {
                let (test, rounds) = (&tests[number], &mut rounds[number]);
                if !is_due(round, all, effort.processes_of(test)) {
                    continue;
                }
                step(&test.name);
                if rounds.refused.is_some() {
                    continue;
                }
                let (task, sampled) = self.process(test, effort)?;
                rounds.refused = sampled.refused;
                rounds.groups.push(sampled.samples);
                rounds.task = task;
            }
        }
        Ok(())
    }

    /// What the first processes took for a core of their own is held against the whole run.
    fn seen_alone(&self, mut groups: Vec<Vec<BenchSample>>) -> Vec<Vec<BenchSample>> {
        let slack_percent = sibling::slack_percent(&self.loops_ns, self.loop_best_ns);
        for sample in groups.iter_mut().flatten() {
            let is_alone = sibling::is_alone(sample.loop_ns, self.loop_best_ns, slack_percent);
            sample.is_clean = is_clean(sample) && is_alone;
        }
        groups
    }

    fn judge(
        &self,
        test: &Test,
        task: &BenchTask,
        groups: &[Vec<BenchSample>],
    ) -> Result<BenchRow, Refused> {
        let samples: Vec<BenchSample> = groups.iter().flatten().copied().collect();
        let check = label_check::of(&samples);
        if let Some(reason) = label_check::contradiction(task, &check) {
            return Err(refused(test, reason, true));
        }
        let nothing = || refused(test, "no sample was taken".to_owned(), false);
        let (process_rates, trust) = rates(groups);
        let interval = rerun_interval(&process_rates).ok_or_else(nothing)?;
        let machine = (self.copy_rate, self.cache_bytes);
        let did = Did {
            path: test.path,
            state: test.state,
            is_write: test.is_write,
            rate: interval.median,
            size_bytes: test.size_bytes,
        };
        let interval = interval
            .stretched(serial_factor(&process_rates))
            .widened(Bound::of(did, machine).range())
            .widened(disturbed(&samples))
            .widened(clock_part(&self.reference.loops));
        if test.path != "null" && interval.median > CEILING * self.copy_rate {
            let reason = format!(
                "{:.1e} bytes/s is more than {CEILING} times what this processor copies in its caches \
                 ({:.1e}): something else was measured",
                interval.median, self.copy_rate
            );
            return Err(refused(test, reason, true));
        }
        let operation_bytes = check.bytes as f64 / check.operations.max(1) as f64;
        let order = match pattern(task).order {
            Order::Sequential => "sequential",
            Order::Strided { .. } => "strided",
            Order::Random { .. } => "random",
        };
        Ok(BenchRow {
            test: test.name.clone(),
            about: test.about.clone(),
            path: test.path.to_owned(),
            c_library: c_library(),
            direction: if test.is_write { "write" } else { "read" }.to_owned(),
            order: order.to_owned(),
            block_bytes: test.block_bytes,
            size_bytes: test.size_bytes,
            depth: test.depth,
            state: test.state,
            bytes_per_second: interval.median,
            low: interval.low,
            high: interval.high,
            earlier_runs: 0,
            operation_ns: operation_bytes * 1e9 / interval.median,
            samples: samples.len() as u64,
            clean: samples.iter().filter(|sample| sample.is_clean).count() as u64,
            processes: groups.len() as u64,
            process_rates,
            trust,
            label_check: check,
            imac_2011: test.rates.map(|rates| rates[0]),
            thinkpad_2007: test.rates.map(|rates| rates[1]),
        })
    }
}

fn refused(test: &Test, reason: String, is_contradiction: bool) -> Refused {
    Refused { test: test.name.clone(), reason, is_contradiction }
}

/// Whether a test with this number of processes has one in this of all rounds: they are spread evenly.
fn is_due(round: u64, all: u64, processes: u64) -> bool {
    (round + 1) * processes / all > round * processes / all
}

/// What each process gives: the median rate of what may be counted. And how far they are to be trusted.
///
/// Processes without clean samples do not count where there are enough others: the median would go by how
/// many of them had company, which another run has more or less of.
pub(super) fn rates(groups: &[Vec<BenchSample>]) -> (Vec<f64>, Trust) {
    let (mut all, mut clean) = (0, 0);
    let (mut alone, mut rates) = (Vec::new(), Vec::with_capacity(groups.len()));
    for group in groups {
        let of = |only_clean: bool| {
            let kept = group.iter().filter(|sample| sample.is_clean || !only_clean);
            Spread::of(kept.map(BenchSample::bytes_per_second))
        };
        let (whole, kept) = (of(false), of(true));
        all += whole.map_or(0, |spread| spread.count);
        clean += kept.map_or(0, |spread| spread.count);
        let kept = kept.filter(|kept| kept.count >= CLEAN_MIN);
        alone.extend(kept.map(|spread| spread.median));
        rates.extend(kept.or(whole).map(|spread| spread.median));
    }
    let are_enough_alone = alone.len() >= PROCESSES_ALONE_MIN;
    if are_enough_alone {
        rates = alone;
    }
    let trust = match clean {
        clean if clean * 3 >= all => Trust::Clean,
        clean if are_enough_alone || clean >= CLEAN_MIN * groups.len() => Trust::Few,
        _ => Trust::Contended,
    };
    (rates, trust)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(elapsed_ns: u64, is_clean: bool) -> BenchSample {
        BenchSample { operations: 1, bytes: 1000, elapsed_ns, is_clean, ..BenchSample::default() }
    }

    #[test]
    fn processes_are_spread_over_all_rounds() {
        let due =
            |processes| (0..60).filter(|&round| is_due(round, 60, processes)).collect::<Vec<_>>();
        assert_eq!(due(60).len(), 60);
        assert_eq!(due(15)[..3], [3, 7, 11]);
        assert_eq!((due(15).len(), due(7).len(), due(1)), (15, 7, vec![59]));
    }

    #[test]
    fn contended_samples_do_not_count_while_there_are_clean_ones() {
        let check = |clean: usize, contended: usize, want: (f64, Trust)| {
            let mut group = vec![sample(1000, true); clean];
            group.extend(vec![sample(9000, false); contended]);
            let (rates, trust) = rates(&[group.clone(), group]);
            assert!(
                rates.iter().all(|rate| (rate / want.0 - 1.0).abs() < 1e-9),
                "{clean} {contended}: {rates:?}"
            );
            assert_eq!((rates.len(), trust), (2, want.1), "{clean} {contended}");
        };
        check(10, 0, (1e9, Trust::Clean));
        check(5, 6, (1e9, Trust::Clean));
        check(5, 60, (1e9, Trust::Few));
        check(1, 20, (1e9 / 9.0, Trust::Contended));
        check(0, 3, (1e9 / 9.0, Trust::Contended));
        assert_eq!(rates(&[]), (Vec::new(), Trust::Clean));
    }

    #[test]
    fn processes_that_were_never_alone_do_not_count_next_to_enough_that_were() {
        let check = |alone: usize, disturbed: usize, want: usize| {
            let mut groups = vec![vec![sample(1000, true); 6]; alone];
            groups.extend(vec![vec![sample(1300, false); 6]; disturbed]);
            let (rates, trust) = rates(&groups);
            assert_eq!(rates.len(), want, "{alone} {disturbed}");
            let is_fast = rates.iter().all(|rate| (rate / 1e9 - 1.0).abs() < 1e-9);
            assert_eq!(is_fast, want == alone, "{alone} {disturbed}");
            trust
        };
        assert_eq!(check(20, 40, 20), Trust::Clean);
        assert_eq!(check(11, 49, 11), Trust::Few);
        assert_eq!(check(10, 50, 60), Trust::Contended);
    }
}

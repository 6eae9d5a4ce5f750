//! One row: a test in several fresh processes, its samples sorted into clean and contended, its proof
//! held against its label.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use super::child::pattern;
use super::pages::is_in_memory;
use super::place::Prepared;
use super::table::{Layout, Test};
use super::watch::{Heard, Watch};
use super::{Error, proof, versus};
use crate::clock::{Random, Stopwatch};
use crate::experiment::result::{
    BenchRow, BenchSample, BenchSampleLine, BenchTask, Refused, State, Trust,
};
use crate::experiment::statistics::{Spread, rerun_interval};
use crate::path::Order;
use crate::sys::calls::c_library;

/// How much is done for a row and for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Fresh processes for a row of what is in memory.
    pub processes: u64,
    /// The same of what waits for a device, whose samples take longer.
    pub processes_device: u64,
    /// Clean samples wanted of each.
    pub clean: u64,
    /// Samples at most.
    pub samples_max: u64,
    /// How long a sample is meant to be.
    pub sample_ns: u64,
    /// How long a process may sample.
    pub time_ns_max: u64,
}

impl Effort {
    /// What is done by default.
    pub const FULL: Self = Self {
        processes: 15,
        processes_device: 15,
        clean: 6,
        samples_max: 30,
        sample_ns: 1_000_000,
        time_ns_max: 400_000_000,
    };
    /// What `--quick` does.
    pub const QUICK: Self = Self {
        processes: 11,
        processes_device: 7,
        clean: 3,
        samples_max: 12,
        sample_ns: 1_000_000,
        time_ns_max: 60_000_000,
    };
}

impl Effort {
    /// Fresh processes for a row of this test.
    pub fn processes_of(&self, test: &Test) -> u64 {
        if versus::is_device(test) { self.processes_device } else { self.processes }
    }
}

/// How much later than its end a run may wait for a process that hangs.
const LATE: Duration = Duration::from_secs(2);
/// A row of a run that ended early has at least so many processes.
pub const PROCESSES_MIN: u64 = 7;
/// Rates above this many times what the processor copies in its caches are refused.
const CEILING: f64 = 2.0;
/// A median of fewer clean samples of a process is not taken.
const CLEAN_MIN: usize = 2;
/// What runs differ by beyond what processes of one run do, as parts of a rate: in memory, and where a
/// device waits. Measured by `xtask truth`; `docs/performance.md` has the table.
const RUNS: f64 = 0.015;
const RUNS_DEVICE: f64 = 0.2;
/// What files of earlier rounds may take in memory and on the disc.
pub(super) const HELD_BYTES_MAX: u64 = 128 << 20;
/// For the order of tests: any number would do, the same in every run.
const SEED: u64 = 0x6e62_7566;

/// What all measurements share: the directory and its files, who watches children, who is told of
/// samples.
pub struct Bench<'a> {
    /// Who starts children and ends them.
    pub watch: &'a Watch,
    /// Where the files lie.
    pub directory: PathBuf,
    /// What the processor copies in its caches, in bytes a second.
    pub copy_rate: f64,
    /// Is told of each sample.
    pub tell: &'a mut dyn FnMut(&BenchSampleLine),
    /// A slowdown that is planted in every sample, in percent.
    pub slowdown_percent: f64,
    /// When nothing new is begun any more.
    pub deadline: Option<Deadline>,
    files: BTreeMap<(Role, u64), Prepared>,
    /// Files of earlier rounds, which keep their pages from the next ones.
    held: VecDeque<Prepared>,
    held_bytes: u64,
    /// Processes so far.
    processes: u64,
}

/// The end of a run that has one.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// Since when.
    pub clock: Stopwatch,
    /// How long.
    pub most: Duration,
}

impl Deadline {
    /// What is left; nothing when it is over.
    fn left(&self) -> Option<Duration> {
        self.most.checked_sub(self.clock.elapsed())
    }
}

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

/// What a file is for. Reads never see one that was written to; tests of what is in memory none that came
/// into memory in another way, page by page, or went out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Read,
    ReadDevice,
    Overwrite,
    OverwriteDevice,
    Grow,
}

impl Role {
    pub(super) fn of(test: &Test) -> Self {
        match (test.is_write, test.grows, is_in_memory(test.state)) {
            (false, _, true) => Self::Read,
            (false, _, false) => Self::ReadDevice,
            (true, true, _) => Self::Grow,
            (true, false, true) => Self::Overwrite,
            (true, false, false) => Self::OverwriteDevice,
        }
    }
}

impl<'a> Bench<'a> {
    /// With no files yet.
    pub fn new(
        watch: &'a Watch,
        directory: PathBuf,
        copy_rate: f64,
        tell: &'a mut dyn FnMut(&BenchSampleLine),
    ) -> Self {
        let (files, deadline) = (BTreeMap::new(), None);
        Self {
            watch,
            directory,
            copy_rate,
            tell,
            slowdown_percent: 0.0,
            deadline,
            files,
            held: VecDeque::new(),
            held_bytes: 0,
            processes: 0,
        }
    }

    /// The file of a test, made when it is first asked for.
    pub fn file(&mut self, test: &Test) -> Result<&Prepared, Error> {
        let role = Role::of(test);
        let size = if role == Role::Grow { 0 } else { test.size_bytes };
        let directory = &self.directory;
        match self.files.entry((role, size)) {
            std::collections::btree_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::btree_map::Entry::Vacant(entry) => {
                Ok(entry.insert(Prepared::make(directory, size)?))
            }
        }
    }

    /// Runs a test in one fresh process.
    pub fn process(&mut self, test: &Test, effort: &Effort) -> Result<(BenchTask, Heard), Error> {
        let grace = match self.deadline.map(|deadline| deadline.left()) {
            Some(None) => return Err(Error::Late),
            Some(Some(left)) => Watch::GRACE.min(left + LATE),
            None => Watch::GRACE,
        };
        let slowdown_percent = self.slowdown_percent;
        let file = self.file(test)?;
        if is_in_memory(test.state) {
            file.refresh()?;
        }
        let task = BenchTask {
            file: file.path(),
            clean: effort.clean,
            samples_max: effort.samples_max,
            sample_ns: effort.sample_ns * lengths(test),
            time_ns_max: effort.time_ns_max,
            slowdown_percent,
            ..test.task()
        };
        if test.is_write {
            file.settle();
        }
        let heard = self.watch.run(&task, grace)?;
        let process = self.processes;
        self.processes += 1;
        for &sample in &heard.samples {
            let line = BenchSampleLine { test: test.name.clone(), process, sample };
            (self.tell)(&line);
        }
        Ok((task, heard))
    }

    /// Rows, in the order of the tests, and how it ended. Where it ended early, rows have fewer
    /// processes, and those with fewer than [`PROCESSES_MIN`] are left out.
    ///
    /// Rounds: one process of each test, in an order drawn by lot, then the next of each. So what changes
    /// during the run (clocks, neighbours, the disc) is in every row's range, and not in one row alone.
    /// Files in memory are made again for each round while the old ones are still there, so that they
    /// lie on other pages: where they lie is worth a factor of two to mappings.
    pub fn rows(
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
            is_enough.then(|| self.judge(test, &rounds.task, &rounds.groups))
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
        for round in 0..effort.processes.max(effort.processes_device) {
            self.renew()?;
            let mut order: Vec<usize> = (0..tests.len()).collect();
            random.shuffle(&mut order);
            for number in order {
                let (test, rounds) = (&tests[number], &mut rounds[number]);
                if round >= effort.processes_of(test) {
                    continue;
                }
                step(&test.name);
                if rounds.refused.is_some() {
                    continue;
                }
                let (task, heard) = self.process(test, effort)?;
                rounds.refused = heard.refused;
                rounds.groups.push(heard.samples);
                rounds.task = task;
            }
        }
        Ok(())
    }

    /// Makes the files in memory again, on other pages than the old ones have: those are kept for a while,
    /// since the kernel gives out first what was freed last.
    fn renew(&mut self) -> Result<(), Error> {
        for ((role, size), file) in &mut self.files {
            if !matches!(role, Role::Read | Role::Overwrite) {
                continue;
            }
            let old = std::mem::replace(file, Prepared::make(&self.directory, *size)?);
            self.held_bytes += old.size_bytes;
            self.held.push_back(old);
            while self.held_bytes > HELD_BYTES_MAX {
                let Some(oldest) = self.held.pop_front() else { break };
                self.held_bytes -= oldest.size_bytes;
            }
        }
        Ok(())
    }

    /// One row, or why there is none.
    pub fn row(
        &mut self,
        test: &Test,
        effort: &Effort,
    ) -> Result<Result<BenchRow, Refused>, Error> {
        let (rows, ended) = self.rows(std::slice::from_ref(test), effort, &mut |_| {});
        ended?;
        let nothing = || Err(refused(test, "no sample was taken".to_owned(), false));
        Ok(rows.into_iter().next().unwrap_or_else(nothing))
    }

    fn judge(
        &self,
        test: &Test,
        task: &BenchTask,
        groups: &[Vec<BenchSample>],
    ) -> Result<BenchRow, Refused> {
        let samples: Vec<BenchSample> = groups.iter().flatten().copied().collect();
        let proof = proof::of(&samples);
        if let Some(reason) = proof::contradiction(task, &proof) {
            return Err(refused(test, reason, true));
        }
        let nothing = || refused(test, "no sample was taken".to_owned(), false);
        let (process_rates, trust) = rates(groups);
        let between = if versus::is_device(test) { RUNS_DEVICE } else { RUNS };
        let interval = rerun_interval(&process_rates).ok_or_else(nothing)?.widened(between);
        if test.path != "null" && interval.median > CEILING * self.copy_rate {
            let reason = format!(
                "{:.1e} bytes/s is more than {CEILING} times what this processor copies in its caches \
                 ({:.1e}): something else was measured",
                interval.median, self.copy_rate
            );
            return Err(refused(test, reason, true));
        }
        let operation_bytes = proof.bytes as f64 / proof.operations.max(1) as f64;
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
            operation_ns: operation_bytes * 1e9 / interval.median,
            samples: samples.len() as u64,
            clean: samples.iter().filter(|sample| sample.is_clean).count() as u64,
            processes: groups.len() as u64,
            process_rates,
            trust,
            proof,
            imac_2011: test.rates.map(|rates| rates[0]),
            thinkpad_2007: test.rates.map(|rates| rates[1]),
        })
    }
}

/// How many times longer samples of a test are than those of what is in memory.
///
/// A device answers in its own time. What begins cold brings readahead under way first, which here fetches
/// eight mebibytes for the first byte: a short sample would measure that alone.
pub(super) fn lengths(test: &Test) -> u64 {
    match test.state {
        // What nobody can read ahead brings little under way.
        State::Cold if test.layout != Layout::Sequential => 10,
        State::Cold => 40,
        _ if versus::is_device(test) => 3,
        _ => 1,
    }
}

fn refused(test: &Test, reason: String, is_contradiction: bool) -> Refused {
    Refused { test: test.name.clone(), reason, is_contradiction }
}

/// What each process says: the median rate of what may be counted. And how far they are to be trusted.
fn rates(groups: &[Vec<BenchSample>]) -> (Vec<f64>, Trust) {
    let (mut all, mut clean) = (0, 0);
    let mut rates = Vec::with_capacity(groups.len());
    for group in groups {
        let of = |only_clean: bool| {
            let kept = group.iter().filter(|sample| sample.is_clean || !only_clean);
            Spread::of(kept.map(BenchSample::bytes_per_second))
        };
        let (whole, kept) = (of(false), of(true));
        all += whole.map_or(0, |spread| spread.count);
        clean += kept.map_or(0, |spread| spread.count);
        rates.extend(kept.filter(|kept| kept.count >= CLEAN_MIN).or(whole).map(|s| s.median));
    }
    let trust = match clean {
        clean if clean * 3 >= all => Trust::Clean,
        clean if clean >= CLEAN_MIN * groups.len() => Trust::Few,
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
    fn hot_tests_have_files_of_their_own() {
        let role = |is_write, state| {
            Role::of(&super::super::table::modern(
                "read",
                is_write,
                (Layout::Random, 4096),
                state,
                1,
            ))
        };
        assert_eq!(role(false, State::Hot), Role::Read);
        assert_eq!(role(false, State::Cold), Role::ReadDevice);
        assert_eq!(role(false, State::Device), Role::ReadDevice);
        assert_eq!(role(true, State::Overwrite), Role::Overwrite);
        assert_eq!(role(true, State::Synced), Role::OverwriteDevice);
        assert_eq!(role(true, State::Append), Role::Grow);
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
}

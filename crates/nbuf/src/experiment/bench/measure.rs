//! One row: a test in several fresh processes, its samples sorted into clean and contended, its proof
//! held against its label.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::child::pattern;
use super::pages::is_in_memory;
use super::place::Prepared;
use super::table::{Layout, Test};
use super::watch::{Heard, Watch};
use super::{Error, proof, versus};
use crate::clock::Stopwatch;
use crate::experiment::result::{
    BenchRow, BenchSample, BenchSampleLine, BenchTask, Refused, State, Trust,
};
use crate::experiment::statistics::{Interval, interval_of_groups};
use crate::path::Order;
use crate::sys::calls::c_library;

/// How much is done for a row and for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Fresh processes for a row; at least five, as the course took.
    pub processes: u64,
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
        processes: 5,
        clean: 12,
        samples_max: 60,
        sample_ns: 1_000_000,
        time_ns_max: 400_000_000,
    };
    /// What `--quick` does.
    pub const QUICK: Self = Self {
        processes: 5,
        clean: 5,
        samples_max: 20,
        sample_ns: 1_000_000,
        time_ns_max: 60_000_000,
    };
}

/// How much later than its end a run may wait for a process that hangs.
const LATE: Duration = Duration::from_secs(2);
/// Rates above this many times what the processor copies in its caches are refused.
const CEILING: f64 = 2.0;
/// A median of fewer clean samples is not taken.
const CLEAN_MIN: usize = 5;
/// For the bootstrap: any number would do, the same in every run.
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
    /// When nothing new is begun any more.
    pub deadline: Option<Deadline>,
    files: BTreeMap<(Role, u64), Prepared>,
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
        Self { watch, directory, copy_rate, tell, deadline, files, processes: 0 }
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

    /// A row, or why there is none.
    pub fn row(
        &mut self,
        test: &Test,
        effort: &Effort,
    ) -> Result<Result<BenchRow, Refused>, Error> {
        let mut groups: Vec<Vec<BenchSample>> = Vec::new();
        let mut asked = test.task();
        for _ in 0..effort.processes {
            let (task, heard) = self.process(test, effort)?;
            if let Some(reason) = heard.refused {
                return Ok(Err(refused(test, reason, false)));
            }
            groups.push(heard.samples);
            asked = task;
        }
        Ok(self.judge(test, &asked, &groups))
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
        let (interval, trust) = rate(groups).ok_or_else(nothing)?;
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

/// The median rate of what may be counted, and how far it is to be trusted.
fn rate(groups: &[Vec<BenchSample>]) -> Option<(Interval, Trust)> {
    let of = |kept: fn(&BenchSample) -> bool| -> Vec<Vec<f64>> {
        let rates = |group: &Vec<BenchSample>| {
            group.iter().filter(|s| kept(s)).map(BenchSample::bytes_per_second).collect()
        };
        groups.iter().map(rates).collect()
    };
    let clean = of(|sample| sample.is_clean);
    let (all, count) = (groups.iter().flatten().count(), clean.iter().flatten().count());
    if count < CLEAN_MIN {
        return Some((interval_of_groups(&of(|_| true), SEED)?, Trust::Contended));
    }
    let trust = if count * 3 < all { Trust::Few } else { Trust::Clean };
    Some((interval_of_groups(&clean, SEED)?, trust))
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
            let (interval, trust) = rate(&[group.clone(), group]).unwrap();
            assert!(
                (interval.median / want.0 - 1.0).abs() < 1e-9,
                "{clean} {contended}: {interval:?}"
            );
            assert_eq!(trust, want.1, "{clean} {contended}");
        };
        check(10, 0, (1e9, Trust::Clean));
        check(5, 6, (1e9, Trust::Clean));
        check(5, 60, (1e9, Trust::Few));
        check(2, 20, (1e9 / 9.0, Trust::Contended));
        check(0, 3, (1e9 / 9.0, Trust::Contended));
        assert_eq!(rate(&[]), None);
    }
}

//! What all processes of a run share: the files, each as its tests want it, and the time.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use super::pages::is_in_memory;
use super::table::{Layout, Test};
use super::test_files::Prepared;
use super::{Error, comparisons};
use crate::clock::Stopwatch;
use crate::experiment::result::{BenchReference, BenchTask, State};
use crate::experiment::session::Session;

/// How much is done for a row and for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// Fresh processes for a row of what is in memory. Many, so that a run is long enough to see what
    /// makes the next one differ.
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
    /// Whether each sample is a whole pass, instead of as long as `sample_ns`.
    pub is_whole_pass: bool,
}

impl Effort {
    /// What is done by default.
    pub(super) const FULL: Self = Self {
        processes: 60,
        processes_device: 15,
        clean: 6,
        samples_max: 60,
        sample_ns: 500_000,
        time_ns_max: 400_000_000,
        is_whole_pass: false,
    };
    /// What `--quick` does.
    pub(super) const QUICK: Self = Self {
        processes: 11,
        processes_device: 7,
        clean: 3,
        samples_max: 12,
        sample_ns: 1_000_000,
        time_ns_max: 60_000_000,
        is_whole_pass: false,
    };
}

impl Effort {
    /// Fresh processes for a row of this test.
    pub(super) fn processes_of(&self, test: &Test) -> u64 {
        if comparisons::is_device(test) { self.processes_device } else { self.processes }
    }
}

/// What files of earlier rounds may take in memory and on the disc.
pub(super) const HELD_BYTES_MAX: u64 = 128 << 20;

/// What all measurements share: the directory and its files, and the session.
pub(super) struct Bench<'a> {
    /// Its observer gets the samples.
    pub session: &'a Session<'a>,
    /// Where the files lie.
    pub directory: PathBuf,
    /// What the processor copies in its caches, in bytes a second.
    pub copy_rate: f64,
    /// The processor's last cache; 0 where it is not known.
    pub cache_bytes: u64,
    /// What the machine itself gave, round by round.
    pub reference: BenchReference,
    /// A slowdown that is planted in every sample, in percent.
    pub slowdown_percent: f64,
    /// When nothing new is begun any more.
    pub deadline: Option<Deadline>,
    /// A file to be read instead of ours.
    pub lent: Option<Prepared>,
    files: BTreeMap<(Role, u64), Prepared>,
    /// Files of earlier rounds, which keep their pages from the next ones.
    held: VecDeque<Prepared>,
    held_bytes: u64,
    /// The shortest loop of all samples, by which is known what shared its core; 0 before the first.
    pub(super) loop_best_ns: u64,
    /// The loops of all samples.
    pub(super) loops_ns: Vec<u64>,
    /// How often files were made again: the place of memory goes by it.
    pub(super) renewals: u64,
    /// Processes so far.
    pub(super) processes: u64,
}

/// The end of a run that has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    /// Since when.
    pub clock: Stopwatch,
    /// How long.
    pub most: Duration,
}

impl Deadline {
    /// What is left; nothing when it is over.
    pub(super) fn left(&self) -> Option<Duration> {
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

    /// Whether files of this size are made again, on other pages. A large one would cost more than all processes
    /// of a round.
    pub(super) const fn is_renewed(self, size_bytes: u64) -> bool {
        matches!(self, Self::Read | Self::Overwrite) && size_bytes <= HELD_BYTES_MAX
    }
}

impl<'a> Bench<'a> {
    /// With no files yet.
    pub(super) fn new(session: &'a Session<'a>, directory: PathBuf, copy_rate: f64) -> Self {
        let (files, deadline) = (BTreeMap::new(), None);
        Self {
            session,
            directory,
            copy_rate,
            cache_bytes: 0,
            reference: BenchReference::default(),
            slowdown_percent: 0.0,
            deadline,
            lent: None,
            files,
            held: VecDeque::new(),
            held_bytes: 0,
            loop_best_ns: 0,
            loops_ns: Vec::new(),
            processes: 0,
            renewals: 0,
        }
    }

    /// The file of a test, made when it is first asked for.
    pub(super) fn file(&mut self, test: &Test) -> Result<&Prepared, Error> {
        if let Some(lent) = self.lent.as_ref().filter(|_| !test.is_write) {
            return Ok(lent);
        }
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

    /// Makes the files in memory again, on other pages than the old ones have: those are kept for a while,
    /// since the kernel gives out first what was freed last.
    pub(super) fn renew(&mut self) -> Result<(), Error> {
        self.renew_some(|_| true)
    }

    /// The same for the files of these tests alone.
    pub(super) fn renew_for(&mut self, tests: &[&Test]) -> Result<(), Error> {
        self.renew_some(|key| tests.iter().any(|test| (Role::of(test), test.size_bytes) == key))
    }

    fn renew_some(&mut self, is_wanted: impl Fn((Role, u64)) -> bool) -> Result<(), Error> {
        self.renewals += 1;
        for (&(role, size), file) in &mut self.files {
            if !role.is_renewed(size) || !is_wanted((role, size)) {
                continue;
            }
            let old = std::mem::replace(file, Prepared::make(&self.directory, size)?);
            self.held_bytes += old.size_bytes;
            self.held.push_back(old);
            while self.held_bytes > HELD_BYTES_MAX {
                let Some(oldest) = self.held.pop_front() else { break };
                self.held_bytes -= oldest.size_bytes;
            }
        }
        Ok(())
    }
}

/// How many times longer samples of a test are than those of what is in memory.
///
/// A device answers in its own time. What begins cold brings readahead under way first, which here fetches
/// eight mebibytes for the first byte: a short sample would measure that alone.
pub(super) fn lengths(test: &Test) -> u64 {
    match test.state {
        // What cannot be read ahead puts few requests under way.
        State::Cold if test.layout != Layout::Sequential => 10,
        State::Cold => 40,
        _ if comparisons::is_device(test) => 3,
        _ => 1,
    }
}

/// What cold samples begin with: as much as readahead brings at a time.
const COLD_BYTES: u64 = 8 << 20;
const COLD_OPERATIONS: u64 = 4096;
const COLD_OPERATIONS_RANDOM: u64 = 8;

/// Operations to begin with. What begins cold has to get past what its first operation brings.
pub(super) fn first_slice(task: &BenchTask) -> u64 {
    match (task.state, task.is_random) {
        (State::Cold, true) => COLD_OPERATIONS_RANDOM,
        (State::Cold, false) => (COLD_BYTES / task.block_bytes.max(1)).clamp(1, COLD_OPERATIONS),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

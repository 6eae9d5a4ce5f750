//! What a plan costs: the room for its files, how much it writes, how long it takes. Reported before it
//! begins.
//!
//! Estimates, from what processes and operations took on the machines that were measured. Samples that shared
//! their core are taken again, so the share of such samples counts, as it is before the plan begins. Bytes written are those of
//! all files, each time that they are made, and of all calls and stores. Most of what calls and stores write into memory is
//! written over again before a disc sees it.

use std::collections::BTreeSet;

use super::comparisons::Comparison;
use super::measure::{Effort, HELD_BYTES_MAX, Role, lengths};
use super::model;
use super::pair::{Design, renewals};
use super::plan::Plan;
use super::table::{Layout, Test, modern};
use crate::experiment::result::State;
use crate::units::{Bytes, whole};

/// What a plan costs, reported before it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CostEstimate {
    /// Files that are there at the same time.
    pub files: Bytes,
    /// What is written in all, about.
    pub written: Bytes,
    /// Seconds, about, if as many samples are clean as now; at most those that the plan has.
    pub seconds: f64,
    /// The same where the machine is so noisy that all pairs of a [`Design`] and all samples are made.
    pub seconds_max: f64,
}

/// What a process costs besides its samples: to start, to prepare its file.
const START_NS: u64 = 6_000_000;
/// What a byte of a file costs that is made again, until the disc has it.
const RENEWED_BYTE_NS: f64 = 1.2;
/// Samples that a process takes before those that count, to find how many operations make one.
const FINDING: u64 = 6;

impl Plan {
    /// What it costs if this share of samples is clean. Files that grow are as large as what they grow to.
    pub(super) fn cost(&self, clean_share: f64) -> CostEstimate {
        let lines: Vec<Test> = self.models.iter().flat_map(|&line| self.of_line(line)).collect();
        let sides = self.comparisons.iter().flat_map(|pair| [&pair.a, &pair.b]);
        let tests = || self.tests.iter().chain(sides.clone()).chain(&lines);
        let files: BTreeSet<(Role, u64)> =
            tests().map(|test| (Role::of(test), test.size_bytes)).collect();
        let files: u64 = files.iter().map(|file| file.1).filter(|_| !self.is_lent).sum();
        let total = |clean_share| self.total(files, &lines, clean_share);
        let (usual, most) = (total(Some(clean_share)), total(None));
        let seconds = |sum: &Sum| {
            let seconds = sum.ns as f64 / 1e9;
            self.time_max.map_or(seconds, |most| seconds.min(most.as_secs_f64()))
        };
        CostEstimate {
            // Those of earlier rounds, and the one that is made before the oldest goes.
            files: Bytes(files + files.min(HELD_BYTES_MAX)),
            written: Bytes(usual.written),
            seconds: seconds(&usual),
            seconds_max: seconds(&most),
        }
    }

    /// What all of it takes if this share of samples is clean; without a share, if all pairs and all samples are
    /// made that may be.
    fn total(&self, files: u64, lines: &[Test], clean_share: Option<f64>) -> Sum {
        let pairs = |design: &Design| clean_share.map_or(design.pairs_max, |_| design.pairs);
        let mut total = Sum { ns: 0, written: files, clean_share };
        let sides = self.comparisons.iter().flat_map(|pair| [&pair.a, &pair.b]);
        // Before the first round there is nothing to make again.
        let rounds = self.effort.processes.max(self.effort.processes_device);
        total.renew(rounds.saturating_sub(1), self.renewed(&self.tests));
        for test in &self.tests {
            total.add(test, &self.effort, self.effort.processes_of(test));
        }
        // Each line has rounds, and all files that there are by then are made again.
        let all = self.tests.iter().chain(sides).chain(lines);
        total.renew(self.models.len() as u64 * model::EFFORT.processes, self.renewed(all));
        for test in lines {
            total.add(test, &model::EFFORT, model::EFFORT.processes_of(test));
        }
        for pair in &self.comparisons {
            let design = self.design(pair);
            total.renew(renewals(pairs(design)), self.renewed([&pair.a, &pair.b]));
            for side in [&pair.a, &pair.b] {
                total.add(side, &design.effort, pairs(design) as u64);
            }
        }
        for (needs_device, design) in [(false, &self.memory), (true, &self.device)] {
            let tests = self.floor_tests(needs_device);
            if !self.needs_floor(needs_device) || tests.is_empty() {
                continue;
            }
            for test in tests.iter().cycle().take(design.same) {
                total.renew(renewals(pairs(design)), self.renewed([test]));
                total.add(test, &design.effort, pairs(design) as u64 * 2);
            }
        }
        total
    }

    /// The bytes of those files of these tests that are made again, on other pages.
    fn renewed<'a>(&self, tests: impl IntoIterator<Item = &'a Test>) -> u64 {
        if self.is_lent {
            return 0;
        }
        let files = tests.into_iter().map(|test| (Role::of(test), test.size_bytes));
        let files: BTreeSet<(Role, u64)> =
            files.filter(|&(role, size_bytes)| role.is_renewed(size_bytes)).collect();
        files.into_iter().map(|(_, size_bytes)| size_bytes).sum()
    }

    /// The tests of a line.
    fn of_line(&self, (path, is_write, state): (&'static str, bool, State)) -> Vec<Test> {
        let blocks = model::BLOCKS.into_iter().filter(|block| *block <= self.model_bytes);
        let test = |block| Test {
            size_bytes: self.model_bytes,
            ..modern(path, is_write, (Layout::Sequential, block), state, 1)
        };
        blocks.map(test).collect()
    }

    fn design(&self, pair: &Comparison) -> &Design {
        if pair.needs_device() { &self.device } else { &self.memory }
    }
}

struct Sum {
    ns: u64,
    written: u64,
    clean_share: Option<f64>,
}

impl Sum {
    /// Files are made again: this number of times, each with this number of bytes.
    fn renew(&mut self, times: u64, bytes: u64) {
        let bytes = times * bytes;
        self.written += bytes;
        self.ns += whole(bytes as f64 * RENEWED_BYTE_NS);
    }

    /// This number of processes of a test.
    fn add(&mut self, test: &Test, effort: &Effort, processes: u64) {
        let samples = self.clean_share.map_or(effort.samples_max, |share| {
            whole(effort.clean as f64 / share).min(effort.samples_max)
        });
        let wanted = effort.sample_ns * lengths(test) * (samples + FINDING);
        let sampling = wanted.min(effort.time_ns_max);
        self.ns += processes * (sampling + START_NS);
        if test.is_write {
            let seconds = sampling as f64 / 1e9;
            self.written += processes * whole(seconds * rate(test));
        }
    }
}

/// Bytes a second that a way writes, to the order: from the table in `docs/experiments/cs61.md`.
fn rate(test: &Test) -> f64 {
    let block = test.block_bytes as f64;
    match test.state {
        State::Synced => block * 6e3,
        State::Device => block * 25e3,
        // A call of the kernel, or one of the library.
        _ if ["stdio", "buffered", "mmap"].iter().any(|way| test.path.starts_with(way)) => {
            1e9 / (4.0 / block + 0.7)
        }
        _ => 1e9 / (600.0 / block + 0.5),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn plan(tests: Vec<Test>) -> Plan {
        Plan {
            directory: "/".into(),
            is_lent: false,
            tests,
            effort: Effort::FULL,
            has_floor: false,
            comparisons: Vec::new(),
            memory: Design::MEMORY,
            device: Design::DEVICE,
            models: Vec::new(),
            model_bytes: 1 << 20,
            time_max: None,
            slowdown_percent: 0.0,
        }
    }

    #[test]
    fn writes_are_announced_and_not_only_files() {
        let test = |is_write, state| modern("read", is_write, (Layout::Sequential, 4096), state, 1);
        let read = plan(vec![test(false, State::Hot), test(false, State::Hot)]).cost(1.0);
        // Each of the rounds has a file on other pages.
        assert_eq!((read.files, read.written), (Bytes(128 << 20), Bytes(60 * (64 << 20))));
        let both = plan(vec![test(false, State::Hot), test(true, State::Overwrite)]).cost(1.0);
        assert_eq!(both.files, Bytes(256 << 20));
        assert!(both.written > Bytes(192 << 20), "{both:?}");
        // Hot and cold have a file each.
        let cold = plan(vec![test(false, State::Hot), test(false, State::Cold)]).cost(1.0);
        assert_eq!(cold.files, Bytes(256 << 20));
        assert!(cold.seconds > read.seconds);
        let mut lent = plan(vec![test(false, State::Hot)]);
        lent.is_lent = true;
        assert_eq!((lent.cost(1.0).files, lent.cost(1.0).written), (Bytes(0), Bytes(0)));
        let mut short = plan(vec![test(false, State::Cold); 1000]);
        short.time_max = Some(Duration::from_secs(54));
        assert!((short.cost(1.0).seconds - 54.0).abs() < 1e-9);
        let mut compared = plan(Vec::new());
        compared.has_floor = true;
        let cost = compared.cost(1.0);
        assert!(cost.seconds_max > 2.0 * cost.seconds, "{cost:?}");
        let full = cost.seconds_max;
        compared.memory = Design::MEMORY.brief();
        let cost = compared.cost(1.0);
        assert!(cost.seconds < cost.seconds_max && cost.seconds_max < full, "{cost:?}");
        let shared = compared.cost(0.5);
        assert!(shared.seconds > cost.seconds && shared.seconds < cost.seconds_max, "{shared:?}");
        assert!((shared.seconds_max - cost.seconds_max).abs() < 1e-9, "{shared:?}");
    }
}

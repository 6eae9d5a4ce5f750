//! The same meters for each process, thread or file, as counts and sums.
//!
//! Memory: at most [`KEYS_MAX`] keys, with 24 bytes for each kind that one of them has; what comes later is in one sum.

use std::collections::{BTreeMap, HashMap};

use super::{File, Kind};

/// Keys that have rows of their own.
const KEYS_MAX: usize = 1000;

/// What has rows of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum By {
    /// A process.
    #[default]
    Process,
    /// A thread.
    Thread,
    /// A file: faults and system calls that looked for its pages.
    File,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// A process or thread, by its number.
    Task(u32),
    /// A file.
    File(File),
    /// What is about no file.
    NoFile,
}

/// How many, and how long they took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    /// How many.
    pub count: u64,
    /// All of them together.
    pub total_ns: u64,
}

/// The sums of each kind.
pub(crate) type Sums = BTreeMap<Kind, Sum>;

/// The meters of each key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keyed {
    /// What the keys are.
    pub by: By,
    /// The sums of each of the first keys.
    pub sums: BTreeMap<Key, Sums>,
    /// The sums of all others together.
    pub others: Sums,
    processes: HashMap<u32, u32>,
}

impl Keyed {
    pub(super) fn new(by: By) -> Self {
        Self { by, ..Self::default() }
    }

    /// A thread was created by another one.
    pub(super) fn born(&mut self, thread: u32, parent: u32, is_process: bool) {
        let process = if is_process { thread } else { self.process(parent) };
        self.processes.insert(thread, process);
    }

    /// The process of a thread.
    pub(crate) fn process(&self, thread: u32) -> u32 {
        self.processes.get(&thread).copied().unwrap_or(thread)
    }

    pub(super) fn key(&self, thread: u32, file: Option<File>) -> Key {
        match self.by {
            By::Process => Key::Task(self.process(thread)),
            By::Thread => Key::Task(thread),
            By::File => file.map_or(Key::NoFile, Key::File),
        }
    }

    pub(super) fn add(&mut self, key: Key, kind: Kind, ns: u64) {
        let has_room = self.sums.len() < KEYS_MAX || self.sums.contains_key(&key);
        let sums = if has_room { self.sums.entry(key).or_default() } else { &mut self.others };
        let sum = sums.entry(kind).or_default();
        sum.count += 1;
        sum.total_ns = sum.total_ns.saturating_add(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_keys_are_summed() {
        let mut keyed = Keyed::new(By::Thread);
        let last = u32::try_from(KEYS_MAX).unwrap() + 5;
        for thread in (0..last).chain(0..last) {
            keyed.add(keyed.key(thread, None), Kind::MinorFault, 3);
        }
        assert_eq!(keyed.sums.len(), KEYS_MAX);
        assert_eq!(keyed.sums[&Key::Task(7)][&Kind::MinorFault], Sum { count: 2, total_ns: 6 });
        assert_eq!(keyed.others[&Kind::MinorFault], Sum { count: 10, total_ns: 30 });
    }

    #[test]
    fn threads_are_of_the_process_that_made_them() {
        let mut keyed = Keyed::new(By::Process);
        keyed.born(8, 7, true);
        keyed.born(9, 8, false);
        keyed.born(10, 9, false);
        let keys = [7, 8, 9, 10].map(|thread| keyed.key(thread, None));
        assert_eq!(keys, [7, 8, 8, 8].map(Key::Task));
    }
}

//! What each thread of a command did, one part after the other, with the names of threads and processes.

use std::collections::BTreeMap;
use std::fs;

use crate::meter::split::{Slice, Slices};

/// Slices that are kept: 24 bytes each here, and some 110 in a file.
const SLICES_MAX: usize = 1_000_000;
/// Threads whose names are looked up in one tick.
const LOOKS_MAX: usize = 256;

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its process.
    pub process: u32,
    /// The last name that a look found.
    pub name: String,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    /// Threads by number.
    pub threads: BTreeMap<u32, Named>,
    /// In the order of their ends.
    pub slices: Vec<Slice>,
    /// How many more there were.
    pub cut: u64,
}

impl Timeline {
    /// Room for the slices of a split.
    pub(super) fn slices() -> Slices {
        Slices::at_most(SLICES_MAX)
    }

    /// A thread was created by another one; by none, the first of the command.
    pub(super) fn born(&mut self, thread: u32, parent: Option<u32>, is_process: bool) {
        let of_parent = parent.and_then(|parent| self.threads.get(&parent)).cloned();
        let process = match &of_parent {
            Some(parent) if !is_process => parent.process,
            _ => thread,
        };
        let name = of_parent.map(|parent| parent.name).unwrap_or_default();
        self.threads.insert(thread, Named { process, name });
    }

    /// A thread has another name.
    pub(super) fn named(&mut self, thread: u32, name: &[u8]) {
        let Some(named) = self.threads.get_mut(&thread) else { return };
        let text = name.split(|&byte| byte == 0).next().unwrap_or_default();
        named.name = String::from_utf8_lossy(text).into_owned();
    }

    /// Looks up the names of the newest threads. An ended one keeps its last name.
    pub(super) fn look(&mut self) {
        for (thread, named) in self.threads.iter_mut().rev().take(LOOKS_MAX) {
            let path = format!("/proc/{}/task/{thread}/comm", named.process);
            if let Ok(name) = fs::read_to_string(path) {
                name.trim_end().clone_into(&mut named.name);
            }
        }
    }
}

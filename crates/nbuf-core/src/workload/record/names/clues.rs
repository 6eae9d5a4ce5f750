//! What was seen of files that the command has not touched: kept in memory, written nowhere.
//!
//! Invariant: a bounded number; the oldest are forgotten first, and counted. Pure.

use std::collections::{HashMap, VecDeque};

use crate::sys::handle::FileHandle;
use crate::workload::record::key::Key;
use crate::workload::record::roots::Look;

/// Files that are remembered, at some 300 bytes each.
const FILES_MAX: usize = 100_000;

/// What is known of a file that was opened.
#[derive(Clone, Debug, Default)]
pub(super) struct Clue {
    /// Who opened it.
    pub(super) process: i32,
    /// What the kernel calls it.
    pub(super) file: Option<FileHandle>,
    /// The directory it was opened in, and its name there.
    pub(super) place: Option<(FileHandle, Box<[u8]>)>,
    /// What a look at it showed, where there was no handle to look by later; or at the file of an
    /// overlay that it stands behind.
    pub(super) seen: Option<Look>,
}

impl Clue {
    /// Takes in what was seen later. An inode may be another file by then: what a process of the
    /// command opened is then rather the one that the command touched.
    pub(super) fn merge(&mut self, later: Self, is_ours: &impl Fn(i32) -> bool) {
        let is_another = self.file.is_some() && later.file.is_some() && self.file != later.file;
        if is_another {
            if is_ours(later.process) || !is_ours(self.process) {
                *self = later;
            }
            return;
        }
        self.process = later.process;
        self.file = later.file.or(self.file.take());
        self.place = later.place.or(self.place.take());
        self.seen = later.seen.or(self.seen.take());
    }
}

/// What was seen of files, by what the tracepoints call them.
#[derive(Debug, Default)]
pub(super) struct Clues {
    all: HashMap<Key, Clue>,
    /// In the order in which they were first seen; some may be gone from there.
    order: VecDeque<Key>,
    /// How many were forgotten.
    pub(super) forgotten: u64,
}

impl Clues {
    /// Remembers a clue.
    pub(super) fn add(&mut self, key: Key, clue: Clue, is_ours: &impl Fn(i32) -> bool) {
        if let Some(known) = self.all.get_mut(&key) {
            known.merge(clue, is_ours);
            return;
        }
        self.all.insert(key, clue);
        self.order.push_back(key);
        while self.order.len() > FILES_MAX {
            let oldest = self.order.pop_front();
            let was_there = oldest.and_then(|key| self.all.remove(&key)).is_some();
            self.forgotten += u64::from(was_there);
        }
    }

    /// Gives up a clue: the command touched that file.
    pub(super) fn take(&mut self, key: Key) -> Option<Clue> {
        self.all.remove(&key)
    }

    /// The devices with files that were seen.
    pub(super) fn devices(&self) -> impl Iterator<Item = u32> {
        self.all.keys().map(|&(device, _)| device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clue(process: i32, generation: u8) -> Clue {
        let file = FileHandle::new(1, &[generation; 8]);
        Clue { process, file, ..Clue::default() }
    }

    #[test]
    fn the_oldest_are_forgotten_and_counted() {
        let mut clues = Clues::default();
        for inode in 0..FILES_MAX as u64 + 3 {
            clues.add((1, inode), Clue::default(), &|_| false);
            if inode == 1 {
                assert!(clues.take((1, 1)).is_some());
            }
        }
        assert_eq!(
            (clues.forgotten, clues.all.len(), clues.order.len()),
            (2, FILES_MAX, FILES_MAX)
        );
        assert!(clues.take((1, 0)).is_none() && clues.take((1, 3)).is_some());
    }

    #[test]
    fn an_inode_used_again_is_the_file_of_the_command() {
        let is_ours = |process| process == 5;
        let cases =
            [((5, 1), (6, 2), 5), ((6, 1), (5, 2), 5), ((6, 1), (7, 2), 7), ((5, 1), (6, 1), 6)];
        for (first, later, want) in cases {
            let mut got = clue(first.0, first.1);
            got.merge(clue(later.0, later.1), &is_ours);
            assert_eq!(got.process, want, "{first:?} {later:?}");
        }
    }

    #[test]
    fn what_an_overlay_calls_it_stays() {
        let path = Some(b"/merged".to_vec());
        let seen = Some(Look { time_ns: 1, file: None, born: None, path });
        let mut got = Clue { seen: seen.clone(), ..Clue::default() };
        got.merge(clue(1, 1), &|_| false);
        assert!(got.seen == seen && got.file.is_some());
    }
}

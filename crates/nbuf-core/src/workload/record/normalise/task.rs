//! What is known of each task while its events go by.

use std::collections::{HashMap, VecDeque};

use crate::trace::{CacheEvent, FileId, Record};
use crate::units::PAGE_BYTES;

/// A demand of a task: file, first and last page, request.
pub(super) type Demand = (FileId, u64, u64, u32);

/// What is known of a task while its events go by.
#[derive(Debug, Default)]
pub(super) struct Task {
    pub(super) last: Option<Demand>,
    /// Last write: file, where it began so far, and where it ends.
    pub(super) written: Option<(FileId, u64, u64)>,
    /// Numbers of the fills since then, not yet distinguished.
    pub(super) pending: VecDeque<usize>,
    /// Pages of the last read.
    pub(super) read_pages: u64,
}

impl Task {
    /// Where a read that was seen from `first` on began.
    ///
    /// The kernel says nothing of a batch whose last folio was not ready (`filemap_get_pages`
    /// returns early), so that the beginning of a read can be missing. Programs read in steps of
    /// one size: if a read of the size before this one would have begun at the beginning of the
    /// file, or where the read before ended, it did.
    pub(super) fn request_start(&self, file: FileId, first: u64, last: u64) -> u64 {
        let Some(start) = (last + 1).checked_sub(self.read_pages) else { return first };
        let expected = match self.last {
            Some((before, _, to, _)) if before == file => to + 1,
            _ => 0,
        };
        if start < first && start == expected { start } else { first }
    }
}

/// The tasks that were met. Most events are of the task of the event before: that costs no look-up.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    all: Vec<Task>,
    places: HashMap<u32, usize>,
    recent: Option<(u32, usize)>,
}

impl Tasks {
    /// The task with this number, which may be new.
    pub(super) fn of(&mut self, number: u32) -> &mut Task {
        let place = match self.recent {
            Some((recent, place)) if recent == number => place,
            _ => *self.places.entry(number).or_insert_with(|| {
                self.all.push(Task::default());
                self.all.len() - 1
            }),
        };
        self.recent = Some((number, place));
        &mut self.all[place]
    }

    /// The numbers of all of them.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.places.keys().copied().collect()
    }
}

/// A fill inside the demand before it or after it was asked for.
pub(super) fn tell_apart(record: &mut Record, demands: [Option<Demand>; 2]) {
    let first = record.offset_bytes / PAGE_BYTES;
    let last = first + u64::from(record.length_bytes) / PAGE_BYTES - 1;
    let asked = demands
        .into_iter()
        .flatten()
        .find(|&(file, from, to, _)| file == record.file && first <= to && from <= last);
    if let Some((.., request)) = asked {
        record.op = CacheEvent::Fill;
        record.request = request;
    }
}

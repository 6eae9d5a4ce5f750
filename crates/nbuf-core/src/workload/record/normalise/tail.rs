//! The newest records, which may still change, in front of those that are packed for good.
//!
//! Invariant: records keep the order and the numbers in which they were pushed. Cost: 48 bytes for
//! each of the newest, few enough to be held next to the others.

use std::collections::VecDeque;

use crate::trace::{Record, Records};

/// Records that can still be changed.
pub(super) const TAIL_RECORDS: usize = 1 << 16;

/// Records in the making.
#[derive(Debug, Default)]
pub(super) struct Tail {
    packed: Records,
    newest: VecDeque<Record>,
}

impl Tail {
    /// The number of the next record.
    pub(super) fn next_number(&self) -> usize {
        self.packed.len() + self.newest.len()
    }

    pub(super) fn push(&mut self, record: Record) {
        self.newest.push_back(record);
    }

    /// The record with this number, unless it has been packed.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Record> {
        self.newest.get_mut(number.checked_sub(self.packed.len())?)
    }

    /// The oldest record that can be changed, and its number, if it is about to be packed.
    pub(super) fn overdue(&mut self) -> Option<(usize, &mut Record)> {
        let is_full = self.newest.len() > TAIL_RECORDS;
        let number = self.packed.len();
        self.newest.front_mut().filter(|_| is_full).map(|record| (number, record))
    }

    /// Packs the oldest record.
    pub(super) fn pack_one(&mut self) {
        self.packed.extend(self.newest.pop_front());
    }

    /// Packs them all.
    pub(super) fn finish(mut self) -> Records {
        self.packed.extend(self.newest);
        self.packed
    }
}

//! How long hash lists are: each at the end, and for their distribution each period from when the cache is
//! full; before, its empty entries stand on list 0.
//!
//! Cost: a look at every entry a period, where there are lists of [`LOOKED_MAX`] entries or fewer.

use super::{Meter, Observer, Subject};
use crate::cache::layer::Layer;
use crate::experiment::result::{FigureLists, ReplayFigures};
use crate::meter::lists::Lists;
use crate::units::Nanos;

/// Entries of hash lists up to which they are looked at more than twice.
const LOOKED_MAX: u64 = 1 << 14;

/// The percentage of entries that are not empty in a full cache: evicted entries leave holes.
const FULL_PERCENT: u64 = 95;

struct HashLists {
    lists: Lists,
    looks: bool,
}

pub(super) fn build(_: &Subject) -> Box<dyn Meter> {
    Box::new(HashLists { lists: Lists::default(), looks: true })
}

impl HashLists {
    fn figure(&self) -> Option<FigureLists> {
        Some(FigureLists {
            mean: self.lists.mean()?,
            lengths: self.lists.lengths().to_vec(),
            looks: self.lists.looks(),
            distribution: self.lists.distribution().to_vec(),
            longest: self.lists.lengths().iter().copied().max()?,
            share_up_to_3: self.lists.share_up_to(3),
        })
    }
}

impl Meter for HashLists {
    fn show(&self, figures: &mut ReplayFigures) {
        figures.lists = self.figure();
    }
}

impl Observer for HashLists {
    fn tick(&mut self, _: Nanos, cache: &dyn Layer) {
        if !self.looks {
            return;
        }
        let lengths = cache.list_lengths();
        let entries: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        self.looks = (1..=LOOKED_MAX).contains(&entries);
        let is_full = || cache.addresses().len() as u64 * 100 >= entries * FULL_PERCENT;
        if self.looks && is_full() {
            self.lists.look(lengths);
        }
    }

    fn end(&mut self, _: Nanos, cache: &dyn Layer) {
        let lengths = cache.list_lengths();
        if !lengths.is_empty() {
            self.lists.look(lengths);
        }
    }
}

//! What the tasks of a group leave for one volume, in the order of time.
//!
//! Invariant: what came before a time that was asked for is merged first, and with the rest gives what all gives.

use std::collections::BTreeMap;

use super::summary::Entry;
use crate::experiment::result::{FleetPiece, FleetTask};
use crate::meter::segment::{NO_LIMIT, Segment};
use crate::meter::steps::Hits;
use crate::workload::pages::PAGE_BITS;

/// What the tasks of a group leave for one volume.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) segments: Vec<Segment>,
    /// How many of these, the first ones, came before a time that was asked for; nothing where none was.
    pub(super) early: Option<usize>,
    /// Whether one that came before is behind one that did not.
    pub(super) is_mixed: bool,
    /// What came before, where nothing is merged.
    pub(super) early_alone: Option<Segment>,
    /// How many parts there are, and the segments of each.
    pub(super) parts: Option<(u32, BTreeMap<u32, Vec<Segment>>)>,
    pub(super) head: Vec<Segment>,
    /// Numbers of objects, which are the same in all inputs.
    pub(super) objects: BTreeMap<String, u64>,
    pub(super) accesses: u64,
    pub(super) distinct: u64,
    pub(super) has_holes: bool,
    /// Pieces in time, however they were cut.
    pub(super) count: usize,
    pub(super) overlaps: bool,
    pub(super) last_ns: Option<i64>,
}

impl Pieces {
    /// Takes what the next task left.
    pub(super) fn take(&mut self, entry: Entry, task: &FleetTask) {
        let Entry { distinct, has_holes, times_ns: (first, last), .. } = entry;
        let Entry { mut segment, mut early, objects, .. } = entry;
        self.has_holes |= has_holes;
        let numbers = self.numbers(&objects);
        for segment in early.iter_mut().chain([&mut segment]) {
            renumber(&numbers, segment);
        }
        if !matches!(task.piece, FleetPiece::Head { .. }) {
            let before =
                early.as_ref().filter(|_| !task.is_alone).map_or(0, |early| early.accesses);
            self.accesses += segment.accesses + before;
            self.distinct += distinct;
        }
        match task.piece {
            FleetPiece::Hash { part, parts } => {
                let (_, segments) = self.parts.get_or_insert((parts, BTreeMap::new()));
                segments.entry(part).or_default().push(segment);
                return;
            }
            FleetPiece::Head { .. } => self.head.push(segment),
            FleetPiece::Whole if task.is_alone => {
                self.early_alone = early;
                self.segments.push(segment);
            }
            FleetPiece::Whole | FleetPiece::Time { .. } => {
                self.count += 1;
                self.push(early, segment);
            }
            FleetPiece::Policies => {}
        }
        self.overlaps |= self.last_ns.is_some_and(|before| before > first) && last > 0;
        self.last_ns = Some(last);
    }

    /// Puts a piece behind the others: what came before a time that was asked for, and the rest.
    fn push(&mut self, early: Option<Segment>, segment: Segment) {
        let Some(early) = early else {
            self.segments.push(segment);
            return;
        };
        let count = self.early.get_or_insert_default();
        if early.accesses > 0 {
            self.is_mixed |= *count < self.segments.len();
            *count += 1;
            self.segments.push(early);
        }
        if segment.accesses > 0 {
            self.segments.push(segment);
        }
    }

    /// Accesses and hits before a time that was asked for. Their segments become one.
    pub(super) fn early(&mut self) -> Option<(u64, Hits)> {
        if let Some(early) = self.early_alone.take() {
            return Some((early.accesses, early.hits));
        }
        let count = self.early.filter(|_| !self.is_mixed)?;
        let early = Segment::merge_all(self.segments.drain(..count).collect(), NO_LIMIT);
        let both = (early.accesses, early.hits.clone());
        self.segments.insert(0, early);
        // One alone would count as a piece that was never merged.
        self.segments.push(Segment::empty(NO_LIMIT));
        Some(both)
    }

    /// The objects of an input as they are numbered in the inputs before it.
    fn numbers(&mut self, objects: &[String]) -> Vec<u64> {
        let number = |name: &String| {
            let next = self.objects.len() as u64;
            *self.objects.entry(name.clone()).or_insert(next)
        };
        objects.iter().map(number).collect()
    }
}

/// Numbers the objects of a segment as those of the inputs before it.
fn renumber(numbers: &[u64], segment: &mut Segment) {
    for page in segment.first.iter_mut().chain(&mut segment.last) {
        let object = usize::try_from(*page >> PAGE_BITS).unwrap_or(usize::MAX);
        if let Some(number) = numbers.get(object) {
            *page = number << PAGE_BITS | *page & ((1 << PAGE_BITS) - 1);
        }
    }
}

/// Merges pieces in time: their hits, and distinct pages. One piece may have been kept without its pages.
pub(super) fn merged(mut segments: Vec<Segment>, distinct: u64) -> (Hits, u64) {
    if segments.len() == 1
        && let Some(one) = segments.pop()
    {
        return (one.hits, distinct);
    }
    let all = Segment::merge_all(segments, NO_LIMIT);
    (all.hits, all.first.len() as u64)
}

//! The writes of a round: all that the disc lacked at a moment, in the order of the disc.
//!
//! When all was tried, what the disc refused is tried again in halves. So only the sectors that it refuses stay owed.
//!
//! Invariant: the ranges of two requests never meet, except those of a refused one and of its halves.
//! Cost: a copy of the extents, but not of their bytes. Only some requests are halved, as a disc that refuses everything
//! would be asked for each of its sectors.

use std::collections::VecDeque;

use super::owed::{Extent, Owed, gather};
use crate::disc::{Completion, DiscError};
use crate::trace::request::{Op, Request};

/// The unit in which a disc refuses.
const SECTOR_BYTES: u64 = 512;
/// Refused requests that are halved at the most.
const HALVED_MAX: u32 = 1024;
/// The same as long as the disc takes nothing.
const HALVED_MAX_AT_FIRST: u32 = 16;

/// What the disc refused of a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refused {
    /// Ranges that do not meet.
    pub(super) ranges: Vec<(u64, u64)>,
    /// The number of the oldest record that has a part of them.
    pub(super) oldest: Option<u64>,
    /// The first error, if there was one.
    pub(super) error: Option<DiscError>,
}

impl Refused {
    /// All of it, for this reason.
    pub(super) fn all(owed: &Owed, error: DiscError) -> Self {
        let ranges = vec![(0, u64::MAX)];
        Self { oldest: owed.oldest(&ranges), ranges, error: Some(error) }
    }

    /// The first error, if something was refused.
    pub(crate) fn error(&self) -> Option<&DiscError> {
        self.error.as_ref()
    }
}

/// The writes of a round.
#[derive(Debug)]
pub(super) struct Writes {
    all: Owed,
    left: VecDeque<Extent>,
    /// Parts of refused requests.
    halves: VecDeque<(u64, u64)>,
    halved: u32,
    /// Whether the disc took something, and how many bytes that were.
    has_taken: bool,
    taken_bytes: u64,
    ranges: Vec<(u64, u64)>,
    error: Option<DiscError>,
}

impl Writes {
    /// All that is owed now.
    pub(super) fn new(owed: &Owed) -> Self {
        Self {
            all: owed.clone(),
            left: owed.extents(),
            halves: VecDeque::new(),
            halved: 0,
            has_taken: false,
            taken_bytes: 0,
            ranges: Vec::new(),
            error: None,
        }
    }

    /// The next request and its data. There may be more after an [answer](Self::answered).
    pub(super) fn next(&mut self) -> Option<(Request, Vec<u8>)> {
        if self.left.is_empty() {
            let (from, to) = self.halves.pop_front()?;
            self.left = self.all.within(from, to).into();
        }
        gather(&mut self.left)
    }

    /// The disc has answered one of them.
    pub(super) fn answered(&mut self, completion: Completion) {
        let Request { op, offset, length_bytes, zeros, .. } = completion.request;
        let is_owed = op != Op::Discard || zeros;
        match completion.outcome {
            Ok(()) => {
                self.has_taken = true;
                self.taken_bytes += if is_owed { length_bytes } else { 0 };
            }
            Err(error) if is_owed => {
                self.error.get_or_insert(error);
                self.refused(offset, offset + length_bytes);
            }
            // A trim is a hint: with the old bytes there it is done too.
            Err(_) => {}
        }
    }

    /// The halves of a range meet at the beginning of a sector. A part of a sector has none.
    fn refused(&mut self, from: u64, to: u64) {
        let half = (from + (to - from) / 2) / SECTOR_BYTES * SECTOR_BYTES;
        let middle = if half > from { half } else { (from / SECTOR_BYTES + 1) * SECTOR_BYTES };
        let most = if self.has_taken { HALVED_MAX } else { HALVED_MAX_AT_FIRST };
        if middle < to && self.halved < most {
            self.halved += 1;
            self.halves.extend([(from, middle), (middle, to)]);
        } else {
            self.ranges.push((from, to));
        }
    }

    /// Bytes of it that the disc has not taken so far.
    pub(super) fn left_bytes(&self) -> u64 {
        self.all.bytes().saturating_sub(self.taken_bytes)
    }

    /// What was refused when all was tried, and whether the disc took something, which a flush makes safe.
    pub(super) fn end(self) -> (Refused, bool) {
        let Self { all, ranges, error, has_taken, .. } = self;
        (Refused { oldest: all.oldest(&ranges), ranges, error }, has_taken)
    }
}

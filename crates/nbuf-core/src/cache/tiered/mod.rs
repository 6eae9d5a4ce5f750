//! A second tier: a quick disc keeps blocks of a slow one, the backing, and both together are a disc.
//!
//! A read goes to the tier if the tier has all of its bytes, and else to the backing, whose answer then fills the tier.
//! All that changes bytes goes to the backing, and is complete when the backing has it. So the tier owes nothing, and a
//! flush of the backing is a flush of both. The owner gets the answer before the tier is filled.
//!
//! Invariants: a part is valid only if the tier has the newest acknowledged bytes of it. Bytes of the tier are served
//! only if their sum is right. After its first error, and when it has not answered for too long, the tier is not used
//! any more.
//!
//! Cost: about 300 bytes of memory for a block, and a sum over each byte that enters or leaves the tier.
//! Not for a backing that another program writes to at the same time: the tier does not see that.

mod answer;
mod ask;
mod blocks;
mod change;
mod fill;
mod geometry;
mod index;
mod overdue;
#[cfg(test)]
mod tests;

pub(crate) use geometry::{Geometry, PARTS};
pub(crate) use index::{ENTRY_BYTES, Entry, entries_of, to_bytes};

use std::collections::VecDeque;

use super::cached::slab::Slab;
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
use blocks::Blocks;
use overdue::Waiting;

/// Why a tier is given up that is in order itself.
pub(crate) const DISC_REFUSED: &str = "the disc refused to store what was written";

/// What a tier did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TierCounts {
    /// Reads by the owner.
    pub(crate) reads: u64,
    /// Reads of these that the tier served alone.
    pub(crate) hits: u64,
    /// Bytes that the tier served.
    pub(crate) hit_bytes: u64,
    /// Reads of the backing.
    pub(crate) backing_reads: u64,
    /// Bytes of these.
    pub(crate) backing_read_bytes: u64,
    /// Writes that filled the tier.
    pub(crate) fills: u64,
    /// Bytes of these.
    pub(crate) fill_bytes: u64,
    /// Blocks that were not filled, as too many fills were under way.
    pub(crate) skipped: u64,
    /// Blocks that left for others.
    pub(crate) evictions: u64,
    /// Requests that the tier refused, or answered with other bytes.
    pub(crate) errors: u64,
    /// Requests that the tier had not answered when it was given up.
    pub(crate) overdue: u64,
}

/// A request of the owner that is not complete.
#[derive(Debug)]
struct PendingRequest {
    request: Request,
    /// What a read has so far, where it is in several pieces.
    data: Vec<u8>,
    came: Nanos,
    /// Pieces that are still to come.
    left: u32,
    /// Whether no piece of it went to the backing.
    is_hit: bool,
    error: Option<DiscError>,
}

/// What the backing was asked for.
#[derive(Clone, Copy, Debug)]
struct Job {
    pending: u32,
    op: Op,
    from: u64,
    to: u64,
    /// Whether it is all of the request, whose data it has.
    is_whole: bool,
    /// Whether another change of these bytes was under way at any moment of it, and so it is unknown which came first.
    is_stale: bool,
}

/// What the tier was asked for, in a slot.
#[derive(Clone, Copy, Debug)]
enum Move {
    Read {
        pending: u32,
        slot: u32,
        from: u64,
        to: u64,
    },
    /// A read that the backing serves instead.
    Late {
        slot: u32,
    },
    /// The parts, and how many bytes they have.
    Fill {
        slot: u32,
        parts: u16,
        bytes: u64,
    },
}

/// A quick disc in front of a slow one.
pub(crate) struct Tiered<D, T> {
    backing: D,
    tier: T,
    geometry: Geometry,
    blocks: Blocks,
    pending: Slab<PendingRequest>,
    jobs: Slab<Job>,
    /// Each with the time at which it was asked.
    moves: Slab<(Move, Nanos)>,
    waiting: Waiting,
    /// Bytes of the fills under way.
    filling_bytes: u64,
    /// Why the tier is not used any more.
    lost: Option<String>,
    is_settling: bool,
    done: VecDeque<Completion>,
    now: Nanos,
    last: Nanos,
    counts: TierCounts,
}

impl<D: Disc, T: Disc> Tiered<D, T> {
    /// An empty tier of this shape.
    pub(crate) fn new(backing: D, tier: T, geometry: Geometry) -> Self {
        Self {
            backing,
            tier,
            geometry,
            blocks: Blocks::new(geometry),
            pending: Slab::default(),
            jobs: Slab::default(),
            moves: Slab::default(),
            waiting: Waiting::default(),
            filling_bytes: 0,
            lost: None,
            is_settling: false,
            done: VecDeque::new(),
            now: Nanos::ZERO,
            last: Nanos::ZERO,
            counts: TierCounts::default(),
        }
    }

    /// Takes in what an earlier tier held in the same slots, the first one to be evicted first. Entries that do not fit
    /// are left out. For the start. How many bytes that were.
    pub(crate) fn restore(&mut self, entries: &[Entry]) -> u64 {
        self.blocks.restore(entries)
    }

    /// Waits until nothing is written to the tier any more. Nothing new is from now on. Whether that was so before
    /// `until`.
    pub(crate) fn settle(&mut self, until: Nanos) -> bool {
        self.is_settling = true;
        while self.moves.len() > 0 {
            let Some(completion) = self.tier.next_completion(until) else { return false };
            self.tier_has(completion);
        }
        true
    }

    /// What the tier holds, the first one to be evicted first. For the end, after [`settle`](Self::settle): the policy may
    /// change its mind about blocks meanwhile.
    pub(crate) fn held(&mut self) -> Vec<Entry> {
        if self.lost.is_some() { Vec::new() } else { self.blocks.held() }
    }

    /// Uses the tier no more, for this reason.
    pub(crate) fn lose(&mut self, why: String) {
        if self.lost.is_none() {
            self.lost = Some(why);
            self.blocks.invalidate_all();
        }
    }

    /// Why the tier is not used any more, if so.
    pub(crate) fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// What it did.
    pub(crate) fn counts(&self) -> TierCounts {
        self.counts
    }

    /// Bytes of the disc that the tier holds.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.blocks.valid_bytes()
    }

    /// The shape of the tier.
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The backing.
    pub(crate) fn backing(&self) -> &D {
        &self.backing
    }

    /// The backing, to be changed. Its requests belong to this disc.
    pub(crate) fn backing_mut(&mut self) -> &mut D {
        &mut self.backing
    }

    /// The tier.
    pub(crate) fn tier(&self) -> &T {
        &self.tier
    }

    /// The tier, to be changed. Its requests belong to this disc.
    pub(crate) fn tier_mut(&mut self) -> &mut T {
        &mut self.tier
    }

    /// Whether something is complete already.
    pub(crate) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }
}

impl<D: Disc, T: Disc> Disc for Tiered<D, T> {
    fn size_bytes(&self) -> u64 {
        self.geometry.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        self.now = self.now.max(now);
        match request.op {
            Op::Read => self.read(request, data),
            Op::Write | Op::Discard => self.change(request, data),
            Op::Flush => self.pass(request, data),
        }
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        loop {
            if let Some(completion) = self.done.pop_front() {
                return Some(completion);
            }
            // The tier is the quicker one. Where a look waits, it waits for the tier first.
            let due = self.waiting.due().filter(|&due| due <= until);
            let wait = due.unwrap_or(until);
            if let Some(completion) = self.tier.next_completion(wait) {
                self.tier_has(completion);
            } else if let Some(completion) = self.backing.next_completion(wait) {
                self.backing_has(completion);
            } else {
                self.give_up(due?);
            }
        }
    }

    fn under_way(&self) -> usize {
        self.pending.len() + self.done.len()
    }
}

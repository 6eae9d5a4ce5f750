//! A warm start: which pages a cache holds, in the order in which it would evict them, and how they come back.
//!
//! The pages have their places in the policy at once, in that order, and frames without a valid byte. Their bytes are
//! read from the disc in the background, those of pages that would go last first. So nothing that was kept elsewhere
//! is believed: a list that is wrong costs reads, and never serves an old byte.

use super::ids::NONE;
use super::{Cached, Flight, Job};
use crate::cache::policy::{Access, AnyPolicy, Cause, Outcome};
use crate::disc::Disc;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// The longest read, in bytes: others wait for it no longer than for a read of their own.
const RUN_BYTES: u64 = 128 << 10;
/// Pieces in which pages are read by their place on the disc, from the last to be evicted to the first.
const PIECES: usize = 16;
/// The smallest piece, in pages.
const PIECE_PAGES: usize = 1024;
/// Reads that may fail before the rest is left to those who want it.
const FAILURES_MAX: u32 = 16;

/// Pages whose bytes are still to be read.
#[derive(Debug, Default)]
pub(super) struct Warming {
    /// The next one is the last.
    pages: Vec<u64>,
    under_way: usize,
    failed: u32,
}

/// The resident ones of all numbers that a policy of this capacity may have seen, in the order in which it would evict
/// them. For the end, as [`Cached::eviction_order`] says.
pub(in crate::cache) fn order<P: AnyPolicy + ?Sized>(
    policy: &mut P,
    known: &[u32],
    is_resident: impl Fn(u32) -> bool,
    capacity: u32,
) -> Vec<u32> {
    let mut left: Vec<bool> = vec![false; known.iter().max().map_or(0, |&id| id as usize + 1)];
    let resident = known.iter().filter(|&&id| is_resident(id));
    resident.for_each(|&id| left[id as usize] = true);
    let first = u32::try_from(left.len()).unwrap_or(u32::MAX);
    let mut order = Vec::new();
    // It chooses only where it is full: strangers fill it up first.
    let mut stranger = first;
    for _ in 0..=capacity {
        let mut choose = |id: u32| {
            if let Some(is_left) = left.get_mut(id as usize)
                && std::mem::take(is_left)
            {
                order.push(id);
            }
            false
        };
        let access = Access::to(stranger);
        if policy.fill(access, Cause::Readahead, &mut choose) == Outcome::Bypassed {
            break;
        }
        stranger += 1;
    }
    (first..=stranger).for_each(|id| _ = policy.remove(id));
    // Pages that the policy did not choose at all, as one that takes samples.
    let rest = (0..).zip(&left).filter(|&(_, &is_left)| is_left);
    order.extend(rest.map(|(id, _)| id));
    order
}

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// The pages in the cache, in the order in which the policy would evict them. The answer is the policy's own: it is
    /// offered a page, and all that it chooses may not go. It may take second chances from pages then, as an eviction does;
    /// so this is for the end.
    pub fn eviction_order(&mut self) -> Vec<u64> {
        let known = self.ids.within(0, u64::MAX);
        let is_resident = |id: u32| self.ids.slot(id).frame != NONE;
        let ids = order(&mut *self.decider.policy, &known, is_resident, self.settings.pages);
        ids.into_iter().map(|id| self.ids.slot(id).page).collect()
    }

    /// Gives pages their places in an empty cache, the first one to be evicted first; as many of the last ones as it
    /// takes. How many that were. Their bytes are read by [`warm`](Self::warm).
    pub fn expect(&mut self, pages: &[u64]) -> u64 {
        let end = self.size_bytes.div_ceil(self.settings.page_bytes.into());
        let skipped = pages.len().saturating_sub(self.settings.pages as usize);
        let mut taken = Vec::new();
        for &page in pages[skipped..].iter().filter(|&&page| page < end) {
            let id = self.number(page);
            let is_in = self.frames.used() < self.settings.pages as usize
                && self.ids.slot(id).frame == NONE
                && self.decider.fill(id, Cause::Readahead, |_| false)
                    == Outcome::Filled { evicted: None };
            if is_in {
                let frame = self.frames.take(id);
                self.ids.set_frame(id, Ok(frame));
                taken.push(page);
            }
        }
        let piece = (taken.len() / PIECES).max(PIECE_PAGES);
        let pieces = taken.rchunks_mut(piece);
        let mut pieces: Vec<&mut [u64]> = pieces.collect();
        // The next page is the last one of the list.
        pieces.reverse();
        let by_place = pieces.iter_mut().flat_map(|piece| {
            piece.sort_unstable_by(|one, other| other.cmp(one));
            piece.iter().copied()
        });
        self.warming.pages = by_place.collect();
        self.warming.pages.len() as u64
    }

    /// Whether pages are still to be read.
    #[inline]
    pub fn is_warming(&self) -> bool {
        !self.warming.pages.is_empty()
    }

    /// Reads no more for a warm start.
    pub fn stop_warming(&mut self) {
        self.warming.pages = Vec::new();
    }

    /// Asks for the next pages, as far as clients leave room: one read at a time while they keep the disc busy, none
    /// while they ask for all that it serves at once, and a quarter of that at the most.
    pub fn warm(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        let most = self.settings.disc_requests as usize;
        while self.is_warming() {
            let under_way = self.disc.under_way();
            let has_room =
                if self.warming.under_way == 0 { under_way < most } else { under_way < most / 4 };
            if !has_room {
                return;
            }
            if let Some((first, count)) = self.next_run() {
                self.start_warm(first, count);
            }
        }
    }

    /// Adjacent pages that have a frame and lack bytes.
    fn next_run(&mut self) -> Option<(u64, u64)> {
        let longest = (RUN_BYTES / u64::from(self.settings.page_bytes)).max(1);
        let mut run: Option<(u64, u64)> = None;
        while let Some(&page) = self.warming.pages.last() {
            let lacks = self.lacks_bytes(page);
            match &mut run {
                Some((first, count)) if !lacks || page != *first + *count || *count == longest => {
                    break;
                }
                Some((_, count)) => *count += 1,
                None if lacks => run = Some((page, 1)),
                None => {}
            }
            self.warming.pages.pop();
        }
        run
    }

    /// Whether a page has its place and lacks bytes that no read brings.
    fn lacks_bytes(&self, page: u64) -> bool {
        let Some(slot) = self.ids.find(page).map(|id| self.ids.slot(id)) else { return false };
        let all =
            self.part(page * u64::from(self.settings.page_bytes), self.page_length(page), page);
        slot.frame != NONE && slot.flight == NONE && self.frames.get(slot.frame).valid != all.all
    }

    fn start_warm(&mut self, first: u64, count: u64) {
        let page_bytes = u64::from(self.settings.page_bytes);
        let from = first * page_bytes;
        let length_bytes = (count * page_bytes).min(self.size_bytes - from);
        let ids = self.reserve(first, count);
        let stale = (first..).zip(&ids).map(|(page, &id)| self.stale_from_start(page, id));
        let stale = stale.collect();
        let (waiters, is_demand, is_ahead, is_warm) = (Vec::new(), false, false, true);
        let flight = Flight { first, stale, waiters, is_demand, is_ahead, is_warm };
        self.counts.disc_reads += 1;
        self.counts.disc_read_bytes += length_bytes;
        let data = vec![0; usize::try_from(length_bytes).unwrap_or(usize::MAX)];
        let task = self.jobs.insert(Job::Read(flight));
        self.warming.under_way += 1;
        self.disc.submit(
            self.now,
            Request { task, ..Request::new(Op::Read, from, length_bytes) },
            data,
        );
        for id in ids {
            self.ids.set_flight(id, task);
        }
    }

    /// A read for a warm start is complete.
    pub(super) fn warmed(&mut self, is_read: bool) {
        self.warming.under_way -= 1;
        self.warming.failed += u32::from(!is_read);
        if self.warming.failed >= FAILURES_MAX {
            self.stop_warming();
        }
    }

    /// Whether a page lost its place before its bytes came, and no client waits for these.
    pub(super) fn is_too_late(&self, flight: &Flight, page: u64) -> bool {
        let frame = self.ids.find(page).map_or(NONE, |id| self.ids.slot(id).frame);
        let is_wanted = || flight.waiters.iter().any(|&(_, wanted)| wanted == page);
        flight.is_warm && frame == NONE && !is_wanted()
    }
}

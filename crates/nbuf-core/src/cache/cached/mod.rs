//! A cache in front of a disc that holds the bytes, and is itself a disc.
//!
//! It is driven by one owner and waits for nothing: [`Cached::submit`](Disc::submit) serves what is there at
//! once and asks the disc for the rest, so hits complete while misses are out. A miss is fetched once,
//! however many requests wait for it. What is written follows [`Writes`]; a dirty page is never evicted.
//!
//! Invariants: a byte that is valid in a frame is the newest one. A byte that was acknowledged and is not on
//! the disc is in a frame, until the disc has it. A flush completes without an error only if the disc has all
//! bytes that were acknowledged before it, and was flushed after that.
//!
//! Cost: a hash lookup, a call of the policy and a copy for each page of a hit; besides the frames about
//! 100 bytes a frame, for the numbers of four times as many pages as there are frames.
//!
//! Not for a disc that another program writes at the same time: the cache does not see that.

mod ahead;
mod answer;
mod arrive;
mod aside;
mod back;
mod costs;
mod counts;
mod decisions;
mod direct;
mod flush;
mod frames;
pub(super) mod ids;
mod inspect;
mod landed;
mod others;
mod read;
mod renew;
mod settings;
pub(super) mod slab;
mod streams;
#[cfg(test)]
mod tests;
pub(super) mod warm;
mod write;

pub(crate) use costs::{Clock, Measured, Work};
pub use counts::Counts;
pub use decisions::{Decision, Log, first_difference};
pub use others::{OtherSize, Others};
pub use settings::{
    Bypass, PAGE_BYTES_MAX, PAGE_BYTES_MIN, Settings, State, UnknownBypass, UnknownWrites, Writes,
};

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::policy::AnyPolicy;
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::Request;
use crate::units::Nanos;
use aside::Aside;
use costs::Costs;
use decisions::Decider;
use frames::Frames;
use ids::Ids;
use slab::Slab;
use streams::Streams;
use warm::Warming;

/// A request of the caller that is not complete.
#[derive(Debug)]
struct Pending {
    request: Request,
    data: Vec<u8>,
    came: Nanos,
    /// Parts that the disc has not answered.
    left: u32,
    error: Option<DiscError>,
    /// Whether it only brings pages in.
    is_fetch: bool,
}

/// A read of adjacent pages.
#[derive(Debug)]
struct Flight {
    first: u64,
    /// For each page, the sectors that were written since the read began.
    stale: Vec<frames::Mask>,
    /// The requests that wait, and for which page.
    waiters: Vec<(u32, u64)>,
    /// Whether a process asked for it.
    is_demand: bool,
    /// Whether it was read ahead.
    is_ahead: bool,
    /// Whether it brings back what was held before a restart.
    is_warm: bool,
}

/// A write that goes to the disc for a request.
#[derive(Debug)]
struct Direct {
    pending: u32,
    /// Whether it is the whole request, whose data it has; else a part that the policy refused.
    is_whole: bool,
}

/// What the disc was asked for.
#[derive(Debug)]
enum Job {
    Read(Flight),
    /// The read of a request that goes past the cache.
    Past(u32),
    Direct(Direct),
    /// Dirty sectors, by page number.
    Back(Vec<(u32, frames::Mask)>),
    /// The flushes that share it.
    Flush(Vec<u32>),
}

/// Bytes of the disc that a write under way changes.
#[derive(Clone, Copy, Debug)]
struct Busy {
    job: u32,
    from: u64,
    to: u64,
    is_direct: bool,
}

/// A cache of some pages in front of a disc. `P` is a policy, or `dyn AnyPolicy`.
pub struct Cached<P: AnyPolicy + ?Sized, D> {
    disc: D,
    settings: Settings,
    size_bytes: u64,
    decider: Decider<P>,
    ids: Ids,
    frames: Frames,
    pending: Slab<Pending>,
    jobs: Slab<Job>,
    /// Writes under way.
    busy: Vec<Busy>,
    /// Writes that wait for others of the same bytes.
    blocked: VecDeque<u32>,
    /// Writes that wait until fewer pages are dirty.
    throttled: VecDeque<u32>,
    /// Flushes that wait for write-back, and their epochs.
    flushing: Vec<(u32, u64)>,
    has_disc_flush: bool,
    /// The pages with dirty sectors that no write has.
    dirty: BTreeSet<u64>,
    /// Pages that are owed, by the epoch of their oldest owed byte.
    owed: BTreeMap<u64, u64>,
    owed_pages: u64,
    epoch: u64,
    /// Up to which epoch all is to be written, though no flush waits for it.
    sweep: Option<u64>,
    /// Where the next write-back begins.
    cursor: u64,
    backs_under_way: u32,
    /// Each pass over pages whose write failed has a number.
    attempt: u64,
    /// Write-backs that failed since the last that did not.
    failures_in_turn: u32,
    /// Whether no dirty page can be written before something changes.
    is_stuck: bool,
    failures: u64,
    last_failure: Option<DiscError>,
    /// The first flush that the disc refused: no later one can promise what was written before.
    flush_failure: Option<DiscError>,
    /// How many failures a client was notified of.
    seen: HashMap<u32, u64>,
    done: VecDeque<Completion>,
    now: Nanos,
    counts: Counts,
    costs: Costs,
    missing: Vec<u64>,
    /// Small caches that tell what another size would give.
    others: Option<Others>,
    streams: Streams,
    /// Pages of the read that is served that missed, or that were read ahead and not used before.
    fresh: u64,
    aside: Aside,
    warming: Warming,
}

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// An empty cache with this policy, which is new and of `settings.pages` pages.
    pub fn new(disc: D, policy: Box<P>, settings: Settings) -> Self {
        let settings = settings.sound();
        let most = settings.pages.saturating_mul(4).max(settings.ids_min);
        let size_bytes = disc.size_bytes();
        Self {
            size_bytes,
            disc,
            decider: Decider { log: None, policy },
            ids: Ids::new(most, size_bytes.div_ceil(settings.page_bytes.into())),
            frames: Frames::new(settings.pages, settings.page_bytes),
            streams: Streams::new(settings.page_bytes, settings.ahead_pages()),
            settings,
            pending: Slab::default(),
            jobs: Slab::default(),
            busy: Vec::new(),
            blocked: VecDeque::new(),
            throttled: VecDeque::new(),
            flushing: Vec::new(),
            has_disc_flush: false,
            dirty: BTreeSet::new(),
            owed: BTreeMap::new(),
            owed_pages: 0,
            epoch: 0,
            sweep: None,
            cursor: 0,
            backs_under_way: 0,
            attempt: 0,
            failures_in_turn: 0,
            is_stuck: false,
            failures: 0,
            last_failure: None,
            flush_failure: None,
            seen: HashMap::new(),
            done: VecDeque::new(),
            now: Nanos::ZERO,
            counts: Counts::default(),
            costs: Costs::default(),
            missing: Vec::new(),
            others: None,
            fresh: 0,
            aside: Aside::default(),
            warming: Warming::default(),
        }
    }

    /// Sends every decision of the policy to a log from now on.
    pub fn log_to(&mut self, log: Log) {
        self.decider.log = Some(log);
    }

    /// Begins to write all that is dirty now, though it is little; failed pages are tried again. For a
    /// caller with a clock, every second or so.
    pub fn tick(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        self.try_failed_again();
        self.sweep = Some(self.epoch);
        self.epoch += 1;
        self.pump();
    }
}

impl<P: AnyPolicy + ?Sized, D: Disc> Disc for Cached<P, D> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        self.now = self.now.max(now);
        self.arrive(request, data);
        self.judge();
        self.pump();
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        loop {
            if self.done.front().is_some_and(|first| first.at <= until) {
                return self.done.pop_front();
            }
            let completion = self.disc.next_completion(until)?;
            self.now = self.now.max(completion.at);
            self.disc_has(completion);
            self.pump();
        }
    }

    fn under_way(&self) -> usize {
        self.pending.len() + self.done.len()
    }
}

//! Stepping aside: where the cache costs more than it saves, reads that miss go past it.
//!
//! A window of look-ups is judged as a whole. What the cache saves is the disc's time for each page that hit: the
//! time in which the disc had reads of clients, divided by their number, so that reads at once count once. What it
//! costs is a look-up and a fill for each page that was taken in. It steps aside after two windows in turn in which
//! it cost more, and not before it is full. While it is aside, what it holds is served, writes are kept as before,
//! and readahead goes on. The small caches of [`Others`](super::Others) follow all reads: when they show that it would
//! save twice what it costs, it is back. Without them, or without a clock, it never steps aside.
//!
//! Invariant: a read goes past only if nothing of its pages is in the cache. So it is never older than what was
//! acknowledged before it came.

use super::costs::Work;
use super::ids::Absence;
use super::settings::Bypass;
use super::{Cached, Job};
use crate::cache::policy::AnyPolicy;
use crate::disc::{Completion, Disc};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Look-ups of a window: half of the pages of the cache, within these.
const LOOKUPS_MIN: u64 = 4096;
const LOOKUPS_MAX: u64 = 1 << 16;
/// Windows in turn in which the cache costs more than it saves, before it steps aside.
const WINDOWS: u32 = 2;
/// Windows that are not judged after it is back: it has to fill first.
const WINDOWS_BACK: u32 = 4;
/// It is back when it would save this multiple of what it costs.
const BACK: f64 = 2.0;
/// Reads of the disc that tell its time.
const READS_MIN: u64 = 16;

/// What is counted over a window; all since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    lookups: u64,
    /// Hits of pages that were not read ahead.
    hits: u64,
    ahead_hits: u64,
    fills: u64,
    busy: Nanos,
    reads: u64,
    /// Hits and look-ups of the small cache that stands for this one.
    small: (u64, u64),
}

/// Whether the cache is aside, and what is known of it.
#[derive(Debug, Default)]
pub(super) struct Aside {
    is_now: bool,
    changes: u64,
    began: Seen,
    /// Windows in turn that were lost.
    lost: u32,
    /// Windows that are not judged.
    waits: u32,
    fills: u64,
    ahead_hits: u64,
    /// Reads of the disc for clients that are under way, and since when there are any.
    out: u64,
    out_since: Nanos,
    /// The time in which there were some, and how many are complete.
    busy: Nanos,
    reads: u64,
    /// The disc's time for a read, in seconds.
    read_seconds: Option<f64>,
}

impl Aside {
    #[inline]
    pub(super) fn is_aside(&self) -> bool {
        self.is_now
    }

    /// A page was taken in that a read or a write of a client wanted.
    #[inline]
    pub(super) fn filled(&mut self) {
        self.fills += 1;
    }

    /// A page was read ahead and hit.
    pub(super) fn ahead_hit(&mut self) {
        self.ahead_hits += 1;
    }

    pub(super) fn read_began(&mut self, now: Nanos) {
        if self.out == 0 {
            self.out_since = now;
        }
        self.out += 1;
    }

    pub(super) fn read_ended(&mut self, now: Nanos) {
        self.busy_until(now);
        self.out = self.out.saturating_sub(1);
        self.reads += 1;
    }

    fn busy_until(&mut self, now: Nanos) {
        if self.out > 0 {
            self.busy += now.saturating_sub(self.out_since);
            self.out_since = self.out_since.max(now);
        }
    }
}

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// Whether reads that miss go past the cache now, and how often that changed.
    pub fn aside(&self) -> (bool, u64) {
        (self.aside.is_now, self.aside.changes)
    }

    /// Steps aside, or is back.
    pub(super) fn step(&mut self, is_aside: bool) {
        self.aside.changes += u64::from(self.aside.is_now != is_aside);
        self.aside.is_now = is_aside;
        (self.aside.lost, self.aside.waits) = (0, WINDOWS_BACK);
        self.begin_window();
    }

    /// Begins a window, and gives what was seen before it.
    pub(super) fn begin_window(&mut self) {
        let now = self.now;
        self.aside.busy_until(now);
        let ahead_hits = self.aside.ahead_hits;
        self.aside.began = Seen {
            lookups: self.counts.lookups,
            hits: self.counts.hits - ahead_hits,
            ahead_hits,
            fills: self.aside.fills,
            busy: self.aside.busy,
            reads: self.aside.reads,
            small: self.others.as_ref().map_or((0, 0), super::Others::running),
        };
    }

    /// At the end of a window: whether to step aside, or to be back.
    #[inline]
    pub(super) fn judge(&mut self) {
        if self.settings.bypass == Bypass::Auto && self.others.is_some() {
            let window = u64::from(self.settings.pages / 2).clamp(LOOKUPS_MIN, LOOKUPS_MAX);
            if self.counts.lookups - self.aside.began.lookups >= window {
                self.judge_window();
            }
        }
    }

    fn judge_window(&mut self) {
        let was = self.aside.began;
        self.begin_window();
        let is = self.aside.began;
        let reads = is.reads - was.reads;
        if reads >= READS_MIN {
            self.aside.read_seconds = Some((is.busy - was.busy).seconds() / reads as f64);
        }
        let mean = |work| self.costs.measured.of(work).times.mean().map(Nanos::seconds);
        let page = mean(Work::Lookup).zip(mean(Work::Fill)).map(|(lookup, fill)| lookup + fill);
        let Some((read_seconds, page_seconds)) = self.aside.read_seconds.zip(page) else { return };
        let lookups = (is.lookups - was.lookups) as f64;
        let hits = (is.hits - was.hits) as f64;
        if self.aside.is_now {
            let (small_hits, small) = (is.small.0 - was.small.0, is.small.1 - was.small.1);
            let would = small_hits as f64 / small.max(1) as f64 * lookups;
            let more = would - hits - (is.ahead_hits - was.ahead_hits) as f64;
            if small > 0 && more * read_seconds > BACK * (lookups - would) * page_seconds {
                self.step(false);
            }
            return;
        }
        let is_full = self.frames.used() as u64 * 20 >= u64::from(self.settings.pages) * 19;
        self.aside.waits = self.aside.waits.saturating_sub(1);
        let fills = (is.fills - was.fills) as f64;
        let is_lost = hits * read_seconds < fills * page_seconds;
        let is_judged = is_full && self.aside.waits == 0;
        self.aside.lost = if is_lost && is_judged { self.aside.lost + 1 } else { 0 };
        if self.aside.lost >= WINDOWS {
            self.step(true);
        }
    }

    /// Sends a read past the cache, if that is aside and has nothing of it. Whether it did. A long one comes in
    /// several requests, and goes the usual way without a fill.
    pub(super) fn goes_past(&mut self, request: &Request, data: &mut Vec<u8>) -> bool {
        let (first, last) = self.pages(request);
        let is_long = request.length_bytes > self.settings.request_bytes_max.into();
        if !self.aside.is_now || is_long || !(first..=last).all(|page| self.is_absent(page)) {
            return false;
        }
        for page in first..=last {
            let began = self.costs.begin(Work::Lookup);
            if let Some(others) = &mut self.others {
                others.read(page, false);
            }
            if let Some(id) = self.ids.find(page) {
                self.ids.set_absence(id, Absence::Bypassed);
            }
            self.costs.end(Work::Lookup, began);
        }
        let (pages, length_bytes) = (last - first + 1, request.length_bytes);
        self.counts.lookups += pages;
        self.counts.misses_bypassed += pages;
        self.fresh += pages;
        self.counts.past_reads += 1;
        self.counts.past_read_bytes += length_bytes;
        self.counts.disc_reads += 1;
        self.counts.disc_read_bytes += length_bytes;
        let pending = self.wait(*request, Vec::new());
        let read = Request::new(Op::Read, request.offset, length_bytes);
        self.ask(Job::Past(pending), read, std::mem::take(data));
        true
    }

    /// The disc has answered such a read.
    pub(super) fn past_done(&mut self, pending: u32, completion: Completion) {
        if let Some(waiting) = self.pending.get_mut(pending) {
            waiting.data = completion.data;
        }
        self.part_done(pending, completion.outcome.err());
    }
}

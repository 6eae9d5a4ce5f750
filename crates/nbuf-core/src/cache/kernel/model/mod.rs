//! The page cache itself: which pages are there, and what a touch does with them.

pub(super) mod clock;
mod fill;
mod mapped;
mod present;
mod read;
mod throttle;

use clock::Clock;

use super::folio::{Arena, Slot, flag};
use super::readahead::State;
use super::stream::{Advice, Stream, Touch, TouchKind};
use super::{Present, Simulated};
use crate::sys::prefetch::prefetch;
use crate::units::whole;

/// The kernel reclaims at least this many pages at a time (`SWAP_CLUSTER_MAX`).
const RECLAIM_PAGES_MIN: u32 = 32;

/// Touches between two loads that are started ahead of time.
const AHEAD: usize = 4;

/// Marks the entry of a page that has been evicted.
const SHADOW: u32 = 1 << 31;

/// The folio in an entry, or 0.
fn folio_of(entry: u32) -> Slot {
    if entry & SHADOW == 0 { entry } else { 0 }
}

/// Chooses who leaves: it is notified of everything, and asked for a victim.
pub(super) trait Order {
    /// A touch begins: whether it is a fault on a mapping whose marks count.
    fn enters(&mut self, _is_fault: bool) {}
    /// A folio came in; `evicted_at` is what [`Order::victim`] said when its page left, if it was
    /// ever here.
    fn inserted(&mut self, arena: &mut Arena, slot: Slot, evicted_at: Option<u32>);
    /// It was read.
    fn read(&mut self, arena: &mut Arena, slot: Slot);
    /// It was written.
    fn written(&mut self, arena: &mut Arena, slot: Slot);
    /// It was touched through a mapping.
    fn mapped(&mut self, arena: &mut Arena, slot: Slot);
    /// It was touched again through a mapping that was there already.
    fn touched_again(&mut self, arena: &mut Arena, slot: Slot);
    /// It is gone.
    fn removed(&mut self, arena: &mut Arena, slot: Slot);
    /// So much time passes, about.
    fn passes(&mut self, nanos: u64);
    /// Room for this many pages is about to be asked for.
    fn reclaim_begins(&mut self, pages: u32);
    /// The next folio to go, and a stamp of 31 bits to remember of its pages; `None` when it is
    /// enough, which can be later than asked for.
    fn victim(&mut self, arena: &mut Arena) -> Option<(Slot, u32)>;
}

/// A page cache with room for `capacity` pages.
pub(super) struct Model<'a, O: Order, C: Clock> {
    stream: &'a Stream,
    order: O,
    clock: C,
    arena: Arena,
    /// For each page its folio, or [`SHADOW`] and the stamp it left with, or 0. Zeroed lazily by
    /// the system: untouched parts cost nothing.
    entries: Vec<u32>,
    readahead: Vec<State>,
    /// For each stream a page with a marker that a mapping reached, and 1; 0 for none.
    postponed: Vec<u32>,
    capacity: u32,
    used: u32,
    /// The folios a read takes at a time, and the page behind them.
    batch: Vec<Slot>,
    batch_end: u32,
    out: Simulated,
}

impl<'a, O: Order, C: Clock> Model<'a, O, C> {
    pub(super) fn new(stream: &'a Stream, order: O, capacity: u32, clock: C) -> Self {
        Self {
            stream,
            order,
            clock,
            arena: Arena::default(),
            entries: vec![0; stream.pages],
            readahead: vec![State::default(); stream.streams.len()],
            postponed: vec![0; stream.streams.len()],
            capacity: capacity.max(RECLAIM_PAGES_MIN),
            used: 0,
            batch: Vec::new(),
            batch_end: 0,
            out: Simulated { fills_by_file: vec![0; stream.files.len()], ..Simulated::default() },
        }
    }

    /// Runs it to its end. The clock comes back with what it was given.
    pub(super) fn run(mut self) -> (Simulated, C) {
        self.share();
        self.play();
        (self.out, self.clock)
    }

    /// Runs it twice, and gives the fills of the second time. In front of that, what is there before is put in and used
    /// without a limit.
    pub(super) fn run_again(mut self, present: &[Present]) -> u64 {
        self.share();
        if !present.is_empty() {
            // Below the largest number, so that sums of pages stay below it.
            let capacity = std::mem::replace(&mut self.capacity, u32::MAX / 2);
            self.put_in(present);
            self.play();
            self.capacity = capacity;
            self.shrink();
        }
        self.play();
        let before = self.out.fills;
        self.play();
        self.out.fills - before
    }

    fn play(&mut self) {
        let stream = self.stream;
        let ns_per_us = 1000.0 * stream.pace().scale;
        for (at, touch) in stream.touches().enumerate() {
            self.prefetch(at);
            self.clock.begins(&touch, stream.task_of(touch.stream));
            self.order.passes(whole(f64::from(touch.work_us) * ns_per_us));
            let is_fault =
                matches!(touch.kind, TouchKind::Fault | TouchKind::Map | TouchKind::Again);
            let counts = is_fault && stream.mapped_advice(&touch) == Advice::Normal;
            self.order.enters(counts);
            match touch.kind {
                TouchKind::Read | TouchKind::Splice => self.read(&touch),
                TouchKind::Write => self.write(&touch),
                TouchKind::Fault => {
                    self.fault(&touch, touch.first);
                }
                TouchKind::Map => self.map(&touch),
                TouchKind::Drop => self.drop_range(&touch),
                TouchKind::Again => self.touch_again(&touch),
                TouchKind::Ahead => self.fetch_ahead(&touch),
            }
        }
    }

    /// Starts to load what the touches after this one will look at: the entry of one, and the folio
    /// of a nearer one, whose entry is there by now.
    fn prefetch(&self, at: usize) {
        if let Some(far) = self.stream.place(at + 2 * AHEAD) {
            prefetch(&self.entries, far);
        }
        if let Some(near) = self.stream.place(at + AHEAD) {
            self.arena.prefetch(self.entries.get(near).map_or(0, |&entry| folio_of(entry)));
        }
    }

    /// Puts in what is there on another process's account.
    fn share(&mut self) {
        for &(file, page) in &self.stream.shared {
            let at = self.stream.page_number(file, page);
            if at < self.entries.len() {
                let slot = self.arena.insert(at, 0);
                self.arena.set(slot, flag::SHARED);
                self.entries[at] = slot;
            }
        }
    }

    fn at(&self, touch: &Touch, page: u32) -> usize {
        self.stream.files[touch.file as usize].base + page as usize
    }

    fn cached(&self, touch: &Touch, page: u32) -> Slot {
        self.entries.get(self.at(touch, page)).map_or(0, |&entry| folio_of(entry))
    }

    /// The page behind the folio of `slot`, which holds `page`. Folios lie at multiples of their
    /// size in their file.
    fn end_of(&self, page: u32, slot: Slot) -> u32 {
        let order = self.arena.order(slot);
        ((page >> order) + 1) << order
    }

    fn write(&mut self, touch: &Touch) {
        let end = touch.first + touch.count;
        let order_max = self.stream.files[touch.file as usize].order_max;
        let mut page = touch.first;
        while page < end {
            let slot = self.cached(touch, page);
            if slot != 0 {
                if !self.arena.has(slot, flag::SHARED) {
                    self.order.written(&mut self.arena, slot);
                }
                page = self.end_of(page, slot);
                continue;
            }
            let mut order = (end - page).ilog2().min(order_max).min(page.trailing_zeros());
            while !self.insert(touch, page, order, false) && order > 0 {
                order -= 1;
            }
            page += 1 << order;
        }
    }

    fn drop_range(&mut self, touch: &Touch) {
        for page in touch.first..touch.first + touch.count {
            let slot = self.cached(touch, page);
            if slot != 0 && !self.arena.has(slot, flag::SHARED) {
                self.forget(slot, 0);
            }
            let at = self.at(touch, page);
            if let Some(entry) = self.entries.get_mut(at).filter(|entry| **entry & SHADOW != 0) {
                *entry = 0;
            }
        }
    }
}

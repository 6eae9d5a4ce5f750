//! The dense numbers of the pages that a running cache knows.
//!
//! Numbers are given in the order of first appearance, as an [`Interner`](super::super::interner) does, so
//! that a policy decides the same in both. Unlike an interner this table is bounded: when it is full, the
//! page that left the cache longest ago is forgotten, and its number is given to the next new page.

use std::collections::HashMap;

use super::super::queue::Queues;

/// No frame, or no read under way.
pub(in crate::cache) const NONE: u32 = u32::MAX;
/// A read that has no number yet.
pub(in crate::cache) const STARTING: u32 = u32::MAX - 1;

/// Why a known page is not in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cache) enum Absence {
    /// It was never in the cache, as far as is known.
    #[default]
    New,
    /// The policy evicted it.
    Evicted,
    /// A write, a discard or a failure made its bytes invalid.
    Invalidated,
    /// The policy or a full cache of dirty pages refused it.
    Bypassed,
    /// It was written around the cache.
    Written,
}

/// What is known of a page.
#[derive(Clone, Copy, Debug)]
pub(in crate::cache) struct Slot {
    /// Its number on the disc.
    pub page: u64,
    /// Its frame, or [`NONE`].
    pub frame: u32,
    /// The read that brings it, or [`NONE`].
    pub flight: u32,
    /// Why it has no frame.
    pub absence: Absence,
}

/// The known pages.
#[derive(Debug)]
pub(in crate::cache) struct Ids {
    by_page: HashMap<u64, u32>,
    slots: Vec<Slot>,
    /// Pages with neither a frame nor a read under way, in the order in which they came to be so.
    gone: Queues<1>,
    most: u32,
    /// Pages with a frame, by their place on the disc.
    places: Vec<u32>,
    /// Pages of a place.
    place_pages: u64,
}

/// Places that a picture of the disc has, at the most.
const PLACES_MAX: u64 = 512;

/// The one queue.
const GONE: u32 = 0;

impl Ids {
    /// An empty table of at most this many pages, unless more have frames or reads under way. The disc has
    /// `disc_pages`.
    pub(in crate::cache) fn new(most: u32, disc_pages: u64) -> Self {
        let place_pages = disc_pages.div_ceil(PLACES_MAX).max(1);
        let places = usize::try_from(disc_pages.div_ceil(place_pages)).unwrap_or(0).max(1);
        Self {
            by_page: HashMap::new(),
            slots: Vec::new(),
            gone: Queues::default(),
            most,
            places: vec![0; places],
            place_pages,
        }
    }

    /// Pages with a frame by place, and the pages of a place.
    pub(in crate::cache) fn places(&self) -> (&[u32], u64) {
        (&self.places, self.place_pages)
    }

    /// The number of a page that is known.
    #[inline]
    pub(in crate::cache) fn find(&self, page: u64) -> Option<u32> {
        self.by_page.get(&page).copied()
    }

    /// The number of a page, and whether another page lost that number for it.
    #[inline]
    pub(in crate::cache) fn number(&mut self, page: u64) -> (u32, bool) {
        if let Some(id) = self.find(page) {
            if self.gone.contains(id) {
                self.gone.move_to_front(GONE, id);
            }
            return (id, false);
        }
        let slot = Slot { page, frame: NONE, flight: NONE, absence: Absence::New };
        let length = u32::try_from(self.slots.len()).expect("fewer than 2^32 pages");
        let oldest = if length >= self.most { self.gone.last(GONE) } else { None };
        let id = oldest.unwrap_or(length);
        if oldest.is_some() {
            self.by_page.remove(&self.slots[id as usize].page);
            self.slots[id as usize] = slot;
            self.gone.move_to_front(GONE, id);
        } else {
            self.slots.push(slot);
            self.gone.push_front(GONE, id);
        }
        self.by_page.insert(page, id);
        (id, oldest.is_some())
    }

    /// What is known of a page.
    #[inline]
    pub(in crate::cache) fn slot(&self, id: u32) -> &Slot {
        &self.slots[id as usize]
    }

    /// Gives a page its frame, or takes it away for a reason.
    pub(in crate::cache) fn set_frame(&mut self, id: u32, frame: Result<u32, Absence>) {
        let slot = &mut self.slots[id as usize];
        let before = slot.frame != NONE;
        match frame {
            Ok(frame) => slot.frame = frame,
            Err(absence) => (slot.frame, slot.absence) = (NONE, absence),
        }
        let after = slot.frame != NONE;
        let place = usize::try_from(slot.page / self.place_pages).unwrap_or(usize::MAX);
        if let Some(count) = self.places.get_mut(place) {
            *count = *count + u32::from(after) - u32::from(before);
        }
        self.settle(id);
    }

    /// Notes why a page did not come in.
    pub(in crate::cache) fn set_absence(&mut self, id: u32, absence: Absence) {
        self.slots[id as usize].absence = absence;
    }

    /// Notes the read that brings a page, or that it ended.
    pub(in crate::cache) fn set_flight(&mut self, id: u32, flight: u32) {
        self.slots[id as usize].flight = flight;
        self.settle(id);
    }

    /// The known pages in this range, ends included.
    pub(in crate::cache) fn within(&self, first: u64, last: u64) -> Vec<u32> {
        if last - first < self.slots.len() as u64 {
            return (first..=last).filter_map(|page| self.find(page)).collect();
        }
        let inside = |&(_, slot): &(u32, &Slot)| (first..=last).contains(&slot.page);
        let mut found: Vec<_> = (0..).zip(&self.slots).filter(inside).collect();
        found.sort_unstable_by_key(|(_, slot)| slot.page);
        found.into_iter().map(|(id, _)| id).collect()
    }

    fn settle(&mut self, id: u32) {
        let slot = &self.slots[id as usize];
        let is_gone = slot.frame == NONE && slot.flight == NONE;
        match (is_gone, self.gone.contains(id)) {
            (true, false) => self.gone.push_front(GONE, id),
            (false, true) => self.gone.unlink(GONE, id),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_dense_until_the_table_is_full_and_then_used_again() {
        let mut ids = Ids::new(3, 1 << 11);
        assert_eq!([7, 5, 7, 9].map(|page| ids.number(page)), [0, 1, 0, 2].map(|id| (id, false)));
        ids.set_frame(1, Ok(4));
        assert_eq!((ids.places().0.len(), &ids.places().0[..3]), (512, [0, 1, 0].as_slice()));
        // 5 has a frame and 9 came last, so 7 is forgotten.
        assert_eq!(ids.number(11), (0, true));
        assert_eq!((ids.find(7), ids.find(5), ids.slots.len()), (None, Some(1), 3));
        ids.set_flight(0, 1);
        ids.set_flight(2, 2);
        assert_eq!(ids.number(12), (3, false), "all others are in use");
        assert_eq!(ids.within(0, 9), [1, 2]);
        assert_eq!(ids.within(0, u64::MAX), [1, 2, 0, 3]);
    }
}

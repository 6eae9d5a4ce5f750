//! The kernel's active and inactive list of file pages (`mm/vmscan.c`, `mm/workingset.c`).
//!
//! A folio starts inactive; its second read activates it; a folio that comes back sooner than the
//! active list is long starts active. Reclaim looks at growing shares of both lists, in whole folios:
//! the tail of the inactive list leaves, and the active list feeds the inactive one when that is the
//! shorter (below 1 GiB the lists are balanced 1:1, above by the square root of the size) or pages
//! have come back since it was done last, which says that what is active is of yesterday. All of that
//! is decided by statistics that are not fresh ([`super::statistics`]).

use super::folio::{Arena, List, Slot, flag};
use super::model::Order;
use super::statistics::{Figures, Statistics, Updates};

/// A stamp has the age in 30 bits, above one that says whether the folio was part of the working set.
const AGE_MASK: u32 = u32::MAX >> 2;

#[derive(Debug)]
pub(super) struct ActiveInactive {
    active: List,
    inactive: List,
    /// Evictions and activations so far, in pages: the clock refaults are measured with.
    age: u32,
    /// Pages that came back to the active list so far, and how many reclaim saw last.
    came_back: u32,
    came_back_known: u32,
    statistics: Statistics,
    reclaim: Reclaim,
}

/// Reclaim looks harder step by step: in each at twice the share of both lists (`DEF_PRIORITY`).
const PRIORITY: u32 = 12;
/// Pages looked at before the other list has its turn (`SWAP_CLUSTER_MAX`).
const CHUNK_PAGES: u32 = 32;

/// Where reclaim is.
#[derive(Debug, Default)]
struct Reclaim {
    /// Pages it is asked for, found in all, and found in this step.
    wanted: u32,
    found: u32,
    found_now: u32,
    /// The share looked at, as a power of two to divide by.
    priority: u32,
    /// Pages of each list that this step has still to look at.
    inactive: u32,
    active: u32,
    /// Pages of the inactive list before the active one has its turn, as long as that is not over.
    chunk: u32,
    /// Whether the active list is to be looked at however short it is, because pages came back or
    /// because nothing else is left.
    renewed: bool,
    forced: bool,
    done: bool,
}

impl ActiveInactive {
    /// Empty lists.
    pub(super) fn new(updates: Updates) -> Self {
        Self {
            active: List::default(),
            inactive: List::default(),
            age: 0,
            came_back: 0,
            came_back_known: 0,
            statistics: Statistics::new(updates),
            reclaim: Reclaim::default(),
        }
    }

    fn truth(&self) -> Figures {
        Figures {
            active: self.active.pages,
            inactive: self.inactive.pages,
            came_back: self.came_back,
        }
    }

    fn known(&mut self) -> Figures {
        let truth = self.truth();
        self.statistics.known(truth)
    }

    fn inactive_is_low(&mut self) -> bool {
        let Figures { active, inactive, .. } = self.known();
        let (inactive, active) = (u64::from(inactive), u64::from(active));
        let gibibytes = (inactive + active) >> 18;
        let ratio = if gibibytes > 0 { (10 * gibibytes).isqrt() } else { 1 };
        inactive * ratio < active
    }

    fn activate(&mut self, arena: &mut Arena, slot: Slot) {
        self.inactive.unlink(arena, slot);
        arena.set(slot, flag::ACTIVE);
        self.active.push_front(arena, slot);
        self.age = self.age.wrapping_add(arena.pages(slot));
    }

    /// `folio_mark_accessed`
    fn mark_accessed(&mut self, arena: &mut Arena, slot: Slot) {
        if !arena.has(slot, flag::REFERENCED) {
            arena.set(slot, flag::REFERENCED);
        } else if !arena.has(slot, flag::ACTIVE) {
            self.activate(arena, slot);
            arena.clear(slot, flag::REFERENCED);
        }
    }

    /// `shrink_active_list`: the tail goes back to the inactive list, read or not; text that is used stays. A large folio
    /// goes whole, however few pages were to be looked at.
    fn deactivate(&mut self, arena: &mut Arena, pages: u32) {
        let mut looked_at = 0;
        while looked_at < pages && self.active.last() != 0 {
            let slot = self.active.last();
            looked_at += arena.pages(slot);
            // `folio_referenced` takes the marks away.
            let is_used = arena.has(slot, flag::YOUNG);
            arena.clear(slot, flag::YOUNG | flag::YOUNGER);
            if is_used && arena.has(slot, flag::TEXT) {
                self.active.move_to_front(arena, slot);
                continue;
            }
            self.active.unlink(arena, slot);
            arena.clear(slot, flag::ACTIVE);
            arena.set(slot, flag::WORKINGSET);
            self.inactive.push_front(arena, slot);
        }
    }

    /// Begins the step at this priority (`get_scan_count`).
    fn begin_step(&mut self, priority: u32) {
        let deactivates = self.inactive_is_low() || self.reclaim.renewed || self.reclaim.forced;
        let reclaim = &mut self.reclaim;
        reclaim.priority = priority;
        reclaim.found_now = 0;
        reclaim.inactive = self.inactive.pages >> priority;
        reclaim.active = if deactivates { self.active.pages >> priority } else { 0 };
        reclaim.chunk = 0;
    }

    /// Ends a chunk: the active list has its turn, then another chunk, step or nothing follows
    /// (`shrink_lruvec`, `do_try_to_free_pages`).
    fn next_chunk(&mut self, arena: &mut Arena) {
        let active = self.reclaim.active.min(CHUNK_PAGES);
        self.reclaim.active -= active;
        self.deactivate(arena, active);
        let reclaim = &mut self.reclaim;
        let left = reclaim.inactive > 0 || reclaim.active > 0;
        if !left || reclaim.found_now >= reclaim.wanted {
            if reclaim.found >= reclaim.wanted {
                reclaim.done = true;
            } else if reclaim.priority > 0 {
                let priority = reclaim.priority - 1;
                self.begin_step(priority);
            } else if reclaim.forced {
                reclaim.done = true;
            } else {
                reclaim.forced = true;
                self.begin_step(PRIORITY);
            }
        }
        let reclaim = &mut self.reclaim;
        reclaim.chunk = reclaim.inactive.min(CHUNK_PAGES);
        reclaim.inactive -= reclaim.chunk;
    }

    /// `folio_check_references` for a folio at the inactive tail: whether it stays.
    fn spared(&mut self, arena: &mut Arena, slot: Slot) -> bool {
        let referenced = arena.has(slot, flag::REFERENCED);
        arena.clear(slot, flag::REFERENCED);
        if !arena.has(slot, flag::YOUNG) {
            return false;
        }
        let is_younger = arena.has(slot, flag::YOUNGER);
        arena.clear(slot, flag::YOUNG | flag::YOUNGER);
        arena.set(slot, flag::REFERENCED);
        if referenced || is_younger || arena.has(slot, flag::TEXT) {
            self.activate(arena, slot);
        } else {
            self.inactive.move_to_front(arena, slot);
        }
        true
    }
}

impl Order for ActiveInactive {
    fn inserted(&mut self, arena: &mut Arena, slot: Slot, evicted_at: Option<u32>) {
        let pages = arena.pages(slot);
        // `workingset_refault`
        let distance = evicted_at.map(|stamp| self.age.wrapping_sub(stamp >> 1) & AGE_MASK);
        if distance.is_some_and(|distance| distance <= self.known().active) {
            arena.set(slot, flag::ACTIVE);
            if evicted_at.is_some_and(|stamp| stamp & 1 != 0) {
                arena.set(slot, flag::WORKINGSET);
            }
            self.active.push_front(arena, slot);
            self.age = self.age.wrapping_add(pages);
            self.came_back = self.came_back.wrapping_add(pages);
        } else {
            self.inactive.push_front(arena, slot);
        }
        let truth = self.truth();
        self.statistics.grows(truth);
    }

    fn read(&mut self, arena: &mut Arena, slot: Slot) {
        self.mark_accessed(arena, slot);
    }

    fn written(&mut self, _arena: &mut Arena, _slot: Slot) {}

    fn mapped(&mut self, arena: &mut Arena, slot: Slot) {
        // The touch before this one has been unmapped, which marks what was young as accessed.
        if arena.has(slot, flag::YOUNG) {
            self.mark_accessed(arena, slot);
        }
        arena.set(slot, flag::YOUNG | flag::MAPPED);
    }

    fn touched_again(&mut self, arena: &mut Arena, slot: Slot) {
        // Marks are of pages: two of a folio activate it (`referenced_ptes` in `folio_check_references`).
        if arena.has(slot, flag::YOUNG) && arena.order(slot) > 0 {
            arena.set(slot, flag::YOUNGER);
        }
        arena.set(slot, flag::YOUNG | flag::MAPPED);
    }

    fn removed(&mut self, arena: &mut Arena, slot: Slot) {
        if arena.has(slot, flag::ACTIVE) {
            self.active.unlink(arena, slot);
        } else {
            self.inactive.unlink(arena, slot);
        }
    }

    fn passes(&mut self, nanos: u64) {
        self.statistics.passes(nanos);
    }

    fn reclaim_begins(&mut self, pages: u32) {
        // `prepare_scan_control`, `snapshot_refaults`
        let came_back = self.known().came_back;
        let renewed = came_back != self.came_back_known;
        self.came_back_known = came_back;
        self.reclaim = Reclaim { wanted: pages, renewed, ..Reclaim::default() };
        self.begin_step(PRIORITY);
        self.reclaim.chunk = self.reclaim.inactive.min(CHUNK_PAGES);
        self.reclaim.inactive -= self.reclaim.chunk;
    }

    fn victim(&mut self, arena: &mut Arena) -> Option<(Slot, u32)> {
        while !self.reclaim.done {
            let slot = self.inactive.last();
            if self.reclaim.chunk == 0 || slot == 0 {
                self.next_chunk(arena);
                continue;
            }
            let pages = arena.pages(slot);
            self.reclaim.chunk = self.reclaim.chunk.saturating_sub(pages);
            if !self.spared(arena, slot) {
                self.reclaim.found += pages;
                self.reclaim.found_now += pages;
                let stamp =
                    (self.age & AGE_MASK) << 1 | u32::from(arena.has(slot, flag::WORKINGSET));
                self.age = self.age.wrapping_add(pages);
                return Some((slot, stamp));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reclaim(lists: &mut ActiveInactive, arena: &mut Arena, pages: u32) -> u32 {
        lists.reclaim_begins(pages);
        let mut found = 0;
        while let Some((slot, _)) = lists.victim(arena) {
            found += arena.pages(slot);
            lists.removed(arena, slot);
        }
        found
    }

    #[test]
    fn reclaim_finds_more_than_asked_for_by_whole_steps() {
        let (mut lists, mut arena) = (ActiveInactive::new(Updates::ByReaders), Arena::default());
        for page in 0..4096 {
            let slot = arena.insert(page, 0);
            lists.inserted(&mut arena, slot, None);
        }
        // A 4096th, a 2048th of what is left, and so on, each step to its end.
        assert_eq!(reclaim(&mut lists, &mut arena, 32), 1 + 1 + 3 + 7 + 15 + 31);
    }

    #[test]
    fn a_large_folio_leaves_the_active_list_whole() {
        let (mut lists, mut arena) = (ActiveInactive::new(Updates::ByReaders), Arena::default());
        for at in 0..16 {
            let slot = arena.insert(at * 256, 8);
            lists.inserted(&mut arena, slot, None);
            lists.read(&mut arena, slot);
            lists.read(&mut arena, slot);
        }
        assert_eq!((lists.active.pages, lists.inactive.pages), (4096, 0));
        // One page of 4096 is looked at, and its folio goes; the next step finds it.
        assert_eq!(reclaim(&mut lists, &mut arena, 32), 256);
        assert!(lists.active.pages < 4096 - 256, "a step looks at both lists");
    }

    #[test]
    fn what_came_back_is_held_against_the_active_list_once_it_is_known() {
        let (mut lists, mut arena) = (ActiveInactive::new(Updates::ByReaders), Arena::default());
        for at in 0..4096 {
            let slot = arena.insert(at, 0);
            lists.inserted(&mut arena, slot, None);
            if at < 64 {
                lists.read(&mut arena, slot);
                lists.read(&mut arena, slot);
            }
        }
        reclaim(&mut lists, &mut arena, 32);
        assert_eq!(lists.active.pages, 64, "the inactive list is long enough");
        lists.passes(20_000_000);
        lists.known();
        let slot = arena.insert(4096, 0);
        lists.inserted(&mut arena, slot, Some(lists.age << 1));
        reclaim(&mut lists, &mut arena, 1024);
        assert_eq!(lists.active.pages, 65, "not known yet");
        lists.passes(20_000_000);
        reclaim(&mut lists, &mut arena, 1024);
        let left = lists.active.pages;
        assert!(left < 65, "{left}");
        reclaim(&mut lists, &mut arena, 32);
        assert_eq!(lists.active.pages, left);
    }

    #[test]
    fn text_is_active_once_it_is_used_and_stays_so_while_it_is() {
        for (is_text, is_used) in [(true, true), (true, false), (false, true), (false, false)] {
            let (mut lists, mut arena) =
                (ActiveInactive::new(Updates::ByReaders), Arena::default());
            let slot = arena.insert(0, 0);
            lists.inserted(&mut arena, slot, None);
            if is_text {
                arena.set(slot, flag::TEXT);
            }
            if is_used {
                lists.mapped(&mut arena, slot);
            }
            assert_eq!(lists.spared(&mut arena, slot), is_used);
            assert_eq!(arena.has(slot, flag::ACTIVE), is_text && is_used);
            if !arena.has(slot, flag::ACTIVE) {
                lists.activate(&mut arena, slot);
            }
            if is_used {
                lists.touched_again(&mut arena, slot);
            }
            lists.deactivate(&mut arena, 1);
            assert_eq!(arena.has(slot, flag::ACTIVE), is_text && is_used);
            // The mark was taken away: it is not used since.
            lists.deactivate(&mut arena, 1);
            assert!(!arena.has(slot, flag::ACTIVE));
        }
    }

    #[test]
    fn what_was_active_comes_back_as_part_of_the_working_set() {
        for was_active in [true, false] {
            let (mut lists, mut arena) =
                (ActiveInactive::new(Updates::ByReaders), Arena::default());
            let slot = arena.insert(0, 0);
            lists.inserted(&mut arena, slot, None);
            if was_active {
                lists.activate(&mut arena, slot);
            }
            for page in 1..64 {
                let other = arena.insert(page, 0);
                lists.inserted(&mut arena, other, None);
                lists.activate(&mut arena, other);
            }
            lists.deactivate(&mut arena, u32::from(was_active));
            lists.reclaim_begins(1);
            let (victim, stamp) = lists.victim(&mut arena).unwrap();
            assert_eq!(victim, slot);
            lists.removed(&mut arena, victim);
            arena.remove(victim);
            let back = arena.insert(0, 0);
            lists.inserted(&mut arena, back, Some(stamp));
            assert!(arena.has(back, flag::ACTIVE));
            assert_eq!(arena.has(back, flag::WORKINGSET), was_active);
        }
    }

    #[test]
    fn an_active_list_that_is_all_there_is_gives_way() {
        let (mut lists, mut arena) = (ActiveInactive::new(Updates::ByReaders), Arena::default());
        for at in 0..40 {
            let slot = arena.insert(at, 0);
            lists.inserted(&mut arena, slot, None);
            lists.mapped(&mut arena, slot);
        }
        assert!(reclaim(&mut lists, &mut arena, 32) >= 32, "on the second look none is young");
    }
}

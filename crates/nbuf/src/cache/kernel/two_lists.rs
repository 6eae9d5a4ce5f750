//! The kernel's active and inactive list of file pages (`mm/vmscan.c`, `mm/workingset.c`).
//!
//! A folio starts inactive; its second read activates it; a folio that comes back sooner than the
//! active list is long starts active. The tail of the inactive list leaves, and the active list
//! feeds the inactive one when that is the shorter. Below 1 GiB the lists are balanced 1:1, above
//! by the square root of the size.
//!
//! The kernel also deactivates when it notices activated refaults. It notices by statistics of the
//! group that are up to two seconds old unless somebody reads `memory.stat`, and then hardly ever
//! sees a change between two reclaims: that rule is left out, and verification keeps the
//! statistics fresh (docs/decisions/0003-fresh-statistics.md).

use super::folio::{Arena, List, Slot, flag};
use super::model::Order;

/// Stamps are this wide.
const AGE_MASK: u32 = u32::MAX >> 1;

#[derive(Debug, Default)]
pub(super) struct TwoLists {
    active: List,
    inactive: List,
    /// Evictions and activations so far, in pages: the clock refaults are measured with.
    age: u32,
    /// Pages of the active list that reclaim owes a look.
    owed: f64,
}

impl TwoLists {
    fn inactive_is_low(&self) -> bool {
        let (inactive, active) = (u64::from(self.inactive.pages), u64::from(self.active.pages));
        let gibibytes = (inactive + active) >> 18;
        let ratio = if gibibytes > 0 { (10 * gibibytes).isqrt() } else { 1 };
        inactive * ratio < active
    }

    fn activate(&mut self, arena: &mut Arena, slot: Slot) {
        self.inactive.unlink(arena, slot);
        arena.set(slot, flag::ACTIVE);
        self.active.push_front(arena, slot);
        self.age = self.age.wrapping_add(u32::from(arena.get(slot).pages));
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

    /// `shrink_active_list`: the tail goes back to the inactive list, read or not.
    fn deactivate(&mut self, arena: &mut Arena) {
        let slot = self.active.last();
        if slot == 0 {
            self.owed = 0.0;
            return;
        }
        self.owed -= f64::from(arena.get(slot).pages);
        self.active.unlink(arena, slot);
        arena.clear(slot, flag::ACTIVE);
        self.inactive.push_front(arena, slot);
    }

    /// `folio_check_references` for a folio at the inactive tail: whether it stays.
    fn spared(&mut self, arena: &mut Arena, slot: Slot) -> bool {
        let referenced = arena.has(slot, flag::REFERENCED);
        arena.clear(slot, flag::REFERENCED);
        if !arena.has(slot, flag::YOUNG) {
            return false;
        }
        arena.clear(slot, flag::YOUNG);
        if referenced {
            self.activate(arena, slot);
        } else {
            arena.set(slot, flag::REFERENCED);
            self.inactive.move_to_front(arena, slot);
        }
        true
    }
}

impl Order for TwoLists {
    fn inserted(&mut self, arena: &mut Arena, slot: Slot, evicted_at: Option<u32>) {
        let pages = u32::from(arena.get(slot).pages);
        // `workingset_refault`
        let distance = evicted_at.map(|stamp| self.age.wrapping_sub(stamp) & AGE_MASK);
        if distance.is_some_and(|distance| distance <= self.active.pages) {
            arena.set(slot, flag::ACTIVE);
            self.active.push_front(arena, slot);
            self.age = self.age.wrapping_add(pages);
        } else {
            self.inactive.push_front(arena, slot);
        }
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
        arena.set(slot, flag::YOUNG);
    }

    fn removed(&mut self, arena: &mut Arena, slot: Slot) {
        if arena.has(slot, flag::ACTIVE) {
            self.active.unlink(arena, slot);
        } else {
            self.inactive.unlink(arena, slot);
        }
    }

    fn reclaim_begins(&mut self) {
        self.owed = if self.inactive_is_low() { self.owed.max(0.0) } else { f64::NEG_INFINITY };
    }

    fn victim(&mut self, arena: &mut Arena) -> Option<(Slot, u32)> {
        loop {
            let slot = self.inactive.last();
            if slot == 0 {
                if self.active.last() == 0 {
                    return None;
                }
                self.owed = 0.0;
                self.deactivate(arena);
                continue;
            }
            // Both lists are looked at in proportion to their length.
            let pages = f64::from(arena.get(slot).pages);
            self.owed += pages * f64::from(self.active.pages) / f64::from(self.inactive.pages);
            while self.owed >= 1.0 {
                self.deactivate(arena);
            }
            if !self.spared(arena, slot) {
                let evicted_at = self.age & AGE_MASK;
                self.age = self.age.wrapping_add(u32::from(arena.get(slot).pages));
                return Some((slot, evicted_at));
            }
        }
    }
}

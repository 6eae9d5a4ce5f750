//! Strict LRU over folios: every touch moves a folio to the front, the last one leaves.

use super::folio::{Arena, List, Slot};
use super::model::Order;

#[derive(Debug, Default)]
pub(super) struct Lru {
    list: List,
    /// Pages that reclaim still has to find.
    wanted: u32,
}

impl Order for Lru {
    fn inserted(&mut self, arena: &mut Arena, slot: Slot, _evicted_at: Option<u32>) {
        self.list.push_front(arena, slot);
    }

    fn read(&mut self, arena: &mut Arena, slot: Slot) {
        self.list.move_to_front(arena, slot);
    }

    fn written(&mut self, arena: &mut Arena, slot: Slot) {
        self.list.move_to_front(arena, slot);
    }

    fn mapped(&mut self, arena: &mut Arena, slot: Slot) {
        self.list.move_to_front(arena, slot);
    }

    fn touched_again(&mut self, arena: &mut Arena, slot: Slot) {
        self.list.move_to_front(arena, slot);
    }

    fn removed(&mut self, arena: &mut Arena, slot: Slot) {
        self.list.unlink(arena, slot);
    }

    fn passes(&mut self, _nanos: u64) {}

    fn reclaim_begins(&mut self, pages: u32) {
        self.wanted = pages;
    }

    fn victim(&mut self, arena: &mut Arena) -> Option<(Slot, u32)> {
        let slot = self.list.last();
        if slot == 0 || self.wanted == 0 {
            return None;
        }
        self.wanted = self.wanted.saturating_sub(arena.pages(slot));
        Some((slot, 0))
    }
}

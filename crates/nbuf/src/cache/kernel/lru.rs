//! Strict LRU over folios: every touch moves a folio to the front, the last one leaves.

use super::folio::{Arena, List, Slot};
use super::model::Order;

#[derive(Debug, Default)]
pub(super) struct Lru {
    list: List,
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

    fn removed(&mut self, arena: &mut Arena, slot: Slot) {
        self.list.unlink(arena, slot);
    }

    fn victim(&mut self, _arena: &mut Arena) -> Option<(Slot, u32)> {
        (self.list.last() != 0).then(|| (self.list.last(), 0))
    }
}

//! Folios in an arena, and doubly linked lists of them by index: no pointers, no allocation once
//! the cache is full.

/// Index of a folio; 0 is no folio.
pub(super) type Slot = u32;

/// Folio flags, as in `include/linux/page-flags.h`.
pub(super) mod flag {
    /// Touched once since it was inserted or activated.
    pub(in super::super) const REFERENCED: u8 = 1;
    /// On the active list.
    pub(in super::super) const ACTIVE: u8 = 2;
    /// A read that reaches it starts the next asynchronous readahead.
    pub(in super::super) const READAHEAD: u8 = 4;
    /// Touched through a mapping since reclaim last looked.
    pub(in super::super) const YOUNG: u8 = 8;
    /// Charged to somebody else: always there, on no list, no part of this cache.
    pub(in super::super) const SHARED: u8 = 16;
}

/// A run of pages that is cached and evicted as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Folio {
    /// Position of its first page in the table of all pages.
    pub(super) base: usize,
    prev: Slot,
    next: Slot,
    /// Pages, a power of two.
    pub(super) pages: u16,
    pub(super) flags: u8,
    /// Whether it is on a list at all.
    listed: bool,
}

/// All folios of a cache.
#[derive(Debug)]
pub(super) struct Arena {
    folios: Vec<Folio>,
    free: Vec<Slot>,
}

impl Default for Arena {
    fn default() -> Self {
        Self { folios: vec![Folio::default()], free: Vec::new() }
    }
}

impl Arena {
    pub(super) fn insert(&mut self, base: usize, pages: u16) -> Slot {
        let folio = Folio { base, pages, ..Folio::default() };
        if let Some(slot) = self.free.pop() {
            self.folios[slot as usize] = folio;
            return slot;
        }
        self.folios.push(folio);
        u32::try_from(self.folios.len() - 1).unwrap_or(0)
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    pub(super) fn get(&self, slot: Slot) -> &Folio {
        &self.folios[slot as usize]
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> &mut Folio {
        &mut self.folios[slot as usize]
    }

    pub(super) fn has(&self, slot: Slot, flag: u8) -> bool {
        self.get(slot).flags & flag != 0
    }

    pub(super) fn set(&mut self, slot: Slot, flag: u8) {
        self.get_mut(slot).flags |= flag;
    }

    pub(super) fn clear(&mut self, slot: Slot, flag: u8) {
        self.get_mut(slot).flags &= !flag;
    }
}

/// A list from most to least recently added, with its length in pages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    head: Slot,
    tail: Slot,
    pub(super) pages: u32,
}

impl List {
    pub(super) fn push_front(&mut self, arena: &mut Arena, slot: Slot) {
        let head = self.head;
        let folio = arena.get_mut(slot);
        (folio.prev, folio.next, folio.listed) = (0, head, true);
        self.pages += u32::from(folio.pages);
        if head == 0 {
            self.tail = slot;
        } else {
            arena.get_mut(head).prev = slot;
        }
        self.head = slot;
    }

    pub(super) fn unlink(&mut self, arena: &mut Arena, slot: Slot) {
        let folio = arena.get_mut(slot);
        if !folio.listed {
            return;
        }
        folio.listed = false;
        let (prev, next) = (folio.prev, folio.next);
        self.pages -= u32::from(folio.pages);
        if prev == 0 {
            self.head = next;
        } else {
            arena.get_mut(prev).next = next;
        }
        if next == 0 {
            self.tail = prev;
        } else {
            arena.get_mut(next).prev = prev;
        }
    }

    pub(super) fn move_to_front(&mut self, arena: &mut Arena, slot: Slot) {
        if self.head != slot {
            self.unlink(arena, slot);
            self.push_front(arena, slot);
        }
    }

    /// The least recently added; 0 when empty.
    pub(super) fn last(&self) -> Slot {
        self.tail
    }
}

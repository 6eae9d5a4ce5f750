//! Folios in an arena, and doubly linked lists of them by index: no pointers, no allocation once
//! the cache is full.

use crate::sys::prefetch::prefetch;

/// Index of a folio; 0 is no folio.
pub(super) type Slot = u32;

/// Folio flags, as in `include/linux/page-flags.h`.
pub(super) mod flag {
    /// Touched once since it was inserted or activated.
    pub(in super::super) const REFERENCED: u16 = 1;
    /// On the active list.
    pub(in super::super) const ACTIVE: u16 = 2;
    /// A read that reaches it starts the next asynchronous readahead.
    pub(in super::super) const READAHEAD: u16 = 4;
    /// Touched through a mapping since reclaim last looked.
    pub(in super::super) const YOUNG: u16 = 8;
    /// Charged elsewhere: always there, on no list, no part of this cache.
    pub(in super::super) const SHARED: u16 = 16;
    /// On a list at all.
    pub(in super::super) const LISTED: u16 = 32;
    /// In the page tables of a process.
    pub(in super::super) const MAPPED: u16 = 64;
    /// Several pages of it were touched through mappings since reclaim last looked.
    pub(in super::super) const YOUNGER: u16 = 128;
    /// It was active once, perhaps before it was evicted and came back soon.
    pub(in super::super) const WORKINGSET: u16 = 256;
    /// It is text of a program.
    pub(in super::super) const TEXT: u16 = 512;
}

/// What a hit asks of a folio, two bytes of it, so that those of a large cache stay close to the
/// processor: flags, and its pages as a power of two in the highest four bits.
#[derive(Clone, Copy, Debug, Default)]
struct Mark(u16);

const ORDER_SHIFT: u32 = 12;

/// Its neighbours on its list.
#[derive(Clone, Copy, Debug, Default)]
struct Links {
    prev: Slot,
    next: Slot,
}

/// All folios of a cache: runs of pages that are cached and evicted as one. Kept by field, because
/// most touches need the first only.
#[derive(Debug)]
pub(super) struct Arena {
    marks: Vec<Mark>,
    links: Vec<Links>,
    bases: Vec<usize>,
    free: Vec<Slot>,
}

impl Default for Arena {
    fn default() -> Self {
        let (marks, links) = (vec![Mark::default()], vec![Links::default()]);
        Self { marks, links, bases: vec![0], free: Vec::new() }
    }
}

impl Arena {
    /// A folio of `1 << order` pages, of which the first is at `base` in the table of all pages.
    pub(super) fn insert(&mut self, base: usize, order: u32) -> Slot {
        let mark = Mark(u16::try_from(order).unwrap_or(0) << ORDER_SHIFT);
        if let Some(slot) = self.free.pop() {
            self.marks[slot as usize] = mark;
            self.bases[slot as usize] = base;
            return slot;
        }
        self.marks.push(mark);
        self.links.push(Links::default());
        self.bases.push(base);
        u32::try_from(self.marks.len() - 1).unwrap_or(0)
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// Position of its first page in the table of all pages.
    pub(super) fn base(&self, slot: Slot) -> usize {
        self.bases[slot as usize]
    }

    pub(super) fn order(&self, slot: Slot) -> u32 {
        u32::from(self.marks[slot as usize].0) >> ORDER_SHIFT
    }

    pub(super) fn pages(&self, slot: Slot) -> u32 {
        1 << self.order(slot)
    }

    pub(super) fn has(&self, slot: Slot, flag: u16) -> bool {
        self.marks[slot as usize].0 & flag != 0
    }

    pub(super) fn set(&mut self, slot: Slot, flag: u16) {
        self.marks[slot as usize].0 |= flag;
    }

    pub(super) fn clear(&mut self, slot: Slot, flag: u16) {
        self.marks[slot as usize].0 &= !flag;
    }

    /// Starts to load what a touch will look at.
    pub(super) fn prefetch(&self, slot: Slot) {
        prefetch(&self.marks, slot as usize);
        prefetch(&self.links, slot as usize);
    }

    fn links(&mut self, slot: Slot) -> &mut Links {
        &mut self.links[slot as usize]
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
        *arena.links(slot) = Links { prev: 0, next: head };
        arena.set(slot, flag::LISTED);
        self.pages += arena.pages(slot);
        if head == 0 {
            self.tail = slot;
        } else {
            arena.links(head).prev = slot;
        }
        self.head = slot;
    }

    pub(super) fn unlink(&mut self, arena: &mut Arena, slot: Slot) {
        if !arena.has(slot, flag::LISTED) {
            return;
        }
        arena.clear(slot, flag::LISTED);
        let Links { prev, next } = *arena.links(slot);
        self.pages -= arena.pages(slot);
        if prev == 0 {
            self.head = next;
        } else {
            arena.links(prev).next = next;
        }
        if next == 0 {
            self.tail = prev;
        } else {
            arena.links(next).prev = prev;
        }
    }

    pub(super) fn move_to_front(&mut self, arena: &mut Arena, slot: Slot) {
        if self.head != slot {
            self.unlink(arena, slot);
            self.push_front(arena, slot);
        }
    }

    /// Makes it the last one, which is the next to leave.
    pub(super) fn move_to_back(&mut self, arena: &mut Arena, slot: Slot) {
        self.unlink(arena, slot);
        let tail = self.tail;
        *arena.links(slot) = Links { prev: tail, next: 0 };
        arena.set(slot, flag::LISTED);
        self.pages += arena.pages(slot);
        if tail == 0 {
            self.head = slot;
        } else {
            arena.links(tail).next = slot;
        }
        self.tail = slot;
    }

    /// The least recently added; 0 when empty.
    pub(super) fn last(&self) -> Slot {
        self.tail
    }
}

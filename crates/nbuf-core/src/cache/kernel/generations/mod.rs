//! The multi-generational LRU of the kernel, for file pages.
//!
//! A folio is in one of up to four generations. A page that a call reads comes into the oldest one, and one that a fault
//! brings into the second youngest. Reclaim takes the tail of the oldest generation. Folios that calls read often move
//! on to the next generation, if their tier is protected ([`tiers`]). When the oldest generation is empty, the next
//! one is the oldest. When two are left, aging walks the page tables, promotes what is marked there, and begins a new
//! generation.
//! Source: Linux 6.16 `mm/vmscan.c`, `mm/workingset.c`, `include/linux/mm_inline.h`, by behaviour. Since 6.14 the rules
//! are these. Not modelled: the look around a mapped page in reclaim, the Bloom filters of the walk, dirty pages, swap.
//! Cost: as the two lists, and a pass over all folios each time that aging runs.

mod reclaim;
mod tiers;

use super::folio::{Arena, List, Slot, flag};
use super::model::Order;
use reclaim::Reclaim;
use tiers::{Tiers, tier_of};

/// Generations at most, and those that reclaim does not touch (`MAX_NR_GENS`, `MIN_NR_GENS`).
const GENERATIONS: u32 = 4;
const GENERATIONS_LEAST: u32 = 2;
/// Pages that one look isolates (`MIN_LRU_BATCH`).
const BATCH_PAGES: u32 = 64;
/// Accesses by calls that are counted after the first (`LRU_REFS_WIDTH` bits).
const REFS_MAX: u8 = 3;
/// Bits of a generation's number in a stamp.
const NUMBER_MASK: u32 = (1 << 28) - 1;

/// What a folio has that the arena does not keep.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The generation that it belongs to, and the list that it is on, which follows when reclaim comes by.
    generation: u8,
    list: u8,
    /// Accesses by calls after the first one.
    refs: u8,
}

#[derive(Debug)]
pub(super) struct Generations {
    lists: [List; GENERATIONS as usize],
    /// Numbers of the youngest and of the oldest generation.
    youngest: u32,
    oldest: u32,
    folios: Vec<State>,
    tiers: Tiers,
    reclaim: Reclaim,
    /// Whether what comes in now is brought by a fault (`lru_gen_in_fault`).
    is_fault: bool,
}

impl Default for Generations {
    fn default() -> Self {
        Self {
            lists: [List::default(); GENERATIONS as usize],
            youngest: GENERATIONS_LEAST + 1,
            oldest: 0,
            folios: Vec::new(),
            tiers: Tiers::default(),
            reclaim: Reclaim::default(),
            is_fault: false,
        }
    }
}

impl Generations {
    fn state(&mut self, slot: Slot) -> &mut State {
        let at = slot as usize;
        if at >= self.folios.len() {
            self.folios.resize(at + 1, State::default());
        }
        &mut self.folios[at]
    }

    /// Puts a folio into a generation.
    fn put(&mut self, arena: &mut Arena, slot: Slot, number: u32) {
        let generation = place(number);
        let state = self.state(slot);
        (state.generation, state.list) = (generation, generation);
        self.lists[usize::from(generation)].push_front(arena, slot);
    }

    fn take(&mut self, arena: &mut Arena, slot: Slot) {
        let list = self.state(slot).list;
        self.lists[usize::from(list)].unlink(arena, slot);
    }

    /// The number of the generation for a folio that comes in or back (`lru_gen_folio_seq`).
    fn number_for(&self, is_active: bool, is_working_set: bool) -> u32 {
        let behind = if is_active { GENERATIONS_LEAST } else { GENERATIONS };
        let behind = behind - u32::from(is_working_set);
        (self.youngest + 1).saturating_sub(behind).max(self.oldest)
    }

    /// Accesses by calls (`folio_lru_refs`).
    fn accesses(&mut self, arena: &Arena, slot: Slot) -> u32 {
        let refs = self.state(slot).refs;
        if arena.has(slot, flag::REFERENCED) { u32::from(refs) + 1 } else { 0 }
    }

    /// An access by a call (`lru_gen_inc_refs`).
    fn count_access(&mut self, arena: &mut Arena, slot: Slot) {
        let state = self.state(slot);
        if !arena.has(slot, flag::REFERENCED) {
            arena.set(slot, flag::REFERENCED);
            state.refs = 0;
        } else if state.refs < REFS_MAX {
            state.refs += 1;
        } else {
            arena.set(slot, flag::WORKINGSET);
        }
    }

    fn forget_accesses(&mut self, arena: &mut Arena, slot: Slot) {
        arena.clear(slot, flag::REFERENCED);
        self.state(slot).refs = 0;
    }

    /// A mark in a page table was found: whether it is not the first, and the folio is part of the working set
    /// (`folio_update_gen`, `lru_gen_set_refs`).
    fn is_promoted(&mut self, arena: &mut Arena, slot: Slot) -> bool {
        arena.clear(slot, flag::YOUNG | flag::YOUNGER);
        if !arena.has(slot, flag::REFERENCED | flag::WORKINGSET) {
            self.state(slot).refs = 0;
            arena.set(slot, flag::REFERENCED);
            return false;
        }
        self.forget_accesses(arena, slot);
        arena.set(slot, flag::WORKINGSET);
        true
    }

    /// Walks the page tables, and begins a generation (`try_to_inc_max_seq`).
    fn age(&mut self, arena: &mut Arena) {
        let generation = place(self.youngest);
        let end = u32::try_from(self.folios.len()).unwrap_or(0);
        for slot in 1..end {
            let is_young = arena.has(slot, flag::YOUNG) && arena.has(slot, flag::LISTED);
            if is_young && self.is_promoted(arena, slot) {
                self.state(slot).generation = generation;
            }
        }
        self.youngest += 1;
    }

    /// Whether a folio at the tail of the oldest generation moves on (`sort_folio`).
    fn is_moved(&mut self, arena: &mut Arena, slot: Slot, evictable: usize) -> bool {
        let generation = self.state(slot).generation;
        if generation != place(self.oldest) {
            self.take(arena, slot);
            self.lists[usize::from(generation)].push_front(arena, slot);
            self.state(slot).list = generation;
            return true;
        }
        let is_working_set = arena.has(slot, flag::WORKINGSET);
        let accesses = self.accesses(arena, slot);
        let tier = tier_of(accesses, is_working_set);
        // Read as often as can be counted: promoted, whatever the tiers do.
        let is_full = is_working_set && accesses > u32::from(REFS_MAX);
        if tier <= evictable && !is_full {
            return false;
        }
        if !is_full {
            let pages = arena.pages(slot);
            self.tiers.protected(tier, pages);
        }
        self.take(arena, slot);
        self.forget_accesses(arena, slot);
        self.put(arena, slot, self.oldest + 1);
        true
    }

    /// Whether an isolated folio goes back, because a page table has a mark (`folio_check_references`). It goes back as an
    /// active one, so that it is not in the oldest generation.
    fn is_spared(&mut self, arena: &mut Arena, slot: Slot) -> bool {
        if !arena.has(slot, flag::YOUNG) {
            return false;
        }
        let is_working_set = self.is_promoted(arena, slot);
        self.forget_accesses(arena, slot);
        let number = self.number_for(true, is_working_set);
        self.put(arena, slot, number);
        true
    }

    /// What is remembered of a folio that leaves (`lru_gen_eviction`).
    fn stamp(&mut self, arena: &Arena, slot: Slot) -> u32 {
        let accesses = self.accesses(arena, slot);
        let is_working_set = arena.has(slot, flag::WORKINGSET);
        self.tiers.evicted(tier_of(accesses, is_working_set), arena.pages(slot));
        let refs = accesses.saturating_sub(1);
        (self.oldest & NUMBER_MASK) << 3 | refs << 1 | u32::from(is_working_set)
    }
}

/// Where a generation with this number is.
fn place(number: u32) -> u8 {
    u8::try_from(number % GENERATIONS).unwrap_or(0)
}

impl Order for Generations {
    fn enters(&mut self, is_fault: bool) {
        self.is_fault = is_fault;
    }

    fn inserted(&mut self, arena: &mut Arena, slot: Slot, evicted_at: Option<u32>) {
        *self.state(slot) = State::default();
        // `lru_gen_refault`
        if let Some(stamp) = evicted_at {
            let is_recent = (self.youngest & NUMBER_MASK).abs_diff(stamp >> 3) < GENERATIONS;
            let is_working_set = stamp & 1 != 0;
            if is_recent {
                let tier = tier_of((stamp >> 1 & 3) + 1, is_working_set);
                self.tiers.refaulted(tier, arena.pages(slot));
                if is_working_set {
                    arena.set(slot, flag::WORKINGSET);
                }
            }
        }
        let is_working_set = arena.has(slot, flag::WORKINGSET);
        let number = self.number_for(self.is_fault, is_working_set);
        self.put(arena, slot, number);
    }

    fn read(&mut self, arena: &mut Arena, slot: Slot) {
        self.count_access(arena, slot);
    }

    fn written(&mut self, _arena: &mut Arena, _slot: Slot) {}

    fn mapped(&mut self, arena: &mut Arena, slot: Slot) {
        // The touch before this one has been unmapped, which marks what was young as accessed.
        if arena.has(slot, flag::YOUNG) {
            self.count_access(arena, slot);
        }
        arena.set(slot, flag::YOUNG | flag::MAPPED);
    }

    fn touched_again(&mut self, arena: &mut Arena, slot: Slot) {
        arena.set(slot, flag::YOUNG | flag::MAPPED);
    }

    fn removed(&mut self, arena: &mut Arena, slot: Slot) {
        self.take(arena, slot);
    }

    fn passes(&mut self, _nanos: u64) {}

    fn reclaim_begins(&mut self, pages: u32) {
        self.reclaim = Reclaim::of(pages);
    }

    fn victim(&mut self, arena: &mut Arena) -> Option<(Slot, u32)> {
        loop {
            while let Some(slot) = self.reclaim.batch.pop_front() {
                if !self.is_spared(arena, slot) {
                    self.reclaim.found += arena.pages(slot);
                    let stamp = self.stamp(arena, slot);
                    return Some((slot, stamp));
                }
            }
            if !self.go_on(arena) {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests;

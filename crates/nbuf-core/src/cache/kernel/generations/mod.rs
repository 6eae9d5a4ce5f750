//! The multi-generational LRU of the kernel, for file pages.
//!
//! A folio is in one of up to four generations. A page that a call reads comes into the oldest one, and one that a fault
//! brings into the second youngest. Reclaim takes the tail of the oldest generation. Folios that calls read often move
//! on to the next generation, if their tier is protected ([`tiers`]). When the oldest generation is empty, the next
//! one is the oldest. When two are left, aging walks the page tables, promotes what is marked there, and begins a new
//! generation.
//! Sources: Linux 6.12, 6.16 and 7.3 `mm/vmscan.c`, `mm/workingset.c`, `include/linux/mm_inline.h`, by behaviour. What
//! differs between them follows [`Rules`]. Not modelled: the look around a mapped page in reclaim, the Bloom filters of
//! the walk, dirty pages, swap.
//! Cost: as the two lists, and a pass over all folios each time that aging runs.

mod accesses;
mod reclaim;
mod rules;
mod tiers;

use super::folio::{Arena, List, Slot, flag};
use super::model::Order;
use reclaim::Reclaim;
pub use rules::Rules;
use tiers::Tiers;

/// Generations at most, and those that reclaim does not touch (`MAX_NR_GENS`, `MIN_NR_GENS`).
const GENERATIONS: u32 = 4;
const GENERATIONS_LEAST: u32 = 2;
/// Pages that one look isolates (`MIN_LRU_BATCH`).
const BATCH_PAGES: u32 = 64;
/// Folios that a processor collects before it puts them on their lists (`PAGEVEC_SIZE`).
const COLLECTED_FOLIOS: usize = 31;
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
    rules: Rules,
    /// Since Linux 7.3: folios that came in, and that the processor has not put on their lists yet.
    collected: Vec<Slot>,
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
            rules: Rules::default(),
            collected: Vec::new(),
        }
    }
}

impl Generations {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, tiers: Tiers::new(rules.gains()), ..Self::default() }
    }

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

    /// The number of the generation for a folio that comes in or back (`lru_gen_folio_seq`, `lru_gen_add_folio`).
    fn number_for(&self, is_active: bool, is_ahead: bool) -> u32 {
        if self.rules == Rules::V6_12 {
            let is_room = self.oldest + GENERATIONS_LEAST < self.youngest;
            return if is_active { self.youngest } else { self.oldest + u32::from(is_room) };
        }
        let behind = if is_active { GENERATIONS_LEAST } else { GENERATIONS };
        let behind = behind - u32::from(is_ahead);
        (self.youngest + 1).saturating_sub(behind).max(self.oldest)
    }

    /// Puts a folio into its first generation (`folio_add_lru`). Since Linux 7.3, a fault brings in only a part of the
    /// working set as an active one, and counts as an access of the others.
    fn put_new(&mut self, arena: &mut Arena, slot: Slot) {
        let is_late = self.rules == Rules::V7_3;
        let is_working_set = arena.has(slot, flag::WORKINGSET);
        let is_active = self.is_fault && (is_working_set || !is_late);
        let number = self.number_for(is_active, is_working_set);
        self.put(arena, slot, number);
        if self.rules == Rules::V6_12 && is_active {
            self.state(slot).refs = 0;
        }
        if is_late && !is_active {
            if self.is_fault {
                self.count_access(arena, slot);
            }
            self.collected.push(slot);
            if self.collected.len() == COLLECTED_FOLIOS || arena.order(slot) > 0 {
                self.put_collected(arena);
            }
        }
    }

    /// The processor puts the folios on their lists that came in (`lru_add_drain`). Since Linux 7.3, those that were
    /// accessed meanwhile are in the next generation.
    fn put_collected(&mut self, arena: &mut Arena) {
        for slot in std::mem::take(&mut self.collected) {
            let number =
                self.number_for(false, arena.has(slot, flag::REFERENCED | flag::WORKINGSET));
            if self.state(slot).generation != place(number) {
                self.take(arena, slot);
                self.put(arena, slot, number);
            }
        }
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
        let accesses = self.accesses(arena, slot);
        let tier = self.tier(accesses, arena.has(slot, flag::WORKINGSET));
        let is_full = self.is_full(arena, slot);
        if tier <= evictable && !is_full {
            return false;
        }
        let is_early = self.rules == Rules::V6_12;
        if !is_full || is_early {
            let pages = arena.pages(slot);
            self.tiers.protected(tier, pages);
        }
        self.take(arena, slot);
        self.forget_accesses(arena, slot);
        self.put(arena, slot, self.oldest + 1);
        // Before Linux 6.14 it is at the other end of the list, the next one to leave there.
        if is_early {
            let list = &mut self.lists[usize::from(place(self.oldest + 1))];
            list.move_to_back(arena, slot);
        }
        true
    }

    /// Whether an isolated folio goes back, because a page table has a mark.
    fn is_spared(&mut self, arena: &mut Arena, slot: Slot) -> bool {
        if !arena.has(slot, flag::YOUNG) {
            return false;
        }
        let number = self.number_back(arena, slot);
        self.put(arena, slot, number);
        true
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
        if let Some(stamp) = evicted_at {
            self.came_back(arena, slot, stamp);
        }
        self.put_new(arena, slot);
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
        self.collected.retain(|&other| other != slot);
    }

    fn passes(&mut self, _nanos: u64) {}

    fn reclaim_begins(&mut self, pages: u32) {
        self.reclaim = Reclaim::of(pages);
    }

    fn victim(&mut self, arena: &mut Arena) -> Option<(Slot, u32)> {
        self.put_collected(arena);
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

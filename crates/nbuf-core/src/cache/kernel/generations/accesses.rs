//! What a folio remembers of its accesses, when it is promoted, and what is remembered of it when it leaves.

use super::super::folio::{Arena, Slot, flag};
use super::rules::Rules;
use super::tiers::tier_of;
use super::{GENERATIONS, Generations, NUMBER_MASK};

/// Accesses by calls that are counted in the bits of a folio (`LRU_REFS_WIDTH`).
const REFS_MAX: u8 = 3;

impl Generations {
    /// Accesses by calls (`folio_lru_refs`). Before Linux 6.14 the first one does not count.
    pub(super) fn accesses(&mut self, arena: &Arena, slot: Slot) -> u32 {
        let refs = u32::from(self.state(slot).refs);
        match self.rules {
            Rules::V6_12 => refs + u32::from(arena.has(slot, flag::WORKINGSET)),
            _ if arena.has(slot, flag::REFERENCED) => refs + 1,
            _ => 0,
        }
    }

    /// `lru_tier_from_refs`
    pub(super) fn tier(&self, accesses: u32, is_working_set: bool) -> usize {
        match self.rules {
            Rules::V6_12 => tier_of(accesses + 1, false),
            _ => tier_of(accesses, is_working_set),
        }
    }

    /// Whether it was read as often as can be counted, and moves on whatever the tiers do (`sort_folio`).
    pub(super) fn is_full(&mut self, arena: &Arena, slot: Slot) -> bool {
        self.accesses(arena, slot) > u32::from(REFS_MAX) && arena.has(slot, flag::WORKINGSET)
    }

    /// An access by a call (`lru_gen_inc_refs`, `folio_inc_refs`).
    pub(super) fn count_access(&mut self, arena: &mut Arena, slot: Slot) {
        let is_early = self.rules == Rules::V6_12;
        let state = self.state(slot);
        if !arena.has(slot, flag::REFERENCED) {
            arena.set(slot, flag::REFERENCED);
            if !is_early {
                state.refs = 0;
            }
        } else if is_early && !arena.has(slot, flag::WORKINGSET) {
            arena.set(slot, flag::WORKINGSET);
        } else if state.refs < REFS_MAX {
            state.refs += 1;
        } else {
            arena.set(slot, flag::WORKINGSET);
        }
    }

    /// What is counted starts over when a folio moves on (`folio_inc_gen`).
    pub(super) fn forget_accesses(&mut self, arena: &mut Arena, slot: Slot) {
        arena.clear(slot, flag::REFERENCED);
        if self.rules == Rules::V6_12 {
            arena.clear(slot, flag::WORKINGSET);
        }
        self.state(slot).refs = 0;
    }

    /// A mark in a page table was found: whether the folio is promoted (`folio_update_gen`, `lru_gen_set_refs`). Since
    /// Linux 6.14 it is so from the second mark on, and since 7.3 text of programs is from the first one on.
    pub(super) fn is_promoted(&mut self, arena: &mut Arena, slot: Slot) -> bool {
        arena.clear(slot, flag::YOUNG | flag::YOUNGER);
        let is_known = arena.has(slot, flag::REFERENCED | flag::WORKINGSET);
        let is_promoted = match self.rules {
            Rules::V6_12 => true,
            Rules::V6_14 => is_known,
            Rules::V7_3 => is_known || arena.has(slot, flag::TEXT),
        };
        if !is_promoted {
            self.state(slot).refs = 0;
            arena.set(slot, flag::REFERENCED);
            return false;
        }
        self.forget_accesses(arena, slot);
        if self.rules != Rules::V6_12 {
            arena.set(slot, flag::WORKINGSET);
        }
        true
    }

    /// The number of the generation for an isolated folio that goes back, because a page table has a mark
    /// (`folio_check_references`, `evict_folios`). It goes back as an active one, so that it is not in the oldest
    /// generation. Since Linux 7.3 it does so only where it would be there otherwise, or was known before.
    pub(super) fn number_back(&mut self, arena: &mut Arena, slot: Slot) -> u32 {
        if self.rules != Rules::V7_3 {
            let is_working_set = self.is_promoted(arena, slot);
            self.forget_accesses(arena, slot);
            return self.number_for(true, is_working_set);
        }
        let is_known = arena.has(slot, flag::REFERENCED | flag::WORKINGSET);
        if is_known && self.accesses(arena, slot) <= 1 {
            arena.clear(slot, flag::YOUNG | flag::YOUNGER);
            self.count_access(arena, slot);
            return self.number_for(true, arena.has(slot, flag::WORKINGSET));
        }
        if self.is_promoted(arena, slot) {
            return self.number_for(true, true);
        }
        let number = self.number_for(false, true);
        if number > self.oldest {
            return number;
        }
        self.forget_accesses(arena, slot);
        self.number_for(true, false)
    }

    /// What is remembered of a folio that leaves (`lru_gen_eviction`).
    pub(super) fn stamp(&mut self, arena: &mut Arena, slot: Slot) -> u32 {
        let is_early = self.rules == Rules::V6_12;
        if is_early && !arena.has(slot, flag::REFERENCED) {
            self.forget_accesses(arena, slot);
        }
        let accesses = self.accesses(arena, slot);
        let is_working_set = arena.has(slot, flag::WORKINGSET);
        let tier = self.tier(accesses, is_working_set);
        self.tiers.evicted(tier, arena.pages(slot));
        let refs = accesses.saturating_sub(1);
        let bit = if is_early { accesses > 0 } else { is_working_set };
        (self.oldest & NUMBER_MASK) << 3 | refs << 1 | u32::from(bit)
    }

    /// A folio comes back that left with this stamp (`lru_gen_refault`).
    pub(super) fn came_back(&mut self, arena: &mut Arena, slot: Slot, stamp: u32) {
        let (number, refs, bit) = (stamp >> 3, stamp >> 1 & 3, stamp & 1);
        let pages = arena.pages(slot);
        if self.rules == Rules::V6_12 {
            if number != self.oldest & NUMBER_MASK {
                return;
            }
            let accesses = refs + bit;
            let tier = self.tier(accesses, false);
            self.tiers.refaulted(tier, pages);
            if self.is_fault || accesses >= u32::from(REFS_MAX) {
                self.state(slot).refs = REFS_MAX;
                arena.set(slot, flag::WORKINGSET);
            }
        } else if (self.youngest & NUMBER_MASK).abs_diff(number) < GENERATIONS {
            let tier = self.tier(refs + 1, bit != 0);
            self.tiers.refaulted(tier, pages);
            if bit != 0 {
                arena.set(slot, flag::WORKINGSET);
            }
        }
    }
}

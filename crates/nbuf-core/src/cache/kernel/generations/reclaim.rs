//! How reclaim looks for folios of the oldest generation: in steps, each at twice the share, and in batches.

use std::collections::VecDeque;

use super::super::folio::{Arena, Slot};
use super::{BATCH_PAGES, GENERATIONS_LEAST, Generations, Rules, place};

/// Folios that one look goes over at most (`MAX_LRU_BATCH`).
const LOOK_FOLIOS: u32 = 4096;
/// Reclaim looks harder step by step (`DEF_PRIORITY`), and begins again if it found too little
/// (`MAX_RECLAIM_RETRIES`).
const PRIORITY: u32 = 12;
const RETRIES: u32 = 16;

/// Where reclaim is.
#[derive(Debug, Default)]
pub(super) struct Reclaim {
    wanted: u32,
    pub(super) found: u32,
    /// Pages that this step went over, and since Linux 7.3 those that it is to go over.
    scanned: u32,
    to_scan: Option<u32>,
    /// The share that it is to go over, as a power of two to divide by.
    priority: u32,
    retries: u32,
    step_is_over: bool,
    /// Isolated folios, of which each leaves or goes back.
    pub(super) batch: VecDeque<Slot>,
}

impl Reclaim {
    pub(super) fn of(wanted: u32) -> Self {
        Self { wanted, priority: PRIORITY, retries: RETRIES, ..Self::default() }
    }
}

impl Generations {
    /// Isolates folios of the oldest generation, and returns the pages that it went over (`scan_folios`,
    /// `evict_folios`). It looks at this number of folios at most.
    fn look(&mut self, arena: &mut Arena, folios: u32) -> u32 {
        let is_late = self.rules == Rules::V7_3;
        if is_late {
            self.leave_empty();
        }
        let mut scanned = 0;
        if self.oldest + GENERATIONS_LEAST <= self.youngest {
            let evictable = self.tiers.evictable();
            let (mut isolated, mut left) = (0, folios);
            while isolated < BATCH_PAGES && left > 0 {
                let slot = self.lists[usize::from(place(self.oldest))].last();
                if slot == 0 {
                    break;
                }
                let pages = arena.pages(slot);
                (scanned, left) = (scanned + pages, left - 1);
                if !self.is_moved(arena, slot, evictable) {
                    self.take(arena, slot);
                    self.reclaim.batch.push_back(slot);
                    isolated += pages;
                }
            }
            if isolated == 0 && left > 0 && !is_late {
                scanned = 0;
            }
        }
        let is_left = self.leave_empty();
        if is_late {
            return scanned;
        }
        scanned += u32::from(is_left);
        if self.oldest + GENERATIONS_LEAST > self.youngest { 0 } else { scanned }
    }

    /// The oldest generation that is not empty becomes the oldest; whether that is another (`try_to_inc_min_seq`).
    fn leave_empty(&mut self) -> bool {
        let before = self.oldest;
        while self.oldest + GENERATIONS_LEAST <= self.youngest
            && self.lists[usize::from(place(self.oldest))].last() == 0
        {
            self.oldest += 1;
        }
        if self.oldest != before {
            self.tiers.carry_over();
        }
        self.oldest != before
    }

    fn pages(&self) -> u32 {
        self.lists.iter().map(|list| list.pages).sum()
    }

    /// The pages that this step is to go over; 0 to end it (`get_nr_to_scan`).
    fn pages_to_scan(&mut self, arena: &mut Arena) -> u32 {
        let left = self.youngest - self.oldest;
        let pages = if left < GENERATIONS_LEAST { 0 } else { self.pages() };
        let is_enough = left > GENERATIONS_LEAST || self.is_spread_out(pages);
        if is_enough || self.reclaim.priority == PRIORITY {
            return pages >> self.reclaim.priority;
        }
        self.age(arena);
        0
    }

    /// Before Linux 6.14: whether the youngest of three generations is not too large, and the oldest one not too small
    /// (`should_run_aging`).
    pub(super) fn is_spread_out(&self, pages: u32) -> bool {
        let part = |number: u32| self.lists[usize::from(place(number))].pages;
        self.rules == Rules::V6_12
            && self.youngest - self.oldest == GENERATIONS_LEAST
            && part(self.youngest) * GENERATIONS_LEAST <= pages
            && part(self.oldest) * (GENERATIONS_LEAST + 2) >= pages
    }

    /// One look since Linux 7.3, whether the step goes on: the pages are counted when it begins, it ages where that is
    /// good, and it ends when enough is found (`try_to_shrink_lruvec`).
    fn goes_on_since_7_3(&mut self, arena: &mut Arena) -> bool {
        let to_scan = self.reclaim.to_scan.unwrap_or_else(|| self.pages() >> self.reclaim.priority);
        let is_found = self.reclaim.scanned > 0 && self.reclaim.found >= self.reclaim.wanted;
        if self.reclaim.scanned >= to_scan || is_found {
            return false;
        }
        let left = self.youngest - self.oldest;
        let is_gentle = self.reclaim.priority == PRIORITY;
        if left < GENERATIONS_LEAST || left == GENERATIONS_LEAST && !is_gentle {
            self.age(arena);
        }
        let scanned = self.look(arena, (to_scan - self.reclaim.scanned).min(BATCH_PAGES));
        self.reclaim.to_scan = Some(to_scan);
        self.reclaim.scanned += scanned;
        scanned > 0
    }

    /// Goes on by one look; false if reclaim is over (`try_to_shrink_lruvec`, `do_try_to_free_pages`).
    pub(super) fn go_on(&mut self, arena: &mut Arena) -> bool {
        let reclaim = &mut self.reclaim;
        if reclaim.step_is_over {
            let is_last = reclaim.priority == 0 && reclaim.retries == 0;
            if reclaim.found >= reclaim.wanted || is_last {
                return false;
            }
            (reclaim.scanned, reclaim.to_scan, reclaim.step_is_over) = (0, None, false);
            if reclaim.priority > 0 {
                reclaim.priority -= 1;
            } else {
                reclaim.retries -= 1;
                reclaim.priority = PRIORITY;
            }
        }
        if self.rules == Rules::V7_3 {
            self.reclaim.step_is_over = !self.goes_on_since_7_3(arena);
            return true;
        }
        let to_scan = self.pages_to_scan(arena);
        let scanned = if to_scan == 0 { 0 } else { self.look(arena, LOOK_FOLIOS) };
        let reclaim = &mut self.reclaim;
        reclaim.scanned += scanned;
        reclaim.step_is_over = scanned == 0 || reclaim.scanned >= to_scan;
        true
    }
}

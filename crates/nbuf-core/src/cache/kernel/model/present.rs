//! What is in the cache before a workload begins: folios as a look at the kernel's cache found them.

use super::super::Present;
use super::super::folio::flag;
use super::clock::Clock;
use super::{Model, Order};

/// The kernel makes no larger folios of files, and the arena has four bits for this.
const ORDER_MAX: u32 = 9;

impl<O: Order, C: Clock> Model<'_, O, C> {
    /// Puts folios in, the inactive ones first: these leave first. Those that the workload has no place for are left
    /// out, since nothing of them is used.
    pub(super) fn put_in(&mut self, present: &[Present]) {
        for is_active in [false, true] {
            for folio in present.iter().filter(|folio| folio.is_active == is_active) {
                self.put_one(folio);
            }
        }
    }

    fn put_one(&mut self, folio: &Present) {
        let order = folio.order.min(ORDER_MAX);
        let pages = 1_u32 << order;
        let is_placed = folio
            .first
            .checked_add(pages - 1)
            .is_some_and(|last| self.stream.has_number(folio.file, last));
        if !is_placed {
            return;
        }
        let base = self.stream.page_number(folio.file, folio.first);
        let Some(entries) = self.entries.get_mut(base..base + pages as usize) else { return };
        if entries.iter().any(|&entry| entry != 0) {
            return;
        }
        let slot = self.arena.insert(base, order);
        entries.fill(slot);
        if self.stream.files[folio.file as usize].has_text(folio.first, pages) {
            self.arena.set(slot, flag::TEXT);
        }
        self.order.inserted(&mut self.arena, slot, None);
        self.used += pages;
        if folio.is_active {
            // The second use activates.
            self.order.read(&mut self.arena, slot);
            self.order.read(&mut self.arena, slot);
        }
    }

    /// Makes room after a limit was set.
    pub(super) fn shrink(&mut self) {
        while self.used > self.capacity {
            let before = self.used;
            self.reclaim(self.used - self.capacity);
            if self.used == before {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Replacement, Stream, simulate_again};
    use super::*;
    use crate::clock::Random;
    use crate::trace::{CacheEvent, Device, Facts, FileId, Record};
    use crate::units::Pages;

    const PAGES: u64 = 4_096;

    /// Reads of one page at random, without readahead: a few pages of each 64 are hot.
    fn stream() -> Stream {
        let mut random = Random::new(3);
        let device = Device {
            major: 8,
            minor: 1,
            name: String::new(),
            filesystem: String::new(),
            readahead_bytes: 0,
            io_bytes: 0,
            folio_order_max: 9,
        };
        let facts = Facts { devices: vec![device], ..Facts::default() };
        let record = |at: i64, page: u64| Record {
            time_ns: at,
            offset_bytes: page * 4096,
            file_bytes: PAGES * 4096,
            length_bytes: 4096,
            file: FileId(0),
            task: 1,
            request: 0,
            op: CacheEvent::Read,
        };
        let records: Vec<Record> = (0..40_000)
            .map(|at| {
                let hot = random.below(PAGES / 64) * 64 + random.below(4);
                let any = random.below(PAGES);
                record(at, if random.below(4) > 0 { hot } else { any })
            })
            .collect();
        Stream::of(records, &["/f".to_owned()], &facts, &[])
    }

    fn fills(replacement: Replacement, order: u32) -> u64 {
        let folio = |at: u32| Present {
            file: 0,
            first: at << order,
            order,
            is_active: at.is_multiple_of(2),
        };
        let present: Vec<Present> = (0..(4_096 >> order)).map(folio).collect();
        simulate_again(&stream(), replacement, Pages(1_024), &present)
    }

    #[test]
    fn large_folios_with_a_hot_page_keep_their_cold_ones() {
        let (single, large) = (fills(Replacement::Lru, 0), fills(Replacement::Lru, 6));
        assert!(large > single * 11 / 10, "{single} {large}");
        // Single pages leave the cache as if nothing had been there.
        for (replacement, slack) in [(Replacement::Lru, 0.05), (Replacement::ActiveInactive, 0.3)] {
            let none = simulate_again(&stream(), replacement, Pages(1_024), &[]);
            let ratio = fills(replacement, 0) as f64 / none as f64;
            assert!((ratio - 1.0).abs() < slack, "{replacement:?}: {ratio}");
        }
    }

    #[test]
    fn folios_without_a_place_are_left_out() {
        let far = Present { file: 0, first: u32::MAX - 3, order: 6, is_active: false };
        let other = Present { file: 7, ..far };
        let same = Present { file: 0, first: 0, order: 0, is_active: true };
        let present = [far, other, same, same];
        let fills = simulate_again(&stream(), Replacement::Lru, Pages(1_024), &present);
        let none = simulate_again(&stream(), Replacement::Lru, Pages(1_024), &[]);
        assert!((fills as f64 / none as f64 - 1.0).abs() < 0.1, "{fills} {none}");
    }
}

//! Tables made by hand and by chance, walked through.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use proptest::prelude::*;

use super::*;

const DIRECT_MAP: u64 = 0xffff_8880_0000_0000;
const PAGE: u64 = 4096;

/// Tables by where they are.
#[derive(Debug, Default)]
struct Made {
    tables: BTreeMap<u64, Table>,
    /// Reads after which the tables of the lowest level are other ones.
    moves_after: Option<usize>,
}

impl Memory for Made {
    fn tables(&mut self, addresses: &[u64], each: &mut dyn FnMut(usize, &Table)) -> io::Result<()> {
        for (at, address) in addresses.iter().enumerate() {
            each(at, self.tables.get(address).unwrap_or(&[0; 512]));
        }
        if let Some(left) = &mut self.moves_after {
            *left = left.wrapping_sub(1);
            if *left == 0 {
                self.tables.values_mut().flatten().for_each(|entry| *entry += 1 << 40);
            }
        }
        Ok(())
    }
}

const SPACE: Space = Space { direct_map: DIRECT_MAP, root: DIRECT_MAP + PAGE, levels: 4 };

impl Made {
    /// Sets an entry on the level for an address, making the tables above it.
    fn set(&mut self, address: u64, level: usize, bits: u64) {
        let mut at = SPACE.root;
        for above in (level + 1..4).rev() {
            let number = (address >> SHIFTS[above] & 511) as usize;
            let fresh = (self.tables.len() as u64 + 2) * PAGE;
            let table = self.tables.entry(at).or_insert([0; 512]);
            if table[number] == 0 {
                // Executing may be forbidden, in a bit above the place.
                table[number] = 1 << 63 | fresh | PRESENT | ACCESSED;
            }
            at = SPACE.at(table[number]);
            self.tables.entry(at).or_insert([0; 512]);
        }
        let number = (address >> SHIFTS[level] & 511) as usize;
        self.tables.entry(at).or_insert([0; 512])[number] = bits;
    }

    fn accessed(&mut self, areas: &[Range<u64>]) -> Vec<Range<u64>> {
        let mut found = Vec::new();
        accessed(self, SPACE, areas, &mut |range| found.push(range)).unwrap();
        found
    }
}

const MIB: u64 = 1 << 20;

#[test]
fn a_large_page_is_one_and_ends_with_its_area() {
    let mut made = Made::default();
    made.set(4 * MIB, 1, PRESENT | ACCESSED | LARGE);
    made.set(6 * MIB, 1, PRESENT | LARGE);
    let area = 4 * MIB + PAGE..7 * MIB;
    assert_eq!(made.accessed(slice::from_ref(&area)), vec![4 * MIB + PAGE..6 * MIB; 1]);
}

#[test]
fn a_table_that_is_taken_away_meanwhile_does_not_count() {
    let page = 1 << 40;
    let area = page..page + PAGE;
    for (moves_after, found) in [(None, 1), (Some(4), 0)] {
        let mut made = Made { moves_after, ..Made::default() };
        made.set(page, 0, (7 * PAGE) | PRESENT | ACCESSED);
        assert_eq!(made.accessed(slice::from_ref(&area)).len(), found, "{moves_after:?}");
    }
}

proptest! {
    #[test]
    fn pages_are_found_if_they_are_marked_and_in_an_area(
        pages in prop::collection::btree_map(0..3000_u64, (any::<bool>(), any::<bool>()), 0..60),
        edges in prop::collection::btree_set(0..3000_u64, 0..12),
        far in 0..64_u64,
    ) {
        // Around a border of every level, and far from it.
        let base = (far << 41) + (1 << 39) - 1500 * PAGE;
        let mut made = Made::default();
        for (&page, &(present, accessed)) in &pages {
            let bits = (u64::from(present) * PRESENT) | (u64::from(accessed) * ACCESSED);
            made.set(base + page * PAGE, 0, (page * PAGE) | bits);
        }
        let edges: Vec<u64> = edges.into_iter().collect();
        let (areas, _) = edges.as_chunks::<2>();
        let areas: Vec<_> =
            areas.iter().map(|[a, b]| base + a * PAGE..base + b * PAGE).collect();
        let marked = pages.iter().filter(|(_, bits)| **bits == (true, true));
        let marked = marked.map(|(page, _)| base + page * PAGE..base + (page + 1) * PAGE);
        let want: BTreeSet<u64> = marked
            .filter(|page| areas.iter().any(|area| area.contains(&page.start)))
            .map(|page| page.start)
            .collect();
        let found = made.accessed(&areas);
        prop_assert_eq!(found.len(), want.len());
        prop_assert!(found.iter().all(|page| page.end == page.start + PAGE));
        prop_assert_eq!(found.into_iter().map(|page| page.start).collect::<BTreeSet<_>>(), want);
    }

    #[test]
    fn any_tables_end_the_walk(
        entries in prop::collection::vec((0..4_u64, 0..512_usize, any::<u64>()), 0..40),
        start in any::<u64>(), length in 0..1_u64 << 34,
    ) {
        let mut made = Made::default();
        for (table, number, entry) in entries {
            made.tables.entry(SPACE.root + table * PAGE).or_insert([0; 512])[number] =
                entry & !PLACE | ((1 + table) * PAGE);
        }
        let start = start >> 17 & !4095;
        made.accessed(slice::from_ref(&(start..start + (length & !4095))));
    }
}

//! How the kernel looks for the first missing page before or behind another one
//! (`page_cache_prev_miss`, `page_cache_next_miss` in `mm/filemap.c`).
//!
//! It walks the file's page index, a tree with 64 slots a node (`lib/xarray.c`). A walk that
//! starts inside a large folio begins in the slot of the folio's first page, but counts from the
//! page asked for. Its count is then off until it leaves the node, and sometimes beyond. It finds
//! less history before a page than there is, and overlooks the first missing page behind a
//! marker. The quirk decides how much is read ahead, so it is followed step by step.

/// Slots of a node, as a power of two.
const SHIFT: u32 = 6;
const LAST_SLOT: u32 = (1 << SHIFT) - 1;
/// Above the root.
const TOP: u32 = 5 * SHIFT;

/// The cached folios of a file.
pub(super) trait Folios {
    /// Whether a page is cached.
    fn has(&self, page: u32) -> bool;
    /// First page and order of the folio that holds a page.
    fn folio(&self, page: u32) -> Option<(u32, u32)>;
}

/// Where a walk is in the tree: a slot of a node, and the page it believes to be at.
struct Walk<'a, F> {
    folios: &'a F,
    /// What the walk counts; before page 0 it is -1.
    index: i64,
    /// First page of the node.
    base: u32,
    /// Pages under one of its slots, as a power of two.
    shift: u32,
    slot: u32,
}

impl<'a, F: Folios> Walk<'a, F> {
    /// At the slot of the folio that holds `index`; `None` where there is none.
    fn load(folios: &'a F, index: u32) -> Option<Self> {
        let (first, order) = folios.folio(index)?;
        let shift = order / SHIFT * SHIFT;
        let base = first >> (shift + SHIFT) << (shift + SHIFT);
        let slot = (first - base) >> shift;
        Some(Self { folios, index: index.into(), base, shift, slot })
    }

    fn slot_of_index(&self) -> u32 {
        u32::try_from(self.index >> self.shift & i64::from(LAST_SLOT)).unwrap_or(0)
    }

    fn next(&mut self) -> bool {
        self.index += 1;
        if self.shift == 0 && self.slot < LAST_SLOT {
            self.slot += 1;
            return self.folios.has(self.base + self.slot);
        }
        if self.slot != self.slot_of_index() {
            while self.slot == LAST_SLOT {
                if !self.up() {
                    return false;
                }
            }
            self.slot += 1;
        }
        self.down()
    }

    fn previous(&mut self) -> bool {
        self.index -= 1;
        if self.shift == 0 && self.slot > 0 {
            self.slot -= 1;
            return self.folios.has(self.base + self.slot);
        }
        if self.slot != self.slot_of_index() {
            while self.slot == 0 {
                if !self.up() {
                    return false;
                }
            }
            self.slot -= 1;
        }
        self.down()
    }

    /// To the slot of this node in its parent.
    fn up(&mut self) -> bool {
        self.shift += SHIFT;
        if self.shift >= TOP {
            return false;
        }
        self.slot = self.base >> self.shift & LAST_SLOT;
        self.base = self.base >> (self.shift + SHIFT) << (self.shift + SHIFT);
        true
    }

    /// To the entry under this slot that the count leads to; whether it is cached.
    fn down(&mut self) -> bool {
        loop {
            let page = self.base + (self.slot << self.shift);
            if self.shift == 0 {
                return self.folios.has(page);
            }
            if self.folios.folio(page).is_some_and(|(_, order)| order >= self.shift) {
                return true;
            }
            self.base = page;
            self.shift -= SHIFT;
            self.slot = self.slot_of_index();
        }
    }
}

/// Counts the cached pages that end with `last`, up to `most`, as the kernel does. Whether they
/// reach to the beginning of the file comes with it.
pub(super) fn cached_before(folios: &impl Folios, last: u32, most: u32) -> (u32, bool) {
    let Some(mut walk) = Walk::load(folios, last) else { return (0, false) };
    for count in 1..most {
        if !walk.previous() {
            return (count, walk.index == -1);
        }
    }
    (most, false)
}

/// The first page from `first` on that is not cached, within `most`, as the kernel finds it.
pub(super) fn missing_behind(folios: &impl Folios, first: u32, most: u32) -> Option<u32> {
    let Some(mut walk) = Walk::load(folios, first) else { return (most > 0).then_some(first) };
    (1..most).find(|_| !walk.next()).map(|count| first + count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folios as (first page, order).
    struct Listed<'a>(&'a [(u32, u32)]);

    impl Folios for Listed<'_> {
        fn has(&self, page: u32) -> bool {
            self.folio(page).is_some()
        }

        fn folio(&self, page: u32) -> Option<(u32, u32)> {
            self.0.iter().copied().find(|&(first, order)| page >> order << order == first)
        }
    }

    #[test]
    fn single_pages_are_counted_right() {
        let pages: Vec<(u32, u32)> = (0..200).map(|page| (page, 0)).collect();
        assert_eq!(cached_before(&Listed(&pages[60..]), 139, 640), (80, false));
        assert_eq!(cached_before(&Listed(&pages), 139, 640), (140, true));
        assert_eq!(cached_before(&Listed(&pages), 139, 32), (32, false));
        assert_eq!(missing_behind(&Listed(&pages), 5, 640), Some(200));
        assert_eq!(missing_behind(&Listed(&pages), 5, 32), None);
        assert_eq!(missing_behind(&Listed(&pages), 300, 32), Some(300));
    }

    #[test]
    fn a_large_folio_right_before_hides_history() {
        assert_eq!(cached_before(&Listed(&[(96, 2)]), 99, 32), (1, false));
        assert_eq!(cached_before(&Listed(&[(94, 0), (95, 0), (96, 2)]), 99, 32), (3, false));
        // Further ahead it is counted in full.
        assert_eq!(cached_before(&Listed(&[(96, 2), (100, 0)]), 100, 32), (5, false));
    }

    #[test]
    fn a_large_marked_folio_hides_the_first_gap() {
        assert_eq!(missing_behind(&Listed(&[(4, 2)]), 5, 32), Some(9));
        // The walk is right again behind a node, of which it has left out the first slot.
        assert_eq!(missing_behind(&Listed(&[(60, 2)]), 61, 32), Some(65));
        assert_eq!(missing_behind(&Listed(&[(60, 2), (65, 0), (66, 0)]), 61, 32), Some(67));
        // A folio of a whole node or more is counted right.
        assert_eq!(missing_behind(&Listed(&[(64, 6)]), 65, 640), Some(128));
        assert_eq!(missing_behind(&Listed(&[(128, 7)]), 129, 640), Some(256));
    }
}

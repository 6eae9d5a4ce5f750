//! Pages in frames, for policies that choose by chance: any frame is reached at once.
//!
//! Invariant: a page is in one frame at most, and no frame is empty. Cost: eight bytes a page, O(1) for all.

use super::table::Table;
use crate::clock::Random;

/// Pages by frame, and the frame of each page.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    pages: Vec<u32>,
    /// The frame of a page, from 1; 0 is none.
    frame_of: Table<u32>,
}

impl Frames {
    #[inline]
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.pages.len()).expect("no more pages than numbers")
    }

    #[inline]
    pub(super) fn contains(&self, page: u32) -> bool {
        self.frame_of.get(page) != 0
    }

    /// Takes in a page that is not there.
    #[inline]
    pub(super) fn insert(&mut self, page: u32) {
        self.pages.push(page);
        *self.frame_of.at(page) = self.len();
    }

    /// A page that is there leaves; the last one moves into its frame.
    #[inline]
    pub(super) fn remove(&mut self, page: u32) {
        let frame = std::mem::take(self.frame_of.at(page));
        self.pages.swap_remove(frame as usize - 1);
        if let Some(&moved) = self.pages.get(frame as usize - 1) {
            *self.frame_of.at(moved) = frame;
        }
    }

    /// All pages, from a frame that chance chooses, counting upwards and round.
    #[inline]
    pub(super) fn at_any(&self, chance: &mut Random) -> impl Iterator<Item = u32> + '_ {
        let below = chance.below(self.pages.len() as u64);
        let start = usize::try_from(below).expect("below the number of frames");
        let (low, high) = self.pages.split_at(start);
        high.iter().chain(low).copied()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        for (frame, &page) in (1..).zip(&self.pages) {
            if self.frame_of.get(page) != frame {
                return Err(format!("page {page} is not at {frame}"));
            }
        }
        let placed = self.frame_of.iter().count();
        if placed == self.pages.len() {
            Ok(())
        } else {
            Err(format!("{placed} pages have a frame"))
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        self.frame_of.prefetch(page);
    }
}

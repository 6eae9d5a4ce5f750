//! Steps of a trace as the counts take them: pages by their numbers.
//!
//! Invariant: accesses that are added to a step come after all that it has. Cost: 4 bytes an access, and
//! 4 more where requests have several accesses.

use super::counter::JOB_ACCESSES;
use crate::cache::engine::Accesses;

/// One step of a trace in numbers: accesses, then pages that leave, then the end of the warm-up.
#[derive(Default)]
pub(super) struct Numbered {
    pub(super) pages: Vec<u32>,
    /// Where requests end; empty when each has one access.
    pub(super) ends: Vec<u32>,
    pub(super) gone: Vec<u32>,
    pub(super) starts_counting: bool,
}

impl Numbered {
    /// Whether these accesses may be added: nothing came after those that are here, and requests have
    /// several accesses in both or in none.
    pub(super) fn takes(&self, accesses: &Accesses) -> bool {
        let is_last = self.gone.is_empty() && !self.starts_counting;
        let is_alike = self.ends.is_empty() == accesses.request_ends.is_none();
        is_last && is_alike && self.pages.len() < JOB_ACCESSES
    }

    pub(super) fn add(&mut self, accesses: &Accesses) {
        let before = u32::try_from(self.pages.len()).expect("less than a job");
        self.pages.extend_from_slice(accesses.pages);
        let ends = accesses.request_ends.unwrap_or_default();
        self.ends.extend(ends.iter().map(|&end| before + end));
    }

    /// Makes it empty, for another step.
    pub(super) fn clear(&mut self) {
        self.starts_counting = false;
        for room in [&mut self.pages, &mut self.ends, &mut self.gone] {
            room.clear();
            // A single request may have had millions.
            room.shrink_to(2 * JOB_ACCESSES);
        }
    }

    /// Where the requests end, if any has several accesses.
    pub(super) fn request_ends(&self) -> Option<&[u32]> {
        (!self.ends.is_empty()).then_some(&self.ends[..])
    }
}

//! The curve of a volume, packed: 2 to 5 bytes a step.

use super::allocation::{Hull, hull};
use super::summary;
use crate::meter::hashed::{first_size, misses_band};
use crate::meter::steps::{Hits, Steps};

/// The curve of a volume.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) accesses: u64,
    pub(super) distinct: u64,
    pub(super) hull: Hull,
    /// Hash parts that it was made of.
    pub(super) parts: Option<u32>,
    /// Whether its misses are an estimate.
    pub(super) is_estimate: bool,
    /// Its hits; and with hash parts those of the head.
    pub(super) packed: Vec<u8>,
    /// Accesses before a time that was asked for, and their hits.
    early: Option<(u64, Vec<u8>)>,
}

impl Curve {
    pub(super) fn new(
        name: String,
        accesses: u64,
        distinct: u64,
        hits: &Hits,
        parts: Option<(u32, Hits)>,
    ) -> Self {
        let mut packed = Vec::new();
        summary::hits(&mut packed, hits);
        let mut of_parts = None;
        if let Some((parts, head)) = parts {
            summary::hits(&mut packed, &head);
            of_parts = Some(parts);
        }
        let parts = of_parts;
        let is_estimate = parts.is_some();
        let mut curve = Self {
            name,
            accesses,
            distinct,
            hull: Hull::new(),
            parts,
            is_estimate,
            packed,
            early: None,
        };
        curve.hull = hull(&curve.steps());
        curve
    }

    /// Its misses by size.
    pub(super) fn steps(&self) -> Steps {
        let mut rest = &self.packed[..];
        let mut next = || summary::take_hits(&mut rest).unwrap_or_default().steps(self.accesses);
        let all = next();
        let Some(parts) = self.parts else { return all };
        let head = next();
        all.scaled(parts.into()).with_head(&head, first_size(parts))
    }

    /// Keeps the accesses before a time that was asked for, and their hits.
    pub(super) fn keep_early(&mut self, accesses: u64, hits: &Hits) {
        let mut packed = Vec::new();
        summary::hits(&mut packed, hits);
        self.early = Some((accesses, packed));
    }

    /// The curves of the accesses before and after a time that was asked for, the later ones in warm caches.
    pub(super) fn halves(&self) -> Option<[Self; 2]> {
        let (accesses, packed) = self.early.as_ref()?;
        let hits = |mut packed: &[u8]| summary::take_hits(&mut packed).unwrap_or_default();
        let (early, late) = (hits(packed), hits(&self.packed).without(&hits(packed)));
        let curve =
            |accesses, distinct, hits| Self::new(self.name.clone(), accesses, distinct, hits, None);
        // What is distinct before that time missed at every size. What is after it has all pages to keep.
        let (_, cold) = early.steps(*accesses).ends();
        let late = curve(self.accesses - accesses, self.distinct, &late);
        Some([curve(*accesses, cold, &early), late])
    }

    /// The band of its misses at a size; nothing where they are exact.
    pub(super) fn band(&self, pages: u64) -> Option<(u64, u64)> {
        let parts = self.parts.filter(|&parts| pages >= first_size(parts))?;
        let mut rest = &self.packed[..];
        let all = summary::take_hits(&mut rest).unwrap_or_default().steps(self.accesses);
        Some(misses_band(&all.scaled(parts.into()), pages, parts))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::meter::segment::tests::segment;

    /// The curve of these pages.
    pub(in crate::experiment::fleet) fn curve(name: &str, pages: &[u64]) -> Curve {
        let whole = segment(pages, u32::MAX);
        let distinct = whole.first.len() as u64;
        Curve::new(name.to_owned(), whole.accesses, distinct, &whole.hits, None)
    }

    /// Misses of an LRU list of this size, of the accesses from a place on.
    pub(in crate::experiment::fleet) fn naive_misses(
        pages: &[u64],
        from: usize,
        size: usize,
    ) -> u64 {
        let mut stack: Vec<u64> = Vec::new();
        let mut misses = 0;
        for (at, page) in pages.iter().enumerate() {
            let depth = stack.iter().position(|other| other == page);
            misses += u64::from(at >= from && depth.is_none_or(|depth| depth >= size));
            depth.map(|depth| stack.remove(depth));
            stack.insert(0, *page);
        }
        misses
    }
}

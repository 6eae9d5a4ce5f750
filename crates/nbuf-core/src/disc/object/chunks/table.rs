//! What is known of the chunks of a disc: what their objects have, and what is in memory. No request is made here.

use std::collections::{BTreeMap, HashMap};

use object_store::UpdateVersion;

use super::super::ObjectDiscError;
use super::held::Held;
use super::layout::{Layout, Part};

/// What is known of the object of a chunk. A chunk without one is zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An object of this size that no request of this disc has touched yet.
    Listed(u64),
    /// The bytes of the chunk.
    Bytes(UpdateVersion),
    /// What stands for zeros.
    Zeros(UpdateVersion),
}

impl Found {
    /// The entity tag, if it is known.
    pub(super) fn tag(&self) -> Option<&str> {
        match self {
            Self::Listed(_) => None,
            Self::Bytes(version) | Self::Zeros(version) => version.e_tag.as_deref(),
        }
    }
}

/// The chunks of a disc.
pub(super) struct Table {
    layout: Layout,
    found: HashMap<u32, Found>,
    held: BTreeMap<u32, Held>,
    /// Chunks whose bytes may be in memory at once.
    held_max: usize,
    /// How many writes came.
    writes: u64,
    /// Why nothing can be written any more.
    pub(super) over: Option<ObjectDiscError>,
}

impl Table {
    /// Chunks of which nothing is in memory, and at most so much will be.
    pub(super) fn new(layout: Layout, found: HashMap<u32, Found>, held_bytes: u64) -> Self {
        let held_max = usize::try_from(held_bytes / layout.chunk_bytes()).unwrap_or(1).max(1);
        Self { layout, found, held: BTreeMap::new(), held_max, writes: 0, over: None }
    }

    /// Whether writes are still possible.
    pub(super) fn check(&self) -> Result<(), ObjectDiscError> {
        self.over.clone().map_or(Ok(()), Err)
    }

    pub(super) fn found(&self, chunk: u32) -> Option<&Found> {
        self.found.get(&chunk)
    }

    pub(super) fn set_found(&mut self, chunk: u32, found: Option<Found>) {
        match found {
            Some(found) => self.found.insert(chunk, found),
            None => self.found.remove(&chunk),
        };
    }

    pub(super) fn held(&self, chunk: u32) -> Option<&Held> {
        self.held.get(&chunk)
    }

    pub(super) fn held_mut(&mut self, chunk: u32) -> Option<&mut Held> {
        self.held.get_mut(&chunk)
    }

    /// All that is owed: chunks, and their last writes.
    pub(super) fn owed(&self) -> Vec<(u32, u64)> {
        self.held.iter().map(|(&chunk, held)| (chunk, held.last)).collect()
    }

    /// Takes a write of these bytes, or of zeros. Its number, or nothing if there is no room.
    pub(super) fn write(&mut self, part: &Part, bytes: Option<&[u8]>) -> Option<u64> {
        let has_bytes = self.held.get(&part.chunk).is_some_and(Held::has_bytes);
        if !has_bytes && self.in_memory().count() >= self.held_max {
            return None;
        }
        self.writes += 1;
        let (length, write) = (self.layout.chunk_length(), self.writes);
        let held = self.held.entry(part.chunk).or_insert_with(|| Held::new(length, write));
        held.write(length, part.within.clone(), bytes, write);
        // Zeros are behind the end of the disc. So the object is not needed, whatever its size is.
        if self.layout.is_whole(part) && part.within.end < length {
            held.write(length, part.within.end..length, None, write);
        }
        Some(write)
    }

    /// Makes a whole chunk zeros. The number of the write, or nothing if it is so already.
    pub(super) fn zero(&mut self, chunk: u32) -> Option<u64> {
        if self.is_zero(chunk) {
            return None;
        }
        self.writes += 1;
        let write = self.writes;
        let held = self.held.entry(chunk).or_insert_with(|| Held::new(0, write));
        held.zero(write);
        Some(write)
    }

    /// Whether a chunk is zeros, as far as that is known without a request.
    pub(super) fn is_zero(&self, chunk: u32) -> bool {
        match self.held.get(&chunk) {
            Some(held) => !held.has_bytes(),
            None => matches!(self.found.get(&chunk), None | Some(Found::Zeros(_))),
        }
    }

    /// The chunks in memory whose writes are the oldest, as many as this at most.
    pub(super) fn oldest(&self, count: usize) -> Vec<u32> {
        let mut chunks: Vec<(u64, u32)> = self.in_memory().collect();
        chunks.sort_unstable();
        chunks.into_iter().map(|(_, chunk)| chunk).take(count).collect()
    }

    /// The first owed writes of the chunks that take memory.
    fn in_memory(&self) -> impl Iterator<Item = (u64, u32)> {
        let with_bytes = self.held.iter().filter(|(_, held)| held.has_bytes());
        with_bytes.map(|(&chunk, held)| (held.first, chunk))
    }

    /// Whether the object of a chunk has this write.
    pub(super) fn is_saved(&self, chunk: u32, write: u64) -> bool {
        self.held.get(&chunk).is_none_or(|held| held.saved >= write)
    }

    /// The object of a chunk has all writes up to this one. Later ones stay owed.
    pub(super) fn saved(&mut self, chunk: u32, found: Option<Found>, write: u64) {
        self.set_found(chunk, found);
        let Some(held) = self.held.get_mut(&chunk) else { return };
        if held.last == write {
            self.held.remove(&chunk);
            return;
        }
        (held.first, held.saved, held.put) = (held.last, write, None);
        held.sent.clear();
    }

    /// A PUT failed, and all stays owed.
    pub(super) fn unsaved(&mut self, chunk: u32) {
        if let Some(held) = self.held.get_mut(&chunk) {
            held.put = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(chunk: u32) -> Part {
        Part { chunk, within: 0..512, of: 0..512 }
    }

    #[test]
    fn memory_has_a_bound_and_the_oldest_goes_first() {
        let layout = Layout::new(1 << 20, 4096).unwrap();
        let mut table = Table::new(layout, HashMap::new(), 3 * 4096);
        for chunk in [7, 2, 9] {
            assert!(table.write(&part(chunk), Some(&[1; 512])).is_some());
        }
        assert_eq!(table.write(&part(4), Some(&[1; 512])), None);
        assert_eq!(table.write(&part(7), Some(&[2; 512])), Some(4), "it is in memory");
        assert_eq!(table.oldest(2), [7, 2]);
        // Zeros take no memory, and those that are there already take nothing at all.
        assert_eq!((table.zero(2), table.zero(2), table.zero(5)), (Some(5), None, None));
        assert_eq!(table.write(&part(4), None), Some(6));
        assert_eq!(table.owed(), [(2, 5), (4, 6), (7, 4), (9, 3)]);
    }

    #[test]
    fn a_write_during_a_put_stays_owed() {
        let layout = Layout::new(1 << 20, 4096).unwrap();
        let mut table = Table::new(layout, HashMap::new(), 4096);
        let version = UpdateVersion { e_tag: Some("a".to_owned()), version: None };
        let first = table.write(&part(1), Some(&[1; 512])).unwrap();
        let second = table.write(&part(1), Some(&[2; 512])).unwrap();
        table.saved(1, Some(Found::Bytes(version.clone())), first);
        assert!(table.is_saved(1, first) && !table.is_saved(1, second));
        table.saved(1, Some(Found::Bytes(version.clone())), second);
        assert!(table.is_saved(1, second) && table.owed().is_empty());
        assert_eq!(table.found(1), Some(&Found::Bytes(version)));
        // A later write owes no earlier one.
        let third = table.write(&part(1), Some(&[3; 512])).unwrap();
        assert!(table.is_saved(1, second) && !table.is_saved(1, third));
    }
}

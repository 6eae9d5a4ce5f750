//! What a log said of each key so far: its size, and when it expires.
//!
//! Logs of servers state a size only where bytes were sent or stored. A lookup that missed, a HEAD or an answer
//! "not modified" has none, and takes the last size that the log stated for its key. Cost: 48 bytes a key and
//! the table around them; `held_bytes` of a batch has it.

use std::collections::HashMap;

use super::hash::Hashes;
use crate::trace::Lifetime;
use crate::units::table_bytes;

const UNKNOWN: u64 = u64::MAX;
const NEVER_NS: i64 = i64::MAX;

/// Longer than any trace: a key that had a time to live has none any more.
pub(super) fn forever() -> Lifetime {
    Lifetime::from_ns(u64::MAX)
}

/// One key.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Entry {
    bytes: u64,
    ends_ns: i64,
    /// Its name space.
    object: u32,
    is_gone: bool,
    /// Whether a value was written that nothing may have taken away since.
    is_written: bool,
    /// Whether a cache that takes in what is asked for may have it.
    is_cached: bool,
    /// Whether it is in the list of its name space.
    is_listed: bool,
}

impl Entry {
    /// The last size that was stated.
    pub(super) fn bytes(&self) -> Option<u64> {
        (self.bytes != UNKNOWN).then_some(self.bytes)
    }

    /// States a size.
    pub(super) fn set_bytes(&mut self, bytes: u64) {
        self.bytes = bytes.min(UNKNOWN - 1);
        self.write();
    }

    /// It has a value of the same size.
    pub(super) fn write(&mut self) {
        (self.is_gone, self.is_written) = (false, true);
    }

    /// It has another value, of unknown size.
    pub(super) fn forget_bytes(&mut self) {
        self.bytes = UNKNOWN;
    }

    /// Something took a part of its value, or all.
    pub(super) fn take(&mut self) {
        self.is_written = false;
    }

    /// Whether it has a value for certain. A key that was only asked for may have been missing.
    pub(super) fn has_value(&self, now_ns: i64) -> bool {
        self.is_written && self.is_there(now_ns)
    }

    /// Whether it was asked for before and is neither deleted nor expired.
    pub(super) fn is_there(&self, now_ns: i64) -> bool {
        !self.is_gone && now_ns < self.ends_ns
    }

    /// What is left of its life; none if it does not expire.
    pub(super) fn left(&self, now_ns: i64) -> Option<i64> {
        (self.ends_ns != NEVER_NS).then(|| self.ends_ns.saturating_sub(now_ns))
    }

    /// Gives it `left_ns` to live, or no end, and returns the lifetime that a write then states.
    pub(super) fn live(&mut self, now_ns: i64, left_ns: Option<i64>) -> Lifetime {
        let had_end = self.ends_ns != NEVER_NS;
        self.is_gone = false;
        if let Some(left_ns) = left_ns {
            self.ends_ns = now_ns.saturating_add(left_ns.max(1)).min(NEVER_NS - 1);
            return Lifetime::from_ns(u64::try_from(left_ns).unwrap_or(0).max(1));
        }
        self.ends_ns = NEVER_NS;
        // Without a word a key keeps the lifetime of its last request that gave one.
        if had_end { forever() } else { Lifetime::NONE }
    }

    /// It is asked for.
    pub(super) fn access(&mut self) {
        self.is_cached = true;
    }

    /// It was deleted. The next request for it is for an object of the same size.
    pub(super) fn delete(&mut self) {
        (self.is_gone, self.is_written, self.is_cached) = (true, false, false);
    }
}

/// All keys.
#[derive(Debug, Default)]
pub(super) struct Known {
    all: HashMap<u64, Entry, Hashes>,
    /// Keys that were used since their name space was last emptied: what empties it often must not look at all that ever
    /// were.
    used: HashMap<u32, Vec<u64>>,
}

impl Known {
    /// The key of a name space.
    pub(super) fn entry(&mut self, key: u64, object: u32) -> &mut Entry {
        let entry = self.all.entry(key).or_insert(Entry {
            bytes: UNKNOWN,
            ends_ns: NEVER_NS,
            object,
            is_gone: false,
            is_written: false,
            is_cached: false,
            is_listed: false,
        });
        if !std::mem::replace(&mut entry.is_listed, true) {
            self.used.entry(entry.object).or_default().push(key);
        }
        entry
    }

    /// The key, if the log has it.
    pub(super) fn get(&self, key: u64) -> Option<&Entry> {
        self.all.get(&key)
    }

    /// The size of an object that is asked for: the stated one, or else the last one.
    pub(super) fn size(&mut self, key: u64, stated: Option<u64>) -> Option<u64> {
        let entry = self.entry(key, 0);
        if let Some(bytes) = stated {
            entry.set_bytes(bytes);
        }
        entry.bytes()
    }

    /// Deletes the keys of a name space, or all, and returns those that a cache may have, by number.
    pub(super) fn delete_all(&mut self, object: Option<u32>) -> Vec<u64> {
        let used: Vec<u64> = match object {
            Some(object) => self.used.remove(&object).unwrap_or_default(),
            None => self.used.drain().flat_map(|(_, keys)| keys).collect(),
        };
        let mut deleted = Vec::new();
        for key in used {
            let Some(entry) = self.all.get_mut(&key) else { continue };
            if entry.is_cached {
                deleted.push(key);
            }
            entry.delete();
            entry.is_listed = false;
        }
        deleted.sort_unstable();
        deleted
    }

    /// Memory in use, at the most.
    pub(super) fn held_bytes(&self) -> u64 {
        let keys = self.all.len() as u64;
        // A list that has grown has room for as many again.
        table_bytes(keys, size_of::<(u64, Entry)>() as u64) + 16 * keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_the_last_one_that_was_stated() {
        let mut known = Known::default();
        let sizes = [None, Some(7), None, Some(3), None].map(|stated| known.size(1, stated));
        assert_eq!(sizes, [None, Some(7), Some(7), Some(3), Some(3)]);
        assert_eq!(known.size(2, None), None);
    }

    #[test]
    fn a_life_ends_and_is_taken_back() {
        let mut known = Known::default();
        assert_eq!(known.entry(1, 0).live(5, None), Lifetime::NONE);
        assert_eq!(known.entry(1, 0).live(5, Some(2_000_000)).ns(), Some(2_000_000));
        assert!(known.entry(1, 0).is_there(2_000_004) && !known.entry(1, 0).is_there(2_000_005));
        assert_eq!(known.entry(1, 0).left(6), Some(1_999_999));
        assert_eq!(known.entry(1, 0).live(7, None), forever());
        assert_eq!(known.entry(1, 0).live(7, None), Lifetime::NONE);
        known.entry(1, 0).delete();
        assert!(!known.entry(1, 0).is_there(0));
        for (key, object) in [(1, 0), (9, 3), (4, 3)] {
            known.entry(key, object).access();
        }
        assert_eq!(known.delete_all(Some(3)), [4, 9]);
        assert_eq!((known.delete_all(None), known.delete_all(None)), (vec![1], vec![]));
        // What comes again is deleted again.
        known.entry(9, 3).access();
        assert!(known.delete_all(Some(0)).is_empty());
        assert_eq!((known.delete_all(None), known.delete_all(Some(3))), (vec![9], vec![]));
    }

    #[test]
    fn an_empty_name_space_is_emptied_at_no_cost() {
        let mut known = Known::default();
        for round in 0..20_000 {
            (0..10).for_each(|key| known.entry(round * 10 + key, 0).access());
            assert_eq!(known.delete_all(Some(0)).len(), 10);
            assert!(known.used.is_empty());
        }
    }
}

//! How far the WAL was written back into the database, as the shared memory of WAL has it.

use std::sync::atomic::{AtomicU32, Ordering};

/// The first words of the shared memory: the index's header, twice, and the count of frames written back.
pub(crate) const WORDS: usize = 25;
/// Those words, mapped.
pub(crate) type Index = &'static [AtomicU32; WORDS];

/// The version of the index whose layout this is. Other versions are not cached.
pub(crate) const VERSION: u32 = 3_007_000;
pub(crate) const SALTS: [usize; 2] = [8, 9];
/// Frames in the WAL, by the copy of the header that is written first.
pub(crate) const FRAMES: usize = 16;
pub(crate) const BACKFILL: usize = 24;
/// Attempts to read a state that does not change meanwhile.
const ATTEMPTS: usize = 8;

/// The state of the database file in WAL mode. What readers read there changes only if this does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    salts: [u32; 2],
    backfill: u32,
}

impl Key {
    /// Whether the WAL was empty when the index was made. Any such index has this key, so it can come again
    /// with another database.
    pub(crate) fn is_of_empty(self) -> bool {
        self.salts == [0, 0]
    }

    /// The present state, or nothing if the index has another layout or changes all the time.
    pub(crate) fn now(index: Index) -> Option<Self> {
        let word = |at: usize| index[at].load(Ordering::SeqCst);
        let salts = || SALTS.map(word);
        if word(0) != VERSION {
            return None;
        }
        let read = || {
            let before = salts();
            let key = Self { salts: before, backfill: word(BACKFILL) };
            // A writer that begins the WAL again makes the header first, and then sets the count to 0. In between the
            // count is of the WAL before: the same key could come again later.
            (key.backfill <= word(FRAMES) && salts() == before).then_some(key)
        };
        (0..ATTEMPTS).find_map(|_| read())
    }
}

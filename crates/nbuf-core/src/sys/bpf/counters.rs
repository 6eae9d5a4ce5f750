//! Words that programs count in on every processor, while this process reads them and sets some.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Shared;

/// Words of memory, each of which is changed as a whole.
#[derive(Debug)]
pub(crate) struct Counters(Shared);

impl Counters {
    /// Zeroes, in this number of pages.
    ///
    /// # Errors
    /// As [`Shared::zeroes`].
    pub(crate) fn zeroes(pages: usize) -> io::Result<Self> {
        Shared::zeroes(pages).map(Self)
    }

    /// By what programs name it.
    pub(crate) fn number(&self) -> i32 {
        self.0.number()
    }

    /// What a word is now; 0 of one that there is not.
    pub(crate) fn get(&self, at: usize) -> u64 {
        self.word(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Programs see this from now on.
    pub(crate) fn set(&self, at: usize, value: u64) {
        if let Some(word) = self.word(at) {
            word.store(value, Ordering::Relaxed);
        }
    }

    fn word(&self, at: usize) -> Option<&AtomicU64> {
        // SAFETY: the word is inside the mapping, which lives as long as the borrow, and is aligned; the kernel's
        // programs change it with whole stores and atomic additions only.
        (at < self.0.words).then(|| unsafe { AtomicU64::from_ptr(self.0.begin.as_ptr().add(at)) })
    }
}

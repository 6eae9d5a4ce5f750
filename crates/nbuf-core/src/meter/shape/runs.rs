//! Scans: runs of accesses to keys that follow each other, and runs of first uses.
//!
//! A scan may be interleaved with fifteen others: each access goes on from one of the last sixteen keys, or
//! replaces the one that was left longest. Runs of first uses need no order of keys, so they are found where
//! keys are hashes. Cost: sixteen comparisons an access.

/// Shorter runs are not counted.
pub(crate) const RUN_MIN: u64 = 64;
/// Scans at once.
const STREAMS: usize = 16;

/// Runs of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// How many.
    pub(crate) count: u64,
    /// Their accesses.
    pub(crate) accesses: u64,
    /// Accesses of the longest.
    pub(crate) longest: u64,
    /// First uses among the accesses.
    pub(crate) first_uses: u64,
}

impl Runs {
    fn add(&mut self, length: u64, first_uses: u64) {
        if length >= RUN_MIN {
            self.count += 1;
            self.accesses += length;
            self.longest = self.longest.max(length);
            self.first_uses += first_uses;
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    last: u64,
    length: u64,
    first_uses: u64,
    at: u64,
}

/// Looks for scans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scans {
    streams: [Stream; STREAMS],
    at: u64,
    found: Runs,
}

impl Scans {
    /// An access to a key. Whether it is one of a scan, after [`RUN_MIN`] of it. Another access to the key that a scan
    /// has reached leaves the scan as it is.
    pub(crate) fn push(&mut self, key: u64, is_first: bool) -> bool {
        self.at += 1;
        let goes_on =
            |stream: &&mut Stream| stream.length > 0 && key.wrapping_sub(stream.last) <= 1;
        if let Some(stream) = self.streams.iter_mut().find(goes_on) {
            stream.length += u64::from(stream.last != key);
            stream.first_uses += u64::from(is_first);
            (stream.last, stream.at) = (key, self.at);
            return stream.length > RUN_MIN;
        }
        let begun = Stream { last: key, length: 1, first_uses: is_first.into(), at: self.at };
        if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.at) {
            self.found.add(oldest.length, oldest.first_uses);
            *oldest = begun;
        }
        false
    }

    /// What was found.
    pub(crate) fn finish(mut self) -> Runs {
        for stream in self.streams {
            self.found.add(stream.length, stream.first_uses);
        }
        self.found
    }
}

/// Looks for runs of first uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FirstUses {
    length: u64,
    found: Runs,
}

impl FirstUses {
    /// An access.
    pub(crate) fn push(&mut self, is_first: bool) {
        if is_first {
            self.length += 1;
        } else if self.length > 0 {
            self.found.add(self.length, self.length);
            self.length = 0;
        }
    }

    /// What was found.
    pub(crate) fn finish(mut self) -> Runs {
        self.found.add(self.length, self.length);
        self.found
    }
}

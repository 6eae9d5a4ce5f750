//! Where the bytes of a disc are: which chunks a request touches, and the names of their objects.

use std::ops::Range;

/// The size of chunks of a new disc.
pub(super) const CHUNK_BYTES: u64 = 4 << 20;
/// Sizes of chunks that a manifest may have.
const CHUNK_BYTES_MIN: u64 = 4096;
const CHUNK_BYTES_MAX: u64 = 64 << 20;
/// Names have eight digits.
const DIGITS: usize = 8;
const CHUNKS_MAX: u64 = 100_000_000;
/// The least unit of a disc.
const SECTOR_BYTES: u64 = 512;

/// The sizes of a disc and of its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    size_bytes: u64,
    chunk_bytes: u64,
}

/// What a request touches of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) chunk: u32,
    /// Bytes of the chunk.
    pub(super) within: Range<usize>,
    /// Bytes of the request.
    pub(super) of: Range<usize>,
}

/// A length in memory. No chunk and no request is longer than memory.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Layout {
    /// The layout of a disc of this size, or why there is none.
    pub(super) fn new(size_bytes: u64, chunk_bytes: u64) -> Result<Self, &'static str> {
        let has_size = (CHUNK_BYTES_MIN..=CHUNK_BYTES_MAX).contains(&chunk_bytes);
        if !has_size || !chunk_bytes.is_power_of_two() {
            return Err("its chunks have a wrong size");
        }
        if size_bytes == 0 || !size_bytes.is_multiple_of(SECTOR_BYTES) {
            return Err("it has sectors of 512 B, and at least one");
        }
        if size_bytes.div_ceil(chunk_bytes) > CHUNKS_MAX {
            return Err("it has at most 100,000,000 chunks");
        }
        Ok(Self { size_bytes, chunk_bytes })
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(super) fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// The same as a length in memory.
    pub(super) fn chunk_length(&self) -> usize {
        length(self.chunk_bytes)
    }

    /// The chunks that a range of the disc touches, in order.
    pub(super) fn parts(&self, offset: u64, bytes: u64) -> impl Iterator<Item = Part> + use<> {
        let (chunk_bytes, end) = (self.chunk_bytes, offset.saturating_add(bytes));
        let mut at = offset;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let chunk = at / chunk_bytes;
            let first = chunk * chunk_bytes;
            let next = end.min(first + chunk_bytes);
            let part = Part {
                chunk: u32::try_from(chunk).unwrap_or(u32::MAX),
                within: length(at - first)..length(next - first),
                of: length(at - offset)..length(next - offset),
            };
            at = next;
            Some(part)
        })
    }

    /// Whether a part is all that the disc has of its chunk.
    pub(super) fn is_whole(&self, part: &Part) -> bool {
        let left = self.size_bytes.saturating_sub(u64::from(part.chunk) * self.chunk_bytes);
        part.within == (0..length(left.min(self.chunk_bytes)))
    }

    /// The chunk with this name.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        let is_name = name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_digit());
        let number = name.parse().ok().filter(|_| is_name)?;
        (u64::from(number) < self.size_bytes.div_ceil(self.chunk_bytes)).then_some(number)
    }
}

/// The name of a chunk.
pub(super) fn name(chunk: u32) -> String {
    format!("{chunk:08}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The parts of a request are the bytes of the request in order, each in the chunk that has it.
        #[test]
        fn parts_are_the_request(offset in 0_u64..100_000, bytes in 0_u64..50_000) {
            let layout = Layout::new(1 << 20, 4096).unwrap();
            let mut seen = Vec::new();
            for part in layout.parts(offset, bytes) {
                prop_assert_eq!(part.within.len(), part.of.len());
                prop_assert!(!part.of.is_empty() && part.within.end <= 4096);
                let is_whole = part.within.len() == 4096;
                prop_assert_eq!(layout.is_whole(&part), is_whole);
                let first = u64::from(part.chunk) * 4096;
                seen.extend(part.of.zip(part.within.map(|at| first + at as u64)));
            }
            let want = (0..length(bytes)).map(|at| (at, offset + at as u64));
            prop_assert_eq!(seen, want.collect::<Vec<_>>());
        }

        #[test]
        fn names_come_back(chunk in 0_u32..256) {
            let layout = Layout::new(1 << 20, 4096).unwrap();
            prop_assert_eq!(layout.number(&name(chunk)), Some(chunk));
            prop_assert_eq!(layout.number(&name(chunk + 256)), None);
        }
    }

    #[test]
    fn the_last_chunk_may_be_a_part() {
        let layout = Layout::new(4096 + 512, 4096).unwrap();
        let whole: Vec<bool> = layout.parts(0, 4608).map(|part| layout.is_whole(&part)).collect();
        assert_eq!(whole, [true, true]);
        let part = layout.parts(4096, 511).next().unwrap();
        assert!(!layout.is_whole(&part));
        for wrong in ["1", "+0000000", "0000000a", "000000000", "lease", "0000000", ""] {
            assert_eq!(layout.number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn some_sizes_are_refused() {
        for (size_bytes, chunk_bytes) in
            [(0, 4096), (100, 4096), (4096, 0), (4096, 5000), (4096, 1 << 27), (1 << 60, 1 << 22)]
        {
            assert!(Layout::new(size_bytes, chunk_bytes).is_err(), "{size_bytes} {chunk_bytes}");
        }
        assert!(Layout::new(100_000_000 << 22, CHUNK_BYTES).is_ok());
    }
}

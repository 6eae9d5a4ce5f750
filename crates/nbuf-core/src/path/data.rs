//! The bytes that paths write. They look random and depend only on their offset, so that every path
//! leaves the same file.
//!
//! They repeat after 257 pages. That is longer than the unit in which file systems compress. 257 is
//! prime, so the first 257 blocks of any power of two all differ. Cost: memory for the repeated
//! part and one block. Writing does no arithmetic on bytes.

use super::aligned::Aligned;

const PERIOD_BYTES: usize = 257 * 4096;

/// The bytes of any place of a file.
#[derive(Debug)]
pub struct Data {
    bytes: Aligned,
}

impl Data {
    /// Prepares blocks of up to this many bytes.
    pub fn new(block_bytes: usize) -> Self {
        let mut bytes = Aligned::new(PERIOD_BYTES + block_bytes);
        let all = bytes.bytes_mut();
        let (period, _) = all.split_at_mut(PERIOD_BYTES);
        let mut state = 0x6e62_7566_u64;
        for word in period.chunks_exact_mut(8) {
            word.copy_from_slice(&next(&mut state).to_le_bytes());
        }
        let mut done = PERIOD_BYTES;
        while done < all.len() {
            let more = done.min(all.len() - done);
            all.copy_within(..more, done);
            done += more;
        }
        Self { bytes }
    }

    /// The bytes for an offset, at most one block. Their address is a multiple of 4096 if the
    /// offset is.
    #[inline]
    pub fn at(&self, offset_bytes: u64, length_bytes: usize) -> &[u8] {
        let begin = Self::begin(offset_bytes);
        &self.bytes.bytes()[begin..begin + length_bytes]
    }

    /// The position in [`Data::all`] of the bytes for an offset.
    #[inline]
    pub fn begin(offset_bytes: u64) -> usize {
        // The remainder is smaller than the period, so it fits.
        usize::try_from(offset_bytes % PERIOD_BYTES as u64).unwrap_or(0)
    }

    /// All bytes of one period, for paths that register their memory with the kernel.
    pub fn all(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

/// `SplitMix64` (Steele, Lea and Flood 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_size_give_the_same_file() {
        let size = 3 * PERIOD_BYTES + 5;
        let byte = Data::new(1);
        let want: Vec<u8> = (0..size).map(|offset| byte.at(offset as u64, 1)[0]).collect();
        for block in [7, 4096, PERIOD_BYTES - 1, 2 * PERIOD_BYTES + 3] {
            let data = Data::new(block);
            let mut got: Vec<u8> = Vec::new();
            while got.len() < size {
                got.extend(data.at(got.len() as u64, block.min(size - got.len())));
            }
            assert!(got == want, "{block}");
        }
        assert_eq!(byte.at(8192, 1).as_ptr().align_offset(4096), 0);
    }

    #[test]
    fn nothing_can_be_saved_by_packing() {
        let data = Data::new(1);
        let packed = zstd::bulk::compress(&data.all()[..PERIOD_BYTES], 3).unwrap();
        assert!(packed.len() >= PERIOD_BYTES, "{}", packed.len());
    }
}

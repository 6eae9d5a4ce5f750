//! A sample of the accesses, by the pages that they reach.
//!
//! Eight neighbouring pages of a file are in the sample together or not at all, by a hash of device, inode and their
//! place. So the sample has all accesses to its pages, in order, and a stack distance in it is a share of the true one
//! (C. Waldspurger et al., *Efficient MRC Construction with SHARDS*, FAST 2015). The kernel computes the same hash.

use serde::{Deserialize, Serialize};

/// Pages that are in the sample together: `1 << CHUNK_SHIFT`. With more, samples are poor.
pub(crate) const CHUNK_SHIFT: u8 = 3;
/// All pages are in the sample.
pub(crate) const ALL: u64 = 1 << 32;
/// Factors of the hash: for file, device and twice for all.
pub(crate) const FACTORS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53];

/// Which pages are in a trace, and what is known of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// Hashes below this, out of 2^32, are in the sample.
    pub hashes: u64,
    /// Page accesses of all files, in the sample or not.
    pub accesses: u64,
}

impl Sampled {
    /// The share of the pages that are in the sample, up to 1.
    pub fn share(&self) -> f64 {
        self.hashes.clamp(1, ALL) as f64 / ALL as f64
    }

    /// Whether a page is in the sample.
    pub fn has(&self, device: u32, inode: u64, page: u64) -> bool {
        hash(device, inode, page >> CHUNK_SHIFT) < self.hashes
    }
}

/// The hash of a chunk of a file, below 2^32.
pub(crate) fn hash(device: u32, inode: u64, chunk: u64) -> u64 {
    let [of_file, of_device, first, second] = FACTORS;
    let file = inode.wrapping_mul(of_file) ^ u64::from(device).wrapping_mul(of_device);
    let mixed = (chunk ^ file).wrapping_mul(first);
    (mixed ^ mixed >> 32).wrapping_mul(second) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_chunks_of_any_files_is_in_the_sample() {
        let sampled = Sampled { hashes: ALL / 10, accesses: 0 };
        let mut count = 0;
        for inode in 1..=100 {
            for chunk in 0..100 {
                let within = (0..8).filter(|page| sampled.has(8 << 20, inode, chunk * 8 + page));
                let within = within.count();
                assert!([0, 8].contains(&within), "{inode} {chunk}");
                count += within / 8;
            }
        }
        // Ten thousand chunks: four standard deviations are 120.
        assert!((880..1120).contains(&count), "{count}");
        assert!(Sampled { hashes: ALL, accesses: 0 }.has(1, 2, 3));
    }
}

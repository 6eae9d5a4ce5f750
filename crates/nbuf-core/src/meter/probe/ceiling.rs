//! How fast this processor copies what it has in its caches: no path through the kernel can be
//! faster, and a result that says so has measured something else.
//!
//! The best of several short copies of 32 KiB, source and target in the first or second cache.
//! Cost: about a millisecond. Not a measure of memory: what comes from far takes longer.

use std::hint::black_box;

use crate::clock::Stopwatch;

/// Bytes of a copy.
const BLOCK_BYTES: usize = 32 << 10;
/// Copies of a try.
const COPIES: u32 = 64;
const TRIES: u32 = 24;

/// Bytes a second.
pub(crate) fn copy_rate() -> f64 {
    let from = vec![1_u8; BLOCK_BYTES];
    let mut to = vec![0_u8; BLOCK_BYTES];
    let mut best: f64 = 0.0;
    for _ in 0..TRIES {
        let clock = Stopwatch::start();
        for _ in 0..COPIES {
            black_box(&mut to).copy_from_slice(black_box(&from));
        }
        let seconds = clock.elapsed().as_secs_f64();
        best = best.max(BLOCK_BYTES as f64 * f64::from(COPIES) / seconds.max(1e-9));
    }
    best
}

#[cfg(test)]
mod tests {
    #[test]
    fn copying_takes_time() {
        let rate = super::copy_rate();
        assert!(rate.is_finite() && rate > 0.0, "{rate}");
    }
}

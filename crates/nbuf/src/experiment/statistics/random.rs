//! Numbers for resampling: `SplitMix64` (Steele, Lea and Flood 2014), the same for the same seed.

/// The state of the generator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `bound`, which is not 0. Uneven by less than a part in 2^40 for what is resampled
    /// here.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let high = (u128::from(self.next()) * bound as u128) >> 64;
        usize::try_from(high).unwrap_or(0)
    }

    /// Of the normal distribution around 0, of deviation 1: the sum of twelve uniform numbers, good
    /// enough to try statistics on.
    #[cfg(test)]
    pub(super) fn normal(&mut self) -> f64 {
        let uniform = |random: &mut Self| (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (0..12).map(|_| uniform(self)).sum::<f64>() - 6.0
    }
}

//! A permutation of the numbers below any count, by arithmetic.
//!
//! Additions, multiplications by odd numbers and folded right shifts are invertible on numbers of a
//! fixed width. Together they permute the numbers below the next power of two. A result that is too
//! large goes through again ("cycle walking", Black and Rogaway 2002), on average less than twice.
//! Do not use it for secrets.

/// A permutation of the numbers below a count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    count: u64,
    mask: u64,
    fold: u32,
    add: [u64; 2],
}

impl Shuffle {
    /// Permutes the numbers below `count`; the seed selects the permutation.
    pub(super) fn new(count: u64, seed: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mask = 1_u64.checked_shl(bits).map_or(u64::MAX, |above| above - 1);
        let add = [mix(seed), mix(seed.wrapping_add(1))];
        Self { count, mask, fold: (bits / 2).max(1), add }
    }

    /// The image of `number`. It is below `count` if `number` is.
    #[inline]
    pub(super) fn place(&self, number: u64) -> u64 {
        let mut place = number;
        loop {
            place = self.step(place);
            if place < self.count {
                return place;
            }
        }
    }

    #[inline]
    fn step(&self, number: u64) -> u64 {
        let mut bits = number.wrapping_add(self.add[0]);
        bits = bits.wrapping_mul(0xbf58_476d_1ce4_e5b9) & self.mask;
        bits ^= bits >> self.fold;
        bits = bits.wrapping_add(self.add[1]).wrapping_mul(0x94d0_49bb_1331_11eb) & self.mask;
        bits ^= bits >> self.fold;
        bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) & self.mask;
        bits ^ (bits >> self.fold)
    }
}

/// Spreads a seed over all bits (`SplitMix64`, Steele, Lea and Flood 2014).
fn mix(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_comes_once(count in 0_u64..3000, seed: u64) {
            let shuffle = Shuffle::new(count, seed);
            let mut places: Vec<u64> = (0..count).map(|number| shuffle.place(number)).collect();
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..count));
        }
    }

    #[test]
    fn neighbours_are_parted() {
        let shuffle = Shuffle::new(10_000, 7);
        let near = (1..10_000_u64)
            .filter(|&number| shuffle.place(number).abs_diff(shuffle.place(number - 1)) < 100)
            .count();
        // By chance, two of ten thousand numbers are within a hundred of each other in 2 % of the
        // cases.
        assert!((100..400).contains(&near), "{near}");
    }
}

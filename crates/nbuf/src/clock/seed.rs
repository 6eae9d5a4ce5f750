//! Numbers that look random and are the same for the same seed, on every machine.

/// `SplitMix64` (G. Steele, D. Lea, C. Flood, *Fast Splittable Pseudorandom Number Generators*,
/// 2014): eight bytes of state, a few nanoseconds a number. Not for secrets.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed, from its beginning.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number of 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `bound`; 0 where that is 0. The high half of a product: without the bias of a
    /// remainder, uneven by less than a part in 2^40 for any bound of ours.
    pub fn below(&mut self, bound: u64) -> u64 {
        let high = (u128::from(self.next()) * u128::from(bound)) >> 64;
        u64::try_from(high).unwrap_or(0)
    }

    /// Puts places in an order drawn by lot, every order as likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, places: &mut [T]) {
        for last in (1..places.len()).rev() {
            let other = usize::try_from(self.below(last as u64 + 1)).unwrap_or(0);
            places.swap(last, other);
        }
    }

    /// From 0 to below 1, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of the exponential distribution of this mean: the time between arrivals that know nothing of
    /// each other.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Of the normal distribution around 0, of deviation 1: the sum of twelve uniform numbers, good
    /// enough to try statistics on, and never beyond 6.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_drawn_as_often() {
        let mut random = Random::new(3);
        let mut drawn = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut places = [0, 1, 2];
            random.shuffle(&mut places);
            *drawn.entry(places).or_insert(0) += 1;
        }
        assert!(drawn.len() == 6 && drawn.values().all(|n| (900..1100).contains(n)), "{drawn:?}");
    }

    #[test]
    fn the_numbers_are_those_of_the_paper() {
        // Published with the reference implementation, for the seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
        assert_eq!(random.next(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn every_number_below_a_bound_comes() {
        let mut random = Random::new(7);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(random.below(10)).unwrap()] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(seen.iter().all(|&count| (900..1_100).contains(&count)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}

//! Pseudorandom numbers that depend only on the seed, on every machine.

/// `SplitMix64` (G. Steele, D. Lea, C. Flood, *Fast Splittable Pseudorandom Number Generators*,
/// 2014). It keeps eight bytes of state and takes a few nanoseconds a number. Do not use it for
/// secrets.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence of this seed.
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

    /// A number less than `bound`, or 0 if `bound` is 0. It takes the high half of a product, which
    /// avoids the bias of a remainder. For the bounds in use, probabilities differ by less than a
    /// part in 2^40.
    pub fn below(&mut self, bound: u64) -> u64 {
        let high = (u128::from(self.next()) * u128::from(bound)) >> 64;
        u64::try_from(high).unwrap_or(0)
    }

    /// Shuffles the places; every order is equally likely (Fisher and Yates).
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

    /// Draws from the exponential distribution with this mean: the time between independent
    /// arrivals.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Draws from the normal distribution with mean 0 and deviation 1. It adds twelve uniform
    /// numbers, so it never exceeds 6, which is good enough to test statistics.
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
        // These numbers come with the reference implementation, for the seed 1234567.
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

//! Patterns that advice is tried on: thirty that are listed, and thirty that a seed draws.

/// What people ask about: databases, logs, scans, indexes, small and large files, hot and cold.
pub(super) const LISTED: [&str; 30] = [
    "1, sequential, hot",
    "16, sequential, hot, file 1MiB",
    "64, sequential, hot, file 64MiB",
    "512, sequential, hot",
    "512, sequential, cold, file 64MiB",
    "4KiB, sequential, hot",
    "4KiB, sequential, cold",
    "4KiB, sequential, cold, file 256MiB",
    "64KiB, sequential, hot, file 256MiB",
    "64KiB, sequential, cold, file 256MiB",
    "1MiB, sequential, hot, file 64MiB",
    "1MiB, sequential, cold, file 1GiB, touches 64MiB",
    "1, random, hot",
    "8, random, hot, file 64MiB, touches 1MiB",
    "512, random, hot, file 256MiB, touches 10%",
    "4KiB, random, hot",
    "4KiB, random, hot, file 1GiB, touches 4MiB",
    "4KiB, random, hot, file 64MiB, depth 32",
    "4KiB, random, cold",
    "4KiB, random, cold, file 64MiB",
    "4KiB, random, cold, file 1GiB, touches 4MiB",
    "4KiB, random, cold, file 1GiB, touches 4MiB, depth 32",
    "4KiB, random, cold, file 64MiB, touches 1MiB",
    "16KiB, random, cold, file 256MiB, touches 5%",
    "64KiB, random, cold, file 256MiB, touches 25%",
    "64KiB, random, hot, file 64MiB",
    "1, stride 1MiB, hot",
    "512, stride 4KiB, hot, file 64MiB",
    "4KiB, stride 64KiB, cold, file 64MiB, touches 25%",
    "4KiB, stride 1MiB, cold, file 256MiB, touches 4MiB",
];

const BLOCKS: [&str; 7] = ["1", "64", "512", "4KiB", "16KiB", "64KiB", "1MiB"];
const ORDERS: [&str; 5] = ["sequential", "random", "random", "stride 1MiB", "stride 2MiB"];
const FILES: [&str; 5] = ["1MiB", "10MiB", "64MiB", "256MiB", "1GiB"];
const TOUCHED: [&str; 5] = ["100%", "50%", "25%", "5%", "1%"];
const DEPTHS: [&str; 3] = ["1", "1", "32"];

/// Patterns that a seed draws, each once.
pub(super) fn drawn(seed: u64, count: usize) -> Vec<String> {
    let mut random = Draw(seed);
    let mut patterns: Vec<String> = Vec::new();
    while patterns.len() < count {
        let state = random.of(&["hot", "cold"]);
        let pattern = format!(
            "{}, {}, {state}, file {}, touches {}, depth {}",
            random.of(&BLOCKS),
            random.of(&ORDERS),
            random.of(&FILES),
            random.of(&TOUCHED),
            random.of(&DEPTHS)
        );
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    patterns
}

/// `SplitMix64` (Steele, Lea and Flood 2014).
struct Draw(u64);

impl Draw {
    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = bits ^ (bits >> 31);
        let place = usize::try_from(bits >> 32).unwrap_or(0) % all.len();
        all[place]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_seed_draws_the_same_patterns_and_each_once() {
        let patterns = drawn(7, 30);
        assert_eq!(patterns, drawn(7, 30));
        assert_ne!(patterns, drawn(8, 30));
        let listed = LISTED.iter().map(ToString::to_string);
        let all: HashSet<String> = patterns.into_iter().chain(listed).collect();
        assert_eq!(all.len(), 60);
    }
}

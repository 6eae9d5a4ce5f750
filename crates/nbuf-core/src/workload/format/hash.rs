//! One hash of bytes, the same on every machine and in every run: a key that is text becomes it.

use std::hash::{BuildHasherDefault, Hasher};

/// Odd numbers without structure: parts of the fractions of the square roots of 2, 3 and 5.
const FIRST: u64 = 0x6a09_e667_f3bc_c909;
const SECOND: u64 = 0xbb67_ae85_84ca_a73b;
const THIRD: u64 = 0x3c6e_f372_fe94_f82b;

/// The product of two numbers, folded: every bit of either moves about half of the result.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the product")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

/// 64 bits that stand for the bytes. Among 100 million different keys two come out alike with a
/// chance of 1 in 3700.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut state = FIRST ^ fold(bytes.len() as u64 ^ SECOND, THIRD);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state = fold(state ^ u64::from_le_bytes(*word), SECOND);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(fold(state ^ u64::from_le_bytes(last), THIRD), FIRST)
}

/// The key that a text names: its own number where it is one as numbers are written, else the hash. So `7` and
/// `07` are two keys.
#[inline]
pub fn key(text: &[u8]) -> u64 {
    let is_plain = text.len() == 1 || text.first() != Some(&b'0');
    super::fields::number(text).filter(|_| is_plain).unwrap_or_else(|| hash(text))
}

/// The key that a text names in a name space. Space 0 has the keys of [`key`]. No text of another space is one of them,
/// as a text with the number before it would be.
pub(super) fn key_in(space: u32, text: &[u8]) -> u64 {
    if space == 0 {
        key(text)
    } else {
        fold(hash(text) ^ FIRST, fold(u64::from(space) ^ SECOND, THIRD))
    }
}

/// [`hash`] for the tables of the standard library.
#[derive(Default)]
pub(super) struct Hash(u64);

impl Hasher for Hash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = fold(self.0 ^ FIRST, hash(bytes));
    }

    // One product a number: `write` takes four. The length of a text is such a number, too.
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = fold(self.0 ^ FIRST, number ^ SECOND);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// Makes [`Hash`]es.
pub(super) type Hashes = BuildHasherDefault<Hash>;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_hash_is_the_same_everywhere_and_spreads() {
        // A change of these numbers changes the keys of traces that were already converted.
        assert_eq!(hash(b""), hash(&[]));
        assert_ne!(hash(b""), hash(b"\0"));
        assert_ne!(hash(b"ab\0"), hash(b"ab"));
        let texts = (0..200_000_u32).map(|number| format!("user:{number}"));
        let hashes: HashSet<u64> = texts.map(|text| hash(text.as_bytes())).collect();
        assert_eq!(hashes.len(), 200_000);
        for bit in 0..64 {
            let ones = hashes.iter().filter(|&&hash| hash >> bit & 1 == 1).count();
            assert!((98_000..102_000).contains(&ones), "bit {bit} is set {ones} times");
        }
    }

    #[test]
    fn numbers_in_tables_spread() {
        let of = |number: u64| {
            let mut hash = Hash::default();
            hash.write_u64(number);
            hash.finish()
        };
        for step in [1, 8, 4096, 1 << 32] {
            let hashes: HashSet<u64> = (0..200_000).map(|number| of(number * step)).collect();
            assert_eq!(hashes.len(), 200_000);
            for bit in 0..64 {
                let ones = hashes.iter().filter(|&&hash| hash >> bit & 1 == 1).count();
                assert!((90_000..110_000).contains(&ones), "{step}: bit {bit} is set {ones} times");
            }
        }
        let both = |number: u32| {
            let mut hash = Hash::default();
            hash.write_u32(number);
            hash.finish()
        };
        assert_eq!(both(7), of(7));
    }

    #[test]
    fn a_key_of_a_space_is_none_of_another() {
        let texts = || (0..1000).flat_map(|n| [format!("1:{n}"), format!("{n}"), format!("a{n}")]);
        let keys = |space| texts().map(move |text| key_in(space, text.as_bytes()));
        let all: HashSet<u64> = (0..4).flat_map(keys).collect();
        assert_eq!(all.len(), 4 * texts().collect::<HashSet<_>>().len());
        assert_eq!((key_in(0, b"7"), key_in(0, b"a")), (7, hash(b"a")));
    }

    #[test]
    fn keys_that_are_numbers_keep_them() {
        assert_eq!(key(b"13053225291711363978"), 13_053_225_291_711_363_978);
        assert_eq!(key(b"0"), 0);
        assert_eq!((key(b"7"), key(b"07"), key(b"00")), (7, hash(b"07"), hash(b"00")));
        assert_eq!(key(b"18446744073709551616"), hash(b"18446744073709551616"));
        assert_eq!(key(b"a1"), hash(b"a1"));
    }
}

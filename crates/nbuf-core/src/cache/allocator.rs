//! What an object really takes: the memory that an allocator or a store gives out for its bytes.
//!
//! Allocators round up to classes of sizes, and stores add headers and an entry of an index. The names are
//! those of `nbuf curve --allocator`. Invariant: more bytes never take less. Cost: a few instructions.
//!
//! The constants are of 64-bit builds: jemalloc 5.3 with a quantum of 16 bytes (`doc/jemalloc.xml`, "Size
//! classes"), Redis 7.0 (`src/sds.c`, `src/object.c`, `src/dict.h`) and memcached 1.6 (`slabs.c`,
//! `items.c`). `cargo xtask stores` compares what they give out with this.

use std::fmt;
use std::str::FromStr;

use crate::units::as_text;

/// jemalloc: classes are multiples of this up to four of them, then four to a doubling.
const QUANTUM: u64 = 16;
/// jemalloc: the only class below the quantum.
const TINY: u64 = 8;

/// Redis: an entry of the dictionary takes 24 bytes.
const ENTRY: u64 = 24;
/// Redis: between one and two pointers of the hash table for each key, as it doubles.
const BUCKETS: u64 = 11;
/// Redis: the header of any value.
const VALUE: u64 = 16;
/// Redis: strings up to this length are in one allocation with the header of the value.
const EMBEDDED_MAX: u64 = 44;

/// memcached: the header of an item with its `CAS` number.
const ITEM: u64 = 48 + 8;
/// memcached: the smallest chunk, and how much larger the next is.
const CHUNK: u64 = 96;
const GROWTH: f64 = 1.25;
/// memcached: the largest chunk. A larger item is made of some of them.
const CHUNK_MAX: u64 = 512 << 10;
/// memcached: what one class takes from the memory at a time.
pub(crate) const SLAB_BYTES: u64 = 1 << 20;

/// Who gives memory to objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocator {
    /// An object takes its bytes.
    #[default]
    Exact,
    /// One allocation of jemalloc, which rounds up to its next class.
    Jemalloc,
    /// A string of Redis 7 under a key of this length, with its entry of the dictionary.
    Redis {
        /// Bytes of a key.
        key_bytes: u32,
    },
    /// An item of memcached 1.6 under a key of this length, in the chunk of its slab class.
    Memcached {
        /// Bytes of a key.
        key_bytes: u32,
    },
}

/// Why a text names no allocator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no allocator: write exact, jemalloc, redis:key=20 or memcached:key=20, where 20 is the length of a key in bytes"
)]
pub struct AllocatorError(String);

/// The longest key: memcached takes no more than 250 bytes, and few keys of Redis are longer.
const KEY_BYTES_MAX: u32 = 1024;
const MEMCACHED_KEY_BYTES_MAX: u32 = 250;

impl Allocator {
    /// What an object of this size takes, with `overhead_bytes` of its own.
    pub fn charge(self, bytes: u64, overhead_bytes: u64) -> u64 {
        match self {
            Self::Exact => bytes.saturating_add(overhead_bytes),
            Self::Jemalloc => jemalloc(bytes).saturating_add(overhead_bytes),
            Self::Redis { key_bytes } => {
                let key = jemalloc(string(key_bytes.into(), true));
                let value = match bytes {
                    0..=EMBEDDED_MAX => jemalloc(VALUE + string(bytes, false)),
                    _ => jemalloc(VALUE).saturating_add(jemalloc(string(bytes, false))),
                };
                (jemalloc(ENTRY) + BUCKETS + key)
                    .saturating_add(value)
                    .saturating_add(overhead_bytes)
            }
            Self::Memcached { key_bytes } => {
                // The key ends with a zero byte, and the value with a line end.
                let item = ITEM + u64::from(key_bytes) + 1 + 2;
                chunk(item.saturating_add(bytes).saturating_add(overhead_bytes))
            }
        }
    }
}

/// The class of jemalloc for these bytes.
fn jemalloc(bytes: u64) -> u64 {
    if bytes <= TINY {
        return TINY;
    }
    // Four classes to a doubling: steps of a quarter of the power of two below.
    let below = bytes.saturating_sub(1).max(1).ilog2();
    let step = if below < 6 { QUANTUM } else { 1 << (below - 2) };
    bytes.div_ceil(step).saturating_mul(step)
}

/// Bytes of a string of Redis with its header and its end: keys have a header of one byte while they are short.
fn string(bytes: u64, is_key: bool) -> u64 {
    let header = match bytes {
        0..32 if is_key => 1,
        0..256 => 3,
        256..0x1_0000 => 5,
        0x1_0000..0x1_0000_0000 => 9,
        _ => 17,
    };
    bytes.saturating_add(header + 1)
}

/// The sizes of memcached's chunks, in order.
pub(crate) fn chunks() -> impl Iterator<Item = u64> {
    let next = |&size: &u64| Some(crate::units::whole(size as f64 * GROWTH).next_multiple_of(8));
    let small = std::iter::successors(Some(CHUNK), next);
    // What is nearer to the largest than one step is the largest.
    small.take_while(|&size| (size as f64) < CHUNK_MAX as f64 / GROWTH).chain([CHUNK_MAX])
}

/// What an item of memcached takes: its chunk, or some of the largest.
pub(crate) fn chunk(bytes: u64) -> u64 {
    let fits = chunks().find(|&size| bytes <= size);
    fits.unwrap_or_else(|| bytes.div_ceil(CHUNK_MAX).saturating_mul(CHUNK_MAX))
}

impl FromStr for Allocator {
    type Err = AllocatorError;

    fn from_str(text: &str) -> Result<Self, AllocatorError> {
        let wrong = || AllocatorError(text.to_owned());
        let (name, key) =
            text.split_once(":key=").map_or((text, None), |(name, key)| (name, Some(key)));
        // The parser of the library would take a sign.
        let digits = key.filter(|key| key.bytes().all(|byte| byte.is_ascii_digit()));
        let key_bytes = digits.and_then(|key| key.parse().ok()).filter(|&key| key <= KEY_BYTES_MAX);
        match (name, key_bytes) {
            ("exact", None) if key.is_none() => Ok(Self::Exact),
            ("jemalloc", None) if key.is_none() => Ok(Self::Jemalloc),
            ("redis", Some(key_bytes)) => Ok(Self::Redis { key_bytes }),
            ("memcached", Some(key_bytes)) if key_bytes <= MEMCACHED_KEY_BYTES_MAX => {
                Ok(Self::Memcached { key_bytes })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Jemalloc => f.write_str("jemalloc"),
            Self::Redis { key_bytes } => write!(f, "redis:key={key_bytes}"),
            Self::Memcached { key_bytes } => write!(f, "memcached:key={key_bytes}"),
        }
    }
}

as_text!(Allocator);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jemalloc_has_four_classes_to_a_doubling() {
        let classes: Vec<u64> = (1..=1024)
            .map(jemalloc)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        let want = [
            8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768,
            896, 1024,
        ];
        assert_eq!(classes, want);
        assert_eq!([1025, 1 << 20, (1 << 20) + 1].map(jemalloc), [1280, 1 << 20, 5 << 18]);
    }

    /// `MEMORY USAGE` of Redis 7.0.15 with keys of 20 bytes. It counts an entry as 24 bytes, without the class, and no
    /// bucket.
    #[test]
    fn a_string_takes_what_redis_says() {
        let redis = Allocator::Redis { key_bytes: 20 };
        for (bytes, usage) in [(737, 840), (248, 328), (567, 712), (54, 136), (253, 392)] {
            assert_eq!(redis.charge(bytes, 0), usage + 8 + BUCKETS, "{bytes}");
        }
    }

    /// `stats slabs` of memcached 1.6.18.
    #[test]
    fn chunks_are_those_of_memcached() {
        let want = [
            96, 120, 152, 192, 240, 304, 384, 480, 600, 752, 944, 1184, 1480, 1856, 2320, 2904,
            3632, 4544, 5680,
        ];
        assert!(chunks().take(want.len()).eq(want));
        assert_eq!(chunks().last(), Some(CHUNK_MAX));
        assert_eq!(chunk(CHUNK_MAX + 1), 2 * CHUNK_MAX);
    }

    #[test]
    fn more_bytes_never_take_less_and_names_are_read_again() {
        for text in ["exact", "jemalloc", "redis:key=0", "redis:key=20", "memcached:key=250"] {
            let allocator: Allocator = text.parse().unwrap();
            assert_eq!(allocator.to_string(), text);
            let charges: Vec<u64> = (0..3000).map(|bytes| allocator.charge(bytes, 3)).collect();
            assert!(charges.is_sorted(), "{text}");
            assert!(allocator.charge(u64::MAX, 9) >= u64::MAX >> 1, "{text}");
        }
        for text in [
            "",
            "redis",
            "redis:",
            "redis:key=",
            "redis:key=+1",
            "redis:key=9999",
            "memcached:key=251",
            "exact:key=1",
            "slab",
        ] {
            assert!(text.parse::<Allocator>().is_err(), "{text}");
        }
    }
}

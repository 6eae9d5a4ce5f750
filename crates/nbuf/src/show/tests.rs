//! Curves to draw in tests.

use nbuf::experiment::result::{Curve, Memory, Point};
use nbuf::units::Bytes;

use super::scale::whole;

const PAGE_BYTES: u64 = 4096;

pub(crate) const MEMORY: Memory = Memory {
    anonymous_bytes: Bytes(10 << 20),
    shmem_bytes: Bytes(0),
    kernel_bytes: Bytes(2 << 20),
    page_cache_bytes: Bytes(0),
    shared_text_bytes: Bytes(0),
};

/// 32 sizes in equal ratios up to `pages`, and more around the cliffs; fills under LRU and under the active and inactive lists.
fn sampled(pages: u64, cliffs: &[u64], fills: impl Fn(f64) -> (f64, f64)) -> Curve {
    let ratio = |n: f64| (pages as f64).powf(n / 31.0);
    let mut sizes: Vec<_> = (0..31).map(|n| whole(ratio(f64::from(n)))).collect();
    sizes.push(pages);
    for cliff in cliffs {
        sizes.extend([cliff - cliff / 10, cliff - cliff / 50, cliff - 1, *cliff]);
    }
    sizes.sort_unstable();
    sizes.dedup();
    let point = |&size: &u64| {
        let (lru, lists) = fills(size as f64);
        Point {
            cache_bytes: Bytes(size * PAGE_BYTES),
            lru_misses: whole(lru),
            lru_fills: whole(lru),
            active_inactive_fills: whole(lists),
            interpolated: false,
        }
    };
    Curve {
        points: sizes.iter().map(point).collect(),
        footprint_bytes: Bytes(pages * PAGE_BYTES),
        accesses: 1_000_000,
    }
}

/// 66 MiB read twenty times, as much again once; the active and inactive lists keep a part of the loop.
pub(crate) fn cliff() -> Curve {
    let pages = 16_896.0;
    sampled(33_792, &[16_896], |size| {
        let lru = if size < pages { 21.0 * pages } else { 2.0 * pages };
        let kept = ((pages - size) / (0.4 * pages)).clamp(0.0, 1.0);
        (lru, 2.0 * pages + 19.0 * pages * kept)
    })
}

/// Measurements at and below that knee.
pub(crate) fn cliff_verified() -> [(Bytes, u64); 4] {
    let mib = |mib: u64| Bytes(mib << 20);
    [(mib(132), 33_800), (mib(67), 33_900), (mib(58), 140_000), (mib(50), 250_000)]
}

/// Loops of 16 and 156 MiB.
pub(crate) fn staircase() -> Curve {
    sampled(40_000, &[4_000, 40_000], |size| {
        let small = if size < 4_000.0 { 400_000.0 } else { 0.0 };
        let large = if size < 40_000.0 { 300_000.0 } else { 0.0 };
        let fills = 40_000.0 + small + large;
        (fills, fills * 0.97)
    })
}

/// Zipf with exponent 1 over 391 MiB.
pub(crate) fn smooth() -> Curve {
    sampled(100_000, &[], |size| {
        let fills = 1e5 + 1.9e6 * (1.0 - size.ln() / 1e5_f64.ln());
        (fills, fills * (1.0 + 0.15 * (1.0 - size / 1e5)))
    })
}

/// 39 MiB read once.
pub(crate) fn level() -> Curve {
    sampled(10_000, &[], |_| (10_000.0, 10_000.0))
}

/// Fails where a line is wider than the terminal that it is for.
#[track_caller]
pub(crate) fn fit(widths: impl IntoIterator<Item = usize>, draw: impl Fn(usize) -> String) {
    for width in widths {
        let text = draw(width);
        assert!(super::table::fits(&text, width), "{width}:\n{text}");
    }
}

/// What is left of a coloured text.
pub(crate) fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

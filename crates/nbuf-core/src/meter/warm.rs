//! The miss ratio of a service that ran before anybody looked: LRU at every size, from a window of its
//! accesses.
//!
//! An access whose page was accessed before in the window has a known stack distance. The first access to a
//! page has a lower bound only: the number of pages that were accessed before it. Such data are
//! right-censored, and the product-limit estimate is consistent for them (E. Kaplan and P. Meier,
//! *Nonparametric Estimation from Incomplete Observations*, 1958). To count first accesses as
//! misses is too high, as hits too low.
//!
//! The band is a block bootstrap over time: blocks are drawn again with replacement, since accesses come in
//! bursts and scans, so that the formula of Greenwood, which takes them for independent, is too narrow. It is for
//! the next window, which differs from the truth as much as this one: the square root of two wider.
//!
//! Known up to the number of pages of the window, and no further, unless so few accesses can miss there that it does not
//! matter. Not for a trace that begins with an empty
//! cache: there the first accesses are misses, and [`super::distance`] is exact. Cost: 11 KiB a block.

mod decayed;

pub(crate) use decayed::Decayed;

use super::bins::{BINS, bin, edge};
use crate::clock::Random;

/// Parts of the window that are drawn again.
const BLOCKS: usize = 20;
/// Draws of the bootstrap.
const DRAWS: usize = 200;
/// A size is known where this many accesses are at risk beyond it.
const AT_RISK_MIN: f64 = 1000.0;
/// Or where no more than this share of the accesses can miss, whatever the first accesses were.
const BOUND_MAX: f64 = 0.01;

/// Halves that differ by less are not said to differ.
const STEADY: f64 = 0.05;

/// Accesses of a window.
#[derive(Clone, Debug)]
pub(crate) struct Warm {
    blocks: Vec<Block>,
    window_ns: u64,
    accesses: u64,
    distinct: u64,
}

#[derive(Clone, Debug)]
struct Block {
    /// Accesses by known distance.
    known: Vec<u32>,
    /// First accesses by the pages that were accessed before them.
    first: Vec<u32>,
    accesses: u64,
}

/// A block that may be drawn, and the weight of its accesses.
type Part<'a> = (&'a Block, f64);

/// A miss ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MissRatio {
    /// The lower edge of the 95 % band.
    pub(crate) low: f64,
    /// The estimate.
    pub(crate) best: f64,
    /// The upper edge.
    pub(crate) high: f64,
}

impl Warm {
    /// A window of this length.
    pub(crate) fn new(window_ns: u64) -> Self {
        let block = Block { known: vec![0; BINS], first: vec![0; BINS], accesses: 0 };
        Self { blocks: vec![block; BLOCKS], window_ns, accesses: 0, distinct: 0 }
    }

    /// An access at a time from the start of the window; `depth` is the place of its page on the LRU stack,
    /// from 1, and `None` for a page that was not accessed before.
    #[cfg(test)]
    pub(crate) fn push(&mut self, time_ns: u64, depth: Option<u32>) {
        self.push_behind(time_ns, depth, self.distinct);
    }

    /// The same where the stack had this number of pages before.
    pub(crate) fn push_behind(&mut self, time_ns: u64, depth: Option<u32>, pages: u64) {
        let share = u128::from(time_ns) * BLOCKS as u128 / u128::from(self.window_ns.max(1));
        let block = usize::try_from(share).unwrap_or(BLOCKS).min(BLOCKS - 1);
        let block = &mut self.blocks[block];
        block.accesses += 1;
        self.accesses += 1;
        if let Some(depth) = depth {
            block.known[bin(f64::from(depth))] += 1;
        } else {
            // No page before it: any distance is possible.
            block.first[bin(pages as f64 + 1.0)] += 1;
            self.distinct += 1;
        }
    }

    /// Accesses of the window.
    pub(crate) fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Different pages of the window.
    pub(crate) fn distinct(&self) -> u64 {
        self.distinct
    }

    /// About how many new pages another window of this length would touch. The last quarters of this one show how their
    /// number falls.
    pub(crate) fn growth(&self) -> f64 {
        let quarter = |from: usize| -> f64 {
            let blocks = self.blocks.iter().skip(from).take(BLOCKS / 4);
            blocks.flat_map(|block| &block.first).map(|&count| f64::from(count)).sum()
        };
        let (before, last) = (quarter(BLOCKS / 2), quarter(BLOCKS * 3 / 4));
        let falls = if before > 0.0 { (last / before).min(1.0) } else { 1.0 };
        (1..=4).map(|quarter| last * falls.powi(quarter)).sum()
    }

    /// The miss ratio at each size, which must rise; `None` beyond what the window shows.
    #[cfg(test)]
    pub(crate) fn at(&self, sizes_pages: &[u64], random: &mut Random) -> Vec<Option<MissRatio>> {
        bands(&parts(&self.blocks, 1.0), sizes_pages, random)
    }

    /// Whether the miss ratios of the two halves agree within their bands and a twentieth, at each size that
    /// both know.
    pub(crate) fn is_steady(&self, sizes_pages: &[u64], random: &mut Random) -> bool {
        let (first, second) = self.blocks.split_at(BLOCKS / 2);
        agree(&parts(first, 1.0), &parts(second, 1.0), sizes_pages, random)
    }
}

/// Blocks that have accesses, with this weight.
fn parts(blocks: &[Block], weight: f64) -> Vec<Part<'_>> {
    blocks.iter().filter(|block| block.accesses > 0).map(|block| (block, weight)).collect()
}

/// Whether the miss ratios of both agree within their bands and a twentieth, at each size that both know.
fn agree(
    first: &[Part<'_>],
    second: &[Part<'_>],
    sizes_pages: &[u64],
    random: &mut Random,
) -> bool {
    let first = bands(first, sizes_pages, random);
    let second = bands(second, sizes_pages, random);
    first.iter().zip(&second).all(|pair| match pair {
        (Some(a), Some(b)) => {
            // Halves of ten blocks each have narrow bands, and there are many sizes.
            let slack = STEADY * a.best.max(b.best) + STEADY / 10.0;
            a.low <= b.high + slack && b.low <= a.high + slack
        }
        _ => true,
    })
}

fn bands(parts: &[Part<'_>], sizes_pages: &[u64], random: &mut Random) -> Vec<Option<MissRatio>> {
    let best = survival(parts, sizes_pages);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWS); sizes_pages.len()];
    for _ in 0..DRAWS {
        let again: Vec<Part<'_>> =
            (0..parts.len()).map(|_| parts[drawn_at(random, parts.len())]).collect();
        for (all, size) in drawn.iter_mut().zip(survival(&again, sizes_pages)) {
            all.push(size.ratio);
        }
    }
    best.into_iter()
        .zip(drawn)
        .map(|(Survival { ratio: best, at_risk, bound }, mut drawn)| {
            drawn.sort_by(f64::total_cmp);
            let (low, high) = (drawn[DRAWS / 40], drawn[DRAWS - 1 - DRAWS / 40]);
            let is_bounded = bound <= BOUND_MAX;
            let known = at_risk >= AT_RISK_MIN || is_bounded;
            // What is only bounded may be all of that.
            let high = if at_risk < AT_RISK_MIN { high.max(bound) } else { high };
            let beyond = |edge: f64| best + (edge - best) * std::f64::consts::SQRT_2;
            known.then(|| MissRatio {
                low: beyond(low.min(best)).max(0.0),
                best,
                high: beyond(high.max(best)).min(1.0),
            })
        })
        .collect()
}

/// A size of these blocks together.
#[derive(Clone, Copy, Debug)]
struct Survival {
    /// The share of accesses whose distance is above it.
    ratio: f64,
    /// How many are at risk there.
    at_risk: f64,
    /// The most that the share can be: all first accesses miss.
    bound: f64,
}

/// These blocks together, at each size.
fn survival(parts: &[Part<'_>], sizes_pages: &[u64]) -> Vec<Survival> {
    // No bin beyond the largest size counts.
    let until = sizes_pages.last().map_or(0, |&size| bin(size.max(1) as f64) + 2).min(BINS);
    let (mut known, mut first) = (vec![0.0; until], vec![0.0; until]);
    let mut at_risk = 0.0;
    for (block, weight) in parts {
        at_risk += block.accesses as f64 * weight;
        let add = |sums: &mut [f64], counts: &[u32]| {
            for (sum, &count) in sums.iter_mut().zip(counts) {
                *sum += f64::from(count) * weight;
            }
        };
        add(&mut known, &block.known);
        add(&mut first, &block.first);
    }
    let (mut ratio, mut sizes) = (1.0, sizes_pages.iter().peekable());
    let mut found = Vec::with_capacity(sizes_pages.len());
    let mut before = (0.0, ratio);
    let (all, mut unknown) = (at_risk, 0.0);
    let of = |ratio, at_risk: f64, unknown: f64| Survival {
        ratio,
        at_risk,
        bound: (at_risk + unknown) / all.max(1.0),
    };
    for (bin, (known, first)) in known.into_iter().zip(first).enumerate() {
        let at = edge(bin) as f64;
        while let Some(&size) = sizes.next_if(|&&size| size <= edge(bin)) {
            // The distances of a bin are taken to be spread evenly.
            let share = (size as f64 - before.0) / (at - before.0).max(1.0);
            found.push(of(before.1 + (ratio - before.1) * share, at_risk, unknown));
        }
        before = (at, ratio);
        if at_risk > 0.0 {
            // First accesses of the bin are at risk for half of it.
            ratio *= 1.0 - known / (at_risk - first / 2.0).max(known).max(1.0);
        }
        at_risk -= known + first;
        unknown += first;
    }
    found.extend(sizes.map(|_| of(ratio, at_risk, unknown)));
    found
}

/// A place below `length`.
fn drawn_at(random: &mut Random, length: usize) -> usize {
    usize::try_from(random.below(length as u64)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::distance::Distances;
    use crate::workload::synthetic::{Keys, Pattern};

    const PAGES: u32 = 20_000;
    const SIZES: [u64; 5] = [500, 2_000, 5_000, 10_000, 14_000];

    fn zipf(seed: u64) -> Keys {
        Keys::new(Pattern::Zipf { alpha: 0.7 }, PAGES, seed)
    }

    fn window(keys: impl Iterator<Item = u64>, accesses: usize) -> Warm {
        let (mut warm, mut distances) = (Warm::new(accesses as u64), Distances::new());
        for (time, key) in keys.take(accesses).enumerate() {
            let depth = distances.access(u32::try_from(key).unwrap());
            warm.push(time as u64, depth);
        }
        warm
    }

    /// What a cache of each size misses that was warm when the window began.
    fn truth(accesses: usize) -> Vec<f64> {
        let mut distances = Distances::new();
        let mut misses = vec![0_u64; SIZES.len()];
        for (at, key) in zipf(7).take(accesses * 2).enumerate() {
            let depth = distances.access(u32::try_from(key).unwrap());
            if at >= accesses {
                for (count, &size) in misses.iter_mut().zip(&SIZES) {
                    *count += u64::from(depth.is_none_or(|depth| u64::from(depth) > size));
                }
            }
        }
        misses.iter().map(|&count| count as f64 / accesses as f64).collect()
    }

    #[test]
    fn a_short_window_knows_what_a_warm_cache_misses() {
        let want = truth(2_000_000);
        let warm = window(zipf(11), 60_000);
        let got = warm.at(&SIZES, &mut Random::new(1));
        for ((size, want), got) in SIZES.iter().zip(want).zip(got) {
            let got = got.unwrap_or_else(|| panic!("{size} pages are not known"));
            let off = (got.best - want).abs();
            assert!(off <= 0.03 * want + 0.003, "{size}: {got:?}, not {want}");
            assert!(got.low <= want * 1.02 && got.high >= want * 0.98, "{size}: {got:?}, {want}");
        }
    }

    #[test]
    fn sizes_beyond_the_window_are_not_known() {
        let warm = window(zipf(3), 10_000);
        let sizes = [warm.distinct() / 2, warm.distinct() * 2];
        let got = warm.at(&sizes, &mut Random::new(1));
        assert!(got[0].is_some() && got[1].is_none(), "{got:?}");
    }

    #[test]
    fn the_next_window_is_in_the_band() {
        let (mut inside, mut all) = (0, 0);
        for seed in 0..40 {
            let of = |seed| window(zipf(seed), 20_000).at(&SIZES[..3], &mut Random::new(seed));
            let next = of(seed + 1_000);
            for (ratio, next) in of(seed).into_iter().zip(next) {
                let Some((ratio, next)) = ratio.zip(next) else { continue };
                all += 1;
                inside += u32::from((ratio.low..=ratio.high).contains(&next.best));
            }
        }
        assert!(all >= 80 && (90..=100).contains(&(inside * 100 / all)), "{inside} of {all}");
    }

    #[test]
    fn pages_of_a_longer_window_are_foreseen() {
        for accesses in [20_000, 60_000] {
            let (short, long) = (window(zipf(5), accesses), window(zipf(5), 2 * accesses));
            let (foreseen, new) = (short.growth(), (long.distinct() - short.distinct()) as f64);
            assert!((foreseen / new - 1.0).abs() < 0.3, "{accesses}: {foreseen}, not {new}");
        }
        assert!(window((0..100_000).map(|at| at % 1_000), 100_000).growth() < 1e-9);
        // A scan goes on as it began.
        let scan = window(0.., 10_000);
        assert!((scan.growth() - 10_000.0).abs() < 1e-6, "{}", scan.growth());
    }

    #[test]
    fn a_loop_misses_everything_below_its_length_and_nothing_above() {
        let warm = window((0..100_000).map(|at| at % 1_000), 100_000);
        let got = warm.at(&[990, 1_024], &mut Random::new(1));
        assert!(got[0].is_some_and(|ratio| ratio.best > 0.99), "{got:?}");
        // All but the first thousand accesses are known to hit.
        assert!(got[1].is_some_and(|ratio| ratio.best < 0.01 && ratio.high >= 0.01), "{got:?}");
        let beyond = survival(&parts(&warm.blocks, 1.0), &[1_024])[0];
        assert!(beyond.ratio < 0.01, "{beyond:?}");
    }

    #[test]
    fn a_change_in_the_middle_is_not_steady() {
        let accesses = 100_000;
        let still = window(zipf(5), accesses);
        assert!(still.is_steady(&SIZES, &mut Random::new(1)));
        let moved = zipf(5).take(50_000).chain((0..).map(|at| at % 3_000));
        assert!(!window(moved, accesses).is_steady(&SIZES, &mut Random::new(1)));
    }
}

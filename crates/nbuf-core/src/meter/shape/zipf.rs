//! The exponent of a Zipf law: the key of rank `r` is used in proportion to `r^-a`.
//!
//! The most likely exponent for the accesses in bins of ranks, over the ranks whose keys are used twenty times
//! or more. Ranks by the counts themselves give a law that is too steep, because noise is sorted too. Ranks by one half
//! of the accesses and counts of the other give one that is too flat. So both are made: the exponent is their
//! middle. The error is half of their distance and twice the standard error, which grows by how badly the
//! bins fit (P. `McCullagh` and J. Nelder, *Generalized Linear Models*, 1989, quasi-likelihood).

/// Keys that are used less often are left out.
const USES_MIN: u32 = 20;
/// Fewer keys say nothing.
const KEYS_MIN: usize = 16;
/// Exponents that are looked at.
const LEAST: f64 = -1.0;
const MOST: f64 = 6.0;
/// Accesses of a bin below which its distance from the law is chance.
const BIN_MIN: f64 = 50.0;

/// A law and how well it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    pub(crate) exponent: f64,
    /// The exponent is this near, nineteen times of twenty, if the law holds.
    pub(crate) error: f64,
    /// Ranks that were looked at.
    pub(crate) ranks: u64,
    /// The most by which a bin differs from the law, as a ratio.
    pub(crate) factor: f64,
}

/// Ranks from one to another, and their accesses.
#[derive(Clone, Copy, Debug)]
struct Bin {
    from: f64,
    to: f64,
    count: f64,
}

/// The law of keys that were used this often in all, and in one half of the accesses. None where too few
/// keys are used often enough.
pub(crate) fn fit(uses: &[(u32, u32)]) -> Option<Fit> {
    let often = uses.iter().filter(|(all, _)| *all >= USES_MIN).count();
    if often < KEYS_MIN {
        return None;
    }
    let other = |(all, half): (u32, u32)| all.saturating_sub(half);
    let edges = edges(often);
    let sorted = bins(&edges, uses, |use_| use_.0, |use_| use_.0);
    let mut crossed = bins(&edges, uses, |use_| use_.1, other);
    let back = bins(&edges, uses, other, |use_| use_.1);
    crossed.iter_mut().zip(back).for_each(|(bin, other)| bin.count += other.count);
    let [steep, flat] = [&sorted, &crossed].map(|bins| most_likely(bins));
    let exponent = f64::midpoint(steep, flat);
    let error = [(&sorted, steep), (&crossed, flat)]
        .map(|(bins, exponent)| 2.0 * standard_error(bins, exponent));
    let expected = expected(&sorted, exponent);
    let ratios = sorted.iter().zip(&expected).filter(|(bin, law)| bin.count.max(**law) >= BIN_MIN);
    let ratios = ratios.map(|(bin, law)| (bin.count.max(1.0) / law).max(law / bin.count.max(1.0)));
    Some(Fit {
        exponent,
        error: error[0].max(error[1]) + (steep - flat).abs() / 2.0,
        ranks: often as u64,
        factor: ratios.fold(1.0, f64::max),
    })
}

/// The first rank of each bin, in ratios of the square root of two, and the rank after the last.
fn edges(ranks: usize) -> Vec<usize> {
    let mut edges = vec![1];
    while let Some(&last) = edges.last().filter(|&&last| last <= ranks) {
        edges.push((last + 1).max(last * 7 / 5).min(ranks + 1));
    }
    edges
}

/// Bins of the keys ranked by one number, with the sum of another.
fn bins(
    edges: &[usize],
    uses: &[(u32, u32)],
    rank_by: impl Fn((u32, u32)) -> u32,
    sum: impl Fn((u32, u32)) -> u32,
) -> Vec<Bin> {
    let mut ranked: Vec<(u32, u32)> = uses.iter().map(|&use_| (rank_by(use_), sum(use_))).collect();
    // Among equals the order is by nothing that the sum depends on.
    ranked.sort_by_key(|&(by, _)| std::cmp::Reverse(by));
    let bin = |edge: &[usize]| Bin {
        from: edge[0] as f64,
        to: (edge[1] - 1) as f64,
        count: ranked[edge[0] - 1..edge[1] - 1].iter().map(|&(_, sum)| f64::from(sum)).sum(),
    };
    edges.windows(2).map(bin).collect()
}

/// The weight of the ranks of a bin: their sum where they are few, else the integral.
fn weight(bin: &Bin, exponent: f64) -> f64 {
    const FEW: f64 = 64.0;
    if bin.from < FEW {
        let ranks = (0..).map(|n| bin.from + f64::from(n)).take_while(|&rank| rank <= bin.to);
        return ranks.map(|rank| rank.powf(-exponent)).sum();
    }
    let (from, to) = (bin.from - 0.5, bin.to + 0.5);
    let power = 1.0 - exponent;
    if power.abs() < 1e-9 {
        return (to / from).ln();
    }
    (to.powf(power) - from.powf(power)) / power
}

/// What the law expects of each bin.
fn expected(bins: &[Bin], exponent: f64) -> Vec<f64> {
    let weights: Vec<f64> = bins.iter().map(|bin| weight(bin, exponent)).collect();
    let (all, count): (f64, f64) = (weights.iter().sum(), bins.iter().map(|bin| bin.count).sum());
    weights.into_iter().map(|weight| count * weight / all).collect()
}

fn likelihood(bins: &[Bin], exponent: f64) -> f64 {
    let expected = expected(bins, exponent);
    bins.iter().zip(expected).map(|(bin, law)| bin.count * law.ln()).sum()
}

/// The likelihood has one top: a ternary search finds it.
fn most_likely(bins: &[Bin]) -> f64 {
    let (mut low, mut high) = (LEAST, MOST);
    while high - low > 1e-6 {
        let third = (high - low) / 3.0;
        if likelihood(bins, low + third) < likelihood(bins, high - third) {
            low += third;
        } else {
            high -= third;
        }
    }
    f64::midpoint(low, high)
}

/// By the curvature at the top, and by how badly the bins fit.
fn standard_error(bins: &[Bin], exponent: f64) -> f64 {
    const STEP: f64 = 1e-3;
    let at = |exponent| likelihood(bins, exponent);
    let bend = 2.0 * at(exponent) - at(exponent - STEP) - at(exponent + STEP);
    let information = bend / (STEP * STEP);
    let law = expected(bins, exponent);
    let squares: f64 =
        bins.iter().zip(&law).map(|(bin, law)| (bin.count - law).powi(2) / law).sum();
    let misfit = (squares / bins.len().saturating_sub(1).max(1) as f64).max(1.0);
    (misfit / information.max(f64::MIN_POSITIVE)).sqrt()
}

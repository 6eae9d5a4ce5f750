//! Samples by their rate, in bins of which four make a doubling: rates of mechanisms lie four orders
//! of magnitude apart, and the two modes of one that is not pinned up to one.

use std::collections::BTreeMap;

use super::super::result::PingBin;

/// Bins in a doubling.
const BINS: f64 = 4.0;

/// The rates and whether they are clean, counted between powers of the fourth root of two; bins
/// without a sample stand only between others. What is no positive number is left out.
pub(super) fn histogram(samples: impl IntoIterator<Item = (f64, bool)>) -> Vec<PingBin> {
    let mut counted: BTreeMap<i32, (u64, u64)> = BTreeMap::new();
    for (rate, clean) in samples {
        if rate.is_finite() && rate > 0.0 {
            let (samples, of_them_clean) = counted.entry(bin(rate)).or_default();
            *samples += 1;
            *of_them_clean += u64::from(clean);
        }
    }
    let Some((&first, &last)) = counted.keys().next().zip(counted.keys().next_back()) else {
        return Vec::new();
    };
    let bins = first..=last;
    bins.map(|bin| {
        let (samples, clean) = counted.get(&bin).copied().unwrap_or_default();
        PingBin { from: edge(bin), to: edge(bin + 1), samples, clean }
    })
    .collect()
}

/// The lower edge of a bin.
fn edge(bin: i32) -> f64 {
    (f64::from(bin) / BINS).exp2()
}

/// The bin of a rate. Logarithms round; the edges decide.
#[expect(clippy::cast_possible_truncation, reason = "logarithms of doubles are small")]
fn bin(rate: f64) -> i32 {
    let near = (rate.log2() * BINS).floor() as i32;
    let at = [near + 1, near, near - 1].into_iter().find(|&bin| edge(bin) <= rate);
    at.unwrap_or(near)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_modes_have_a_gap_between_them() {
        let samples =
            [(1000.0, true), (1100.0, false), (4000.0, true), (f64::NAN, true), (0.0, true)];
        let bins = histogram(samples);
        let counts: Vec<(u64, u64)> = bins.iter().map(|bin| (bin.samples, bin.clean)).collect();
        assert_eq!(counts.first(), Some(&(1, 1)));
        assert_eq!(counts.iter().map(|&(samples, _)| samples).sum::<u64>(), 3);
        assert!(counts.contains(&(0, 0)));
        assert_eq!(histogram([]), []);
    }

    proptest! {
        #[test]
        fn every_sample_is_in_its_bin(rates in prop::collection::vec((1e-3..1e12_f64, any::<bool>()), 1..60)) {
            let bins = histogram(rates.iter().copied());
            for pair in bins.windows(2) {
                prop_assert_eq!(pair[0].to.to_bits(), pair[1].from.to_bits());
            }
            for bin in &bins {
                let inside = |rate: f64| bin.from <= rate && rate < bin.to;
                let want = rates.iter().filter(|(rate, _)| inside(*rate));
                prop_assert_eq!(bin.samples, want.clone().count() as u64);
                prop_assert_eq!(bin.clean, want.filter(|(_, clean)| *clean).count() as u64);
            }
            prop_assert_eq!(bins.iter().map(|bin| bin.samples).sum::<u64>(), rates.len() as u64);
        }
    }
}

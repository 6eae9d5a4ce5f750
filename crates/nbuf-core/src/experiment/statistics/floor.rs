//! The noise floor: how far apart two measurements of the same thing come out.
//!
//! It is the 95th percentile of the differences that comparisons of a thing with itself have shown.
//! Each has as many pairs as the comparisons that are reported. It is measured again in every run,
//! because it depends on the hour as much as on the machine. Not for rows that are noisier than the
//! things that it was measured on: they have their interval.

use super::pairs::Ratio;

/// What comparisons of a thing with itself have shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Floor {
    /// The 95th percentile of |ln| of the ratios.
    pub magnitude: f64,
    /// Their median.
    pub typical: f64,
    /// The largest.
    pub worst: f64,
    /// Comparisons.
    pub comparisons: usize,
    /// Pairs in each; the least, where they differ.
    pub pairs: usize,
}

impl Floor {
    /// The floor of such comparisons; without a comparison there is none.
    pub(crate) fn of(same: &[Ratio]) -> Option<Self> {
        let magnitudes: Vec<f64> = same.iter().map(Ratio::magnitude).collect();
        Some(Self {
            magnitude: percentile(&magnitudes, 0.95)?,
            typical: percentile(&magnitudes, 0.5)?,
            worst: percentile(&magnitudes, 1.0)?,
            comparisons: same.len(),
            pairs: same.iter().map(|ratio| ratio.pairs).min()?,
        })
    }

    /// In percent: by how much larger the larger of two may be.
    pub(crate) fn percent(&self) -> f64 {
        self.magnitude.exp_m1() * 100.0
    }
}

/// Returns the value below which this part (0 to 1) of the values is, interpolated between two of
/// them. Ignores values that are not finite.
pub(crate) fn percentile(values: &[f64], part: f64) -> Option<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let place = part.clamp(0.0, 1.0) * last as f64;
    let below = usize::try_from(crate::units::whole(place.floor())).unwrap_or(last).min(last);
    let above = (below + 1).min(last);
    Some(values[below] + (values[above] - values[below]) * (place - below as f64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratio(middle: f64) -> Ratio {
        Ratio { low: middle, middle, high: middle, pairs: 8 }
    }

    #[test]
    fn the_floor_is_near_the_worst() {
        assert_eq!(Floor::of(&[]), None);
        let same: Vec<Ratio> = (0..=20).map(|n| ratio((f64::from(n) / 1000.0).exp())).collect();
        let floor = Floor::of(&same).unwrap();
        assert!((floor.magnitude - 0.019).abs() < 1e-12 && (floor.typical - 0.010).abs() < 1e-12);
        assert_eq!((floor.comparisons, floor.pairs), (21, 8));
        assert!((floor.percent() - 1.918).abs() < 0.001);
    }

    proptest! {
        #[test]
        fn slower_and_faster_count_alike(logs in prop::collection::vec(-0.1..0.1_f64, 1..40)) {
            let of = |sign: f64| Floor::of(&logs.iter().map(|l| ratio((sign * l).exp())).collect::<Vec<_>>());
            let (there, back) = (of(1.0).unwrap(), of(-1.0).unwrap());
            prop_assert!((there.magnitude - back.magnitude).abs() < 1e-12);
            prop_assert!(there.typical <= there.magnitude && there.magnitude <= there.worst);
        }

        #[test]
        fn so_many_lie_below(values in prop::collection::vec(-1e3..1e3_f64, 1..50), part in 0.0..1.0_f64) {
            let at = percentile(&values, part).unwrap();
            let below = values.iter().filter(|&&value| value < at).count() as f64;
            let above = values.iter().filter(|&&value| value > at).count() as f64;
            let steps = (values.len() - 1) as f64;
            prop_assert!(below <= part * steps + 1.0 + 1e-9);
            prop_assert!(above <= (1.0 - part) * steps + 1.0 + 1e-9);
        }
    }
}

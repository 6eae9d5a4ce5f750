//! A line through times: t = a + b x size, where small times count as much as large ones.
//!
//! Least squares of the *relative* errors, weights 1 / t²: sizes go over six powers of ten, and by
//! absolute errors the largest alone would decide. In closed form; cost: a pass. Where a part
//! comes out below 0, it is 0 and the other is fitted alone: no call takes less than no time. Not
//! for data with a knee in it, which the residuals show.

/// A line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    /// The cost of an operation of no bytes.
    pub base: f64,
    /// The cost of each byte more.
    pub slope: f64,
}

impl Fit {
    /// What it says of a size.
    pub(crate) fn at(&self, size: f64) -> f64 {
        self.base + self.slope * size
    }

    /// The size at which half of the time is for the bytes; none where one of the parts is 0.
    pub(crate) fn half_size(&self) -> Option<f64> {
        (self.base > 0.0 && self.slope > 0.0).then(|| self.base / self.slope)
    }

    /// How much more was measured than it says, relative to what it says.
    pub(crate) fn residual(&self, size: f64, time: f64) -> f64 {
        time / self.at(size) - 1.0
    }
}

/// The line through points (size, time); nothing of fewer than two sizes. Times that are not above
/// 0 do not count.
pub(crate) fn fit_line(points: &[(f64, f64)]) -> Option<Fit> {
    let points: Vec<(f64, f64)> = points
        .iter()
        .copied()
        .filter(|&(size, time)| size.is_finite() && time.is_finite() && time > 0.0)
        .collect();
    let first = points.first()?.0;
    #[expect(clippy::float_cmp, reason = "the same size is given by the same number")]
    if points.iter().all(|&(size, _)| size == first) {
        return None;
    }
    // Minimise the sum of (1 - a u - b v)² with u = 1 / t, v = size / t.
    let (mut uu, mut uv, mut vv, mut u1, mut v1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for &(size, time) in &points {
        let (u, v) = (1.0 / time, size / time);
        uu += u * u;
        uv += u * v;
        vv += v * v;
        u1 += u;
        v1 += v;
    }
    let determinant = uu * vv - uv * uv;
    let (base, slope) = ((u1 * vv - v1 * uv) / determinant, (v1 * uu - u1 * uv) / determinant);
    let fit = match (base < 0.0, slope < 0.0) {
        (true, _) => Fit { base: 0.0, slope: v1 / vv },
        (false, true) => Fit { base: u1 / uu, slope: 0.0 },
        (false, false) => Fit { base, slope },
    };
    (fit.base.is_finite() && fit.slope.is_finite()).then_some(fit)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the same numbers, or none lost on the way")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Random;

    const SIZES: [f64; 7] = [1.0, 64.0, 512.0, 4096.0, 32768.0, 262_144.0, 1_048_576.0];

    #[test]
    fn what_is_no_line() {
        assert_eq!(fit_line(&[]), None);
        assert_eq!(fit_line(&[(1.0, 2.0)]), None);
        assert_eq!(fit_line(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(fit_line(&[(1.0, 2.0), (2.0, 0.0), (3.0, f64::NAN)]), None);
        let falling = fit_line(&[(1.0, 3.0), (2.0, 2.0)]).unwrap();
        assert_eq!(falling.slope, 0.0, "bytes cost no less than nothing");
        assert!((2.0..3.0).contains(&falling.base), "{falling:?}");
        let steep = fit_line(&[(1.0, 1.0), (2.0, 4.0)]).unwrap();
        assert_eq!((steep.base, steep.half_size()), (0.0, None));
    }

    proptest! {
        #[test]
        fn a_line_is_found_again(base in 1.0..1e5_f64, slope in 1e-3..10.0_f64) {
            let truth = Fit { base, slope };
            let fit = fit_line(&SIZES.map(|size| (size, truth.at(size)))).unwrap();
            prop_assert!((fit.base / base - 1.0).abs() < 1e-6, "{fit:?}");
            prop_assert!((fit.slope / slope - 1.0).abs() < 1e-6, "{fit:?}");
            let half = fit.half_size().unwrap();
            prop_assert!((fit.at(half) / (2.0 * base) - 1.0).abs() < 1e-6);
        }

        #[test]
        fn no_other_line_has_less_relative_error(
            base in 10.0..1e4_f64, slope in 1e-2..1.0_f64, seed: u64,
            other_base in 0.5..2.0_f64, other_slope in 0.5..2.0_f64,
        ) {
            let mut random = Random::new(seed);
            let points = SIZES.map(|size| {
                (size, (base + slope * size) * (0.05 * random.normal()).exp())
            });
            let error = |fit: Fit| -> f64 {
                points.iter().map(|&(size, time)| (1.0 - fit.at(size) / time).powi(2)).sum()
            };
            let fit = fit_line(&points).unwrap();
            let other = Fit { base: fit.base * other_base, slope: fit.slope * other_slope };
            prop_assert!(error(fit) <= error(other) + 1e-12);
        }
    }
}

//! The time of an arm's move to another cylinder.
//!
//! It interpolates measured points linearly, or uses a curve through the figures of data sheets:
//! one cylinder, the mean of all pairs of cylinders, and the full stroke. The curve is `one + a
//! (sqrt(d) - 1) + b (d - 1)`. A short seek accelerates half the way, and a long one coasts (C.
//! Ruemmler, J. Wilkes, *An Introduction to Disk Drive Modeling*, IEEE Computer, March 1994).

use crate::units::Nanos;

/// The seek time as a function of the distance.
#[derive(Clone, Debug, PartialEq)]
pub struct Seek {
    shape: Shape,
    mean: Nanos,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// Ascending distances and their times.
    Points(Vec<(u32, f64)>),
    Curve {
        one: f64,
        root: f64,
        linear: f64,
    },
    Pieces(Box<Pieces>),
}

/// The equation of Ruemmler and Wilkes: a root for short seeks and a line for long ones. The first
/// few distances are measured, an extension by B. Worthington, G. Ganger and Y. Patt
/// (CSE-TR-194-94, 1994). Times are in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    /// The times for one cylinder, two, and so on, as far as they are known.
    pub first_ms: Vec<f64>,
    /// The shortest distance on the line.
    pub line_from: u32,
    /// The constant part of a short seek.
    pub root_base_ms: f64,
    /// The factor of the root of a short seek's distance.
    pub root_ms: f64,
    /// The constant part of a long seek.
    pub line_base_ms: f64,
    /// The part of a long seek for each cylinder.
    pub line_ms: f64,
}

impl Seek {
    /// Interpolates measured distances, with times in milliseconds. The last two points extend
    /// beyond the last.
    pub fn points(points: impl IntoIterator<Item = (u32, f64)>, cylinders: u32) -> Self {
        let mut points: Vec<(u32, f64)> =
            points.into_iter().map(|(distance, ms)| (distance, ms.max(0.0) * 1e6)).collect();
        points.sort_unstable_by_key(|point| point.0);
        points.dedup_by_key(|point| point.0);
        Self { shape: Shape::Points(points), mean: Nanos::ZERO }.with_mean(cylinders)
    }

    /// Uses a root and a line.
    pub fn pieces(pieces: Pieces, cylinders: u32) -> Self {
        Self { shape: Shape::Pieces(Box::new(pieces)), mean: Nanos::ZERO }.with_mean(cylinders)
    }

    /// Takes the same time to any other cylinder.
    pub fn constant(ms: f64) -> Self {
        let time = nanos(ms * 1e6);
        Self { shape: Shape::Points(vec![(1, time.0 as f64)]), mean: time }
    }

    fn with_mean(mut self, cylinders: u32) -> Self {
        let (mut sum, mut weight) = (0.0, 0.0);
        for distance in 1..cylinders {
            let pairs = f64::from(cylinders - distance);
            sum += pairs * self.time(distance).0 as f64;
            weight += pairs;
        }
        if weight > 0.0 {
            self.mean = nanos(sum / weight);
        }
        self
    }

    /// Fits a curve to three figures of a data sheet, in milliseconds: for one cylinder, for the
    /// mean pair, for all cylinders.
    pub fn curve(one_ms: f64, mean_ms: f64, full_ms: f64, cylinders: u32) -> Self {
        let longest = f64::from(cylinders.max(3) - 1);
        // Among all n (n - 1) pairs, 2 (n - d) have distance d.
        let (mut of_root, mut of_linear, mut weight) = (0.0, 0.0, 0.0);
        for distance in 1..cylinders.max(3) {
            let (distance, pairs) = (f64::from(distance), f64::from(cylinders.max(3) - distance));
            of_root += pairs * (distance.sqrt() - 1.0);
            of_linear += pairs * (distance - 1.0);
            weight += pairs;
        }
        let (of_root, of_linear) = (of_root / weight, of_linear / weight);
        let (full_root, full_linear) = (longest.sqrt() - 1.0, longest - 1.0);
        let (mean, full) = (mean_ms - one_ms, full_ms - one_ms);
        let determinant = of_root * full_linear - full_root * of_linear;
        let root = (mean * full_linear - full * of_linear) / determinant;
        let linear = (of_root * full - full_root * mean) / determinant;
        let shape = Shape::Curve { one: one_ms * 1e6, root: root * 1e6, linear: linear * 1e6 };
        Self { shape, mean: nanos(mean_ms * 1e6) }
    }

    /// Takes no time: every track has a head.
    pub fn none() -> Self {
        Self { shape: Shape::Points(Vec::new()), mean: Nanos::ZERO }
    }

    /// The mean over all pairs of different cylinders.
    pub fn mean(&self) -> Nanos {
        self.mean
    }

    /// The time over `distance` cylinders.
    pub fn time(&self, distance: u32) -> Nanos {
        if distance == 0 {
            return Nanos::ZERO;
        }
        let far = f64::from(distance);
        match &self.shape {
            Shape::Curve { one, root, linear } => {
                nanos(one + root * (far.sqrt() - 1.0) + linear * (far - 1.0))
            }
            Shape::Pieces(pieces) => {
                let first = usize::try_from(distance - 1).ok();
                let ms = match first.and_then(|at| pieces.first_ms.get(at)) {
                    Some(&ms) => ms,
                    None if distance < pieces.line_from => {
                        pieces.root_base_ms + pieces.root_ms * far.sqrt()
                    }
                    None => pieces.line_base_ms + pieces.line_ms * far,
                };
                nanos(ms * 1e6)
            }
            Shape::Points(points) => match points.as_slice() {
                [] => Nanos::ZERO,
                [(_, only)] => nanos(*only),
                points => {
                    let above = points.partition_point(|point| point.0 < distance);
                    let above = above.clamp(1, points.len() - 1);
                    let ((near, low), (beyond, high)) = (points[above - 1], points[above]);
                    let part = (far - f64::from(near)) / f64::from(beyond - near);
                    nanos(low + (high - low) * part)
                }
            },
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a conversion of floating point saturates"
)]
fn nanos(ns: f64) -> Nanos {
    Nanos((ns + 0.5) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean over every pair of cylinders one by one, unlike the fit.
    fn mean_of_pairs(seek: &Seek, cylinders: u32) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for from in 0..cylinders {
            for to in (0..cylinders).filter(|&to| to != from) {
                sum += seek.time(from.abs_diff(to)).millis();
                count += 1.0;
            }
        }
        sum / count
    }

    #[test]
    fn a_curve_has_the_three_figures_of_the_sheet() {
        let check = |one, mean, full, cylinders| {
            let seek = Seek::curve(one, mean, full, cylinders);
            let close =
                |got: f64, want: f64| assert!((got - want).abs() < 1e-3, "{got} for {want}");
            close(seek.time(1).millis(), one);
            close(seek.time(cylinders - 1).millis(), full);
            close(mean_of_pairs(&seek, cylinders), mean);
            close(seek.mean().millis(), mean);
            let rising = (1..cylinders).all(|far| seek.time(far) >= seek.time(far - 1));
            assert!(rising, "{one} {mean} {full}");
        };
        check(10.0, 28.0, 56.0, 744);
        check(12.0, 32.0, 58.0, 434);
        check(25.0, 60.0, 130.0, 200);
        check(10.0, 50.0, 85.0, 203);
    }

    #[test]
    fn points_are_joined_by_lines_and_led_on() {
        let seek = Seek::points([(10, 2.0), (1, 1.1), (30, 3.0)], 100);
        let check = |distance, ms: f64| {
            assert!((seek.time(distance).millis() - ms).abs() < 1e-6, "{distance}");
        };
        check(0, 0.0);
        check(1, 1.1);
        check(10, 2.0);
        check(20, 2.5);
        check(50, 4.0);
        assert_eq!(Seek::none().time(7), Nanos::ZERO);
        assert_eq!(Seek::points([(4, 5.0)], 9).time(2), Nanos::from_millis(5.0));
    }
}

//! The S of elapsed time against cache size, and the three points that the paper names on it.
//!
//! A small cache loses its sectors before they are used again, and costs what it takes to copy them in;
//! from some size on it saves more than it costs; and from some other on, all that is used often is there.
//! V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982, section 1.

use crate::units::Nanos;

/// Differences below this share are none.
const NOTHING: f64 = 0.01;

/// The three points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// The largest size that takes longer than no cache does.
    pub worse_to: Option<u64>,
    /// The size from which on every cache saves time.
    pub worth_from: Option<u64>,
    /// The size from which on no larger cache saves more. The largest size shows nothing about larger ones.
    pub enough_from: Option<u64>,
}

impl Points {
    /// The points of a run without a cache, and of runs by size, ascending. One part in a hundred is
    /// no difference.
    pub fn of(none: Nanos, sizes: &[(u64, Nanos)]) -> Self {
        let none = none.seconds();
        let sizes =
            || sizes.iter().filter(|(size, _)| *size > 0).map(|(s, time)| (*s, time.seconds()));
        let worse_to =
            sizes().filter(|(_, time)| *time > none * (1.0 + NOTHING)).map(|(s, _)| s).max();
        let saves = |time: f64| time < none * (1.0 - NOTHING);
        let last_useless = sizes().filter(|(_, time)| !saves(*time)).map(|(size, _)| size).max();
        let worth_from = sizes().map(|(size, _)| size).find(|size| Some(*size) > last_useless);
        let best_beyond = |from: u64| {
            let beyond = sizes().filter(|(size, _)| *size > from).map(|(_, time)| time);
            beyond.fold(f64::INFINITY, f64::min)
        };
        let largest = sizes().map(|(size, _)| size).max();
        let enough_from = sizes()
            .filter(|(size, _)| worth_from.is_some_and(|worth| *size >= worth))
            .find(|(size, time)| *time <= best_beyond(*size) * (1.0 + NOTHING))
            .map(|(size, _)| size)
            .filter(|size| Some(*size) < largest);
        Self { worse_to, worth_from, enough_from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_s_has_three_points() {
        let check = |times: &[u64], want: [Option<u64>; 3]| {
            let sizes: Vec<(u64, Nanos)> =
                (1..).zip(times).map(|(at, &time)| (at * 64, Nanos(time * 1_000_000))).collect();
            let Points { worse_to, worth_from, enough_from } =
                Points::of(Nanos(100_000_000), &sizes);
            assert_eq!([worse_to, worth_from, enough_from], want, "{times:?}");
        };
        check(&[110, 105, 100, 80, 50, 50, 50], [Some(128), Some(256), Some(320)]);
        check(&[90, 80, 70], [None, Some(64), None]);
        check(&[110, 120], [Some(128), None, None]);
        check(&[100, 100], [None, None, None]);
        // A size that happens to be good below one that is bad is not worth it yet.
        check(&[90, 110, 60, 60], [Some(128), Some(192), Some(192)]);
        // What is best need not be largest: disturbed by chance, or by its own work.
        check(&[110, 80, 50, 54, 51], [Some(64), Some(128), Some(192)]);
        check(&[], [None, None, None]);
        check(&[50], [None, Some(64), None]);
    }
}

//! The knee of the known part of a curve: the last size whose memory is worth having.

use crate::experiment::hull::MissCurve;
use crate::experiment::result::LivePoint;
use crate::units::{Bytes, whole};

/// Misses are counted in thousandths a second.
const PARTS: f64 = 1000.0;

/// It; nothing where no known size saves much.
pub(super) fn of(points: &[LivePoint]) -> Option<Bytes> {
    let misses =
        points.iter().map(|point| (point.cache_bytes, whole(point.misses_per_second * PARTS)));
    let curve = MissCurve::from_points(misses.collect());
    let has_knee = points.len() > 1 && curve.gains();
    let knee = has_knee.then(|| curve.corners().knee)?;
    points.get(knee).map(|point| point.cache_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(misses: &[f64]) -> Vec<LivePoint> {
        let sizes = (1_u64..).map(|mib| Bytes(mib << 20));
        let points = sizes.zip(misses).map(|(cache_bytes, &misses_per_second)| LivePoint {
            cache_bytes,
            misses_per_second,
            ..LivePoint::default()
        });
        points.collect()
    }

    #[test]
    fn behind_a_cliff_little_is_saved() {
        let knee = |misses: &[f64]| of(&curve(misses)).map(|bytes| bytes.0 >> 20);
        assert_eq!(knee(&[100.0, 99.0, 98.0, 5.0, 4.9, 4.8, 4.7]), Some(4));
        assert_eq!(knee(&[100.0, 99.0, 98.5, 98.0]), None);
        assert_eq!(knee(&[100.0]), None);
        assert_eq!(knee(&[]), None);
        assert_eq!(knee(&[0.0, 0.0]), None);
    }
}

//! The axis of shares of hits: from round percent to round percent, as far as the curves go.
//!
//! It begins at 0 unless that would leave much of the picture empty. Positions run from 0 to 1.

/// Distances of ticks, in percent.
const STEPS: [f64; 7] = [0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0];
/// What may be empty below the lowest value, as a part of the picture, so that it begins at 0.
const EMPTY: f64 = 0.25;

/// What a quotient may be off, as computers reckon.
const HAIR: f64 = 1e-9;

/// The shares from end to end, in percent.
pub(super) struct Shares {
    low: f64,
    high: f64,
    step: f64,
}

impl Shares {
    /// Wide enough for all of these shares, with at most so many steps, which are two at the least.
    pub(super) fn of(shares: impl Iterator<Item = f64>, steps: usize) -> Self {
        let ends = |(low, high): (f64, f64), share: f64| (low.min(share), high.max(share));
        let (low, high) = shares.map(|share| 100.0 * share).fold((100.0, 0.0), ends);
        if high <= low.min(0.0) || low > high {
            // Nothing hits anywhere, or there is nothing.
            return Self { low: 0.0, high: 100.0, step: 50.0 };
        }
        let low = if low <= EMPTY * high { 0.0 } else { low };
        let fits = |step: f64| {
            let (from, to) =
                ((low / step + HAIR).floor() * step, (high / step - HAIR).ceil() * step);
            let to = if to > from { to } else { from + step };
            // All hit everywhere: what is above is nothing.
            let (from, to) = if to > 100.0 { (from - step, 100.0) } else { (from, to) };
            ((to - from) / step <= steps.max(2) as f64).then_some(Self {
                low: from,
                high: to,
                step,
            })
        };
        let all = Self { low: 0.0, high: 100.0, step: 50.0 };
        STEPS.into_iter().find_map(fits).unwrap_or(all)
    }

    /// Where a share lies above the ground; what is beyond the ends lies on them.
    pub(super) fn position(&self, share: f64) -> f64 {
        ((100.0 * share - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Round percents, the lowest at 0 and the highest at 1.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let steps = (0..).map(|n| self.low + f64::from(n) * self.step);
        let inside = steps.take_while(|&percent| percent <= self.high + self.step / 2.0);
        inside.map(|percent| (self.position(percent / 100.0), percent.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(shares: &[f64], steps: usize) -> String {
        let axis = Shares::of(shares.iter().copied(), steps);
        let ticks = axis.ticks();
        assert!(ticks.len() <= steps + 1 && ticks.is_sorted_by(|a, b| a.0 < b.0), "{ticks:?}");
        assert!((ticks[0].0, ticks[ticks.len() - 1].0) == (0.0, 1.0), "{ticks:?}");
        // No more than half of the picture is empty, where the values differ at all.
        let (low, high) = (axis.position(shares[0]), axis.position(shares[shares.len() - 1]));
        assert!(high - low >= 0.5 || shares[shares.len() - 1] - shares[0] < 0.01, "{ticks:?}");
        ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_axis_is_as_long_as_the_curves() {
        assert_eq!(ticks(&[0.1, 0.98], 5), "0 25 50 75 100");
        assert_eq!(ticks(&[0.3, 0.65], 5), "30 40 50 60 70");
        assert_eq!(ticks(&[0.83, 0.916], 5), "82 84 86 88 90 92");
        assert_eq!(ticks(&[0.002, 0.04], 5), "0 1 2 3 4");
        assert_eq!(ticks(&[0.0, 1.0], 2), "0 50 100");
        assert_eq!(ticks(&[0.45, 0.55], 4), "45 50 55");
        assert_eq!(ticks(&[0.5, 0.5], 4), "50 50.5");
        assert_eq!(ticks(&[1.0, 1.0], 4), "99.5 100");
        assert_eq!(ticks(&[0.991, 0.9999], 4), "99 99.5 100");
    }

    #[test]
    fn where_nothing_hits_the_axis_is_whole() {
        for shares in [&[0.0, 0.0][..], &[]] {
            let axis = Shares::of(shares.iter().copied(), 4);
            assert_eq!(axis.ticks().len(), 3);
            assert!((axis.position(1.0) - 1.0).abs() < 1e-12);
        }
    }
}

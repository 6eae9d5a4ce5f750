//! Pages that the kernel brought in during a window, and a band for the next window.
//!
//! New data comes in bursts: a log is rewritten, a table is checked. So the band comes from the differences between
//! parts of the window, and not from the number of pages.

/// Parts of the window.
const BLOCKS: usize = 20;
/// So wide is 95 % of a normal distribution on both sides, in standard deviations.
const DEVIATIONS: f64 = 1.96;

/// Pages by the time at which they came.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    blocks: [u64; BLOCKS],
    window_ns: u64,
}

/// Pages a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FillRate {
    pub(super) low: f64,
    pub(super) best: f64,
    pub(super) high: f64,
}

impl Filled {
    /// Nothing came, in a window of this length.
    pub(super) fn new(window_ns: u64) -> Self {
        Self { blocks: [0; BLOCKS], window_ns }
    }

    /// These pages came at this time from the start of the window.
    pub(super) fn add(&mut self, time_ns: u64, pages: u64) {
        let block = u128::from(time_ns) * BLOCKS as u128 / u128::from(self.window_ns.max(1));
        let block = usize::try_from(block).unwrap_or(BLOCKS).min(BLOCKS - 1);
        self.blocks[block] += pages;
    }

    /// The rate in this many seconds, where `share` of the pages was recorded. The next window and this one differ from
    /// the truth, each by the same.
    pub(super) fn rate(&self, seconds: f64, share: f64) -> FillRate {
        let count = BLOCKS as f64;
        let sum: f64 = self.blocks.iter().map(|&pages| pages as f64).sum();
        let mean = sum / count;
        let squares: f64 = self.blocks.iter().map(|&pages| (pages as f64 - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0) * count).sqrt();
        let slack = DEVIATIONS * std::f64::consts::SQRT_2 * deviation;
        let each = |pages: f64| pages.max(0.0) / share.max(1e-9) / seconds.max(1e-9);
        FillRate { low: each(sum - slack), best: each(sum), high: each(sum + slack) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    /// 200 ticks, in each of which this many pages may come.
    fn window(of: impl Fn(u64, &mut Random) -> u64, seed: u64) -> FillRate {
        let mut random = Random::new(seed);
        let mut filled = Filled::new(200);
        (0..200).for_each(|tick| filled.add(tick, of(tick, &mut random)));
        filled.rate(10.0, 1.0)
    }

    #[test]
    fn the_next_window_is_in_the_band() {
        let all: [fn(u64, &mut Random) -> u64; 2] = [
            |_, random| random.below(10),
            // A burst every now and then.
            |_, random| if random.below(40) == 0 { 500 } else { 1 },
        ];
        for of in all {
            let inside = (0..200).filter(|&seed| {
                let (this, next) = (window(of, seed), window(of, seed + 1_000));
                (this.low..=this.high).contains(&next.best)
            });
            let inside = inside.count();
            assert!((160..=200).contains(&inside), "{inside}");
        }
    }

    #[test]
    fn what_comes_all_the_time_has_no_band() {
        let rate = window(|_, _| 3, 1);
        assert_eq!(rate, FillRate { low: 60.0, best: 60.0, high: 60.0 });
        let none = Filled::new(0).rate(0.0, 0.0);
        assert_eq!(none, FillRate { low: 0.0, best: 0.0, high: 0.0 });
        // A tenth was recorded, behind the end of the window.
        let mut filled = Filled::new(100);
        filled.add(500, 3);
        assert!((filled.rate(1.0, 0.1).best - 30.0).abs() < 1e-9);
    }
}

//! Windows of a watch without end, of which older ones count less.
//!
//! Each window keeps its blocks; the estimate takes their accesses by a weight that halves in five windows. The
//! newest fifteen are kept, so that the oldest of them counts for an eighth. Cost: 220 KiB a window.

use std::collections::VecDeque;

use super::{MissRatio, Part, Warm, agree, bands, parts};
use crate::clock::Random;

/// Windows that are kept.
pub(crate) const WINDOWS: usize = 15;
/// Windows after which one counts half.
const HALF_LIFE: f64 = 5.0;

/// The newest windows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decayed {
    /// The newest first: its accesses, how many of them were mapped, and its length in seconds.
    windows: VecDeque<(Warm, u64, f64)>,
}

impl Decayed {
    /// Adds a window, and forgets the oldest.
    pub(crate) fn push(&mut self, warm: Warm, mapped: u64, seconds: f64) {
        self.windows.push_front((warm, mapped, seconds));
        self.windows.truncate(WINDOWS);
    }

    /// Windows with accesses.
    pub(crate) fn windows(&self) -> u64 {
        self.windows.iter().filter(|(warm, ..)| warm.accesses() > 0).count() as u64
    }

    /// Accesses by their weight.
    pub(crate) fn accesses(&self) -> f64 {
        self.sum(|(warm, ..)| warm.accesses() as f64)
    }

    /// Accesses a second.
    pub(crate) fn rate(&self) -> f64 {
        let seconds = self.sum(|(_, _, seconds)| *seconds);
        if seconds > 0.0 { self.accesses() / seconds } else { 0.0 }
    }

    /// The share of accesses that came through mappings.
    pub(crate) fn mapped_share(&self) -> f64 {
        self.sum(|(_, mapped, _)| *mapped as f64) / self.accesses().max(1.0)
    }

    fn sum(&self, of: impl Fn(&(Warm, u64, f64)) -> f64) -> f64 {
        self.windows.iter().enumerate().map(|(age, window)| of(window) * weight(age)).sum()
    }

    /// The miss ratio at each size, which must rise; `None` beyond what the windows show.
    pub(crate) fn at(&self, sizes_pages: &[u64], random: &mut Random) -> Vec<Option<MissRatio>> {
        bands(&self.parts(0), sizes_pages, random)
    }

    /// Whether the newest window agrees with those before it; the halves of the first one with each other.
    pub(crate) fn is_steady(&self, sizes_pages: &[u64], random: &mut Random) -> bool {
        let Some((newest, ..)) = self.windows.front() else { return true };
        let older = self.parts(1);
        if older.is_empty() {
            return newest.is_steady(sizes_pages, random);
        }
        agree(&parts(&newest.blocks, 1.0), &older, sizes_pages, random)
    }

    fn parts(&self, from: usize) -> Vec<Part<'_>> {
        let windows = self.windows.iter().enumerate().skip(from);
        windows.flat_map(|(age, (warm, ..))| parts(&warm.blocks, weight(age))).collect()
    }
}

fn weight(age: usize) -> f64 {
    (-(age as f64) / HALF_LIFE).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two loops, over this number of pages and over many.
    fn looped(pages: u32) -> Warm {
        let mut warm = Warm::new(10_000);
        let depth = |time: u64| if time.is_multiple_of(2) { pages } else { 5_000 };
        (0..10_000).for_each(|time| warm.push_behind(time, Some(depth(time)), 5_000));
        warm
    }

    fn ratio(decayed: &Decayed) -> f64 {
        decayed.at(&[500], &mut Random::new(1))[0].unwrap().best
    }

    #[test]
    fn a_change_counts_half_after_five_windows_and_is_all_after_fifteen() {
        let mut decayed = Decayed::default();
        (0..WINDOWS).for_each(|_| decayed.push(looped(100), 0, 1.0));
        assert!((ratio(&decayed) - 0.5).abs() < 1e-9);
        assert!(decayed.is_steady(&[500], &mut Random::new(1)));
        decayed.push(looped(1000), 0, 1.0);
        assert!(!decayed.is_steady(&[500], &mut Random::new(1)));
        (1..5).for_each(|_| decayed.push(looped(1000), 0, 1.0));
        // Sums of a geometric series: of five windows, and of fifteen.
        let want = 0.5 + 0.5 * 0.5 / (1.0 - 0.125);
        assert!((ratio(&decayed) - want).abs() < 1e-9, "{} {want}", ratio(&decayed));
        (5..WINDOWS).for_each(|_| decayed.push(looped(1000), 0, 1.0));
        assert!((ratio(&decayed) - 1.0).abs() < 1e-9);
        assert_eq!(decayed.windows(), WINDOWS as u64);
    }

    #[test]
    fn a_window_without_accesses_lowers_the_rate_and_not_the_curve() {
        let mut decayed = Decayed::default();
        decayed.push(looped(1000), 5_000, 1.0);
        decayed.push(Warm::new(1), 0, 0.0);
        assert!((decayed.rate() - 10_000.0).abs() < 1e-6, "{}", decayed.rate());
        decayed.push(Warm::new(1), 0, 1.0);
        let want = 10_000.0 * weight(2) / (weight(0) + weight(2));
        assert!((decayed.rate() - want).abs() < 1e-6, "{}", decayed.rate());
        assert!(
            (decayed.mapped_share() - 0.5).abs() < 1e-9 && (ratio(&decayed) - 1.0).abs() < 1e-9
        );
    }
}

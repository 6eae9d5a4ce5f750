//! How long things took: the mean and the extremes exactly, quantiles within a thirtieth.
//!
//! Times are counted in the bins of [`bins`](super::bins). A time is at or below the edge that is
//! given for it, by at most one part in thirty-two. Cost: 11 KiB, and a few nanoseconds a time. All
//! times beyond three days are in one bin, whose end is the largest time.

use super::bins::{BINS, bin, edge};
use crate::units::Nanos;

/// A histogram of times, in equal ratios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    shortest: Nanos,
    longest: Nanos,
}

impl Default for Times {
    fn default() -> Self {
        let (shortest, longest) = (Nanos::MAX, Nanos::ZERO);
        Self { counts: vec![0; BINS], count: 0, sum_ns: 0, shortest, longest }
    }
}

impl Times {
    /// Something took so long.
    pub fn add(&mut self, time: Nanos) {
        self.counts[bin(time.0 as f64)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(time.0);
        self.shortest = self.shortest.min(time);
        self.longest = self.longest.max(time);
    }

    /// Times that were counted elsewhere, in the same bins.
    pub(crate) fn counted(counts: Vec<u64>, sum_ns: u64, [shortest, longest]: [Nanos; 2]) -> Self {
        let count = counts.iter().sum();
        let mut counts = counts;
        counts.resize(BINS, 0);
        Self { counts, count, sum_ns: sum_ns.into(), shortest, longest }
    }

    /// All times of another one, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(to, count)| *to += count);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// All of them together.
    pub fn sum(&self) -> Nanos {
        Nanos(u64::try_from(self.sum_ns).unwrap_or(u64::MAX))
    }

    /// Their mean; none where there are no times.
    pub fn mean(&self) -> Option<Nanos> {
        let mean = self.sum_ns.checked_div(self.count.into())?;
        Some(Nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The longest.
    pub fn longest(&self) -> Option<Nanos> {
        (self.count > 0).then_some(self.longest)
    }

    /// A time that this share of them does not exceed, and hardly fewer: within a thirtieth.
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        if self.count == 0 {
            return None;
        }
        let wanted = (share.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0);
        let mut seen = 0;
        for (at, &count) in self.counts.iter().enumerate() {
            seen += count;
            if count > 0 && seen as f64 >= wanted {
                let end = if at + 1 == BINS { self.longest } else { Nanos(edge(at + 1)) };
                return Some(end.clamp(self.shortest, self.longest));
            }
        }
        Some(self.longest)
    }

    /// Returns how many times are in each step between round times, ascending, from the shortest to
    /// the longest. Includes the empty steps in between.
    pub fn steps(&self) -> Vec<Step> {
        let step = |(from, to)| Step { from: Nanos(from), to: Nanos(to), count: 0 };
        let needed = ends().zip(ends().skip(1)).take_while(|&(from, _)| from <= self.longest.0);
        let mut steps: Vec<Step> = needed.map(step).collect();
        for (at, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // The middle of a bin: its ends may be those of two steps.
            let middle = Nanos(edge(at).midpoint(edge(at + 1))).clamp(self.shortest, self.longest);
            let number = steps.partition_point(|step| step.to <= middle);
            let last = steps.len().saturating_sub(1);
            if let Some(step) = steps.get_mut(number.min(last)) {
                step.count += count;
            }
        }
        let first = steps.iter().position(|step| step.count > 0).unwrap_or(steps.len());
        steps.split_off(first)
    }
}

/// 0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, ...: about 1.4 times the one before.
fn ends() -> impl Iterator<Item = u64> {
    let tens = (1..18).map(|power| 10_u64.pow(power));
    let above = tens.flat_map(|ten| [ten, ten / 10 * 15, 2 * ten, 3 * ten, 5 * ten, 7 * ten]);
    [0, 1, 2, 3, 5, 7].into_iter().chain(above)
}

/// Times between two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The shortest that it may have.
    pub from: Nanos,
    /// What all of it are shorter than.
    pub to: Nanos,
    /// How many there are.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_a_sorted_list(
            mut times in proptest::collection::vec(0..1_u64 << 40, 1..200),
            share in 0.0..=1.0_f64,
        ) {
            let mut seen = Times::default();
            for &time in &times {
                seen.add(Nanos(time));
            }
            times.sort_unstable();
            let rank = crate::units::whole((share * times.len() as f64).ceil()).max(1);
            let exact = times[usize::try_from(rank).unwrap() - 1];
            let got = seen.quantile(share).unwrap().0;
            prop_assert!(got >= exact && got - exact <= exact / 32 + 1, "{got} for {exact}");
            let sum: u64 = times.iter().sum();
            prop_assert_eq!(seen.sum(), Nanos(sum));
            prop_assert_eq!(seen.mean(), Some(Nanos(sum / times.len() as u64)));
            prop_assert_eq!(seen.longest().map(|time| time.0), times.last().copied());
        }
    }

    #[test]
    fn steps_are_round_and_without_gaps() {
        let mut times = Times::default();
        for ns in [1_010, 1_100, 1_600, 9_000, 9_000] {
            times.add(Nanos(ns));
        }
        let steps = times.steps();
        let told: Vec<_> = steps.iter().map(|step| (step.from.0, step.to.0, step.count)).collect();
        let want = [
            (1_000, 1_500, 2),
            (1_500, 2_000, 1),
            (2_000, 3_000, 0),
            (3_000, 5_000, 0),
            (5_000, 7_000, 0),
            (7_000, 10_000, 2),
        ];
        assert_eq!(told, want);
        assert!(Times::default().steps().is_empty());
        let mut none = Times::default();
        none.add(Nanos::ZERO);
        assert_eq!(none.steps().iter().map(|step| step.count).sum::<u64>(), 1);
    }

    #[test]
    fn of_nothing_nothing_is_said() {
        let none = Times::default();
        assert_eq!((none.mean(), none.longest(), none.quantile(0.5)), (None, None, None));
    }
}

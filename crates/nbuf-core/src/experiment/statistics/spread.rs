//! What several measurements of one thing say: the middle one, and how far apart they are.
//!
//! Medians and ranges, not means and deviations: runs are few, and what disturbs one makes it
//! longer, never shorter. Cost: a sort.

/// Several measurements of one thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// How many there are.
    pub count: usize,
    /// The smallest.
    pub low: f64,
    /// The one in the middle; of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The largest.
    pub high: f64,
}

impl Spread {
    /// The spread of measurements in any order, without those that are no number; `None` if none is left.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let (&low, &high) = (values.first()?, values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => f64::midpoint(values[middle - 1], values[middle]),
            _ => values[middle],
        };
        Some(Self { count: values.len(), low, median, high })
    }

    /// From the smallest to the largest.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// The median of counts, to the nearest whole number; 0 of none.
pub(crate) fn median_count(values: impl IntoIterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.into_iter().collect();
    values.sort_unstable();
    match values.len() {
        0 => 0,
        odd if odd % 2 == 1 => values[odd / 2],
        even => {
            let (a, b) = (values[even / 2 - 1], values[even / 2]);
            a + (b - a).div_ceil(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_middle_and_the_ends() {
        let check = |values: &[f64], want: &str| {
            let spread = Spread::of(values.iter().copied());
            let shown = spread.map_or(String::new(), |spread| {
                let Spread { count, low, median, high } = spread;
                format!("{count}: {low} {median} {high}, {} apart", spread.width())
            });
            assert_eq!(shown, want, "{values:?}");
        };
        check(&[], "");
        check(&[f64::NAN, f64::INFINITY], "");
        check(&[3.0], "1: 3 3 3, 0 apart");
        check(&[9.0, 1.0, 2.0], "3: 1 2 9, 8 apart");
        check(&[4.0, 1.0, 2.0, f64::NAN, 9.0], "4: 1 3 9, 8 apart");
    }

    #[test]
    fn counts_keep_all_their_digits() {
        let cases: [(&[u64], u64); 5] = [
            (&[], 0),
            (&[7], 7),
            (&[9, 1, 5], 5),
            (&[1, 2], 2),
            (&[u64::MAX, u64::MAX - 2], u64::MAX - 1),
        ];
        for (values, want) in cases {
            assert_eq!(median_count(values.iter().copied()), want, "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn half_lies_on_either_side(values in prop::collection::vec(-1e9..1e9_f64, 1..40)) {
            let spread = Spread::of(values.iter().copied()).unwrap();
            let below = values.iter().filter(|&&value| value < spread.median).count();
            let above = values.iter().filter(|&&value| value > spread.median).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
            prop_assert!(spread.low <= spread.median && spread.median <= spread.high);
        }
    }
}

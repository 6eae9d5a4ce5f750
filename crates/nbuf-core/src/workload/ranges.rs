//! Ranges of numbers of objects, merged, so that a range of any length takes the memory of one.

use std::collections::BTreeMap;

/// What an entry takes in a tree that is half full.
const RANGE_BYTES: u64 = 64;

/// A set of ranges of numbers, sorted and merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// By object and first number, the last.
    lasts: BTreeMap<(u32, u64), u64>,
}

impl Ranges {
    /// Adds a range, ends included.
    pub(crate) fn add(&mut self, object: u32, mut first: u64, mut last: u64) {
        let before = self.lasts.range(..=(object, first)).next_back();
        if let Some((&(whose, from), &to)) = before
            && whose == object
            && to.saturating_add(1) >= first
        {
            if to >= last {
                return;
            }
            first = from;
        }
        while let Some((&(whose, from), &to)) = self.lasts.range((object, first)..).next() {
            if whose != object || from > last.saturating_add(1) {
                break;
            }
            last = last.max(to);
            self.lasts.remove(&(whose, from));
        }
        self.lasts.insert((object, first), last);
    }

    /// Whether a number is in a range.
    pub(crate) fn contains(&self, object: u32, number: u64) -> bool {
        let before = self.lasts.range(..=(object, number)).next_back();
        before.is_some_and(|(&(whose, _), &to)| whose == object && to >= number)
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        let lengths = self.lasts.iter().map(|(&(_, from), &to)| (to - from).saturating_add(1));
        lengths.fold(0, u64::saturating_add)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.lasts.is_empty()
    }

    /// Memory in use, about.
    pub(crate) fn bytes(&self) -> u64 {
        self.lasts.len() as u64 * RANGE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_sets(added in proptest::collection::vec((0..2_u32, 0..60_u64, 0..20_u64), 0..40)) {
            let (mut ranges, mut set) = (Ranges::default(), HashSet::new());
            for (object, first, length) in added {
                ranges.add(object, first, first + length);
                set.extend((first..=first + length).map(|number| (object, number)));
            }
            prop_assert_eq!(ranges.count(), set.len() as u64);
            for number in 0..90 {
                prop_assert_eq!(ranges.contains(1, number), set.contains(&(1, number)));
            }
        }
    }

    #[test]
    fn everything_is_one_range() {
        let mut ranges = Ranges::default();
        ranges.add(0, 5, 5);
        ranges.add(0, 0, u64::MAX);
        ranges.add(0, u64::MAX, u64::MAX);
        assert_eq!((ranges.count(), ranges.bytes()), (u64::MAX, RANGE_BYTES));
    }
}

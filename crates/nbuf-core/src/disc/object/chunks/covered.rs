//! Which bytes of a chunk are in memory: ranges in order, with gaps between them.

use std::ops::Range;

/// Some bytes of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Covered(Vec<Range<usize>>);

impl Covered {
    /// All bytes of a chunk of this length.
    pub(super) fn all(length: usize) -> Self {
        let mut covered = Self::default();
        covered.add(0..length);
        covered
    }

    /// Adds a range, which may touch others.
    pub(super) fn add(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|one| one.end < range.start);
        let last = self.0.partition_point(|one| one.start <= range.end);
        let touched = &self.0[first..last];
        let start = touched.first().map_or(range.start, |one| one.start.min(range.start));
        let end = touched.last().map_or(range.end, |one| one.end.max(range.end));
        self.0.splice(first..last, std::iter::once(start..end));
    }

    /// What is missing of a range, in order.
    pub(super) fn gaps(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut gaps = Vec::new();
        let mut at = range.start;
        let first = self.0.partition_point(|one| one.end <= range.start);
        for one in self.0[first..].iter().take_while(|one| one.start < range.end) {
            if one.start > at {
                gaps.push(at..one.start);
            }
            at = one.end;
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        gaps
    }
}

/// From the first of some ranges in order to the end of the last one.
pub(super) fn span(ranges: &[Range<usize>]) -> Option<Range<usize>> {
    Some(ranges.first()?.start..ranges.last()?.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LENGTH: usize = 60;

    proptest! {
        /// The oracle: a flag for each byte.
        #[test]
        fn gaps_are_what_was_not_added(
            added in proptest::collection::vec((0..LENGTH, 0..LENGTH), 0..20),
            (from, to) in (0..LENGTH, 0..LENGTH),
        ) {
            let (mut covered, mut flags) = (Covered::default(), [false; LENGTH]);
            for (start, end) in added {
                covered.add(start..end);
                for flag in flags.get_mut(start..end).into_iter().flatten() {
                    *flag = true;
                }
                // In order, apart, and none empty.
                prop_assert!(covered.0.iter().all(|one| one.start < one.end));
                prop_assert!(covered.0.windows(2).all(|two| two[0].end < two[1].start));
            }
            let (from, to) = (from.min(to), from.max(to));
            let gaps = covered.gaps(from..to);
            prop_assert!(gaps.windows(2).all(|two| two[0].end < two[1].start));
            let missing: Vec<usize> = gaps.iter().cloned().flatten().collect();
            let want: Vec<usize> = (from..to).filter(|&at| !flags[at]).collect();
            prop_assert_eq!(span(&gaps).is_some(), !want.is_empty());
            prop_assert_eq!(missing, want);
        }
    }

    #[test]
    fn all_has_no_gaps() {
        assert!(Covered::all(10).gaps(0..10).is_empty());
        assert_eq!(span(&Covered::default().gaps(2..4)), Some(2..4));
    }
}

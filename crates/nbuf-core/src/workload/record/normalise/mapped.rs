//! Which touches of mapped pages are repeated ones.
//!
//! A page that was mapped since the look before is marked as touched, because the processor marks what
//! faults, and the kernel marks what it maps around it. Its fault has been reported. Cost: 16 bytes for each
//! fault between two looks.

use std::collections::HashMap;

use crate::trace::FileId;

/// What was mapped since the look before.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    /// Whether there are looks at all.
    looks: bool,
    now: HashMap<FileId, Vec<(u64, u64)>>,
    /// Those of the look that is being read, in order, and its time.
    before: HashMap<FileId, Vec<(u64, u64)>>,
    look_ns: u64,
}

impl Mapped {
    pub(super) fn new(looks: bool) -> Self {
        Self { looks, ..Self::default() }
    }

    /// The kernel mapped these pages, both ends included.
    pub(super) fn add(&mut self, file: FileId, first: u64, last: u64) {
        if self.looks {
            self.now.entry(file).or_default().push((first, last));
        }
    }

    /// Whether a page that the look at this time found touched was mapped before the look before that.
    pub(super) fn is_touched_again(&mut self, look_ns: u64, file: FileId, page: u64) -> bool {
        if look_ns != self.look_ns {
            self.look_ns = look_ns;
            self.before = std::mem::take(&mut self.now);
            self.before.values_mut().for_each(join);
        }
        let Some(ranges) = self.before.get(&file) else { return true };
        let at = ranges.partition_point(|&(_, last)| last < page);
        ranges.get(at).is_none_or(|&(first, _)| page < first)
    }
}

/// Puts ranges in order and together, so that both their ends go up.
fn join(ranges: &mut Vec<(u64, u64)>) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| {
        let overlaps = next.0 <= before.1.saturating_add(1);
        if overlaps {
            before.1 = before.1.max(next.1);
        }
        overlaps
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_faulted_since_the_look_before_is_no_repeated_touch() {
        let (mut mapped, file) = (Mapped::new(true), FileId(3));
        mapped.add(file, 16, 31);
        mapped.add(file, 0, 20);
        mapped.add(file, 50, 50);
        let again: Vec<u64> =
            (0..60).filter(|&page| mapped.is_touched_again(7, file, page)).collect();
        assert_eq!(again, (32..50).chain(51..60).collect::<Vec<_>>());
        mapped.add(file, 40, 40);
        assert!(mapped.is_touched_again(7, file, 40), "it came after this look");
        assert!(mapped.is_touched_again(7, FileId(4), 0));
        assert!(!mapped.is_touched_again(9, file, 40) && mapped.is_touched_again(9, file, 0));
        assert!(mapped.is_touched_again(11, file, 40));
    }
}

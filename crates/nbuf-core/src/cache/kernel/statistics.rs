//! What reclaim knows of the lists: the figures of a while ago.
//!
//! The kernel decides by statistics of the group whether the active list is to give pages back
//! (`prepare_scan_control`) and whether a page that comes back was away for no longer than the active
//! list is long (`workingset_refault`). They are brought up to date every two seconds, or when
//! a process reads them, as verification does every 20 ms (docs/decisions/0003-fresh-statistics.md).
//! Taking them for fresh instead predicted up to 8 % too few fills of a database, leaving out the
//! pages that came back 15 %; with 5 ms or 40 ms instead of 20 the fills differ by a percent.

/// From one reading to the next, in nanoseconds.
const AGE_NS: u64 = 20_000_000;

/// Figures of the lists, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) active: u32,
    pub(super) inactive: u32,
    /// Those that came back to the active list so far.
    pub(super) came_back: u32,
}

/// The figures as of the last update.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    told: Figures,
    now_ns: u64,
    due_ns: u64,
}

impl Statistics {
    /// So much time passes.
    pub(super) fn passes(&mut self, nanos: u64) {
        self.now_ns = self.now_ns.saturating_add(nanos);
    }

    /// What holds while this is true.
    pub(super) fn told(&mut self, truth: Figures) -> Figures {
        if self.now_ns >= self.due_ns {
            self.due_ns = self.now_ns.saturating_add(AGE_NS);
            self.told = truth;
        }
        self.told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_last_reading() {
        let of = |active| Figures { active, ..Figures::default() };
        let mut statistics = Statistics::default();
        assert_eq!(statistics.told(of(1)), of(1));
        statistics.passes(19_999_999);
        assert_eq!(statistics.told(of(2)), of(1));
        statistics.passes(1);
        assert_eq!(statistics.told(of(3)), of(3));
        assert_eq!(statistics.told(of(4)), of(3));
    }
}

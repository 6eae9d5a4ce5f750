//! What reclaim knows of the lists: the figures of a while ago.
//!
//! The kernel decides by statistics of the group whether the active list is to give pages back
//! (`prepare_scan_control`) and whether a page that comes back was away for no longer than the active
//! list is long (`workingset_refault`). It brings them up to date every two seconds (`FLUSH_TIME` in
//! `mm/memcontrol.c`), or when a process reads them. No process does in production, nor does verification once
//! the group reclaims (docs/decisions/0003-stale-statistics.md). When in these two seconds that begins is
//! chance, so a prediction takes several moments and is a band.

/// From one update to the next, in nanoseconds.
pub(super) const UPDATED_EVERY_NS: u64 = 2_000_000_000;

/// Figures of the lists, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) active: u32,
    pub(super) inactive: u32,
    /// Those that came back to the active list so far.
    pub(super) came_back: u32,
}

/// The figures as of the last update.
#[derive(Debug)]
pub(super) struct Statistics {
    known: Figures,
    due_ns: u64,
    has_reclaimed: bool,
}

impl Statistics {
    /// Those of a group that gets its first update so long after it began to reclaim.
    pub(super) fn new(first_update_ns: u64) -> Self {
        Self { known: Figures::default(), due_ns: first_update_ns, has_reclaimed: false }
    }

    /// The group reclaims; these are the figures now. Until then nbuf reads the statistics all the time.
    pub(super) fn reclaims(&mut self, truth: Figures) {
        if !self.has_reclaimed {
            self.has_reclaimed = true;
            self.known = truth;
        }
    }

    /// So much time passes; these are the figures at its end.
    pub(super) fn passes(&mut self, nanos: u64, truth: Figures) {
        if !self.has_reclaimed {
            return;
        }
        if nanos < self.due_ns {
            self.due_ns -= nanos;
            return;
        }
        self.known = truth;
        self.due_ns = UPDATED_EVERY_NS - (nanos - self.due_ns) % UPDATED_EVERY_NS;
    }

    /// What reclaim knows.
    pub(super) fn known(&self) -> Figures {
        self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_last_update() {
        let of = |active| Figures { active, ..Figures::default() };
        let mut statistics = Statistics::new(500);
        statistics.passes(9 * UPDATED_EVERY_NS, of(9));
        statistics.reclaims(of(7));
        statistics.passes(499, of(1));
        statistics.reclaims(of(8));
        assert_eq!(statistics.known(), of(7));
        statistics.passes(1, of(2));
        assert_eq!(statistics.known(), of(2));
        statistics.passes(UPDATED_EVERY_NS - 1, of(3));
        assert_eq!(statistics.known(), of(2));
        statistics.passes(1, of(4));
        assert_eq!(statistics.known(), of(4));
        // Updates come in even steps, however late it is looked.
        statistics.passes(3 * UPDATED_EVERY_NS / 2, of(5));
        assert_eq!(statistics.known(), of(5));
        statistics.passes(UPDATED_EVERY_NS / 2, of(6));
        assert_eq!(statistics.known(), of(6));
    }
}

//! What reclaim knows of the lists: the figures of a while ago.
//!
//! The kernel decides by statistics of the group whether the active list is to give pages back
//! (`prepare_scan_control`) and whether a page that comes back was away for no longer than the active
//! list is long (`workingset_refault`). They are brought up to date every two seconds (`FLUSH_TIME` in
//! `mm/memcontrol.c`), or when a process reads them. A group that is watched has them read every 20 ms; a
//! group in production, or one that nbuf verifies, has nothing read once it reclaims
//! (docs/decisions/0003-stale-statistics.md).

/// From one reading of a watched group to the next, in nanoseconds. With 5 ms or 40 ms the fills differ by a percent.
const READ_EVERY_NS: u64 = 20_000_000;

/// From one update by the kernel to the next, in nanoseconds.
pub(super) const UPDATED_EVERY_NS: u64 = 2_000_000_000;

/// Figures of the lists, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) active: u32,
    pub(super) inactive: u32,
    /// Those that came back to the active list so far.
    pub(super) came_back: u32,
}

/// Who brings the figures up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Updates {
    /// A process that reads them every 20 ms.
    ByReaders,
    /// The kernel alone, from the first time that the lists have `from_pages`: after `first_ns` nanoseconds, and
    /// then every two seconds. Until then a process reads them.
    ByKernel { from_pages: u32, first_ns: u64 },
}

/// The figures as of the last update.
#[derive(Debug)]
pub(super) struct Statistics {
    updates: Updates,
    known: Option<Figures>,
    now_ns: u64,
    due_ns: u64,
}

impl Statistics {
    pub(super) fn new(updates: Updates) -> Self {
        Self { updates, known: None, now_ns: 0, due_ns: 0 }
    }

    /// So much time passes.
    pub(super) fn passes(&mut self, nanos: u64) {
        self.now_ns = self.now_ns.saturating_add(nanos);
    }

    /// The lists grew to this.
    pub(super) fn grows(&mut self, truth: Figures) {
        if let Updates::ByKernel { from_pages, .. } = self.updates
            && self.known.is_none()
            && truth.active + truth.inactive >= from_pages
        {
            self.known(truth);
        }
    }

    /// What reclaim knows while this is true. Only reclaim asks: before, nothing depends on it.
    pub(super) fn known(&mut self, truth: Figures) -> Figures {
        if let Some(known) = self.known
            && self.now_ns < self.due_ns
        {
            return known;
        }
        let wait = match self.updates {
            Updates::ByReaders => READ_EVERY_NS,
            Updates::ByKernel { first_ns, .. } if self.known.is_none() => first_ns,
            // In even steps, however late reclaim asks.
            Updates::ByKernel { .. } => {
                UPDATED_EVERY_NS - (self.now_ns - self.due_ns) % UPDATED_EVERY_NS
            }
        };
        self.due_ns = self.now_ns.saturating_add(wait);
        self.known = Some(truth);
        truth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(active: u32) -> Figures {
        Figures { active, ..Figures::default() }
    }

    #[test]
    fn they_are_those_of_the_last_reading() {
        let mut statistics = Statistics::new(Updates::ByReaders);
        assert_eq!(statistics.known(of(1)), of(1));
        statistics.passes(19_999_999);
        assert_eq!(statistics.known(of(2)), of(1));
        statistics.passes(1);
        assert_eq!(statistics.known(of(3)), of(3));
        assert_eq!(statistics.known(of(4)), of(3));
    }

    #[test]
    fn without_readers_they_are_those_of_the_last_update() {
        let mut statistics = Statistics::new(Updates::ByKernel { from_pages: 7, first_ns: 500 });
        statistics.passes(9 * UPDATED_EVERY_NS);
        statistics.grows(of(6));
        statistics.grows(of(7));
        statistics.passes(499);
        statistics.grows(of(10));
        assert_eq!(statistics.known(of(1)), of(7));
        statistics.passes(1);
        assert_eq!(statistics.known(of(2)), of(2));
        statistics.passes(UPDATED_EVERY_NS - 1);
        assert_eq!(statistics.known(of(3)), of(2));
        statistics.passes(1);
        assert_eq!(statistics.known(of(4)), of(4));
        statistics.passes(3 * UPDATED_EVERY_NS / 2);
        assert_eq!(statistics.known(of(5)), of(5));
        statistics.passes(UPDATED_EVERY_NS / 2);
        assert_eq!(statistics.known(of(6)), of(6));
    }
}

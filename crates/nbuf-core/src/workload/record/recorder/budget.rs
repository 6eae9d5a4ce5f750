//! Keeps the cost of a recording inside a budget: the more accesses there are, the fewer pages are in the sample.
//!
//! The cost is estimated by the number of events. The share of the pages only falls: so the smallest one is a sample of
//! the whole window. It stays so large that the sample has enough different chunks of pages, whatever that costs: those
//! with the smallest hashes are kept to know that. Looks at page tables and names do not count.

use std::collections::BTreeSet;

use super::super::events::Source;
use super::super::log::{Event, Kind};
use super::super::perf::Perf;
use super::Subject;
use crate::trace::sampled::{ALL, CHUNK_SHIFT, hash};
use crate::units::PAGE_BYTES;

/// What an event costs that is recorded and read, and one that is left out, by docs/live.md.
const RECORDED_NS: f64 = 800.0;
const LEFT_OUT_NS: f64 = 300.0;
/// How often the share is set.
const EVERY_NS: u64 = 250_000_000;
/// How much of the share is left at each step at least.
const STEP_MIN: f64 = 0.25;
/// What recording may cost in any case, as a part of what leaving out costs.
const SAVED_MIN: f64 = 0.25;
/// Below the budget, so that it need not fall again soon.
const AIM: f64 = 0.8;
/// Chunks of a sample: 64 MiB. Their number errs by a fiftieth then.
const CHUNKS_MIN: usize = 2048;

/// Lets programs in the kernel record what runs, where they may and can. Gives back the budget that they have.
pub(super) fn with_programs(
    perf: Perf,
    sources: &[Source],
    subject: Subject<'_>,
) -> (Perf, Option<Budget>) {
    let Subject::Running { running, programs: true, overhead } = subject else {
        return (perf, None);
    };
    let perf = perf.with_programs(sources, running, overhead.is_some());
    let budget = overhead.filter(|_| perf.programs().is_some()).map(Budget::new);
    (perf, budget)
}

/// A budget, in processors.
#[derive(Debug)]
pub(super) struct Budget {
    processors: f64,
    hashes: u64,
    /// The smallest that were seen.
    smallest: BTreeSet<u64>,
    since: Option<EventCounts>,
}

/// Events until a moment, and those of them that were recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventCounts {
    pub(super) at_ns: u64,
    pub(super) seen: u64,
    pub(super) kept: u64,
}

impl Budget {
    pub(super) fn new(processors: f64) -> Self {
        Self { processors, hashes: ALL, smallest: BTreeSet::new(), since: None }
    }

    /// Hashes that are in the sample.
    pub(super) fn hashes(&self) -> u64 {
        self.hashes
    }

    /// An event was recorded.
    pub(super) fn see(&mut self, event: &Event) {
        let is_page = !matches!(event.kind, Kind::Write | Kind::Read | Kind::Splice);
        let page = if is_page { event.index } else { event.index / PAGE_BYTES };
        let hash = hash(event.device, event.inode, page >> CHUNK_SHIFT);
        if hash < self.hashes_min()
            && self.smallest.insert(hash)
            && self.smallest.len() > CHUNKS_MIN
        {
            self.smallest.pop_last();
        }
    }

    /// With fewer hashes, too few chunks would be in the sample.
    fn hashes_min(&self) -> u64 {
        let last = self.smallest.last().filter(|_| self.smallest.len() >= CHUNKS_MIN);
        last.copied().unwrap_or(ALL)
    }

    /// Compares the counts with the budget; the new number of hashes, where it changes.
    pub(super) fn take(&mut self, now: EventCounts) -> Option<u64> {
        let since = *self.since.get_or_insert(now);
        let elapsed_ns = now.at_ns.saturating_sub(since.at_ns);
        if elapsed_ns < EVERY_NS {
            return None;
        }
        self.since = Some(now);
        let kept = now.kept.saturating_sub(since.kept);
        let left_out = now.seen.saturating_sub(since.seen).saturating_sub(kept);
        let (fixed, falls) = (left_out as f64 * LEFT_OUT_NS, kept as f64 * RECORDED_NS);
        let budget = self.processors * elapsed_ns as f64;
        if fixed + falls <= budget {
            return None;
        }
        // What is left out costs, too. Where that takes the budget, a smaller sample would save little.
        let wanted = (budget * AIM - fixed).max(fixed * SAVED_MIN);
        let step = (wanted / falls).clamp(STEP_MIN, 1.0);
        let hashes = crate::units::whole(self.hashes as f64 * step).max(self.hashes_min());
        if hashes >= self.hashes {
            return None;
        }
        self.hashes = hashes;
        Some(hashes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share after a minute with this rate of events, in a file with this number of chunks.
    fn share(processors: f64, events_per_second: u64, chunks: u64) -> f64 {
        let mut budget = Budget::new(processors);
        for chunk in 0..chunks {
            let (time_ns, task, kind, device, inode) = (0, 1, Kind::GetPages, 2, 3);
            let index = chunk << CHUNK_SHIFT;
            budget.see(&Event { time_ns, task, kind, device, inode, index, extent: index });
        }
        let mut counts = EventCounts::default();
        for _ in 0..240 {
            let events = events_per_second / 4;
            counts.at_ns += EVERY_NS;
            counts.seen += events;
            counts.kept += crate::units::whole(events as f64 * budget.hashes() as f64 / ALL as f64);
            budget.take(counts);
        }
        budget.hashes() as f64 / ALL as f64
    }

    #[test]
    fn the_share_falls_as_far_as_the_budget_wants() {
        assert!(share(0.01, 10_000, 1 << 20) >= 1.0);
        let busy = share(0.01, 50_000, 1 << 20);
        assert!((0.05..0.15).contains(&busy), "{busy}");
        assert!(share(0.1, 50_000, 1 << 20) >= 1.0);
        // A filter of as many events costs more than that.
        let fast = share(0.01, 2_000_000, 1 << 20);
        assert!((0.06..0.12).contains(&fast), "{fast}");
    }

    #[test]
    fn a_sample_has_enough_chunks() {
        assert!(share(0.01, 2_000_000, 2_000) >= 1.0);
        let few = share(0.01, 2_000_000, 8_192);
        assert!((0.22..0.28).contains(&few), "{few}");
    }
}

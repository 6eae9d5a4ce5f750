//! Pages that the kernel takes back for lack of memory, distinguished from those that a command lets go: the
//! tracepoint of pages leaving the cache says of neither why. Pure.
//!
//! Reclaim ends each of its batches with a record of its own, and of how many pages it took
//! (`shrink_inactive_list` in `mm/vmscan.c`; `evict_folios` of the multi-generational LRU has the same).
//! This many that left in the same task right before that were taken, and are no part of the workload.
//! Where memory is not short there is none. Not seen: what `kswapd` takes, for it is no task of the
//! command; what was taken before the first such record was read, or more than a tenth of a second
//! before the record of its batch, counts as let go.

use std::collections::{HashMap, HashSet};

use super::events::{Body, Field, Sample, field_named, id, number};
use super::log::Kind;

/// Directory of the tracepoint.
pub const PATH: &str = "vmscan/mm_vmscan_lru_shrink_inactive";

/// How to read the records.
#[derive(Clone, Copy, Debug)]
pub struct ReclaimLayout {
    /// The tracepoint's number.
    pub id: u16,
    pages: Field,
}

impl ReclaimLayout {
    /// Reads a `format` file.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self { id: id(text)?, pages: field_named(text, "nr_reclaimed")? })
    }

    /// Reads a record.
    pub fn read(&self, body: &Body<'_>) -> Option<Sample> {
        let pages = number(body.raw, self.pages)?;
        Some(Sample::Reclaim { time_ns: body.time_ns, task: body.task, pages })
    }
}

/// How long pages that left wait for the record that says why.
const WAIT_NS: u64 = 100_000_000;

/// Follows the samples as they are read, and keeps together what belongs together.
#[derive(Debug, Default)]
pub struct Batches {
    /// Whether memory has been short: while it was not, nothing waits.
    met: bool,
}

impl Batches {
    /// How many samples of a batch, from its first on, [`taken`] judges of all of it as it would with
    /// those that follow: the rest is to come again, in front of what was not read yet. All of it for
    /// an end of time.
    pub fn whole(&mut self, batch: &[Sample], now_ns: u64) -> usize {
        self.met |= batch.iter().any(|sample| matches!(sample, Sample::Reclaim { .. }));
        let open = if self.met { open(batch, now_ns) } else { None };
        open.unwrap_or(batch.len())
    }
}

/// The first page to leave of those that may yet turn out to have been taken.
fn open(batch: &[Sample], now_ns: u64) -> Option<usize> {
    let mut went_on = HashSet::new();
    let mut first = None;
    for (at, sample) in batch.iter().enumerate().rev() {
        if sample.time_ns().saturating_add(WAIT_NS) < now_ns {
            break;
        }
        match sample {
            Sample::Event(event) if event.kind == Kind::Delete => {
                if !went_on.contains(&event.task) {
                    first = Some(at);
                }
            }
            Sample::Event(event) => {
                went_on.insert(event.task);
            }
            Sample::Reclaim { task, .. } => {
                went_on.insert(*task);
            }
            Sample::Call(_)
            | Sample::Direct(_)
            | Sample::Advice(_)
            | Sample::Pipe { .. }
            | Sample::Worker { .. }
            | Sample::Thread { .. } => {}
        }
    }
    first
}

/// For each sample of a batch in time order, whether it is a page that reclaim took. Nothing where
/// there was no reclaim.
pub fn taken(batch: &[Sample]) -> Option<Vec<bool>> {
    let reclaims = |sample: &Sample| matches!(sample, Sample::Reclaim { .. });
    batch.iter().any(reclaims).then(|| {
        // By task, pages that were taken right before what comes next of it.
        let mut left: HashMap<u32, u64> = HashMap::new();
        let mut taken = vec![false; batch.len()];
        for (at, sample) in batch.iter().enumerate().rev() {
            match sample {
                Sample::Reclaim { task, pages, .. } => {
                    left.insert(*task, *pages);
                }
                Sample::Event(event) if event.kind == Kind::Delete => {
                    let left = left.entry(event.task).or_default();
                    taken[at] = *left > 0;
                    *left = left.saturating_sub(1 << event.extent.min(18));
                }
                Sample::Event(event) => {
                    left.insert(event.task, 0);
                }
                _ => {}
            }
        }
        taken
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::record::log::Event;

    /// Samples in time order, by task: `D` a page that leaves, `R` a batch of reclaim of this many.
    fn batch(of: &[(char, u32, u64)]) -> Vec<Sample> {
        let sample = |(at, &(what, task, pages)): (usize, &(char, u32, u64))| {
            let time_ns = at as u64;
            let (device, inode, index, extent) = (1, 2, 3, 0);
            let kind = if what == 'D' { Kind::Delete } else { Kind::GetPages };
            match what {
                'R' => Sample::Reclaim { time_ns, task, pages },
                _ => Sample::Event(Event { time_ns, task, kind, device, inode, index, extent }),
            }
        };
        of.iter().enumerate().map(sample).collect()
    }

    fn judged(batch: &[Sample]) -> Vec<bool> {
        taken(batch).unwrap_or_else(|| vec![false; batch.len()])
    }

    #[test]
    fn wherever_reading_stops_pages_are_judged_alike() {
        let of = [
            ('R', 9, 0),
            ('D', 7, 0),
            ('D', 8, 0),
            ('D', 7, 0),
            ('R', 8, 1),
            ('D', 9, 0),
            ('R', 7, 2),
            ('G', 9, 0),
            ('D', 7, 0),
            ('D', 8, 0),
        ];
        let batch = batch(&of);
        let want = judged(&batch);
        assert_eq!(want.iter().filter(|taken| **taken).count(), 3);
        for stop in 1..=batch.len() {
            let mut batches = Batches::default();
            let whole = batches.whole(&batch[..stop], stop as u64);
            let rest = &batch[whole..];
            assert_eq!(batches.whole(rest, u64::MAX), rest.len(), "at the end nothing waits");
            let first = &judged(&batch[..stop])[..whole];
            assert_eq!([first, &judged(rest)].concat(), want, "{stop}");
        }
    }

    #[test]
    fn nothing_waits_for_long_nor_where_memory_is_not_short() {
        let short = batch(&[('R', 9, 0), ('D', 7, 0), ('G', 8, 0)]);
        assert_eq!(Batches::default().whole(&short, 3), 1);
        assert_eq!(Batches::default().whole(&short, WAIT_NS + 2), 3);
        assert_eq!(Batches::default().whole(&short[1..], 3), 2);
    }

    #[test]
    fn what_leaves_right_before_the_end_of_a_batch_of_reclaim_was_taken() {
        let event = |kind, task| {
            let (time_ns, device, inode, index, extent) = (0, 1, 2, 3, 0);
            Sample::Event(Event { time_ns, task, kind, device, inode, index, extent })
        };
        let reclaim = |task, pages| Sample::Reclaim { time_ns: 0, task, pages };
        let batch = [
            event(Kind::Delete, 7),
            event(Kind::Add, 7),
            event(Kind::Delete, 7),
            event(Kind::Delete, 8),
            event(Kind::Delete, 7),
            reclaim(7, 32),
            event(Kind::Delete, 7),
            event(Kind::Delete, 7),
            reclaim(7, 1),
            event(Kind::Delete, 7),
            reclaim(7, 0),
            event(Kind::GetPages, 7),
        ];
        let want =
            [false, false, true, false, true, false, false, true, false, false, false, false];
        assert_eq!(taken(&batch), Some(want.to_vec()));
        assert_eq!(taken(&batch[..5]), None);
    }
}

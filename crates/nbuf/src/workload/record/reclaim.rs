//! Pages that the kernel takes back for want of memory, told from those that a command lets go: the
//! tracepoint of pages leaving the cache says of neither why. Pure.
//!
//! Reclaim ends each of its batches with a record of its own, and of how many pages it took
//! (`shrink_inactive_list` in `mm/vmscan.c`; `evict_folios` of the multi-generational LRU has the same).
//! So many that left in the same task right before that were taken, and are no part of the workload.
//! Where memory is not short there is none. Not seen: what `kswapd` takes, for it is no task of the
//! command; the few pages whose record is read before that of the end of their batch count as let go.

use std::collections::HashMap;

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
                Sample::Call(_) | Sample::Direct(_) => {}
            }
        }
        taken
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::record::log::Event;

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

//! Pages that the kernel takes back for want of memory, told from those that a command lets go: the
//! tracepoint of pages leaving the cache says of neither why. Pure.
//!
//! Reclaim ends each of its batches with a record of its own (`shrink_inactive_list` in
//! `mm/vmscan.c`; `evict_folios` of the multi-generational LRU has the same). What left in the same
//! task right before that was taken, and is no part of the workload. Where memory is not short there
//! is none. Not seen: what `kswapd` takes, for it is no task of the command.

use std::collections::HashMap;

use super::events::{Sample, id};
use super::log::Kind;

/// Directory of the tracepoint.
pub const PATH: &str = "vmscan/mm_vmscan_lru_shrink_inactive";

/// The tracepoint's number, by its `format` file.
pub fn parse(text: &str) -> Option<u16> {
    id(text)
}

/// For each sample of a batch in time order, whether it is a page that reclaim took. Nothing where
/// there was no reclaim.
pub fn taken(batch: &[Sample]) -> Option<Vec<bool>> {
    let reclaims = |sample: &Sample| matches!(sample, Sample::Reclaim { .. });
    batch.iter().any(reclaims).then(|| {
        // By task, whether what comes next of it ends a batch of reclaim.
        let mut ends = HashMap::new();
        let mut taken = vec![false; batch.len()];
        for (at, sample) in batch.iter().enumerate().rev() {
            match sample {
                Sample::Reclaim { task, .. } => {
                    ends.insert(*task, true);
                }
                Sample::Event(event) if event.kind == Kind::Delete => {
                    taken[at] = ends.get(&event.task).is_some_and(|&ends| ends);
                }
                Sample::Event(event) => {
                    ends.insert(event.task, false);
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
        let reclaim = |task| Sample::Reclaim { time_ns: 0, task };
        let batch = [
            event(Kind::Delete, 7),
            event(Kind::Add, 7),
            event(Kind::Delete, 7),
            event(Kind::Delete, 8),
            event(Kind::Delete, 7),
            reclaim(7),
            event(Kind::Delete, 7),
            event(Kind::GetPages, 7),
        ];
        let want = [false, false, true, false, true, false, false, false];
        assert_eq!(taken(&batch), Some(want.to_vec()));
        assert_eq!(taken(&batch[..5]), None);
    }
}

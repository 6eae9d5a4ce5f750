//! The steps of a page fault, as the notes of 1969 have them: find the page, get a frame, wait for the disc, and
//! go on.

use super::requests::Served;
use super::{File, Kind};

/// A fault that is being served.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fault {
    pub(super) address: u64,
    pub(super) began_ns: u64,
    /// The time of all reclaim in it.
    pub(super) reclaim_ns: u64,
    /// The last read of its thread that was completed before it was woken, or without a sleep.
    pub(super) read: Option<Served>,
    /// Something woke the thread: what completes later is not what it waited for.
    pub(super) is_woken: bool,
    /// The file whose pages it looked for.
    pub(super) file: Option<File>,
    /// When the thread first left its processor, and when it last got one.
    pub(super) left_ns: Option<u64>,
    pub(super) runs_ns: Option<u64>,
}

impl Fault {
    /// The times of the steps of a fault that was served at `end_ns`. They add up to all of it.
    pub(super) fn steps(&self, end_ns: u64, mut add: impl FnMut(Kind, u64)) {
        let Self { began_ns, reclaim_ns, read, left_ns, runs_ns, .. } = *self;
        let runs_ns = runs_ns.unwrap_or(began_ns);
        if reclaim_ns > 0 {
            add(Kind::FaultReclaim, reclaim_ns);
        }
        let goes_on_ns = if let Some(read) = read {
            // A virtual disc may answer before the thread has gone to sleep: it goes on at once.
            let goes_on_ns = runs_ns.max(read.completed_ns);
            let found_ns = read.queued_ns.saturating_sub(began_ns);
            add(Kind::FaultFind, found_ns.saturating_sub(reclaim_ns));
            add(Kind::FaultQueue, read.issued_ns - read.queued_ns);
            add(Kind::FaultDevice, read.completed_ns - read.issued_ns);
            add(Kind::FaultWakeup, goes_on_ns - read.completed_ns);
            goes_on_ns
        } else {
            let left_ns = left_ns.unwrap_or(runs_ns);
            let found_ns = left_ns.saturating_sub(began_ns);
            add(Kind::FaultFind, found_ns.saturating_sub(reclaim_ns));
            add(Kind::FaultShared, runs_ns.saturating_sub(left_ns));
            runs_ns
        };
        add(Kind::FaultMap, end_ns.saturating_sub(goes_on_ns));
    }
}

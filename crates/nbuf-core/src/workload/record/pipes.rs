//! Reads on their way into a pipe: which tasks are inside of `splice`, `sendfile` or `copy_file_range`. The event
//! of a read does not name its call, but the call decides what the read does: a pipe takes a large folio piece
//! by piece, and each piece marks the folio as used (`filemap_splice_read` in `mm/filemap.c`).
//!
//! Cost: two records for each of these calls, nothing for any other.

use std::collections::HashSet;

use super::events::{Sample, id};
use super::log::{Event, Kind};
use crate::units::PAGE_BYTES;

/// The calls, by the names of their tracepoints.
pub(super) const CALLS: [&str; 3] = ["splice", "sendfile64", "copy_file_range"];

/// The numbers of the two tracepoints of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PipeCall {
    /// The event of its beginning.
    pub(super) enter: u16,
    /// The event of its end.
    pub(super) exit: u16,
}

impl PipeCall {
    /// Reads the numbers in the `format` files of a call, where the kernel has both.
    pub(super) fn find(name: &str, format: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |end: &str| id(&format(&format!("syscalls/sys_{end}_{name}"))?);
        Some(Self { enter: number("enter")?, exit: number("exit")? })
    }
}

/// The tasks that are inside of such a call.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    tasks: HashSet<u32>,
}

impl Pipes {
    /// Takes in a sample.
    pub(super) fn take(&mut self, sample: &Sample) {
        match *sample {
            Sample::Pipe { task, begins: true, .. } => {
                self.tasks.insert(task);
            }
            Sample::Pipe { task, .. } | Sample::Thread { task, .. } => {
                self.tasks.remove(&task);
            }
            _ => {}
        }
    }

    /// The event as what it is: a read inside of such a call goes into a pipe.
    pub(super) fn judged(&self, event: &Event) -> Event {
        if self.tasks.contains(&event.task) { as_piece(event) } else { *event }
    }
}

/// A read as one that marks every folio that it reaches, wherever the read before it ended.
pub(super) fn as_piece(event: &Event) -> Event {
    if event.kind != Kind::GetPages {
        return *event;
    }
    let pages = event.extent.max(event.index) - event.index;
    let extent = pages.saturating_add(1).saturating_mul(PAGE_BYTES);
    let index = event.index.saturating_mul(PAGE_BYTES);
    Event { kind: Kind::Splice, index, extent, ..*event }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_inside_of_a_call_goes_into_a_pipe() {
        let mut pipes = Pipes::default();
        let event = Event {
            time_ns: 1,
            task: 7,
            kind: Kind::GetPages,
            device: 1,
            inode: 2,
            index: 3,
            extent: 4,
        };
        let step = |task, begins| Sample::Pipe { time_ns: 0, task, begins };
        assert_eq!(pipes.judged(&event), event);
        pipes.take(&step(7, true));
        let want = Event { kind: Kind::Splice, index: 3 << 12, extent: 2 << 12, ..event };
        assert_eq!(pipes.judged(&event), want);
        assert_eq!(pipes.judged(&Event { task: 8, ..event }).kind, Kind::GetPages);
        assert_eq!(pipes.judged(&Event { kind: Kind::Write, ..event }).kind, Kind::Write);
        pipes.take(&step(7, false));
        assert_eq!(pipes.judged(&event), event);
        pipes.take(&step(7, true));
        // The number of a task that was killed inside of a call comes again.
        pipes.take(&Sample::Thread { time_ns: 2, task: 7, process: 7, parent: 1 });
        assert_eq!(pipes.judged(&event), event);
    }

    #[test]
    fn a_call_without_both_tracepoints_is_left_out() {
        let both = |path: &str| Some(format!("ID: {}", if path.contains("enter") { 5 } else { 6 }));
        assert_eq!(PipeCall::find("splice", both), Some(PipeCall { enter: 5, exit: 6 }));
        let one = |path: &str| path.contains("enter").then(|| "ID: 5".to_owned());
        assert_eq!(PipeCall::find("splice", one), None);
    }
}

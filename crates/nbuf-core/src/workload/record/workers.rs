//! Workers of `io_uring`: threads of the kernel's own that do what a task's request could not do at once
//! (`io_uring/io-wq.c`). They read through the open files of that task, with its readahead: what they do counts
//! as done by it. A worker is known by its name.
//!
//! Several of them read at once. So the place where the read before ended, which the open file keeps, is one of
//! another read, and every read marks the folios that it reaches (`pos_same_folio` in `mm/filemap.c`).
//!
//! Cost: a record for each thread that begins, and for each name that one takes.

use std::collections::HashMap;

use super::events::Sample;
use super::log::Event;
use super::pipes::as_piece;

/// How the name of a worker begins.
pub(super) const NAME: &[u8] = b"iou-wrk-";

/// The workers that were met, and whose they are.
#[derive(Debug, Default)]
pub(super) struct Workers {
    /// Threads that are not the first of their process, and who began them.
    parents: HashMap<u32, u32>,
    owners: HashMap<u32, u32>,
}

impl Workers {
    /// Takes in a sample.
    pub(super) fn take(&mut self, sample: &Sample) {
        match *sample {
            Sample::Thread { task, process, parent, .. } => {
                // Numbers come again.
                self.owners.remove(&task);
                self.parents.remove(&task);
                if task != process {
                    self.parents.insert(task, parent);
                }
            }
            Sample::Worker { task, .. } => {
                if let Some(&parent) = self.parents.get(&task) {
                    let owner = self.owner(parent);
                    self.owners.insert(task, owner);
                }
            }
            _ => {}
        }
    }

    /// The event as one of the task that asked for it.
    pub(super) fn judged(&self, event: Event) -> Event {
        match self.owners.get(&event.task) {
            Some(&task) => Event { task, ..as_piece(&event) },
            None => event,
        }
    }

    fn owner(&self, task: u32) -> u32 {
        self.owners.get(&task).copied().unwrap_or(task)
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::Kind;
    use super::*;

    #[test]
    fn what_a_worker_does_its_owner_asked_for() {
        let mut workers = Workers::default();
        let thread = |task, parent| Sample::Thread { time_ns: 1, task, process: 10, parent };
        let owner = |workers: &Workers, task| {
            let (time_ns, kind, device) = (5, Kind::GetPages, 1);
            let event = Event { time_ns, task, kind, device, inode: 2, index: 3, extent: 4 };
            let event = workers.judged(event);
            assert_eq!(event.kind == Kind::Splice, event.task != task);
            event.task
        };
        workers.take(&thread(11, 10));
        workers.take(&thread(12, 11));
        workers.take(&thread(13, 12));
        workers.take(&Sample::Worker { time_ns: 2, task: 12 });
        // A worker may begin the next one.
        workers.take(&Sample::Worker { time_ns: 2, task: 13 });
        assert_eq!([10, 11, 12, 13, 14].map(|task| owner(&workers, task)), [10, 11, 11, 11, 14]);
        workers.take(&thread(12, 10));
        assert_eq!(owner(&workers, 12), 12, "its number came again");
        // A program may call its process so.
        workers.take(&Sample::Worker { time_ns: 3, task: 10 });
        assert_eq!(owner(&workers, 10), 10);
    }
}

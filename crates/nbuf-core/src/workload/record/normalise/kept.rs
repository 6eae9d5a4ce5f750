//! Records on their way into the trace: all of them, or those of a sample of pages.

use super::task::tell_apart;
use super::{PAGE_BYTES, Walk};
use crate::trace::{CacheEvent, FileId, Record};
use crate::workload::record::log::Event;

/// A large page has at most this many, on any processor.
const LARGE_PAGES_MAX: u64 = 1 << 18;

impl Walk {
    /// A mapped page was touched. The programs in the kernel did not count that.
    pub(super) fn touch(&mut self, event: &Event, file: FileId) {
        if let Some(sampled) = &mut self.sampled {
            sampled.accesses += 1;
        }
        let last = event.index.saturating_add(event.extent.clamp(1, LARGE_PAGES_MAX) - 1);
        let range = super::pages(event.index, last);
        self.demand(event, file, CacheEvent::Touch, range);
    }

    /// Adds a record, as far as its pages are in the sample; fills wait for the next demand of their task.
    pub(super) fn keep_sampled(&mut self, record: Record) {
        let Some(sampled) = self.sampled else { return self.keep_one(record) };
        let (device, inode) = self.names[record.file.0 as usize].0;
        let end = record.offset_bytes.saturating_add(record.length_bytes.into());
        let mut from = record.offset_bytes;
        // A run of pages that are in the sample becomes one record.
        let mut run: Option<(u64, u64)> = None;
        while from < end {
            let page = from / PAGE_BYTES;
            let to = end.min((page + 1).saturating_mul(PAGE_BYTES));
            match (&mut run, sampled.has(device, inode, page)) {
                (Some((_, until)), true) => *until = to,
                (None, true) => run = Some((from, to)),
                (_, false) => self.keep_run(&record, run.take()),
            }
            from = to;
        }
        self.keep_run(&record, run);
    }

    fn keep_run(&mut self, record: &Record, run: Option<(u64, u64)>) {
        let Some((offset_bytes, end)) = run else { return };
        let length_bytes = u32::try_from(end - offset_bytes).unwrap_or(u32::MAX);
        self.keep_one(Record { offset_bytes, length_bytes, ..*record });
    }

    fn keep_one(&mut self, record: Record) {
        if record.op == CacheEvent::Readahead {
            let number = self.records.next_number();
            self.tasks.of(record.task).pending.push_back(number);
        }
        self.keep(record);
    }

    /// Adds a record. A fill that still waits for the next demand of its task when it is to be
    /// packed, is judged by the demand before it.
    pub(super) fn keep(&mut self, record: Record) {
        self.records.push(record);
        let Some((number, oldest)) = self.records.overdue() else { return };
        if oldest.op == CacheEvent::Readahead {
            let task = self.tasks.of(oldest.task);
            if task.pending.front() == Some(&number) {
                task.pending.pop_front();
                tell_apart(oldest, [task.last, None]);
            }
        }
        self.records.pack_one();
    }
}

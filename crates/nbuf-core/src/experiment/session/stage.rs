//! Stages of an experiment, as its observer gets them.

use super::{Observer, Session};
use crate::workload::source::{Progress, Source};

/// Bytes in a step.
const MEBIBYTE: u64 = 1 << 20;
/// Records in a step.
const MILLION: u64 = 1_000_000;

/// What a stage calls with the amount that is done, and with all of it.
type Report<'a> = &'a dyn Fn(u64, u64);

impl Session<'_> {
    /// Reports a stage of these steps, and then the next one.
    pub(in crate::experiment) fn steps<'s>(
        &'s self,
        stage: &'static str,
        total: usize,
    ) -> Steps<'s> {
        self.observer.progress(stage, 0, total);
        Steps { observer: self.observer, stage, done: 0, total }
    }

    /// Reports how much of a trace was read.
    pub(in crate::experiment) fn reading(&self, source: &Source) {
        if let Some(Progress { done_bytes, total_bytes }) = source.progress() {
            let (done, total) = (steps(done_bytes, MEBIBYTE), steps(total_bytes, MEBIBYTE));
            self.observer.progress("reading (MiB)", done, total);
        }
    }

    /// Opens a trace by `open`, which calls with the records of native traces: those are read at once.
    pub(in crate::experiment) fn loading<T>(&self, open: impl FnOnce(Report<'_>) -> T) -> T {
        self.staged(("loading (million records)", MILLION), open)
    }

    /// Makes a trace of a log by `make`, which calls with bytes of the log.
    pub(in crate::experiment) fn reading_log<T>(&self, make: impl FnOnce(Report<'_>) -> T) -> T {
        self.staged(("making the trace (MiB)", MEBIBYTE), make)
    }

    /// Writes a trace by `write`, which calls with records.
    pub(in crate::experiment) fn writing<T>(&self, write: impl FnOnce(Report<'_>) -> T) -> T {
        self.staged(("writing the trace (million records)", MILLION), write)
    }

    fn staged<T>(&self, (stage, step): (&str, u64), work: impl FnOnce(Report<'_>) -> T) -> T {
        let made = work(&|done: u64, total: u64| {
            self.observer.progress(stage, steps(done, step), steps(total, step));
        });
        self.observer.stage_over();
        made
    }
}

/// Whole steps of an amount.
fn steps(amount: u64, step: u64) -> usize {
    usize::try_from(amount / step).unwrap_or(usize::MAX)
}

/// A stage under way. It is over when this is dropped.
pub(in crate::experiment) struct Steps<'a> {
    observer: &'a dyn Observer,
    stage: &'static str,
    done: usize,
    total: usize,
}

impl Steps<'_> {
    /// Another step is done.
    pub(in crate::experiment) fn next(&mut self) {
        self.done += 1;
        self.observer.progress(self.stage, self.done, self.total);
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.observer.stage_over();
    }
}

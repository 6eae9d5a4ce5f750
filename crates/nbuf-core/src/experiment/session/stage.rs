//! Stages of an experiment, as its observer gets them.

use super::{Observer, Session};
use crate::workload::source::{Opening, Progress, Source};

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
        if let Some(progress) = source.progress() {
            self.mebibytes("reading (MiB)", progress);
        }
    }

    fn mebibytes(&self, stage: &str, Progress { done_bytes, total_bytes }: Progress) {
        let (done, total) = (steps(done_bytes, MEBIBYTE), steps(total_bytes, MEBIBYTE));
        self.observer.progress(stage, done, total);
    }

    /// Opens a trace by `open`: a native trace is read at once, and one in a store is copied before. A signal ends it.
    pub(in crate::experiment) fn opening<T>(&self, open: impl FnOnce(&Opening<'_>) -> T) -> T {
        let copying = |progress| self.mebibytes("copying (MiB)", progress);
        self.loading(|loading| {
            open(&Opening { loading, copying: &copying, ..self.opening_quietly() })
        })
    }

    /// Opens a trace without reports. A signal ends it.
    pub(in crate::experiment) fn opening_quietly(&self) -> Opening<'static> {
        Opening { token: self.cancellation.token(), ..Opening::default() }
    }

    /// Reads a native trace by `open`, which calls with its records.
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

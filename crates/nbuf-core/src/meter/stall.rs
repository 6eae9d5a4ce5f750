//! What a recording says of time: how long reads waited for the disc, and how much work lay between.
//!
//! A read that misses puts its pages into the cache, waits, and is reported when they are ready: the
//! time between is a sample of the disc's service. A fault is reported before it waits; its wait ends
//! somewhere before the task's next touch and is no sample. Waits for what was read ahead do not
//! show one by one, but in the time that the processor was idle.
//! Cost: 56 bytes a task. Not for commands whose tasks wait for each other in cycles.

use std::collections::HashMap;

use super::service::{Sample, Service};
use crate::trace::{CacheEvent, Facts, Record, Timed};
use crate::units::{Bytes, whole};

/// Samples that are kept.
const SAMPLES_MAX: usize = 1 << 14;
/// What a kernel event costs the command that causes it (docs/cost.md).
const EVENT_NS: u64 = 700;
/// The largest share of a recording's time that is believed to be its own cost.
const OVERHEAD_MAX: f64 = 0.25;
/// A fault waits so long where no read has shown how long a wait is.
const FAULT_NS: u64 = 100_000;

/// Listens to the records of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stalls {
    tasks: HashMap<u32, Task>,
    samples: Vec<Sample>,
    sampled_ns: u64,
    requests: u64,
    pages: u64,
    /// The longest that any chain of tasks waited.
    waited_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    last_ns: i64,
    /// What it, and what ran before it, waited.
    waited_ns: u64,
    /// The pages it put in since its last touch: when, how many, where they end, and for which
    /// request.
    filled_ns: i64,
    filled_pages: u32,
    filled_end: u64,
    filled_for: Option<u32>,
    /// The request of its last touch, if that was a fault.
    fault: Option<u32>,
}

impl Stalls {
    /// Pages were put into the cache.
    pub(crate) fn filled(&mut self, record: &Record) {
        let pages = Bytes(record.length_bytes.into()).pages_up().0;
        let task = self.tasks.entry(record.task).or_default();
        task.filled_ns = record.time_ns;
        task.filled_pages += u32::try_from(pages).unwrap_or(0);
        if record.op == CacheEvent::Fill {
            task.filled_for = Some(record.request);
        }
        self.requests += u64::from(record.offset_bytes != task.filled_end);
        task.filled_end = record.offset_bytes.saturating_add(record.length_bytes.into());
        self.pages += pages;
    }

    /// A touch. Gives the work of its task since its last one, in microseconds.
    pub(crate) fn touched(&mut self, record: &Record) -> u32 {
        let waited = self.waited_ns;
        let task = self.tasks.entry(record.task).or_default();
        if task.last_ns == 0 {
            // Most likely no task waited for a task that begins, but it waited for those before.
            task.waited_ns = waited;
        }
        let begun = if task.last_ns == 0 { ns(waited) } else { task.last_ns };
        let passed = record.time_ns.saturating_sub(begun).max(0).unsigned_abs();
        let mut wait = 0;
        let is_read = matches!(record.op, CacheEvent::Read | CacheEvent::Splice);
        if task.filled_for == Some(record.request) && is_read {
            wait = record.time_ns.saturating_sub(task.filled_ns).max(0).unsigned_abs().min(passed);
            if self.samples.len() < SAMPLES_MAX {
                self.samples.push(Sample { pages: task.filled_pages, ns: wait });
            }
            self.sampled_ns += wait;
        } else if task.filled_for.is_some() && task.filled_for == task.fault {
            let known = self.samples.len() as u64;
            wait = self.sampled_ns.checked_div(known).unwrap_or(FAULT_NS).min(passed);
        }
        task.waited_ns += wait;
        self.waited_ns = self.waited_ns.max(task.waited_ns);
        let fault = (record.op == CacheEvent::Fault).then_some(record.request);
        let (last_ns, waited_ns) = (record.time_ns.max(1), task.waited_ns);
        *task = Task { last_ns, waited_ns, fault, filled_end: task.filled_end, ..Task::default() };
        u32::try_from((passed - wait) / 1000).unwrap_or(u32::MAX)
    }

    /// Returns the pace, after all records.
    pub(crate) fn finish(self, facts: &Facts) -> Pace {
        let service = Service::fit(&self.samples);
        let elapsed = facts.elapsed_ns;
        let seen = elapsed.saturating_sub(self.waited_ns);
        if let Some(timed) = &facts.timed {
            let work_ns = work_of(timed);
            return Pace { work_ns, scale: scale(work_ns, seen), service };
        }
        // What was read ahead may have been waited for too, but only while the processor was idle.
        let idle = elapsed.saturating_sub(facts.cpu_ns);
        let all = service.map_or(0.0, |service| service.total_ns(self.requests, self.pages));
        let hidden = idle.min(whole(all)).saturating_sub(self.waited_ns);
        let most = whole(seen as f64 * OVERHEAD_MAX);
        let overhead = (facts.capture.events * EVENT_NS).min(most);
        let work_ns = seen.saturating_sub(hidden).saturating_sub(overhead);
        Pace { work_ns, scale: scale(work_ns, seen), service }
    }
}

/// What becomes of a nanosecond that was recorded; what is not known stays as it is, and what cannot be
/// so much.
fn scale(work_ns: u64, seen_ns: u64) -> f64 {
    if work_ns == 0 || seen_ns == 0 { 1.0 } else { (work_ns as f64 / seen_ns as f64).min(1000.0) }
}

/// Work of a run from memory. What it had to read all the same it waited for, if the processor was
/// idle.
fn work_of(timed: &Timed) -> u64 {
    let idle = timed.elapsed_ns.saturating_sub(timed.cpu_ns);
    let waited = timed.read_bytes.pages_up().0.saturating_mul(FAULT_NS);
    timed.elapsed_ns - idle.min(waited)
}

fn ns(waited: u64) -> i64 {
    i64::try_from(waited).unwrap_or(i64::MAX)
}

/// How fast a recorded command works, and its disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Elapsed time without the waits for the disc, and without what recording cost.
    pub work_ns: u64,
    /// The work between two touches, as recorded, times this is what it would be.
    pub scale: f64,
    /// What the recording says of the disc; nothing where it hardly missed.
    pub service: Option<Service>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { work_ns: 0, scale: 1.0, service: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::FileId;

    fn record(
        time_us: i64,
        task: u32,
        op: CacheEvent,
        page: u64,
        pages: u32,
        request: u32,
    ) -> Record {
        Record {
            time_ns: time_us * 1000,
            offset_bytes: page * 4096,
            file_bytes: 1 << 30,
            length_bytes: pages * 4096,
            file: FileId(0),
            task,
            request,
            op,
        }
    }

    #[test]
    fn a_wait_is_no_work() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.touched(&record(10, 1, CacheEvent::Read, 0, 1, 0)), 10);
        stalls.filled(&record(30, 1, CacheEvent::Fill, 5, 1, 1));
        stalls.filled(&record(31, 1, CacheEvent::Readahead, 6, 3, 1));
        assert_eq!(stalls.touched(&record(131, 1, CacheEvent::Read, 5, 1, 1)), 21);
        assert_eq!(stalls.samples, [Sample { pages: 4, ns: 100_000 }]);
        // Read ahead alone: no task waits.
        stalls.filled(&record(140, 1, CacheEvent::Readahead, 9, 4, 2));
        assert_eq!(stalls.touched(&record(141, 1, CacheEvent::Read, 6, 1, 2)), 10);
        // A task that begins later does so after what was waited before.
        assert_eq!(stalls.touched(&record(200, 2, CacheEvent::Read, 0, 1, 3)), 100);
        let facts = Facts { elapsed_ns: 250_000, cpu_ns: 150_000, ..Facts::default() };
        assert_eq!(stalls.finish(&facts).work_ns, 150_000);
    }

    #[test]
    fn a_run_that_was_not_recorded_says_more_than_one_that_was_stopped() {
        let mut stalls = Stalls::default();
        stalls.touched(&record(1000, 1, CacheEvent::Read, 0, 1, 0));
        let pace = |read_bytes| {
            let timed = Timed { elapsed_ns: 400_000, cpu_ns: 150_000, read_bytes };
            let facts = Facts { elapsed_ns: 1_600_000, timed: Some(timed), ..Facts::default() };
            let pace = stalls.clone().finish(&facts);
            (pace.work_ns, pace.scale)
        };
        // It slept, or it waited for what was read, a page at most so long; not while it computed.
        assert_eq!(pace(Bytes(0)), (400_000, 0.25));
        assert_eq!(pace(Bytes(4096)).0, 300_000);
        assert_eq!(pace(Bytes(1 << 20)).0, 150_000);
    }

    #[test]
    fn without_facts_time_passes_as_recorded() {
        let mut stalls = Stalls::default();
        stalls.touched(&record(1000, 1, CacheEvent::Read, 0, 1, 0));
        let scale = |facts: &Facts| stalls.clone().finish(facts).scale.to_string();
        assert_eq!(scale(&Facts::default()), "1");
        let timed = Some(Timed { elapsed_ns: u64::MAX, ..Timed::default() });
        let facts = Facts { elapsed_ns: 1, timed, ..Facts::default() };
        assert_eq!(scale(&facts), "1000");
    }

    #[test]
    fn a_fault_waits_behind_its_record() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.touched(&record(10, 1, CacheEvent::Fault, 7, 1, 0)), 10);
        stalls.filled(&record(11, 1, CacheEvent::Fill, 7, 1, 0));
        assert_eq!(stalls.touched(&record(200, 1, CacheEvent::Read, 0, 1, 1)), 90);
        assert!(stalls.samples.is_empty());
    }
}

//! Counts what a grid has numbered: on another thread, while the grid numbers what comes next.
//!
//! A trace is read and numbered by one thread and counted by others. The counts are lent to a job of the
//! pool with all that waits for them, and come back with it. So one job is under way at most, and the
//! order of the accesses is kept.
//!
//! Invariant: the counts are those of one thread. Cost: 4 bytes an access that waits, and handing over once for
//! [`JOB_ACCESSES`].

use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use super::counting::{Cell, Counting};
use super::stack::AccessSource;
use crate::cache::engine::Accesses;

/// Accesses from which on a job is worth handing over. Tests have short traces.
const JOB_ACCESSES: usize = if cfg!(test) { 100 } else { 1 << 16 };
/// Accesses that wait at most, in multiples of a job: the grid waits for the counts then.
const JOBS_WAITING: usize = 4;

/// What a step costs in memory and time, in accesses.
const STEP_COSTS: usize = if cfg!(test) { 1 } else { 64 };

/// One step of a trace in numbers: accesses, then pages that leave, then the end of the warm-up.
#[derive(Default)]
struct Numbered {
    pages: Vec<u32>,
    ends: Vec<u32>,
    gone: Vec<u32>,
    starts_counting: bool,
}

/// What a job returns; or what it panicked with.
type Returned = thread::Result<(Counting, Vec<Numbered>)>;

/// Lends the counts to jobs.
pub(super) struct Counter {
    /// Absent while a job has them.
    counting: Option<Counting>,
    away: Option<Receiver<Returned>>,
    waiting: Vec<Numbered>,
    waiting_accesses: usize,
    /// Steps that were counted: their room is used again.
    spare: Vec<Numbered>,
    /// Whether another thread may count.
    lends: bool,
}

impl Counter {
    /// `parallel`: several processors may be used.
    pub(super) fn new(cells: Vec<Cell>, parallel: bool) -> Self {
        Self {
            counting: Some(Counting { stack: None, cells, parallel }),
            away: None,
            waiting: Vec::new(),
            waiting_accesses: 0,
            spare: Vec::new(),
            // A pool of one thread may be the thread that would wait for it.
            lends: parallel && rayon::current_num_threads() > 1,
        }
    }

    /// The counts of all that was given, when they are there.
    pub(super) fn settle(&mut self) -> &mut Counting {
        while self.away.is_some() || !self.waiting.is_empty() {
            self.take_back();
            self.lend();
        }
        self.counting.as_mut().expect("no job has the counts")
    }

    /// The same after [`Self::settle`].
    pub(super) fn settled(&self) -> &Counting {
        self.counting.as_ref().expect("the counts are settled")
    }

    /// The accesses of a step. Their source is given where parts are counted, which needs the
    /// requests at once. Their keys are given where caches prefetch: then no job is lent, as memory goes by the counts.
    pub(super) fn access(
        &mut self,
        accesses: &Accesses,
        source: Option<AccessSource>,
        keys: Option<&[u64]>,
    ) {
        if source.is_some() || keys.is_some() || !self.lends {
            self.settle().access(accesses, source, keys);
            return;
        }
        let mut step = self.spare.pop().unwrap_or_default();
        step.pages.extend_from_slice(accesses.pages);
        step.ends.extend_from_slice(accesses.request_ends.unwrap_or_default());
        self.waiting_accesses += step.pages.len() + STEP_COSTS;
        self.waiting.push(step);
        if self.waiting_accesses >= JOB_ACCESSES && self.has_come_back() {
            self.lend();
        } else if self.waiting_accesses >= JOB_ACCESSES * JOBS_WAITING {
            self.take_back();
            self.lend();
        }
    }

    /// These pages leave every cache.
    pub(super) fn remove(&mut self, pages: &[u32]) {
        match self.last() {
            Some(step) => {
                step.gone.extend_from_slice(pages);
                self.waiting_accesses += pages.len();
            }
            None => self.settle().remove(pages),
        }
    }

    /// Forgets the counts so far, and nothing of what the caches hold.
    pub(super) fn start_counting(&mut self) {
        match self.last() {
            Some(step) => step.starts_counting = true,
            None => self.settle().start_counting(),
        }
    }

    /// The step that waits last; an empty one if a job is under way for those before.
    fn last(&mut self) -> Option<&mut Numbered> {
        if self.waiting.is_empty() && self.away.is_some() {
            let step = self.spare.pop().unwrap_or_default();
            self.waiting_accesses += STEP_COSTS;
            self.waiting.push(step);
        }
        self.waiting.last_mut()
    }

    /// Lends the counts, which are here, to a job for all that waits.
    fn lend(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let Some(counting) = self.counting.take() else { return };
        let steps = take(&mut self.waiting);
        self.waiting_accesses = 0;
        let (give, returned) = sync_channel(1);
        self.away = Some(returned);
        rayon::spawn(move || {
            let counted = catch_unwind(AssertUnwindSafe(|| count(counting, steps)));
            // A grid that was dropped meanwhile has no use for them.
            let _ = give.send(counted);
        });
    }

    /// Whether no job has the counts.
    fn has_come_back(&mut self) -> bool {
        let Some(away) = &self.away else { return true };
        match away.try_recv() {
            Ok(returned) => self.receive(returned),
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Disconnected) => unreachable!("a job sends before it ends"),
        }
        true
    }

    /// Waits for the job that has the counts. A thread of the pool helps with what it finds, perhaps
    /// with this very job.
    fn take_back(&mut self) {
        while !self.has_come_back() {
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                continue;
            }
            let away = self.away.as_ref().expect("a job has the counts");
            let returned = away.recv().expect("a job sends before it ends");
            self.receive(returned);
        }
    }

    fn receive(&mut self, returned: Returned) {
        self.away = None;
        let (counting, steps) = returned.unwrap_or_else(|panic| resume_unwind(panic));
        self.counting = Some(counting);
        self.spare = steps;
    }
}

fn count(mut counting: Counting, mut steps: Vec<Numbered>) -> (Counting, Vec<Numbered>) {
    for step in &mut steps {
        let ends = (!step.ends.is_empty()).then_some(&step.ends[..]);
        if !step.pages.is_empty() {
            counting.access(&Accesses { pages: &step.pages, request_ends: ends }, None, None);
        }
        counting.remove(&step.gone);
        if take(&mut step.starts_counting) {
            counting.start_counting();
        }
        for room in [&mut step.pages, &mut step.ends, &mut step.gone] {
            room.clear();
            // A single request may have had millions.
            room.shrink_to(JOB_ACCESSES);
        }
    }
    (counting, steps)
}

//! Counts what a grid has numbered: on another thread, while the grid numbers what comes next.
//!
//! A trace is read and numbered by one thread and counted by others. The counts are lent to a job of the
//! pool with all that waits for them, and come back with it. So one job is under way at most, and the
//! order of the accesses is kept.
//!
//! Invariant: the counts are those of one thread. Cost: 4 bytes an access that waits, and the time of
//! handing over, about 20 us for [`JOB_ACCESSES`].

use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use rayon::prelude::*;

use super::LRU;
use super::stack::{Asked, Stack};
use crate::cache::engine::{Accesses, Count, Engine};
use crate::cache::policy::Choice;

/// Accesses from which on a job is worth handing over. Tests have short traces.
const JOB_ACCESSES: usize = if cfg!(test) { 100 } else { 1 << 16 };
/// Accesses that wait at most, in multiples of a job: the grid waits for the counts then.
const JOBS_WAITING: usize = 4;

/// A policy, and the engines that count it: several where several processors share its sizes.
pub(super) struct Cell {
    pub(super) choice: Choice,
    pub(super) engines: Vec<Box<dyn Engine>>,
    pub(super) counts: Vec<Count>,
}

impl Cell {
    /// Starts an engine, or several where `threads` can share its sizes.
    fn start(&mut self, sizes: &[u64], threads: usize, seed: u64) {
        let whole = self.choice.engine(sizes, seed);
        let parts = threads.min(sizes.len().div_ceil(whole.sizes_at_once()));
        if parts <= 1 {
            self.engines = vec![whole];
            return;
        }
        // Dealt in turn, so that each part has small and large sizes.
        let part = |part| sizes.iter().skip(part).step_by(parts).copied().collect::<Vec<u64>>();
        self.engines = (0..parts).map(|at| self.choice.engine(&part(at), seed)).collect();
    }

    /// Gathers the counts in the order of the sizes.
    pub(super) fn finish(&mut self) {
        let mut parts: Vec<_> =
            self.engines.drain(..).map(|engine| engine.finish().into_iter()).collect();
        let sizes = parts.iter().map(ExactSizeIterator::len).sum();
        let turns = parts.len().max(1);
        self.counts.extend((0..sizes).filter_map(|at| parts[at % turns].next()));
    }
}

/// The LRU stack and every policy.
pub(super) struct Counting {
    pub(super) stack: Option<Stack>,
    pub(super) cells: Vec<Cell>,
    /// Whether they may count at the same time.
    parallel: bool,
}

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

    /// The accesses of a step. What they are asked by is given where parts are counted, which needs the
    /// requests at once.
    pub(super) fn access(&mut self, accesses: &Accesses, asked: Option<Asked>) {
        if asked.is_some() || !self.lends {
            self.settle().access(accesses, asked);
            return;
        }
        let mut step = self.spare.pop().unwrap_or_default();
        step.pages.extend_from_slice(accesses.pages);
        step.ends.extend_from_slice(accesses.request_ends.unwrap_or_default());
        self.waiting_accesses += step.pages.len();
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
        match self.waiting.last_mut() {
            Some(step) => step.gone.extend_from_slice(pages),
            None => self.settle().remove(pages),
        }
    }

    /// Forgets the counts so far, and nothing of what the caches hold.
    pub(super) fn start_counting(&mut self) {
        match self.waiting.last_mut() {
            Some(step) => step.starts_counting = true,
            None => self.settle().start_counting(),
        }
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
        counting.access(&Accesses { pages: &step.pages, request_ends: ends }, None);
        counting.remove(&step.gone);
        if take(&mut step.starts_counting) {
            counting.start_counting();
        }
        step.pages.clear();
        step.ends.clear();
        step.gone.clear();
    }
    (counting, steps)
}

impl Counting {
    /// Whether a policy is to be counted on the second reading.
    pub(super) fn waits(&self) -> bool {
        let counted = |cell: &Cell| self.stack.is_some() && cell.choice.row().name == LRU;
        self.cells.iter().any(|cell| cell.engines.is_empty() && !counted(cell))
    }

    /// Gives engines to every policy that the stack does not count, or has counted.
    pub(super) fn start(&mut self, sizes: &[u64], stacked: bool, seed: u64) {
        let stacked = stacked || self.stack.is_some();
        let is_to_start = |cell: &&mut Cell| {
            cell.engines.is_empty() && !(stacked && cell.choice.row().name == LRU)
        };
        let threads = self.threads();
        let has_stack = self.stack.is_some();
        let cells: Vec<_> = self.cells.iter_mut().filter(is_to_start).collect();
        let threads = threads.div_ceil((cells.len() + usize::from(has_stack)).max(1));
        for cell in cells {
            cell.start(sizes, threads, seed);
        }
    }

    /// How many engines count at the same time, at the most.
    pub(super) fn threads(&self) -> usize {
        if self.parallel { rayon::current_num_threads() } else { 1 }
    }

    fn engines(&mut self) -> impl Iterator<Item = &mut Box<dyn Engine>> {
        self.cells.iter_mut().flat_map(|cell| &mut cell.engines)
    }

    fn access(&mut self, accesses: &Accesses, asked: Option<Asked>) {
        let mut stack = self.stack.as_mut();
        let has_stack = stack.is_some();
        let mut run_stack = || {
            if let Some(stack) = &mut stack {
                stack.access(accesses, asked);
            }
        };
        let mut engines: Vec<_> =
            self.cells.iter_mut().flat_map(|cell| &mut cell.engines).collect();
        // Of a single task, another thread has nothing but the trouble of being woken.
        let tasks = usize::from(has_stack) + engines.len();
        if self.parallel && tasks > 1 {
            rayon::join(run_stack, || {
                engines.par_iter_mut().for_each(|engine| engine.access(accesses));
            });
        } else {
            run_stack();
            for engine in engines {
                engine.access(accesses);
            }
        }
    }

    fn remove(&mut self, pages: &[u32]) {
        if pages.is_empty() {
            return;
        }
        if let Some(stack) = &mut self.stack {
            stack.remove(pages);
        }
        for engine in self.engines() {
            engine.remove(pages);
        }
    }

    fn start_counting(&mut self) {
        if let Some(stack) = &mut self.stack {
            stack.start_counting();
        }
        for engine in self.engines() {
            engine.start_counting();
        }
    }
}

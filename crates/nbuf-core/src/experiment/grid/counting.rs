//! What a grid counts: the LRU stack, and the engines of every policy.

use rayon::prelude::*;

use super::LRU;
use super::stack::{AccessSource, Stack};
use crate::cache::engine::{Accesses, Count, Engine, Prefetches};
use crate::cache::policy::Choice;
use crate::cache::prefetch::{self, Prefetching};

/// A policy, and the engines that count it: several where several processors share its sizes.
pub(super) struct Cell {
    pub(super) choice: Choice,
    pub(super) prefetching: Option<Prefetching>,
    pub(super) engines: Vec<Box<dyn Engine>>,
    pub(super) counts: Vec<Count>,
    /// What came of prefetching at the same sizes, if anything was prefetched.
    pub(super) prefetches: Vec<Prefetches>,
}

impl Cell {
    pub(super) fn new(choice: Choice, prefetching: Option<Prefetching>) -> Self {
        let (engines, counts, prefetches) = (Vec::new(), Vec::new(), Vec::new());
        Self { choice, prefetching, engines, counts, prefetches }
    }

    /// Starts an engine, or several where `threads` can share its sizes.
    fn start(&mut self, sizes: &[u64], threads: usize, seed: u64) {
        let whole = self.engine(sizes, seed);
        let parts = threads.min(sizes.len().div_ceil(whole.sizes_at_once()));
        if parts <= 1 {
            self.engines = vec![whole];
            return;
        }
        // Dealt in turn, so that each part has small and large sizes.
        let part = |part| sizes.iter().skip(part).step_by(parts).copied().collect::<Vec<u64>>();
        self.engines = (0..parts).map(|at| self.engine(&part(at), seed)).collect();
    }

    fn engine(&self, sizes: &[u64], seed: u64) -> Box<dyn Engine> {
        match self.prefetching {
            Some(prefetching) => prefetch::engine(&self.choice, sizes, seed, prefetching),
            None => self.choice.engine(sizes, seed),
        }
    }

    /// Gathers the counts in the order of the sizes.
    pub(super) fn finish(&mut self) {
        let prefetches = self.engines.iter().map(|engine| engine.prefetches()).collect();
        self.prefetches.extend(in_turn(prefetches));
        let counts = self.engines.drain(..).map(Engine::finish).collect();
        self.counts.extend(in_turn(counts));
    }
}

/// What was dealt to parts in turn, in its first order.
fn in_turn<T>(parts: Vec<Vec<T>>) -> impl Iterator<Item = T> {
    let sizes: usize = parts.iter().map(Vec::len).sum();
    let turns = parts.len().max(1);
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    (0..sizes).filter_map(move |at| parts[at % turns].next())
}

/// The LRU stack and every policy.
pub(super) struct Counting {
    pub(super) stack: Option<Stack>,
    pub(super) cells: Vec<Cell>,
    /// Whether they may count at the same time.
    pub(super) parallel: bool,
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

    /// Whether the stack is all that counts, so that it may overwrite the pages.
    pub(super) fn is_stack_alone(&self) -> bool {
        self.stack.is_some() && self.cells.iter().all(|cell| cell.engines.is_empty())
    }

    fn engines(&mut self) -> impl Iterator<Item = &mut Box<dyn Engine>> {
        self.cells.iter_mut().flat_map(|cell| &mut cell.engines)
    }

    /// Memory of what the engines add to the `distinct` pages of the trace, after this many more accesses in this many
    /// requests.
    pub(super) fn bytes_beyond(&self, distinct: u64, accesses: u64, requests: u64) -> u64 {
        let engines = self.cells.iter().flat_map(|cell| &cell.engines);
        let beyond = engines.map(|engine| engine.bytes_beyond(distinct, accesses, requests));
        beyond.fold(0, u64::saturating_add)
    }

    pub(super) fn access(
        &mut self,
        accesses: &Accesses,
        source: Option<AccessSource>,
        keys: Option<&[u64]>,
    ) {
        let mut stack = self.stack.as_mut();
        let has_stack = stack.is_some();
        let mut run_stack = || {
            if let Some(stack) = &mut stack {
                stack.access(accesses, source);
            }
        };
        let mut engines: Vec<_> =
            self.cells.iter_mut().flat_map(|cell| &mut cell.engines).collect();
        // A single task gains nothing on another thread, which would first have to be woken.
        let tasks = usize::from(has_stack) + engines.len();
        let run = |engine: &mut Box<dyn Engine>| match keys {
            Some(keys) => engine.access_keys(accesses, keys),
            None => engine.access(accesses),
        };
        if self.parallel && tasks > 1 {
            rayon::join(run_stack, || {
                engines.par_iter_mut().for_each(|engine| run(engine));
            });
        } else {
            run_stack();
            for engine in engines {
                run(engine);
            }
        }
    }

    pub(super) fn remove_keys(&mut self, first: u64, last: u64) {
        for engine in self.engines() {
            engine.remove_keys(first, last);
        }
    }

    pub(super) fn remove(&mut self, pages: &[u32]) {
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

    pub(super) fn start_counting(&mut self) {
        if let Some(stack) = &mut self.stack {
            stack.start_counting();
        }
        for engine in self.engines() {
            engine.start_counting();
        }
    }
}

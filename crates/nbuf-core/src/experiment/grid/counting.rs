//! What a grid counts: the LRU stack, and the engines of every policy.

use rayon::prelude::*;

use super::LRU;
use super::stack::{Asked, Stack};
use crate::cache::engine::{Accesses, Count, Engine};
use crate::cache::policy::Choice;

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

    fn engines(&mut self) -> impl Iterator<Item = &mut Box<dyn Engine>> {
        self.cells.iter_mut().flat_map(|cell| &mut cell.engines)
    }

    pub(super) fn access(&mut self, accesses: &Accesses, asked: Option<Asked>) {
        let mut stack = self.stack.as_mut();
        let has_stack = stack.is_some();
        let mut run_stack = || {
            if let Some(stack) = &mut stack {
                stack.access(accesses, asked);
            }
        };
        let mut engines: Vec<_> =
            self.cells.iter_mut().flat_map(|cell| &mut cell.engines).collect();
        // A single task gains nothing on another thread, which would first have to be woken.
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

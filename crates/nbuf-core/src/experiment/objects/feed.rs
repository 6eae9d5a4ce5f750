//! Feeds the policies: requests become accesses to objects, and every policy takes the same batch.

use rayon::prelude::*;

use super::{Costs, Objects};
use crate::cache::objects::{NEVER_NS, Object};
use crate::experiment::grid::widen;
use crate::trace::request::{Op, Request};
use crate::workload::pages::{KeyRange, Step, Writes};

/// The largest object: as large as the longest request that is taken in pages. All sums
/// then stay within 64 bits.
pub(in crate::experiment) const OBJECT_BYTES_MAX: u64 = 1 << 34;

impl Objects {
    /// Requests, in order.
    pub(super) fn take_requests(&mut self, requests: &[Request]) {
        widen(&mut self.span, requests);
        let left = usize::try_from(self.warming).unwrap_or(usize::MAX).min(requests.len());
        let (warmup, counted) = requests.split_at(left);
        if !warmup.is_empty() {
            self.feed(warmup);
            self.warming -= left as u64;
            if self.warming == 0 {
                self.start_counting();
            }
        }
        widen(&mut self.counted_span, counted);
        self.feed(counted);
    }

    /// The caches are warm: what they were asked for so far does not count.
    fn start_counting(&mut self) {
        if let Some(distances) = &mut self.distances {
            distances.start_counting();
        }
        for engine in self.cells.iter_mut().filter_map(|cell| cell.engine.as_mut()) {
            engine.start_counting();
        }
    }

    /// Leaves out and counts what is too large to be an object: that is damage.
    fn feed(&mut self, requests: &[Request]) {
        let fits = |request: &Request| request.length_bytes <= OBJECT_BYTES_MAX;
        if requests.iter().all(fits) {
            return self.feed_fitting(requests);
        }
        let fitting: Vec<Request> = requests.iter().copied().filter(fits).collect();
        if self.first.is_none() {
            self.oversized += (requests.len() - fitting.len()) as u64;
        }
        self.feed_fitting(&fitting);
    }

    fn feed_fitting(&mut self, requests: &[Request]) {
        let mut rest = requests;
        while !rest.is_empty() {
            let mut step = std::mem::take(&mut self.step);
            let taken = self.pages.step(rest, &mut step);
            self.accesses(&step, rest);
            step.gone.iter().for_each(|&range| self.remove(range));
            self.step = step;
            rest = &rest[taken..];
        }
    }

    fn accesses(&mut self, step: &Step, requests: &[Request]) {
        self.numbers.clear();
        self.interner.intern(&step.keys, &mut self.numbers);
        self.accesses += self.numbers.len() as u64;
        let Self { plan, lifetimes, .. } = self;
        self.batch.clear();
        self.batch.extend(self.numbers.iter().zip(&step.from).map(|(&number, &from)| {
            let request = &requests[from as usize];
            let bytes = request.length_bytes;
            let ends = plan.ttl.map(|ttl| lifetimes.ends(number, request, ttl));
            let (now_ns, ends_ns) = ends.unwrap_or((0, NEVER_NS));
            let charge = plan.allocator.charge(bytes, plan.overhead_bytes);
            let cost = match plan.costs {
                Costs::Equal => 1.0,
                Costs::OfTrace => request.cost.value(),
            };
            let is_write = request.op == Op::Write;
            let is_counted = !is_write || plan.writes != Writes::Store;
            Object { number, is_write, is_counted, bytes, charge, cost, now_ns, ends_ns }
        }));
        if self.first.is_none() {
            self.batch.iter().for_each(|object| self.known.access(object));
        }
        if !self.known.only_grows() {
            // They do not hold for this trace, and the caches need the memory.
            self.distances = None;
        }
        let batch = &self.batch;
        let distances = self.distances.as_mut();
        let has_distances = distances.is_some();
        let run_distances = || {
            let Some(distances) = distances else { return };
            for object in batch {
                distances.access(object.number, object.bytes, object.charge);
            }
        };
        let mut engines: Vec<_> =
            self.cells.iter_mut().filter_map(|cell| cell.engine.as_mut()).collect();
        let tasks = usize::from(has_distances) + engines.len();
        if self.plan.parallel && tasks > 1 {
            rayon::join(run_distances, || {
                engines.par_iter_mut().for_each(|engine| engine.access(batch));
            });
        } else {
            run_distances();
            for engine in engines {
                engine.access(batch);
            }
        }
    }

    fn remove(&mut self, range: KeyRange) {
        let numbers = self.interner.known(range.first, range.last);
        if numbers.is_empty() {
            return;
        }
        if self.first.is_none() {
            self.known.removals += numbers.len() as u64;
        }
        for engine in self.cells.iter_mut().filter_map(|cell| cell.engine.as_mut()) {
            engine.remove(&numbers);
        }
    }
}

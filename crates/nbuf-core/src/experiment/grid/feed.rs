//! Feeds a grid: requests become steps, and every cell takes the same step.

use super::Grid;
use super::stack::AccessSource;
use crate::cache::engine::Accesses;
use crate::trace::request::Request;
use crate::workload::pages::{KeyRange, Step};

impl Grid {
    /// Requests, in order.
    pub fn take(&mut self, requests: &[Request]) {
        widen(&mut self.span, requests);
        let left = usize::try_from(self.warming).unwrap_or(usize::MAX).min(requests.len());
        let (warmup, counted) = requests.split_at(left);
        if !warmup.is_empty() {
            self.feed(warmup);
            self.warming -= left as u64;
            if self.warming == 0 {
                self.counter.start_counting();
            }
        }
        widen(&mut self.counted_span, counted);
        self.feed(counted);
    }

    fn feed(&mut self, requests: &[Request]) {
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
        if step.keys.is_empty() {
            return;
        }
        self.numbers.clear();
        self.interner.intern(&step.keys, &mut self.numbers);
        self.accesses += self.numbers.len() as u64;
        let ends = (!step.ends.is_empty()).then_some(&step.ends[..]);
        let accesses = Accesses { pages: &self.numbers, request_ends: ends };
        let source = self.has_parts().then_some(AccessSource { from: &step.from, requests });
        let keys = self.plan.prefetching.map(|_| &step.keys[..]);
        self.counter.access(&accesses, source, keys);
    }

    fn remove(&mut self, range: KeyRange) {
        if self.plan.prefetching.is_some() {
            // Pages that were only prefetched have no number here.
            self.counter.settle().remove_keys(range.first, range.last);
            return;
        }
        let pages = self.interner.known(range.first, range.last);
        if !pages.is_empty() {
            self.counter.remove(&pages);
        }
    }
}

/// Makes a span hold the times of these requests.
pub(in crate::experiment) fn widen(span: &mut Option<(i64, i64)>, requests: &[Request]) {
    if let (Some(first), Some(last)) = (requests.first(), requests.last()) {
        let (from, to) = span.unwrap_or((first.time_ns, first.time_ns));
        *span = Some((from.min(first.time_ns), to.max(last.time_ns)));
    }
}

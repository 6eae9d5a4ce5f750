//! What a grid takes, said before it is fed: so that no user waits an hour to run out of memory.
//!
//! Invariant: never less than what it takes, except what does not go with the pages; a test asks
//! the kernel.

use super::{Grid, LRU, curves};
use crate::cache::engine;
use crate::cache::policy::Choice;
use crate::cache::prefetch;
use crate::trace::request::Request;
use crate::workload::pages::{STEP_KEYS, Whole};
use crate::workload::within::Growing;

/// What its number costs a distinct page, at the most.
const NUMBER_BYTES: u64 = 20;
/// What its place in the LRU stack costs it, while the line of time is made again.
const STACK_BYTES: u64 = 6;
/// What it costs to count at its depth; once more where requests are counted too.
const DEPTH_BYTES: u64 = 4;

/// What an access of a step takes, as its key, its number and its depth, in vectors that have grown.
const ACCESS_BYTES: u64 = 40;

impl Growing for [Grid] {
    fn most(&self, requests: &[Request]) -> u64 {
        let most = self.iter().map(|grid| {
            let ahead = grid.pages.ahead(requests);
            grid.bytes(ahead.keys, ahead.longest, requests.len() as u64)
        });
        most.fold(0, u64::saturating_add)
    }

    fn least(&self, requests: &[Request]) -> u64 {
        let least = self.iter().map(|grid| {
            let distinct = grid.pages.distinct(requests).max(grid.distinct_pages());
            distinct.saturating_mul(grid.page_bytes).saturating_add(grid.least_bytes)
        });
        least.fold(0, u64::saturating_add)
    }

    fn exactly(&self, request: &Request) -> u64 {
        let exactly = self.iter().map(|grid| {
            let Some(range) = grid.pages.reach(request) else { return grid.bytes(0, 0, 1) };
            let pages = range.last - range.first + 1;
            // The keys of whole requests are not numbered yet.
            let known = if grid.plan.whole == Whole::Yes {
                0
            } else {
                grid.interner.count(range.first, range.last)
            };
            grid.bytes(pages - known, pages, 1)
        });
        exactly.fold(0, u64::saturating_add)
    }

    fn take(&mut self, requests: &[Request]) {
        for grid in self {
            grid.longest = grid.longest.max(grid.pages.ahead(requests).longest);
            grid.take(requests);
        }
    }
}

impl Grid {
    /// Memory with this many pages more, one request of which has this many.
    fn bytes(&self, pages: u64, longest: u64, requests: u64) -> u64 {
        let distinct = self.distinct_pages().saturating_add(pages);
        let accesses = longest;
        let longest = self.longest.max(longest).saturating_add(STEP_KEYS as u64);
        let parts = if self.has_parts() {
            let stack = self.counter.settled().stack.as_ref();
            stack.map_or(0, |stack| stack.part_bytes(requests))
        } else {
            0
        };
        let beyond = match self.plan.prefetching {
            // No job has the counts of caches that prefetch.
            Some(_) => {
                let counting = self.counter.settled();
                counting.bytes_beyond(self.distinct_pages(), pages.max(accesses), requests)
            }
            None => 0,
        };
        let each = self.page_bytes.saturating_mul(distinct).saturating_add(self.least_bytes);
        each.saturating_add(beyond)
            .saturating_add(ACCESS_BYTES * longest + parts + self.pages.bytes(requests))
    }

    /// Memory that a distinct page takes in all, at the most: the larger of both readings, if there
    /// are two. Pages used once, and depths that nothing was found at, take less.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Sizes that a policy has at once.
    fn sizes_at_most(&self) -> usize {
        match &self.plan.sizes {
            Some(list) => list.pages(self.plan.page_bytes, 1 << 20).map_or(1, |sizes| sizes.len()),
            None if self.plan.again => super::even_sizes(1 << 20).len(),
            None => curves::blind_sizes().len(),
        }
    }

    /// Memory that all caches take before anything comes.
    pub(super) fn least_expected(&self) -> u64 {
        let each: u64 = self.plan.policies.iter().map(Choice::least_bytes).sum();
        let tables = self.plan.prefetching.map_or(0, |prefetching| prefetching.least_bytes());
        let tables = tables.saturating_mul(self.plan.policies.len() as u64);
        let engines = self.plan.policies.len().saturating_mul(self.counter.settled().threads());
        let waiting = engine::WAITING_BYTES.saturating_mul(engines as u64);
        each.saturating_add(tables)
            .saturating_mul(self.sizes_at_most() as u64)
            .saturating_add(waiting)
    }

    /// The same, before anything was read.
    pub(super) fn expected(&self) -> u64 {
        let sizes = self.sizes_at_most();
        if let Some(prefetching) = self.plan.prefetching {
            let rows = self.plan.policies.iter().map(Choice::row);
            let each: u64 = rows.map(|row| prefetch::number_bytes(row, prefetching)).sum();
            return NUMBER_BYTES + each.saturating_mul(sizes as u64);
        }
        let counting = self.counter.settled();
        let stack = counting.stack.as_ref();
        let others = self.plan.policies.iter();
        let others = others.filter(|choice| stack.is_none() || choice.row().name != LRU);
        // Engines that share the sizes of a policy have once each what it costs once.
        let parts = counting.threads().div_ceil(others.clone().count().max(1)) as u64;
        let others: u64 = others
            .map(Choice::row)
            .map(|row| engine::bytes(row, &vec![1; sizes], 1) + (parts - 1) * row.once_bytes)
            .sum();
        let counts = stack.map_or(0, |stack| DEPTH_BYTES * stack.counts());
        let stack = if stack.is_some() { STACK_BYTES } else { 0 };
        let waits = counting.waits();
        NUMBER_BYTES + counts + if waits { others.max(stack) } else { others + stack }
    }
}

//! What a grid takes, said before it is fed: so that nobody waits an hour to run out of memory.
//!
//! Invariant: never less than what it takes, but for what does not go with the pages; a test asks
//! the kernel.

use super::{Grid, LRU, curves};
use crate::cache::engine;

/// What its number costs a distinct page, at the most.
const NUMBER_BYTES: u64 = 20;
/// What its place in the LRU stack costs it, while the line of time is made anew.
const STACK_BYTES: u64 = 6;
/// What it costs to count at its depth; once more where requests are counted too.
const DEPTH_BYTES: u64 = 4;
impl Grid {
    /// Memory that a distinct page takes in all, at the most: the larger of both readings, if there
    /// are two. Pages used once, and depths that nothing was found at, take less.
    pub fn page_bytes(&self) -> u64 {
        let sizes = match &self.plan.sizes {
            Some(list) => list.pages(self.plan.page_bytes, 1 << 20).map_or(1, |sizes| sizes.len()),
            None if self.plan.again => curves::sizes(1 << 20).len(),
            None => curves::blind_sizes().len(),
        };
        let others =
            self.cells.iter().filter(|cell| self.stack.is_none() || cell.choice.row().name != LRU);
        let others: u64 =
            others.map(|cell| engine::bytes(cell.choice.row(), &vec![1; sizes], 1)).sum();
        let counts = self.stack.as_ref().map_or(0, |stack| DEPTH_BYTES * stack.counts());
        let stack = if self.stack.is_some() { STACK_BYTES } else { 0 };
        let waits = self.cells.iter().any(|cell| self.waits(cell));
        NUMBER_BYTES + counts + if waits { others.max(stack) } else { others + stack }
    }
}

//! A disc that takes no time and keeps nothing: what is left is the cost of everything else.
//!
//! The first thing to measure, because no other disc can be faster. Reads bring zeros.

use std::collections::VecDeque;

use super::{Completion, Disc, Operation, Request, Spent};
use crate::units::Nanos;

/// See the module.
#[derive(Clone, Debug)]
pub struct Null {
    size_bytes: u64,
    done: VecDeque<Completion>,
}

impl Null {
    /// One that ends there.
    pub fn new(size_bytes: u64) -> Self {
        Self { size_bytes, done: VecDeque::new() }
    }
}

impl Disc for Null {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, mut request: Request) {
        let outcome = request.within(self.size_bytes);
        if request.operation == Operation::Read {
            request.data.fill(0);
        }
        self.done.push_back(Completion { request, at: now, spent: Spent::default(), outcome });
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        if self.done.front()?.at > until {
            return None;
        }
        self.done.pop_front()
    }

    fn under_way(&self) -> usize {
        self.done.len()
    }
}

//! A disc that takes no time and keeps nothing, which leaves the cost of everything else.
//!
//! Measure it first, because no other disc can be faster. Reads return zeros.

use std::collections::VecDeque;

use super::{Breakdown, Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// A disc that completes every request at once.
#[derive(Clone, Debug)]
pub struct Null {
    size_bytes: u64,
    done: VecDeque<Completion>,
}

impl Null {
    /// Makes a disc of this size.
    pub fn new(size_bytes: u64) -> Self {
        Self { size_bytes, done: VecDeque::new() }
    }
}

impl Disc for Null {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, mut data: Vec<u8>) {
        let outcome = DiscError::check(&request, self.size_bytes);
        if request.op == Op::Read {
            data.fill(0);
        }
        self.done.push_back(Completion {
            request,
            data,
            at: now,
            breakdown: Breakdown::default(),
            outcome,
        });
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

//! The requests that wait for a disc, and the choice of the next.
//!
//! The choice is among requests that have arrived when the disc becomes free. It costs a lookup in
//! a tree for `sstf` and `elevator`, and nothing for `fifo`. At equal distance, the lower cylinder
//! goes first; on one cylinder, the earlier request.

use std::collections::{BTreeMap, VecDeque};

use crate::trace::request::Request;
use crate::units::Nanos;

/// The order in which requests are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The order of arrival.
    Fifo,
    /// The shortest seek first. A distant request may wait for ever.
    Sstf,
    /// Continues in one direction while requests wait there, then turns back (LOOK).
    Elevator,
}

impl Scheduler {
    /// All orders by name.
    pub const NAMED: [(&str, Self); 3] =
        [("fifo", Self::Fifo), ("sstf", Self::Sstf), ("elevator", Self::Elevator)];
}

/// A waiting request.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub came: Nanos,
    pub request: Request,
    pub data: Vec<u8>,
}

/// The queue of a disc.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    scheduler: Scheduler,
    arrived: VecDeque<(u32, Waiting)>,
    waiting: BTreeMap<(u32, u64), Waiting>,
    count: u64,
    upwards: bool,
}

impl Queue {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        let (arrived, waiting) = (VecDeque::new(), BTreeMap::new());
        Self { scheduler, arrived, waiting, count: 0, upwards: true }
    }

    pub(super) fn len(&self) -> usize {
        self.arrived.len() + self.waiting.len()
    }

    /// Adds a request; calls are in order of arrival.
    pub(super) fn push(&mut self, cylinder: u32, waiting: Waiting) {
        self.arrived.push_back((cylinder, waiting));
    }

    /// The time at which a disc that is free from `free` on can start a request.
    pub(super) fn begins(&self, free: Nanos) -> Option<Nanos> {
        if self.waiting.is_empty() {
            return Some(self.arrived.front()?.1.came.max(free));
        }
        Some(free)
    }

    /// Takes the next request for an arm at `cylinder`, among those that have arrived by `now`.
    pub(super) fn pop(&mut self, now: Nanos, cylinder: u32) -> Option<Waiting> {
        if self.scheduler == Scheduler::Fifo {
            return self.arrived.pop_front().map(|(_, waiting)| waiting);
        }
        // A single request is next in any order, and needs no tree.
        if self.waiting.is_empty() && self.arrived.get(1).is_none_or(|(_, next)| next.came > now) {
            let (to, waiting) = self.arrived.pop_front()?;
            if to != cylinder {
                self.upwards = to > cylinder;
            }
            return Some(waiting);
        }
        while self.arrived.front().is_some_and(|(_, next)| next.came <= now) {
            let (to, waiting) = self.arrived.pop_front()?;
            self.waiting.insert((to, self.count), waiting);
            self.count += 1;
        }
        let above = self.waiting.range((cylinder, 0)..).next().map(|(&at, _)| at);
        let below = self.waiting.range(..(cylinder, 0)).next_back().map(|(&at, _)| at);
        // At the nearest cylinder below, the earliest request goes first.
        let below =
            below.and_then(|(to, _)| self.waiting.range((to, 0)..).next().map(|(&at, _)| at));
        let next = match (below, above) {
            (None, None) => return None,
            (Some(below), None) => below,
            (None, Some(above)) => above,
            (Some(below), Some(above)) => {
                let up = match self.scheduler {
                    Scheduler::Elevator => above.0 == cylinder || self.upwards,
                    Scheduler::Fifo | Scheduler::Sstf => above.0 - cylinder < cylinder - below.0,
                };
                if up { above } else { below }
            }
        };
        if next.0 != cylinder {
            self.upwards = next.0 > cylinder;
        }
        self.waiting.remove(&next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::request::Op;

    /// The order of visits to cylinders that are requested at these moments, if each visit takes
    /// ten.
    fn order(scheduler: Scheduler, from: u32, came: &[(u64, u32)]) -> Vec<u32> {
        let mut queue = Queue::new(scheduler);
        for &(came, cylinder) in came {
            let request = Request { task: cylinder, ..Request::new(Op::Read, 0, 1) };
            queue.push(cylinder, Waiting { came: Nanos(came), request, data: Vec::new() });
        }
        let (mut at, mut now, mut visited) = (from, Nanos::ZERO, Vec::new());
        while let Some(begins) = queue.begins(now) {
            let next = queue.pop(begins, at).unwrap();
            assert!(next.came <= begins);
            at = next.request.task;
            visited.push(at);
            now = begins + Nanos(10);
        }
        assert_eq!(queue.len(), 0);
        visited
    }

    #[test]
    fn each_scheduler_has_its_order() {
        use Scheduler::{Elevator, Fifo, Sstf};
        // The textbook's example: 98 183 37 122 14 124 65 67 from 53 (Silberschatz, Operating
        // System Concepts).
        let all = [98, 183, 37, 122, 14, 124, 65, 67].map(|cylinder| (0, cylinder));
        assert_eq!(order(Fifo, 53, &all), [98, 183, 37, 122, 14, 124, 65, 67]);
        assert_eq!(order(Sstf, 53, &all), [65, 67, 37, 14, 98, 122, 124, 183]);
        assert_eq!(order(Elevator, 53, &all), [65, 67, 98, 122, 124, 183, 37, 14]);
    }

    #[test]
    fn who_comes_later_does_not_take_part() {
        // At 0 only 50 has arrived. 12 arrives while it is served, and is nearer than 90 only then.
        let came = [(0, 50), (1, 90), (5, 40), (30, 41)];
        assert_eq!(order(Scheduler::Sstf, 10, &came), [50, 40, 90, 41]);
        assert_eq!(order(Scheduler::Elevator, 10, &came), [50, 90, 40, 41]);
    }
}

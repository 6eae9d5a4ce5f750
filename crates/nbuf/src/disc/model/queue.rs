//! Requests that wait for a disc, and which of them is next.
//!
//! Whoever has not come when the disc becomes free does not take part in the choice. Choosing costs a
//! look-up in a tree for `sstf` and `elevator`, nothing for `fifo`. Where two are as near, the lower cylinder
//! goes first; on one cylinder, who came first.

use std::collections::{BTreeMap, VecDeque};

use super::super::Request;
use crate::units::Nanos;

/// The order in which requests are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// As they came.
    Fifo,
    /// The shortest seek first. Whoever is far away may wait for ever.
    Sstf,
    /// On in one direction as long as somebody waits there, then back (LOOK).
    Elevator,
}

impl Scheduler {
    /// By their names.
    pub const NAMED: [(&str, Self); 3] =
        [("fifo", Self::Fifo), ("sstf", Self::Sstf), ("elevator", Self::Elevator)];
}

/// A request that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub came: Nanos,
    pub request: Request,
}

/// See the module.
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

    /// In the order in which they come.
    pub(super) fn push(&mut self, cylinder: u32, waiting: Waiting) {
        self.arrived.push_back((cylinder, waiting));
    }

    /// When a disc that is free from then on can begin with one.
    pub(super) fn begins(&self, free: Nanos) -> Option<Nanos> {
        if self.waiting.is_empty() {
            return Some(self.arrived.front()?.1.came.max(free));
        }
        Some(free)
    }

    /// The next one for an arm at `cylinder`, of those who are there at `now`.
    pub(super) fn pop(&mut self, now: Nanos, cylinder: u32) -> Option<Waiting> {
        if self.scheduler == Scheduler::Fifo {
            return self.arrived.pop_front().map(|(_, waiting)| waiting);
        }
        // Whoever waits alone is next in any order, and needs no tree.
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
        // Of the nearest cylinder below, who came first.
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
    use super::super::super::Operation;
    use super::*;

    /// The order in which cylinders are visited that came at these moments, when each visit takes ten.
    fn order(scheduler: Scheduler, from: u32, came: &[(u64, u32)]) -> Vec<u32> {
        let mut queue = Queue::new(scheduler);
        for &(came, cylinder) in came {
            let (came, tag) = (Nanos(came), u64::from(cylinder));
            let request = Request {
                tag,
                operation: Operation::Read,
                offset_bytes: 0,
                length_bytes: 1,
                data: Vec::new(),
            };
            queue.push(cylinder, Waiting { came, request });
        }
        let (mut at, mut now, mut visited) = (from, Nanos::ZERO, Vec::new());
        while let Some(begins) = queue.begins(now) {
            let next = queue.pop(begins, at).unwrap();
            assert!(next.came <= begins);
            at = u32::try_from(next.request.tag).unwrap();
            visited.push(at);
            now = begins + Nanos(10);
        }
        assert_eq!(queue.len(), 0);
        visited
    }

    #[test]
    fn each_scheduler_has_its_order() {
        use Scheduler::{Elevator, Fifo, Sstf};
        // The textbook's: 98 183 37 122 14 124 65 67 from 53 (Silberschatz, Operating System Concepts).
        let all = [98, 183, 37, 122, 14, 124, 65, 67].map(|cylinder| (0, cylinder));
        assert_eq!(order(Fifo, 53, &all), [98, 183, 37, 122, 14, 124, 65, 67]);
        assert_eq!(order(Sstf, 53, &all), [65, 67, 37, 14, 98, 122, 124, 183]);
        assert_eq!(order(Elevator, 53, &all), [65, 67, 98, 122, 124, 183, 37, 14]);
    }

    #[test]
    fn who_comes_later_does_not_take_part() {
        // At 0 only 50 is there; 12 comes while it is served, and is nearer than 90 only then.
        let came = [(0, 50), (1, 90), (5, 40), (30, 41)];
        assert_eq!(order(Scheduler::Sstf, 10, &came), [50, 40, 90, 41]);
        assert_eq!(order(Scheduler::Elevator, 10, &came), [50, 90, 40, 41]);
    }
}

//! Sums over the instants between changes, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::part::{PARTS, Part, Times};
use super::thread::Change;

/// How many threads are in each part now, and the changes to come.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    waiting: BinaryHeap<Reverse<Change>>,
    /// Below zero only between changes of one instant, whose order is open.
    threads: [i64; PARTS.len()],
    at_ns: Option<u64>,
    /// The sum of the lives of all threads.
    pub(super) thread_time: Times,
    /// Instants, each in the first part that held for any thread.
    pub(super) real_time: Times,
}

impl Sweep {
    pub(super) fn push(&mut self, change: Change) {
        self.waiting.push(Reverse(change));
    }

    /// Takes the changes up to this time.
    pub(super) fn settle(&mut self, until_ns: u64) {
        while let Some(&Reverse(Change { time_ns, from, to })) = self.waiting.peek() {
            if time_ns > until_ns {
                return;
            }
            self.waiting.pop();
            self.pass_to(time_ns);
            if let Some(part) = from {
                self.threads[part as usize] -= 1;
            }
            if let Some(part) = to {
                self.threads[part as usize] += 1;
            }
        }
    }

    fn pass_to(&mut self, time_ns: u64) {
        let passed_ns = time_ns - self.at_ns.unwrap_or(time_ns).min(time_ns);
        self.at_ns = Some(time_ns);
        if passed_ns == 0 {
            return;
        }
        for part in PARTS {
            let threads = u64::try_from(self.threads[part as usize]).unwrap_or(0);
            self.thread_time[part] += passed_ns * threads;
        }
        let first = PARTS.into_iter().find(|&part| self.threads[part as usize] > 0);
        self.real_time[first.unwrap_or(Part::Unknown)] += passed_ns;
    }
}

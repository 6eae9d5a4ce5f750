//! A trace dispatched to processes, as it is read.
//!
//! Where the trace says which task made a request, tasks are dispatched: the first to the first process, and
//! so on, and round again. Where it does not, requests are. A process makes its requests at the
//! times of the trace, or as soon as the one before is done and it has thought about it.
//!
//! Invariant: each process makes its requests in the order of the trace, and only requests without
//! a place are left out. Memory: [`WINDOW`] requests and a batch. A process whose next request is
//! further ahead waits until others have made theirs.

use std::collections::{HashMap, VecDeque};

use super::clients::{Clients, Next};
use super::layout::{Layout, LayoutError};
use crate::trace::request::Request;
use crate::units::Nanos;
use crate::workload::process::Step;

/// Requests that wait for their process at most, before a batch more is read.
pub const WINDOW: usize = 1 << 18;

/// When a process makes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At the time of the trace, which began then, or when the one before is done, if that is later.
    Trace {
        /// When the trace began.
        first_ns: i64,
    },
    /// When the one before is done, and so long after.
    Closed {
        /// Between having an answer and asking again.
        think: Nanos,
    },
}

/// Where requests come from: as many as it likes, in order; none at the end.
pub trait Feed {
    /// Puts the next requests in place of those that are there.
    fn next(&mut self, requests: &mut Vec<Request>);
}

/// Requests in memory, in batches.
impl Feed for std::slice::Chunks<'_, Request> {
    fn next(&mut self, requests: &mut Vec<Request>) {
        requests.clear();
        requests.extend(Iterator::next(self).unwrap_or_default());
    }
}

#[derive(Clone, Debug, Default)]
struct Queue {
    waiting: VecDeque<Request>,
    /// Whether the process has received the time of its next request.
    is_told: bool,
    /// It has an answer to think about.
    thinks: bool,
}

/// Hands the requests of a trace to processes, in order.
#[derive(Debug)]
pub struct Dispatcher<F> {
    feed: F,
    layout: Layout,
    pace: Pace,
    queues: Vec<Queue>,
    /// The process of each task, where tasks are dispatched.
    tasks: Option<HashMap<u32, usize>>,
    turn: usize,
    waiting: usize,
    batch: Vec<Request>,
    is_over: bool,
    wrong: Option<LayoutError>,
    left_out: u64,
}

impl<F: Feed> Dispatcher<F> {
    /// Creates a dispatcher to this number of processes, at least one.
    pub fn new(feed: F, layout: Layout, pace: Pace, processes: u32, by_task: bool) -> Self {
        Self {
            feed,
            layout,
            pace,
            queues: vec![Queue::default(); processes.max(1) as usize],
            tasks: by_task.then(HashMap::new),
            turn: 0,
            waiting: 0,
            batch: Vec::new(),
            is_over: false,
            wrong: None,
            left_out: 0,
        }
    }

    /// Requests that could not be made so far: discards, flushes, those of no bytes, and damage.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Where they come from, and what ended the trace before its end.
    pub fn finish(self) -> (F, Option<LayoutError>) {
        (self.feed, self.wrong)
    }

    /// Reads on. False at the end.
    fn read(&mut self) -> bool {
        let mut batch = std::mem::take(&mut self.batch);
        self.feed.next(&mut batch);
        self.is_over = batch.is_empty();
        for request in &batch {
            match self.layout.place(request) {
                Ok(Some(placed)) => {
                    let process = self.process(request.task);
                    self.queues[process].waiting.push_back(placed);
                    self.waiting += 1;
                }
                Ok(None) => self.left_out += 1,
                Err(wrong) => {
                    self.wrong = Some(wrong);
                    self.is_over = true;
                    break;
                }
            }
        }
        self.batch = batch;
        !self.is_over
    }

    /// When a request is to be made.
    fn time(&self, request: &Request) -> Nanos {
        match self.pace {
            Pace::Trace { first_ns } => {
                let since = request.time_ns.saturating_sub(first_ns);
                Nanos(u64::try_from(since).unwrap_or(0))
            }
            Pace::Closed { .. } => Nanos::ZERO,
        }
    }

    fn process(&mut self, task: u32) -> usize {
        let count = self.queues.len();
        if count == 1 {
            return 0;
        }
        if let Some(tasks) = &mut self.tasks {
            let next = tasks.len() % count;
            return *tasks.entry(task).or_insert(next);
        }
        let turn = self.turn;
        self.turn = (turn + 1) % count;
        turn
    }
}

impl<F: Feed> Clients for Dispatcher<F> {
    fn count(&self) -> u32 {
        u32::try_from(self.queues.len()).unwrap_or(u32::MAX)
    }

    fn next(&mut self, process: u32) -> Next {
        let process = process as usize;
        if let Pace::Closed { think } = self.pace
            && std::mem::take(&mut self.queues[process].thinks)
            && think > Nanos::ZERO
        {
            return Next::Step(Step::Think(think));
        }
        loop {
            if let Some(&request) = self.queues[process].waiting.front() {
                let at = self.time(&request);
                let queue = &mut self.queues[process];
                if at > Nanos::ZERO && !std::mem::replace(&mut queue.is_told, true) {
                    return Next::Step(Step::Until(at));
                }
                queue.waiting.pop_front();
                (queue.is_told, queue.thinks) = (false, true);
                self.waiting -= 1;
                return Next::Step(Step::Request(request));
            }
            if self.is_over {
                return Next::End;
            }
            if self.waiting >= WINDOW {
                return Next::Later;
            }
            self.read();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::request::{Op, Unit};

    /// A list in small pieces.
    struct Listed(VecDeque<Request>, usize);

    impl Feed for Listed {
        fn next(&mut self, requests: &mut Vec<Request>) {
            requests.clear();
            requests.extend(self.0.drain(..self.1.min(self.0.len())));
        }
    }

    fn request(at: u64, task: u32) -> Request {
        let time_ns = 1_000 + i64::try_from(at).unwrap() * 10;
        Request { time_ns, task, ..Request::new(Op::Read, at * 512, 512) }
    }

    /// What every process asks for, by number of the request.
    fn dispatched(
        requests: &[Request],
        processes: u32,
        by_task: bool,
        piece: usize,
    ) -> Vec<Vec<u64>> {
        let feed = Listed(requests.iter().copied().collect(), piece);
        let pace = Pace::Trace { first_ns: 1_000 };
        let mut dispatcher =
            Dispatcher::new(feed, Layout::blind(Unit::Bytes, 1), pace, processes, by_task);
        let mut asked = vec![Vec::new(); processes as usize];
        let mut time = vec![Nanos::ZERO; processes as usize];
        let mut is_going = true;
        while is_going {
            is_going = false;
            for process in 0..processes {
                match dispatcher.next(process) {
                    Next::Step(Step::Until(at)) => time[process as usize] = at,
                    Next::Step(Step::Request(request)) => {
                        let number = request.offset / 512;
                        assert_eq!(time[process as usize], Nanos(number * 10));
                        asked[process as usize].push(number);
                    }
                    Next::Step(step) => panic!("no user asked for {step:?}"),
                    Next::Later => {}
                    Next::End => continue,
                }
                is_going = true;
            }
        }
        asked
    }

    proptest! {
        #[test]
        fn each_request_is_made_once_and_in_order(
            tasks in proptest::collection::vec(0..6_u32, 0..80),
            processes in 1..5_u32,
            by_task in any::<bool>(),
            piece in 1..9_usize,
        ) {
            let requests: Vec<Request> =
                (0..).zip(&tasks).map(|(at, &task)| request(at, task)).collect();
            let asked = dispatched(&requests, processes, by_task, piece);
            let mut all: Vec<u64> = asked.concat();
            prop_assert!(asked.iter().all(|asked| asked.is_sorted()));
            all.sort_unstable();
            prop_assert_eq!(all, (0..tasks.len() as u64).collect::<Vec<_>>());
            for asked in &asked {
                for pair in asked.windows(2) {
                    // A task stays with one process; without tasks, the processes take turns.
                    if !by_task {
                        prop_assert_eq!(pair[1] - pair[0], u64::from(processes));
                    }
                }
            }
            if by_task {
                let of = |task| asked.iter().position(|asked: &Vec<u64>| {
                    asked.iter().any(|&at| requests[usize::try_from(at).unwrap()].task == task)
                });
                let holders = |task| asked.iter().filter(|asked| {
                    asked.iter().any(|&at| requests[usize::try_from(at).unwrap()].task == task)
                }).count();
                for task in 0..6 {
                    prop_assert!(of(task).is_none() || holders(task) == 1, "task {}", task);
                }
            }
        }
    }

    #[test]
    fn who_is_far_ahead_waits() {
        // Everything is for the first process, but the very last.
        let count = WINDOW as u64 + 500;
        let mut requests: VecDeque<Request> = (0..count).map(|at| request(at, 1)).collect();
        requests.push_back(request(count, 2));
        let layout = Layout::blind(Unit::Bytes, 1);
        let pace = Pace::Closed { think: Nanos(3) };
        let mut dispatcher = Dispatcher::new(Listed(requests, 100), layout, pace, 2, true);
        assert!(matches!(dispatcher.next(0), Next::Step(Step::Request(_))));
        assert_eq!(dispatcher.next(1), Next::Later);
        let mut asked = 1;
        while dispatcher.next(1) == Next::Later {
            assert_eq!(dispatcher.next(0), Next::Step(Step::Think(Nanos(3))));
            assert!(matches!(dispatcher.next(0), Next::Step(Step::Request(_))));
            asked += 1;
        }
        // At most what can be held, and a batch, is read ahead of those who ask.
        assert!((400..=600).contains(&asked), "{asked}");
    }
}

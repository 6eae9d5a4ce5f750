//! Idle time of all processors, split in two: true idle, and idle while tasks wait for a block device.
//!
//! At each instant there are some idle processors and some tasks that wait for a disc. The smaller of
//! the two numbers is *multiprogramming idle*: these processors would run if the disc were not waited
//! for. The rest is *true idle*. On one processor that is the definition of Multics.
//! A task waits for a disc if it sleeps where no signal wakes it, no program ends that sleep, and a request of
//! any task was with a device meanwhile. A parent that waits for `vfork`, or a thread that waits for a lock, is
//! woken by a program. All this is known only afterwards, so an interval is summed at its end.
//! The latest of the waits that go on past the end count, up to the kernel's number of tasks that wait for
//! block devices.
//! Cost: a word for each change of an interval, and one sort of them.
//! Source: Saltzer, "Multics Performance", 1969, "idle time: true idle, multiprogramming idle".

use std::collections::HashMap;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A processor has nothing to run.
    Idles(usize),
    /// It runs something again.
    Runs(usize),
    /// A thread left its processor to wait where no signal wakes it.
    Waits(u32),
    /// A thread can run again, by an interrupt or a thread of the kernel.
    Wakes(u32),
    /// A thread can run again, by a program.
    WakesByProgram(u32),
    /// The number of requests that are with devices from now on.
    InFlight(u64),
}

/// The two sums of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit ends each name")]
pub(crate) struct Idle {
    /// Idle time of all processors together.
    pub all_ns: u64,
    /// The part of `all_ns` in which tasks waited for a disc.
    pub multiprogramming_ns: u64,
    /// Time of all tasks together in waits for a disc.
    pub waits_ns: u64,
}

/// Follows processors and tasks from interval to interval.
#[derive(Debug)]
pub(crate) struct IdleSplit {
    begin_ns: u64,
    /// Whether each is idle; nothing where nothing was seen of it yet.
    idle: Vec<Option<bool>>,
    /// Whether each counts.
    counts: Vec<bool>,
    waiting: HashMap<u32, u64>,
    in_flight: u64,
    /// When the last request came back.
    last_flight_ns: u64,
    /// Steps of the number of idle processors, and of the number of waiting tasks.
    steps: Vec<(u64, i32, i32)>,
}

impl IdleSplit {
    /// A machine, from this moment on: whether each of its processors counts. Tasks that wait for a disc may have run on
    /// any.
    pub(crate) fn new(counts: Vec<bool>, begin_ns: u64) -> Self {
        Self {
            begin_ns,
            idle: vec![None; counts.len()],
            counts,
            waiting: HashMap::new(),
            in_flight: 0,
            last_flight_ns: 0,
            steps: Vec::new(),
        }
    }

    /// Takes a change. They come in the order of their times.
    pub(crate) fn take(&mut self, time_ns: u64, change: Change) {
        match change {
            Change::Idles(processor) => self.set(processor, time_ns, true),
            Change::Runs(processor) => self.set(processor, time_ns, false),
            Change::Waits(thread) => {
                // The end of an earlier wait left no record.
                self.waiting.insert(thread, time_ns);
            }
            Change::Wakes(thread) => {
                if let Some(since_ns) = self.waiting.remove(&thread)
                    && (self.in_flight > 0 || self.last_flight_ns >= since_ns.max(1))
                {
                    self.add_wait(since_ns, time_ns);
                }
            }
            Change::WakesByProgram(thread) => {
                self.waiting.remove(&thread);
            }
            Change::InFlight(requests) => {
                if self.in_flight > 0 {
                    self.last_flight_ns = time_ns;
                }
                self.in_flight = requests;
            }
        }
    }

    /// Forgets the waits, because changes were lost.
    pub(crate) fn forget_waits(&mut self) {
        self.waiting.clear();
    }

    /// Ends an interval. `blocked` is the kernel's number of tasks that wait for block devices at its end;
    /// `assumed` says of processors that never changed whether they were idle.
    pub(crate) fn finish(
        &mut self,
        end_ns: u64,
        blocked: u64,
        assumed: impl Fn(usize) -> bool,
    ) -> Idle {
        let mut open: Vec<u64> = self.waiting.values().copied().collect();
        open.sort_unstable();
        for since_ns in open.into_iter().rev().take(usize::try_from(blocked).unwrap_or(usize::MAX))
        {
            self.add_wait(since_ns.max(self.begin_ns), end_ns);
        }
        for processor in (0..self.idle.len()).filter(|&processor| self.counts[processor]) {
            let is_idle = self.idle[processor].unwrap_or_else(|| assumed(processor));
            if is_idle {
                // Its begin was noted when it was seen, or is the begin of the interval.
                if self.idle[processor].is_none() {
                    self.steps.push((self.begin_ns, 1, 0));
                }
                self.steps.push((end_ns, -1, 0));
            }
        }
        let sums = sum(&mut self.steps, self.begin_ns, end_ns);
        self.steps.clear();
        for is_idle in &self.idle {
            if *is_idle == Some(true) {
                self.steps.push((end_ns, 1, 0));
            }
        }
        self.begin_ns = end_ns;
        sums
    }

    fn set(&mut self, processor: usize, time_ns: u64, is_idle: bool) {
        let Some(state) = self.idle.get_mut(processor) else { return };
        if !self.counts[processor] {
            return;
        }
        let before = state.replace(is_idle);
        match (before, is_idle) {
            (Some(false) | None, true) => self.steps.push((time_ns, 1, 0)),
            (Some(true), false) => self.steps.push((time_ns, -1, 0)),
            // It was idle before anything was seen of it.
            (None, false) => {
                self.steps.push((self.begin_ns, 1, 0));
                self.steps.push((time_ns, -1, 0));
            }
            (Some(true), true) | (Some(false), false) => {}
        }
    }

    fn add_wait(&mut self, since_ns: u64, until_ns: u64) {
        self.steps.push((since_ns.max(self.begin_ns), 0, 1));
        self.steps.push((until_ns, 0, -1));
    }
}

fn sum(steps: &mut [(u64, i32, i32)], begin_ns: u64, end_ns: u64) -> Idle {
    steps.sort_unstable_by_key(|step| step.0);
    let (mut idle, mut waiting, mut at_ns) = (0_i32, 0_i32, begin_ns);
    let mut sums = Idle::default();
    for &mut (time_ns, of_idle, of_waiting) in steps {
        let time_ns = time_ns.clamp(at_ns, end_ns);
        let span_ns = time_ns - at_ns;
        let number = |count: i32| u64::try_from(count).unwrap_or(0);
        sums.all_ns += span_ns * number(idle);
        sums.multiprogramming_ns += span_ns * number(idle.min(waiting));
        sums.waits_ns += span_ns * number(waiting);
        idle += of_idle;
        waiting += of_waiting;
        at_ns = time_ns;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(processors: usize, changes: &[(u64, Change)], end_ns: u64) -> Idle {
        let mut split = IdleSplit::new(vec![true; processors], 0);
        for &(time_ns, change) in changes {
            split.take(time_ns, change);
        }
        split.finish(end_ns, 1, |_| false)
    }

    /// A task waits from 10 to 40, with a request from 12 to 38; its processor idles meanwhile.
    const ONE: [(u64, Change); 6] = [
        (10, Change::Waits(7)),
        (10, Change::Idles(0)),
        (12, Change::InFlight(1)),
        (38, Change::InFlight(0)),
        (40, Change::Wakes(7)),
        (41, Change::Runs(0)),
    ];

    #[test]
    fn idle_while_a_task_waits_for_a_disc_is_apart() {
        let got = split(1, &ONE, 100);
        assert_eq!(got, Idle { all_ns: 31, multiprogramming_ns: 30, waits_ns: 30 });
    }

    #[test]
    fn processors_that_do_not_count_are_in_no_sum() {
        let idles = [(0, Change::Idles(1)), (50, Change::Runs(1))];
        let of = |counts: [bool; 2]| {
            let mut split = IdleSplit::new(counts.to_vec(), 0);
            for &(time_ns, change) in idles.iter().chain(&ONE) {
                split.take(time_ns, change);
            }
            let Idle { all_ns, multiprogramming_ns, .. } = split.finish(100, 0, |_| true);
            (all_ns, multiprogramming_ns)
        };
        // The second idles from 0 to 50 and the first from 10 to 41, where one task waits from 10 to 40.
        assert_eq!(of([true, false]), (31, 30));
        assert_eq!(of([false, true]), (50, 30));
        assert_eq!(of([true, true]), (81, 30));
    }

    #[test]
    fn a_wait_without_a_request_is_none_for_a_disc() {
        let without: Vec<_> =
            ONE.into_iter().filter(|(_, c)| !matches!(c, Change::InFlight(_))).collect();
        let got = split(1, &without, 100);
        assert_eq!(got, Idle { all_ns: 31, multiprogramming_ns: 0, waits_ns: 0 });
    }

    #[test]
    fn a_wait_that_a_program_ends_is_none_for_a_disc() {
        let mut changes = ONE.to_vec();
        changes[4].1 = Change::WakesByProgram(7);
        assert_eq!(split(1, &changes, 100).multiprogramming_ns, 0);
    }

    #[test]
    fn of_waits_that_go_on_the_latest_count_up_to_the_number_of_blocked_tasks() {
        let open = |blocked| {
            let mut split = IdleSplit::new(vec![true; 4], 0);
            split.take(10, Change::Waits(7));
            split.take(60, Change::Waits(8));
            split.finish(100, blocked, |_| true).multiprogramming_ns
        };
        assert_eq!([open(0), open(1), open(2), open(9)], [0, 40, 130, 130]);
    }

    #[test]
    fn a_request_that_a_rate_held_back_makes_all_of_the_wait_one_for_a_disc() {
        let late = [
            (10, Change::Waits(7)),
            (10, Change::Idles(0)),
            (38, Change::InFlight(1)),
            (39, Change::InFlight(0)),
            (40, Change::Wakes(7)),
            (40, Change::Runs(0)),
        ];
        assert_eq!(split(1, &late, 100).multiprogramming_ns, 30);
    }

    #[test]
    fn each_waiting_task_could_use_one_processor() {
        let mut changes = ONE.to_vec();
        // The other processor idles all the time.
        changes.insert(0, (0, Change::Idles(1)));
        let got = split(2, &changes, 100);
        assert_eq!(got, Idle { all_ns: 131, multiprogramming_ns: 30, waits_ns: 30 });
        changes.insert(3, (10, Change::Waits(8)));
        changes.push((50, Change::Wakes(8)));
        let two = split(2, &changes, 100);
        // From 10 to 40 two wait and two idle, then one waits and one idles.
        assert_eq!(two.multiprogramming_ns, 2 * 30 + 10);
    }

    #[test]
    fn states_go_on_into_the_next_interval() {
        let mut split = IdleSplit::new(vec![true; 2], 0);
        split.take(10, Change::Idles(0));
        split.take(20, Change::Waits(7));
        split.take(21, Change::InFlight(1));
        let first = split.finish(100, 1, |processor| processor == 1);
        assert_eq!(first, Idle { all_ns: 190, multiprogramming_ns: 80, waits_ns: 80 });
        split.take(150, Change::InFlight(0));
        split.take(150, Change::Wakes(7));
        split.take(160, Change::Runs(0));
        // Nothing was seen of the other processor, and it is taken for busy now.
        let second = split.finish(200, 0, |_| false);
        assert_eq!(second, Idle { all_ns: 60, multiprogramming_ns: 50, waits_ns: 50 });
        // A processor whose first change is to run was idle before.
        split.take(250, Change::Runs(1));
        assert_eq!(split.finish(300, 0, |_| false).all_ns, 50);
    }
}

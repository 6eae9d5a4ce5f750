//! One processor: computing, first come, first served, under work with interrupts off.

use std::collections::VecDeque;

use super::cpu::CHARACTER_9600;
use crate::units::Nanos;

/// Times during which interrupts were off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptsOff {
    /// How many.
    pub count: u64,
    /// All together.
    pub total: Nanos,
    /// The longest.
    pub longest: Nanos,
    /// Characters of one busy line of 9600 baud that are surely lost: within one such time, the next
    /// character comes before they are fetched.
    pub characters_lost: u64,
}

impl InterruptsOff {
    /// Returns the characters of one busy line of 9600 baud that come while nothing can fetch them.
    /// They are endangered, and lost if the next comes first.
    pub fn characters_late(&self) -> u64 {
        self.total.0 / CHARACTER_9600.0
    }

    fn add(&mut self, time: Nanos) {
        self.count += 1;
        self.total += time;
        self.longest = self.longest.max(time);
        self.characters_lost += time.0 / CHARACTER_9600.0;
    }
}

/// What comes of the end of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Computed {
    /// It was held up: it ends then.
    NotBefore(Nanos),
    /// It is over; the next one, if any, ends then.
    Over(Option<(u32, Nanos)>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Processor {
    /// When interrupts are allowed again.
    free_at: Nanos,
    /// Whose computation it is, and its end as it looks now.
    running: Option<(u32, Nanos)>,
    queue: VecDeque<(u32, Nanos)>,
    pub(super) computed: Nanos,
    pub(super) interrupts_off: InterruptsOff,
}

impl Processor {
    /// Work of the cache that comes now; when it is over.
    pub(super) fn interrupt(&mut self, now: Nanos, work: Nanos) -> Nanos {
        let begin = self.free_at.max(now);
        if work == Nanos::ZERO {
            return begin;
        }
        self.free_at = begin + work;
        self.interrupts_off.add(work);
        if let Some((_, ends)) = &mut self.running {
            *ends += work;
        }
        self.free_at
    }

    /// A process wants to compute; when it is done with it, if it can begin.
    pub(super) fn compute(&mut self, now: Nanos, process: u32, work: Nanos) -> Option<Nanos> {
        self.computed += work;
        if self.running.is_some() {
            self.queue.push_back((process, work));
            return None;
        }
        Some(self.begin(now, process, work))
    }

    fn begin(&mut self, now: Nanos, process: u32, work: Nanos) -> Nanos {
        let ends = self.free_at.max(now) + work;
        self.running = Some((process, ends));
        ends
    }

    /// The computation that runs should be over now.
    pub(super) fn end(&mut self, now: Nanos) -> Computed {
        if let Some((_, ends)) = self.running
            && ends > now
        {
            return Computed::NotBefore(ends);
        }
        self.running = None;
        let next = self.queue.pop_front();
        Computed::Over(next.map(|(process, work)| (process, self.begin(now, process, work))))
    }
}

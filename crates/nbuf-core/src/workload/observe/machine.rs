//! Looks at all processors, tasks and block requests of the machine, through tracepoints and page faults.
//!
//! Cost: some 0.7 microseconds for each record, in the thread that makes it: wake-ups, two for each switch, block
//! requests and page faults. No more page faults are recorded than fit into a small ring between two
//! drains. Opening takes some 5 ms a processor; closing is left to another process.

mod decode;
mod rings;

use std::collections::HashMap;

use crate::meter::between_faults::BetweenFaults;
use crate::meter::idle_split::{Change, Idle, IdleSplit};
use crate::meter::times::Times;
use crate::sys::process::monotonic_ns;
use crate::units::Nanos;
use decode::{Request, Seen};
use rings::{Record, Rings, What};

/// A record has its time before it has its place in the ring. After so long it has both.
const SETTLED_NS: u64 = 1_000_000;
/// A request that did not come back by then was split or merged by its driver.
const STALE_NS: u64 = 30_000_000_000;

/// What was seen in an interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachineSeen {
    /// Idle time of all processors.
    pub idle: Idle,
    /// From when a request went to its device to when it came back.
    pub service: Times,
    /// Running time between page faults that waited for a disc.
    pub between_major: Times,
    /// Running time between page faults of any kind.
    pub between_faults: Times,
    /// Times that a thread became able to run.
    pub wakeups: u64,
    /// Times that a thread stopped being able to run.
    pub exits: u64,
    /// Records of the kernel.
    pub records: u64,
    /// Records of switches and requests that were lost.
    pub lost: u64,
}

/// Follows the machine from interval to interval.
#[derive(Debug)]
pub(crate) struct Machine {
    rings: Rings,
    idle: IdleSplit,
    major: BetweenFaults,
    all: BetweenFaults,
    flying: HashMap<Request, u64>,
    /// When no disc had a request, at the look before.
    quiet_ns: Option<u64>,
    seen: MachineSeen,
    counts: (u64, u64),
    batch: Vec<Record>,
}

impl Machine {
    /// Begins now; says what stands in the way. `waiting` finds the threads that wait already, once the events
    /// are open.
    pub(crate) fn begin(waiting: impl FnOnce() -> Vec<u32>) -> Result<Self, String> {
        Self::begin_on(None, waiting)
    }

    /// The same with idle time of these processors only, by their numbers.
    pub(crate) fn begin_on(
        these: Option<&[usize]>,
        waiting: impl FnOnce() -> Vec<u32>,
    ) -> Result<Self, String> {
        let rings = Rings::open()?;
        let now_ns = monotonic_ns();
        let processors = rings.processors();
        let counts = |number| these.is_none_or(|these| these.contains(&number));
        let counts = rings.numbers().map(counts).collect();
        let mut idle = IdleSplit::new(counts, now_ns);
        for thread in waiting() {
            idle.take(now_ns, Change::Waits(thread));
        }
        Ok(Self {
            rings,
            idle,
            major: BetweenFaults::new(processors),
            all: BetweenFaults::new(processors),
            flying: HashMap::new(),
            quiet_ns: None,
            seen: MachineSeen::default(),
            counts: (0, 0),
            batch: Vec::new(),
        })
    }

    /// Takes what has come. To be called at least ten times a second. `quiet_ns` is a moment before, if any, at
    /// which no disc had a request: those that went out earlier came back without a record.
    pub(crate) fn drain(&mut self, quiet_ns: Option<u64>) {
        let until_ns = monotonic_ns().saturating_sub(SETTLED_NS);
        self.take_until(until_ns);
        // All records from before that look are here by now.
        if let Some(quiet_ns) = std::mem::replace(&mut self.quiet_ns, quiet_ns) {
            let before = self.flying.len();
            self.flying.retain(|_, since_ns| *since_ns >= quiet_ns);
            if self.flying.len() < before {
                self.count_flying(until_ns);
            }
        }
    }

    /// Ends an interval at this time, which has passed. `blocked` is the kernel's number of tasks that wait for
    /// block devices. `waiting` finds the threads that wait, in case that
    /// records were lost; `assumed` says whether a processor without any record was idle.
    pub(crate) fn finish(
        &mut self,
        end_ns: u64,
        blocked: u64,
        assumed: impl Fn(usize) -> bool,
        waiting: impl FnOnce() -> Vec<u32>,
    ) -> MachineSeen {
        self.take_until(end_ns);
        let mut seen = std::mem::take(&mut self.seen);
        seen.idle = self.idle.finish(end_ns, blocked, assumed);
        seen.between_major = self.major.take_times();
        seen.between_faults = self.all.take_times();
        let (records, lost) = self.rings.counts();
        seen.records = records - self.counts.0;
        seen.lost = lost - self.counts.1;
        self.counts = (records, lost);
        if seen.lost > 0 {
            self.idle.forget_waits();
            self.flying.clear();
            for thread in waiting() {
                self.idle.take(end_ns, Change::Waits(thread));
            }
        }
        self.flying.retain(|_, since_ns| end_ns.saturating_sub(*since_ns) < STALE_NS);
        seen
    }

    /// The rings are read one after the other: what comes into the last one meanwhile may be later than what
    /// the first one still holds, and waits.
    fn take_until(&mut self, until_ns: u64) {
        self.rings.drain(&mut self.batch);
        self.batch.sort_by_key(|record| record.time_ns);
        let ready = self.batch.partition_point(|record| record.time_ns <= until_ns);
        let mut batch = std::mem::take(&mut self.batch);
        for record in batch.drain(..ready) {
            self.take(record);
        }
        self.batch = batch;
    }

    fn take(&mut self, Record { time_ns, processor, what }: Record) {
        let seen = match what {
            What::Exit => {
                self.seen.exits += 1;
                return;
            }
            What::Fault => return self.all.fault(processor, time_ns),
            What::FaultsLost => return self.all.lost(processor),
            What::Seen(seen) => seen,
        };
        match seen {
            Seen::Switch { from, to } => {
                if from == 0 || to == 0 {
                    let is_idle = to == 0;
                    let change =
                        if is_idle { Change::Idles(processor) } else { Change::Runs(processor) };
                    self.idle.take(time_ns, change);
                    self.major.idles(processor, time_ns, is_idle);
                    self.all.idles(processor, time_ns, is_idle);
                }
                // Not every wake-up leaves a record: none on a processor whose idle thread leaves none.
                self.idle.take(time_ns, Change::Wakes(to));
            }
            Seen::Waits { thread } => self.idle.take(time_ns, Change::Waits(thread)),
            Seen::Wakeup { thread, by_program } => {
                self.seen.wakeups += 1;
                let change = if by_program { Change::WakesByProgram } else { Change::Wakes };
                self.idle.take(time_ns, change(thread));
            }
            Seen::Issued(request) => {
                self.flying.insert(request, time_ns);
                self.count_flying(time_ns);
            }
            Seen::Completed(request) => {
                if let Some(since_ns) = self.flying.remove(&request) {
                    self.seen.service.add(Nanos(time_ns.saturating_sub(since_ns)));
                    self.count_flying(time_ns);
                }
            }
            Seen::MajorFault => self.major.fault(processor, time_ns),
        }
    }

    fn count_flying(&mut self, time_ns: u64) {
        self.idle.take(time_ns, Change::InFlight(self.flying.len() as u64));
    }
}

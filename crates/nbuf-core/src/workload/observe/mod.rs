//! Looks at the threads of a command while it runs, through the scheduler's tracepoints.
//!
//! Nothing is written down: events go into a meter at once. Without the right to read tracepoints the records
//! of switches remain, which any user may have of his own processes; without those, nothing.
//! Cost: some 2 microseconds a switch in the command, and less than one for each wake-up of the machine. Opening
//! takes about 5 ms; closing takes long, and is left to another process.

mod calls;
pub(crate) mod commands;
mod decode;
mod discs;
mod keys;
pub(crate) mod machine;
pub(crate) mod profile;
pub(crate) mod programs;
mod sources;
mod timeline;
mod tracepoints;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;

use crate::meter::activity::{Act, Activity, By, Kind, Mark};
use crate::meter::split::{self, Event, Split, What};
use crate::meter::times::Times;
use crate::sys::process::monotonic_ns;
use crate::workload::command::Watcher;
use decode::Seen;
use discs::Discs;
pub(crate) use keys::Keys;
use keys::Names;
use profile::{Profiled, Profiler};
pub(crate) use timeline::Timeline;
use tracepoints::Tracepoints;
pub(crate) use tracepoints::{Lookups, Reach};

/// A record has its time before it has its place in the ring. After so long it has both.
const SETTLED_NS: u64 = 1_000_000;

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    /// Where time went; nothing where no thread could be seen.
    pub split: Option<split::Result>,
    /// From the first instant of the command to the end of its last thread.
    pub span_ns: u64,
    /// Processes, the command's own among them.
    pub processes: u64,
    /// Pages put into the page cache; nothing without tracepoints.
    pub fills: Option<u64>,
    /// Look-ups in the page cache; nothing without tracepoints.
    pub lookups: Option<Lookups>,
    /// System calls from `execve` on, where they were asked for; nothing without tracepoints.
    pub calls: Option<u64>,
    /// How long each kind of event took, where that was asked for and could be seen.
    pub times: Option<BTreeMap<Kind, Times>>,
    /// The same for each process, thread or file.
    pub keys: Option<Keys>,
    /// Where the command ran, where that was asked for.
    pub profiled: Option<Profiled>,
    /// What each thread did one after the other, where that was asked for.
    pub timeline: Option<Timeline>,
    /// When the command could begin.
    pub began_ns: u64,
    /// Records that did not reach us.
    pub lost: u64,
    /// How much could be seen.
    pub reach: Reach,
}

/// Watches a command.
#[derive(Debug)]
pub(crate) struct Threads {
    tracepoints: Tracepoints,
    split: Split,
    activity: Option<Activity>,
    profiler: Option<Profiler>,
    timeline: Option<Timeline>,
    names: Option<Names>,
    discs: Discs,
    /// When the command could begin.
    began_ns: Option<u64>,
    processes: u64,
    fills: u64,
    last_ns: u64,
    batch: Vec<Seen>,
}

impl Threads {
    /// With meters, every event is timed; with a profile, what runs is sampled.
    pub(crate) fn prepare(meters: bool, profile: bool) -> Self {
        Self {
            tracepoints: Tracepoints::later(meters),
            split: Split::default(),
            activity: meters.then(Activity::default),
            profiler: profile.then(Profiler::prepare),
            timeline: None,
            names: None,
            discs: Discs::default(),
            began_ns: None,
            processes: 0,
            fills: 0,
            last_ns: 0,
            batch: Vec::new(),
        }
    }

    /// Uses programs in the kernel, where it takes them. They know no meters of files, processes and threads, no number
    /// of calls and no names, and they stay at a process that changes its account.
    pub(crate) fn with_programs(mut self) -> Self {
        self.tracepoints.begin_programs();
        if self.activity.is_some() {
            self.tracepoints.begin_events();
        }
        self
    }

    /// Asks the kernel for what it needs some milliseconds for, from now on and not once there is a task.
    pub(crate) fn with_events(mut self) -> Self {
        self.tracepoints.begin_events();
        self
    }

    /// Keeps also what each thread did one after the other.
    pub(crate) fn with_timeline(mut self) -> Self {
        self.split = self.split.with_slices(Timeline::slices());
        self.timeline = Some(Timeline::default());
        self
    }

    /// Keeps the meters also for each process, thread or file.
    pub(crate) fn with_keys(mut self, by: By) -> Self {
        self.activity = self.activity.map(|_| Activity::by(by));
        self.names = Some(Names::default());
        self
    }

    /// Counts also its system calls.
    pub(crate) fn with_calls(mut self) -> Self {
        self.tracepoints.count_calls();
        self
    }

    /// After the command: the last events, and the sums. `used_disc` says whether the kernel counted bytes of a
    /// disc for it.
    pub(crate) fn finish(mut self, used_disc: bool) -> Observed {
        self.take_all(u64::MAX);
        let reach = self.tracepoints.reach();
        let has_tracepoints = matches!(reach, Reach::Tracepoints);
        if let Some(activity) = &mut self.activity {
            for (number, times) in self.tracepoints.timed_calls() {
                activity.add_calls(number, calls::does(number), &times);
            }
        }
        let keyed = self.activity.as_ref().and_then(Activity::keyed).cloned();
        let keys = keyed.zip(self.names.take()).map(|(keyed, names)| names.of(keyed));
        let slices = self.split.slices().map(|slices| slices.finish(self.last_ns));
        let observed = Observed {
            timeline: self.timeline.zip(slices).map(|(timeline, (slices, cut))| Timeline {
                slices,
                cut,
                ..timeline
            }),
            began_ns: self.began_ns.unwrap_or_default(),
            split: (!matches!(reach, Reach::Nothing(_)))
                .then(|| self.split.finish(self.last_ns, used_disc)),
            span_ns: self.last_ns - self.began_ns.unwrap_or(self.last_ns),
            processes: self.processes,
            fills: has_tracepoints.then_some(self.fills + self.tracepoints.fills()),
            lookups: self.tracepoints.lookups(),
            calls: self.tracepoints.calls(),
            keys: keys.filter(|_| has_tracepoints),
            times: self.activity.filter(|_| has_tracepoints).map(Activity::finish),
            profiled: self.profiler.map(Profiler::finish),
            lost: self.tracepoints.lost(),
            reach,
        };
        self.tracepoints.close();
        observed
    }

    /// The rings are read one after the other: what comes into the last one meanwhile may be later than what
    /// the first one still holds, and waits.
    fn take_all(&mut self, until_ns: u64) {
        self.tracepoints.drain(&mut self.batch);
        self.batch.sort_by_key(Seen::time_ns);
        let ready = self.batch.partition_point(|seen| seen.time_ns() <= until_ns);
        let mut batch = std::mem::take(&mut self.batch);
        for seen in batch.drain(..ready) {
            match seen {
                Seen::Fill { pages, .. } => self.fills += pages,
                Seen::Thread(event) => self.take(&event, None),
                Seen::Born { event, parent, is_process } => {
                    self.processes += u64::from(is_process);
                    if let Some(names) = &mut self.names {
                        names.born(event.thread, Some(parent), is_process);
                    }
                    if let Some(activity) = &mut self.activity {
                        activity.belongs(event.thread, parent, is_process);
                    }
                    if let Some(timeline) =
                        self.timeline.as_mut().filter(|it| it.threads.contains_key(&parent))
                    {
                        timeline.born(event.thread, Some(parent), is_process);
                    }
                    self.take(&event, Some(parent));
                }
                Seen::Named { thread, name, .. } => {
                    self.names.iter_mut().for_each(|names| names.named(thread, &name));
                    self.timeline.iter_mut().for_each(|it| it.named(thread, &name));
                }
                Seen::Mark(mark) => self.mark(mark),
                Seen::Both(event, mark) => {
                    self.take(&event, None);
                    self.mark(mark);
                }
            }
        }
        self.batch = batch;
    }

    fn take(&mut self, event: &Event, parent: Option<u32>) {
        if Some(event.time_ns) > self.began_ns {
            if self.split.take(event) {
                self.last_ns = event.time_ns;
            }
            if let Some(activity) = &mut self.activity {
                activity.take_event(event, parent);
            }
        }
    }

    fn mark(&mut self, mut mark: Mark) {
        let Some(activity) = &mut self.activity else { return };
        if let Act::Queued(sectors) | Act::Issued(sectors) | Act::Completed(sectors) = &mut mark.act
        {
            sectors.disc = self.discs.whole(sectors.disc);
        }
        if let (Act::LooksIn(file), Some(names)) = (mark.act, &mut self.names) {
            names.looks(mark.thread, file);
        }
        activity.take(&mark);
    }
}

impl Watcher for Threads {
    fn attach(&mut self, pid: i32) -> io::Result<()> {
        self.tracepoints.attach(pid);
        if let Some(profiler) = &mut self.profiler {
            profiler.attach(pid);
        }
        // From here on the command is waited for: it may begin.
        let (time_ns, thread) = (monotonic_ns(), pid.unsigned_abs());
        let born = Event { time_ns, thread, what: What::Born };
        self.split.take(&born);
        if let Some(activity) = &mut self.activity {
            activity.take_event(&born, None);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.born(thread, None, true);
        }
        if let Some(names) = &mut self.names {
            names.born(thread, None, true);
        }
        (self.began_ns, self.last_ns, self.processes) = (Some(time_ns), time_ns, 1);
        Ok(())
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let samples = self.profiler.iter().flat_map(Profiler::descriptors);
        self.tracepoints.descriptors().into_iter().chain(samples).collect()
    }

    fn tick(&mut self) -> io::Result<()> {
        if self.began_ns.is_some() {
            self.take_all(monotonic_ns().saturating_sub(SETTLED_NS));
            self.profiler.iter_mut().for_each(Profiler::tick);
            self.timeline.iter_mut().for_each(Timeline::look);
            self.names.iter_mut().for_each(Names::look);
        }
        Ok(())
    }
}

/// What stands in the way of the tracepoints.
fn refusal(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "no permission to use the kernel's tracepoints".to_owned()
        }
        _ => format!("the kernel's tracepoints cannot be opened: {error}"),
    }
}

//! Two threads wake each other: how often a second, by each mechanism and in each placement.
//!
//! Each row is measured in processes of its own, which the caller starts and [`serve`] runs in; this
//! one only waits, and ends them when they hang. All rows are gone through once before any of them
//! gets a second process, so that whoever ends it early has all of them, and an hour in which the
//! machine was busy does not fall on one. The median of short batches is told, never a mean: threads
//! that are not pinned have two speeds, and a mean would be neither.

mod child;
mod contention;
mod histogram;
mod machine;
mod summary;
mod watch;

pub use child::serve;
pub use machine::machine;

use std::io;
use std::process::Command;
use std::time::Duration;

use super::result::{
    PingDocument, PingMachine, PingOutcome, PingReference, PingRow, PingSample, PingSampleLine,
    PingTask,
};
use crate::path::wake::{Placement, Row, Waits};
use crate::sys::signal::Signals;
use watch::Ending;

/// Why nothing could be measured at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process of a row cannot be started.
    #[error(
        "cannot start a process to measure in ({0}); check the limit on processes (`ulimit -u`)"
    )]
    Start(#[source] io::Error),
    /// The process of a row cannot be heard.
    #[error("cannot hear the process that is measured ({0}); try again")]
    Wait(#[source] io::Error),
}

/// What is measured, and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The mechanisms.
    pub mechanisms: Vec<Row>,
    /// The placements.
    pub placements: Vec<Placement>,
    /// Processes a row.
    pub processes: u64,
    /// Clean samples after which a process is done.
    pub samples_min: u64,
    /// Samples after which it gives up.
    pub samples_max: u64,
    /// Time after which it gives up, but for a few samples.
    pub time_max: Duration,
    /// Silence after which it is taken to hang: it says something after each batch, once a second has
    /// passed. It is ended after four times this and `time_max`, whatever it says.
    pub allowed: Duration,
}

impl Plan {
    /// All mechanisms in all placements, in three processes each.
    pub fn thorough(mechanisms: &[Row]) -> Self {
        Self {
            mechanisms: mechanisms.to_vec(),
            placements: Placement::ALL.to_vec(),
            processes: 3,
            samples_min: 100,
            samples_max: 200,
            time_max: Duration::from_millis(1500),
            allowed: Duration::from_secs(30),
        }
    }

    /// The same in one process each, within a minute.
    pub fn quick(mechanisms: &[Row]) -> Self {
        Self {
            processes: 1,
            samples_max: 120,
            time_max: Duration::from_millis(500),
            allowed: Duration::from_secs(10),
            ..Self::thorough(mechanisms)
        }
    }

    /// How long it takes at most, where nothing hangs: told before it begins.
    pub fn seconds_max(&self) -> f64 {
        self.time_max.as_secs_f64() * self.steps() as f64 + 1.0
    }

    /// Rows, and steps that there will be at most.
    pub fn steps(&self) -> usize {
        let rows = self.mechanisms.len() * self.placements.len();
        usize::try_from(self.processes).map_or(rows, |processes| rows.saturating_mul(processes))
    }
}

/// What a row has had so far.
struct Progress<'a> {
    row: &'a Row,
    placement: Placement,
    told: PingRow,
    samples: Vec<PingSample>,
    processes: u64,
}

/// Who hears of a run while it goes.
pub trait Listener {
    /// So many steps are done, and this comes next.
    fn step(&mut self, done: usize, what: &str);
    /// A sample was taken.
    fn sample(&mut self, line: &PingSampleLine);
}

impl Progress<'_> {
    /// What is told of the samples of the last process, before which there were so many.
    fn lines(&self, before: usize) -> impl Iterator<Item = PingSampleLine> {
        self.samples.iter().skip(before).map(|&sample| PingSampleLine {
            mechanism: self.row.name.to_owned(),
            placement: self.placement.name().to_owned(),
            process: self.processes.saturating_sub(1),
            is_clean: contention::is_clean(sample.elapsed_ns, sample.foreign_ns),
            sample,
        })
    }
}

/// Measures all that is planned, or what there is time for until a signal comes. `start` makes the
/// command whose process calls [`serve`] on its standard streams.
pub fn run(
    plan: &Plan,
    machine: PingMachine,
    signals: Option<&Signals>,
    start: &dyn Fn() -> Command,
    listener: &mut dyn Listener,
) -> Result<PingDocument, Error> {
    let mut rows: Vec<Progress<'_>> = Vec::new();
    for row in &plan.mechanisms {
        for &placement in &plan.placements {
            let mut told = summary::empty(row, placement);
            if let Some(why) = makes_no_sense(row, placement, &machine) {
                (told.outcome, told.reason) = (PingOutcome::NotApplicable, Some(why.to_owned()));
            }
            rows.push(Progress { row, placement, told, samples: Vec::new(), processes: 0 });
        }
    }
    let mut step = 0;
    let mut interrupted = false;
    'all: for _ in 0..plan.processes {
        for progress in &mut rows {
            listener.step(step, &format!("{}, {}", progress.row.name, progress.placement.name()));
            step += 1;
            // What was refused or hung once is not asked again.
            if !matches!(progress.told.outcome, PingOutcome::NotMeasured | PingOutcome::Measured) {
                continue;
            }
            let had = progress.samples.len();
            let goes_on = once(plan, &machine, signals, start, progress)?;
            progress.lines(had).for_each(|line| listener.sample(&line));
            if !goes_on {
                interrupted = true;
                break 'all;
            }
        }
    }
    let rows: Vec<PingRow> = rows.into_iter().map(|progress| progress.told).collect();
    let cautions = cautions(&rows, &machine, interrupted);
    Ok(PingDocument {
        schema: PingDocument::SCHEMA.to_owned(),
        ranges: summary::ranges(&plan.mechanisms, &rows),
        machine,
        rows,
        references: references(),
        cautions,
    })
}

/// One more process for a row. Whether to go on.
fn once(
    plan: &Plan,
    machine: &PingMachine,
    signals: Option<&Signals>,
    start: &dyn Fn() -> Command,
    progress: &mut Progress<'_>,
) -> Result<bool, Error> {
    let task = PingTask {
        parent: rustix::process::getpid().as_raw_nonzero().get(),
        mechanism: progress.row.name.to_owned(),
        placement: progress.placement.name().to_owned(),
        processors: machine.used.clone(),
        samples_min: plan.samples_min,
        samples_max: plan.samples_max,
        time_max_ms: u64::try_from(plan.time_max.as_millis()).unwrap_or(u64::MAX),
    };
    let (samples, ending) = watch::run(&mut start(), &task, plan.allowed, signals)?;
    progress.processes += u64::from(!samples.is_empty());
    progress.samples.extend(samples);
    summary::fill(&mut progress.told, &progress.samples, progress.processes);
    let (outcome, reason) = match ending {
        Ending::Done => return Ok(true),
        // What it had is whole batches, as good as any.
        Ending::Interrupted => return Ok(false),
        Ending::Refused(why) => (PingOutcome::Refused, why),
        Ending::Failed(why) => (PingOutcome::Failed, why),
        Ending::Hung => (
            PingOutcome::Hung,
            format!("no answer within {} s; it was ended", plan.allowed.as_secs_f64()),
        ),
        Ending::Endless(time) => {
            (PingOutcome::Hung, format!("not done within {} s; it was ended", time.as_secs_f64()))
        }
    };
    (progress.told.outcome, progress.told.reason) = (outcome, Some(reason));
    Ok(true)
}

/// Why a mechanism is not measured in a placement.
fn makes_no_sense(row: &Row, placement: Placement, machine: &PingMachine) -> Option<&'static str> {
    let one = machine.used.len() < 2;
    match placement {
        Placement::OtherCore if one => Some("one processor"),
        Placement::Unpinned if one => Some("one processor: the same as on the same core"),
        Placement::SameCore if row.waits == Waits::Spinning => Some(
            "one thread spins until its time slice ends, and only then the other sees the message",
        ),
        _ => None,
    }
}

/// What the thread on `OpenVMS` tells of libuv's ping, ported there.
fn references() -> Vec<PingReference> {
    let reference = |mechanism: &str, is: &str, round_trips_per_second| PingReference {
        machine: "OpenVMS, 2023".to_owned(),
        mechanism: mechanism.to_owned(),
        round_trips_per_second,
        is: is.to_owned(),
    };
    vec![
        reference("pipe+poll, DECthreads", "at most", 60.0),
        reference("local event flags", "above", 10_000.0),
    ]
}

/// What a reader must be told.
fn cautions(rows: &[PingRow], machine: &PingMachine, interrupted: bool) -> Vec<String> {
    let mut cautions = Vec::new();
    if interrupted {
        cautions.push("it was ended early: rows are missing, or have fewer samples".to_owned());
    }
    if machine.siblings {
        cautions.push(
            "the other core is another thread of the same core: there is no other".to_owned(),
        );
    }
    let never_idle = |row: &&PingRow| {
        row.placement == Placement::OtherCore.name()
            && row.waits == Waits::Sleeping.name()
            && row.idle.is_some_and(|idle| idle < 0.05)
    };
    let busy = rows.iter().filter(never_idle).count();
    if busy > 0 {
        cautions.push(format!(
            "in {busy} rows on two cores the processors did not idle while our threads slept: to take one from \
             somebody else takes another time than to wake it up"
        ));
    }
    let (clean, all) =
        rows.iter().fold((0, 0), |(clean, all), row| (clean + row.clean, all + row.samples));
    if all > 0 && clean < all / 2 {
        cautions.push(format!(
            "the machine is busy: our threads waited for others in {} of {all} samples",
            all - clean
        ));
    }
    cautions
}

//! Runs the processes of all rows, and makes the document of their samples.

use std::process::Stdio;
use std::time::Duration;

use super::plan::Plan;
use super::spec::Spec;
use super::summary::{self, CLEAN_MIN};
use super::{CHILD, Error, contention, machine, warnings};
use crate::clock::Stopwatch;
use crate::experiment::child::{self, Ending, Limits};
use crate::experiment::notice::{Notice, PathNotice};
use crate::experiment::result::{
    PingDocument, PingMachine, PingOutcome, PingReference, PingRow, PingSample, PingSampleLine,
    PingTask,
};
use crate::experiment::session::{Interim, Session};
use crate::path::wake::{Placement, Row, Waits};

/// What a row has had so far.
struct Progress<'a> {
    row: &'a Row,
    placement: Placement,
    told: PingRow,
    samples: Vec<PingSample>,
    processes: u64,
}

impl Progress<'_> {
    /// Returns the samples of the last process, which follow the first `before` samples.
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

/// What one process may wait for quiet moments: so that one row does not take the patience of all.
const PATIENCE_MAX: Duration = Duration::from_secs(3);

/// Measures what the spec names. A signal ends it early: what was measured by then is in the document.
/// The observer gets each sample.
///
/// The processes of the rows are this program again, with the argument [`CHILD`](super::CHILD), unless
/// [`Session::start`] has another way.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<PingDocument, Error> {
    let plan = spec.plan();
    session.cancellation.listen().map_err(Error::Signals)?;
    let (seconds_max, processes) = (plan.seconds_max(), plan.steps());
    let begins = PathNotice::PingBegins { seconds_max, processes };
    session.observer.notice(&Notice::Path(begins));
    measure(&plan, machine(), session)
}

/// Measures all that is planned on a machine, or what there is time for until a signal comes.
pub fn measure(
    plan: &Plan,
    machine: PingMachine,
    session: &mut Session<'_>,
) -> Result<PingDocument, Error> {
    let measured = rows(plan, &machine, session);
    session.observer.stage_over();
    session.cancellation.poll();
    let (rows, is_complete) = measured?;
    Ok(PingDocument {
        schema: PingDocument::SCHEMA.to_owned(),
        ranges: summary::ranges(&plan.mechanisms, &rows),
        warnings: warnings::of(&rows, &machine, !is_complete),
        machine,
        rows,
        references: references(),
    })
}

/// The rows, and whether nothing ended it early.
fn rows(
    plan: &Plan,
    machine: &PingMachine,
    session: &Session<'_>,
) -> Result<(Vec<PingRow>, bool), Error> {
    let mut rows: Vec<Progress<'_>> = Vec::new();
    for row in &plan.mechanisms {
        for &placement in &plan.placements {
            let mut told = summary::empty(row, placement);
            if let Some(why) = makes_no_sense(row, placement, machine) {
                (told.outcome, told.reason) = (PingOutcome::NotApplicable, Some(why.to_owned()));
            }
            rows.push(Progress { row, placement, told, samples: Vec::new(), processes: 0 });
        }
    }
    let is_complete = processes(plan, machine, session, &mut rows)?;
    Ok((rows.into_iter().map(|progress| progress.told).collect(), is_complete))
}

/// The processes of all rows, in turn. Whether nothing ended them early.
fn processes(
    plan: &Plan,
    machine: &PingMachine,
    session: &Session<'_>,
    rows: &mut [Progress<'_>],
) -> Result<bool, Error> {
    let (mut done, steps) = (0, plan.steps());
    let mut patience = plan.patience;
    for _ in 0..plan.processes {
        for progress in &mut *rows {
            let what = format!("{}, {}", progress.row.name, progress.placement.name());
            session.observer.progress(&what, done, steps);
            done += 1;
            // What was refused or hung once is not asked again.
            if !matches!(
                progress.told.outcome,
                PingOutcome::NotMeasured | PingOutcome::Measured | PingOutcome::Busy
            ) {
                continue;
            }
            let had = progress.samples.len();
            let clock = Stopwatch::start();
            let row_patience = patience.min(PATIENCE_MAX);
            let goes_on = once(plan, row_patience, machine, session, progress)?;
            patience = patience.saturating_sub(clock.elapsed().saturating_sub(plan.time_max));
            for line in progress.lines(had) {
                let sample = Interim::PingSample(&line);
                session.observer.interim(sample).map_err(Error::Observer)?;
            }
            if !goes_on {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// One more process for a row. Whether to go on.
fn once(
    plan: &Plan,
    patience: Duration,
    machine: &PingMachine,
    session: &Session<'_>,
    progress: &mut Progress<'_>,
) -> Result<bool, Error> {
    let task = PingTask {
        parent: rustix::process::getpid().as_raw_nonzero().get(),
        mechanism: progress.row.name.to_owned(),
        placement: progress.placement.name().to_owned(),
        processors: machine.used.clone(),
        samples_min: plan.samples_min,
        samples_max: plan.samples_max,
        time_max_ms: milliseconds(plan.time_max),
        patience_ms: milliseconds(patience),
        clean_min: (CLEAN_MIN as u64).saturating_sub(progress.told.clean),
    };
    // A busy machine makes it slow: its few samples may each take nearly as long as it may be silent.
    let total = Duration::from_millis(task.time_max_ms.saturating_add(task.patience_ms))
        .saturating_add(plan.allowed * 4);
    let limits = Limits { silence: plan.allowed, total };
    let mut command = child::command(session, CHILD)?;
    command.stderr(Stdio::null());
    let (samples, ending) =
        child::run::<PingSample>(&mut command, &task, limits, &session.cancellation)?;
    progress.processes += u64::from(!samples.is_empty());
    progress.samples.extend(samples);
    summary::fill(&mut progress.told, &progress.samples, progress.processes);
    let ended =
        |within: Duration, what| format!("{what} within {} s; it was ended", within.as_secs_f64());
    let (outcome, reason) = match ending {
        Ending::Done => return Ok(true),
        // What it had is whole batches, as good as any.
        Ending::Interrupted => return Ok(false),
        Ending::Refused(why) => (PingOutcome::Refused, why),
        Ending::Failed(why) => (PingOutcome::Failed, why),
        Ending::BrokeOff(_) => {
            (PingOutcome::Failed, "its process ended without a message".to_owned())
        }
        Ending::Nonsense(error) => {
            (PingOutcome::Failed, format!("its process sent no valid message: {error}"))
        }
        Ending::Silent => (PingOutcome::Hung, ended(limits.silence, "no answer")),
        Ending::Late => (PingOutcome::Hung, ended(limits.total, "not done")),
    };
    (progress.told.outcome, progress.told.reason) = (outcome, Some(reason));
    Ok(true)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
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

//! Steps one after the other.

use std::io;
use std::num::NonZero;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::script::{Arrivals, Script};
use super::step::Seen;
use super::warm_up::Cut;
use super::{bounds, rows, step};
use crate::experiment::result::{LoadDocument, LoadStep, Warning};
use crate::experiment::session::Session;
use crate::sys::process;
use crate::workload::command::{self, end_what_is_left};

/// More users than a machine has threads for.
pub const USERS_MAX: u32 = 10_000;

/// The spec of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Who the users are.
    pub script: Script,
    /// The numbers of users, a step each.
    pub users: Vec<u32>,
    /// How long a step lasts, after a fixed warm-up.
    pub duration: Duration,
    /// The beginning of a step that is in no figure. Without one the rule MSER-5 chooses it inside the
    /// duration.
    pub warm_up: Option<Duration>,
    /// Whether users do not think, and all arrivals are closed.
    pub certify: bool,
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No step, or one with no users or too many.
    #[error("{0} users are not possible: give 1 to {USERS_MAX}")]
    Users(u32),
    /// No signal can end it.
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// The kernel's counters cannot be read, or there is no pipe.
    #[error("cannot read the kernel's counters ({0}): mount /proc, or raise `ulimit -n`")]
    Counters(#[source] io::Error),
    /// There is no thread for a user.
    #[error(
        "cannot start user {user}: {cause}; give fewer users, or raise what processes are limited to \
         (`ulimit -u`, `pids.max` of a cgroup)"
    )]
    Thread {
        /// The number of the user, from 1.
        user: usize,
        /// What the kernel said.
        cause: io::Error,
    },
    /// A command does not run.
    #[error(transparent)]
    Command(#[from] command::Error),
}

/// Makes a step for each number of users. A signal ends it early: what was measured by then is in the
/// document. So does an error after the first step.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<LoadDocument, Error> {
    if let Some(&users) = spec.users.iter().find(|users| !(1..=USERS_MAX).contains(*users)) {
        return Err(Error::Users(users));
    }
    session.cancellation.listen().map_err(Error::Signals)?;
    process::become_subreaper().map_err(Error::Signals)?;
    let strangers = process::children();
    let made = steps(spec, session);
    session.observer.stage_over();
    end_what_is_left(&strangers);
    made
}

fn steps(spec: &Spec, session: &Session<'_>) -> Result<LoadDocument, Error> {
    let each = spec.duration + spec.warm_up.unwrap_or_default();
    let whole = |time: Duration| usize::try_from(time.as_secs()).unwrap_or(usize::MAX);
    let total = each * u32::try_from(spec.users.len()).unwrap_or(u32::MAX);
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    let (mut is_complete, mut stopped) = (true, None);
    for (number, &users) in (0..).zip(&spec.users) {
        let progress = |passed: Duration| {
            session.observer.progress("seconds", whole(each * number + passed), whole(total));
        };
        match step::make(spec, users, session, &progress) {
            Ok(seen) => {
                is_complete &= seen.is_whole;
                let row = rows::row(&spec.script, users, &seen);
                note(&row, &seen, &mut notes);
                rows.push(row);
            }
            Err(error) if rows.is_empty() => return Err(error),
            Err(error) => stopped = Some(error.to_string()),
        }
        if stopped.is_some() || session.is_over() {
            is_complete &= rows.len() == spec.users.len() && stopped.is_none();
            break;
        }
    }
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let processors = u32::try_from(processors).unwrap_or(u32::MAX);
    label(&mut rows, processors);
    notes.extend(rows.iter().filter_map(|row| strangers(row, processors)));
    let closed = |at: &Arrivals| spec.certify || *at == Arrivals::Closed;
    let is_closed = spec.script.classes.iter().all(|class| closed(&class.arrivals));
    Ok(LoadDocument {
        schema: LoadDocument::SCHEMA.to_owned(),
        seed: spec.script.seed,
        thinks: !spec.certify,
        processors,
        knee: bounds::knee(&rows, processors).filter(|_| is_closed),
        steps: rows,
        is_complete,
        stopped,
        notes,
    })
}

fn label(rows: &mut [LoadStep], processors: u32) {
    let means = rows.iter().filter_map(|row| row.response).map(|times| times.mean_seconds);
    let shortest = means.fold(f64::INFINITY, f64::min);
    for row in rows {
        row.label = bounds::label(row, shortest, processors);
    }
}

/// Other work of the machine, where it took a quarter of all processors or more.
fn strangers(row: &LoadStep, processors: u32) -> Option<Warning> {
    let others = row.processors_busy? - bounds::own_share(row, processors)?;
    let text = format!(
        "{} users: other processes, nbuf among them, had {:.0} % of the processors",
        row.users,
        others * 100.0
    );
    (others >= 0.25).then_some(Warning::Text(text))
}

/// What to know of the figures of a step.
fn note(row: &LoadStep, seen: &Seen, notes: &mut Vec<Warning>) {
    let users = row.users;
    let mut add = |text: String| notes.push(Warning::Text(format!("{users} users: {text}")));
    if let (Some(failure), true) = (&row.failure, row.failed > 0) {
        add(format!("{} interactions failed, the first was {failure}", row.failed));
    }
    if row.not_begun > 0 {
        add(format!(
            "{} arrivals found no free user before the end of the step, so that the response is longer \
             than shown",
            row.not_begun
        ));
    }
    match seen.cut {
        Some(Cut::NoSteadyState(_)) => {
            add("the response has not settled; give a longer --duration".to_owned());
        }
        Some(Cut::TooFew) => {
            add("too few interactions to leave out a beginning; give a longer --duration"
                .to_owned());
        }
        Some(Cut::After(_)) | None => {}
    }
}

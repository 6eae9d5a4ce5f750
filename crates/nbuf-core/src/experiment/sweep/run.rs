//! Runs a command with each value of a parameter.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

use super::{Parameter, rows};
use crate::experiment::result::SweepDocument;
use crate::experiment::session::Session;
use crate::units::Nanos;
use crate::workload::command::{self, Command, Ended, Input, Job, Unwatched, discarding};

/// The spec of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The parameter and its values, as `n=1..6`.
    pub parameter: Parameter,
    /// Shell command that runs before each run, untimed, with the value in it.
    #[serde(default)]
    pub prepare: Option<String>,
    /// Runs of each value.
    pub samples: u16,
    /// The command and its arguments, with the name of the parameter in braces.
    pub command: Vec<String>,
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither the command nor the preparation has the parameter.
    #[error("no argument varies: write {{{0}}} in the place of the value")]
    NothingVaries(String),
    /// No signal can end the experiment.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// A run failed.
    #[error("{what} ended with status {status} at {name}={value}; run it by hand first")]
    Failed {
        /// The command, or its preparation.
        what: &'static str,
        /// Its exit status.
        status: i32,
        /// The name of the parameter.
        name: String,
        /// Its value.
        value: String,
    },
    /// The command does not run.
    #[error(transparent)]
    Command(#[from] command::Error),
    /// The kernel refused something else.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The command with every value once, then again backwards, and so on: as many times as there are
/// samples. A signal ends it early: what was measured by then is in the document.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<SweepDocument, Error> {
    let mut parts = spec.command.iter().chain(&spec.prepare);
    if !parts.any(|part| spec.parameter.is_in(part)) {
        return Err(Error::NothingVaries(spec.parameter.name.clone()));
    }
    session.cancellation.listen().map_err(Error::Signals)?;
    let measured = measure(spec, session);
    session.observer.stage_over();
    let (seconds, is_complete) = measured?;
    Ok(SweepDocument {
        schema: SweepDocument::SCHEMA.to_owned(),
        command: spec.command.clone(),
        prepare: spec.prepare.clone(),
        parameter: spec.parameter.name.clone(),
        rows: rows(&spec.parameter, &seconds),
        is_complete,
    })
}

/// The seconds of each value, and whether no signal came.
fn measure(spec: &Spec, session: &Session<'_>) -> Result<(Vec<Vec<f64>>, bool), Error> {
    let values = &spec.parameter.values;
    let mut seconds = vec![Vec::new(); values.len()];
    let total = values.len() * usize::from(spec.samples);
    for (done, at) in spec.parameter.turns(spec.samples.into()).enumerate() {
        session.observer.progress("runs", done, total);
        match sample(spec, &values[at], session)? {
            Some(time) => seconds[at].push(time),
            None => return Ok((seconds, false)),
        }
    }
    Ok((seconds, true))
}

/// The seconds of one run; nothing where a signal came.
fn sample(spec: &Spec, value: &str, session: &Session<'_>) -> Result<Option<f64>, Error> {
    let put = |text: &String| OsString::from(spec.parameter.put(value, text));
    let is_over = |ended: &Ended, what| {
        if let Some(signal) = ended.interrupted {
            session.cancellation.note(signal);
        }
        let (status, name) = (ended.exit_status, &spec.parameter.name);
        match session.cancellation.poll() {
            Some(_) => Ok(true),
            None if status == 0 => Ok(false),
            None => {
                Err(Error::Failed { what, status, name: name.clone(), value: value.to_owned() })
            }
        }
    };
    if let Some(script) = &spec.prepare {
        let ended = once(vec!["sh".into(), "-c".into(), put(script)], session)?;
        if is_over(&ended, "--prepare")? {
            return Ok(None);
        }
    }
    let ended = once(spec.command.iter().map(put).collect(), session)?;
    if is_over(&ended, "the command")? {
        return Ok(None);
    }
    Ok(Some(Nanos(ended.elapsed_ns).seconds()))
}

fn once(arguments: Vec<OsString>, session: &Session<'_>) -> Result<Ended, Error> {
    let output = discarding(session.output.stream().as_fd())?;
    let standard = [Some(Input::Nothing.again()?), Some(output), None];
    let command = Command { arguments, account: session.account.clone(), ..Command::default() };
    let job = Job { standard, ..Job::default() };
    let signals = session.cancellation.listen()?;
    Ok(command::run(&command, job, &mut Unwatched, signals)?)
}

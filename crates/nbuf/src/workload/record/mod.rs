//! Recording a command: what it asks of the page cache, in the order it asked.
//!
//! [`record`] writes a framed log while the command runs; [`trace_of_log`] makes a trace of it, at
//! the end of the run or years later, whole or torn.

pub mod btrfs;
pub mod calls;
pub mod events;
mod identify;
pub mod log;
pub mod machine;
pub mod mounts;
pub mod names;
pub mod normalise;
pub mod perf;
pub mod recorder;
mod sizes;
pub mod writes;

use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use crate::sys::cgroup::Group;
use crate::sys::signal::Signals;
use crate::workload::command::{self, Command, Ended, Job, Until, run};
use crate::workload::trace::Trace;
use log::{Ending, LogError, LogReader};
use normalise::Normaliser;
use recorder::Recorder;

/// The circumstances of a recording.
#[derive(Debug, Default)]
pub struct Options<'a> {
    /// Private group that the command joins, and whose memory is metered.
    pub group: Option<&'a Group>,
    /// Descriptors that become the command's standard input, output and error instead of ours.
    pub standard: [Option<OwnedFd>; 3],
    /// When it is over.
    pub until: Until,
    /// After this long the command is ended.
    pub deadline: Option<std::time::Duration>,
    /// Size of each ring instead of 8 MiB; for provoking losses.
    pub ring_bytes: Option<usize>,
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing can be captured, or the log cannot be written.
    #[error(transparent)]
    Recorder(#[from] recorder::Error),
    /// The command did not run.
    #[error(transparent)]
    Command(#[from] command::Error),
}

/// Runs a command and writes what it does to `out` as a framed log.
pub fn record<W: Write>(
    command: &Command,
    options: Options<'_>,
    out: W,
    signals: &Signals,
) -> Result<(Ended, W), Error> {
    let shown = command.arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let mut recorder = Recorder::prepare(shown, options.group, out, options.ring_bytes)?;
    let Options { group, standard, until, deadline, .. } = options;
    let ended = run(command, Job { group, standard, until, deadline }, &mut recorder, signals)?;
    Ok((ended, recorder.finish(&ended)?))
}

/// Makes a trace of a log, as far as its last whole frame. What is missing is said in the
/// trace's cautions.
pub fn trace_of_log(log: impl Read) -> Result<Trace, LogError> {
    let mut reader = LogReader::new(log)?;
    let mut normaliser = Normaliser::default();
    for entry in reader.by_ref() {
        normaliser.push(entry?);
    }
    let mut trace = normaliser.finish();
    let cautions = &mut trace.facts.cautions;
    if let Some(Ending::Torn { at_byte, reason }) = reader.ending() {
        cautions.push(format!("the log ends at byte {at_byte}: {reason}"));
    }
    if reader.frames_skipped() > 0 {
        cautions.push(format!("{} damaged frames of the log are missing", reader.frames_skipped()));
    }
    Ok(trace)
}

//! Recording a command: what it asks of the page cache, in the order it asked.
//!
//! [`record`] writes a framed log while the command runs; [`trace_of_log`] makes a trace of it, at
//! the end of the run or years later, whole or torn.

pub mod advice;
mod area;
pub(crate) mod btf;
pub mod btrfs;
pub(crate) mod calls;
pub mod capabilities;
pub(crate) mod container;
pub mod direct;
pub(crate) mod events;
mod identify;
mod key;
mod links;
mod listeners;
pub(crate) mod log;
pub mod machine;
pub(crate) mod mounted;
pub mod mounts;
pub(crate) mod names;
pub mod normalise;
pub mod overlay;
pub(crate) mod perf;
mod pipes;
mod programs;
mod reading;
pub mod reclaim;
pub mod recorder;
mod roots;
pub mod running;
mod sizes;
pub mod spool;
pub(crate) mod text;
mod touched;
pub(crate) mod traced;
mod uncached;
mod workers;
pub(crate) mod writes;

use std::io::{Read, Seek, Write};
use std::os::fd::OwnedFd;

use crate::sys::cgroup::Group;
use crate::sys::seccomp;
use crate::sys::signal::Signals;
use crate::trace::Trace;
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::command::{self, Command, Ended, Job, Until, run};
use log::{Ending, Entry, LogError, LogReader};
use normalise::Survey;
use reading::Reported;
use recorder::{Recorder, Subject};
use traced::Traced;

/// How a command is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// By the kernel's tracepoints: sees the requests to the page cache, by any call.
    #[default]
    Perf,
    /// By stopping at its system calls: needs no privileges, sees less and costs more.
    Calls,
}

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
    /// How to record the command.
    pub backend: Backend,
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
    /// Recording by system calls knows other architectures only.
    #[error(
        "recording by system calls is for x86_64 and aarch64, and this is {0}; record as root by \
         tracepoints, with --capture perf"
    )]
    Architecture(&'static str),
    /// Pages of another size.
    #[error(
        "this kernel has pages of {0}, and nbuf counts in pages of 4 KiB: it cannot record here"
    )]
    PageSize(Bytes),
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
    let Options { group, standard, until, deadline, backend, ring_bytes } = options;
    if rustix::param::page_size() as u64 != PAGE_BYTES {
        return Err(Error::PageSize(Bytes(rustix::param::page_size() as u64)));
    }
    if backend == Backend::Calls && !seccomp::is_supported() {
        return Err(Error::Architecture(std::env::consts::ARCH));
    }
    let job = Job { group, standard, until, deadline };
    match backend {
        Backend::Perf => {
            let mut recorder = Recorder::prepare(shown, Subject::Command, group, out, ring_bytes)?
                .with_given(&job.standard);
            match run(command, job, &mut recorder, signals) {
                Ok(ended) => {
                    let log = recorder.finish(&ended)?;
                    Ok((ended, log))
                }
                Err(error) => {
                    recorder.abandon();
                    Err(error.into())
                }
            }
        }
        Backend::Calls => {
            let mut traced = Traced::prepare(shown, group, out)?;
            match run(command, job, &mut traced, signals) {
                Ok(ended) => {
                    let log = traced.finish(&ended)?;
                    Ok((ended, log))
                }
                Err(error) => {
                    traced.abandon();
                    Err(error.into())
                }
            }
        }
    }
}

/// Makes a trace of a log, as far as its last whole frame. What is missing is said in the
/// trace's warnings. The log is read twice, so that its events need not be kept.
pub fn trace_of_log(log: impl Read + Seek) -> Result<Trace, LogError> {
    Ok(salvage(log)?.trace)
}

/// As [`trace_of_log`]; `progress` gets the bytes that were read, and those of both readings.
pub fn trace_of_log_with(
    log: impl Read + Seek,
    progress: &dyn Fn(u64, u64),
) -> Result<Trace, LogError> {
    Ok(salvage_with(log, progress)?.trace)
}

/// What a log came to.
#[derive(Debug)]
pub struct Salvaged {
    /// The trace, with what is missing among its warnings.
    pub trace: Trace,
    /// Entries that were read.
    pub entries: u64,
    /// Frames lost before the last whole one.
    pub frames_skipped: u64,
    /// How the log ended.
    pub ending: Ending,
}

/// As [`trace_of_log`], and tells what there was.
pub fn salvage(log: impl Read + Seek) -> Result<Salvaged, LogError> {
    salvage_with(log, &|_, _| ())
}

/// The same; `progress` gets the bytes that were read, and those of both readings.
pub fn salvage_with(
    log: impl Read + Seek,
    progress: &dyn Fn(u64, u64),
) -> Result<Salvaged, LogError> {
    let failed = |source| LogError::Io { at_byte: 0, source };
    let mut log = Reported::new(log, 2, progress).map_err(failed)?;
    let mut survey = Survey::default();
    let mut reader = LogReader::new(&mut log)?;
    let mut entries = 0;
    for entry in reader.by_ref() {
        survey.push(entry?);
        entries += 1;
    }
    let frames_skipped = reader.frames_skipped();
    let ending = reader.ending().cloned().unwrap_or(Ending::Clean);
    let mut normaliser = survey.normaliser();
    log.rewind().map_err(failed)?;
    for entry in LogReader::new(&mut log)? {
        if let Entry::Event(event) = entry? {
            normaliser.push(event);
        }
    }
    let mut trace = normaliser.finish();
    let warnings = &mut trace.facts.warnings;
    if let Ending::Torn { at_byte, reason } = &ending {
        warnings.push(format!("the log ends at byte {at_byte}: {reason}"));
    }
    if frames_skipped > 0 {
        warnings.push(format!("{frames_skipped} damaged frames of the log are missing"));
    }
    Ok(Salvaged { trace, entries, frames_skipped, ending })
}

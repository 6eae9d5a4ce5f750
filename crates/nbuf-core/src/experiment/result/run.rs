//! What `nbuf run` gives: the ready message of one command.

use serde::{Deserialize, Serialize};

use super::{RunMeters, RunProfile, RunSample, Warning};
use crate::units::Bytes;

/// The document of `nbuf run --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunDocument {
    /// [`RunDocument::SCHEMA`].
    pub schema: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// As a shell gives it: 128 + n for signal n.
    pub exit_status: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The signal that nbuf received meanwhile.
    pub interrupted: Option<i32>,
    /// From the word to begin to the end of the last descendant.
    pub real_seconds: f64,
    /// Time of all processors in programs.
    pub user_seconds: f64,
    /// Time of all processors in the kernel, for the command.
    pub system_seconds: f64,
    /// Page faults that waited for a disc.
    pub faults_major: u64,
    /// Page faults that did not.
    pub faults_minor: u64,
    /// What it asked of the page cache; nothing without tracepoints.
    pub cache: Option<RunCache>,
    /// Bytes that were read from block devices for it.
    pub device_read_bytes: Bytes,
    /// Bytes of pages that it made dirty, and of writes past the cache.
    pub device_written_bytes: Bytes,
    /// The most memory that one of its processes had at once.
    pub memory_bytes_max: Bytes,
    /// Times that a thread left its processor to wait.
    pub switches_voluntary: u64,
    /// Times that a processor was taken from a thread.
    pub switches_involuntary: u64,
    /// Processes; nothing where they could not be seen.
    pub processes: Option<u64>,
    /// Threads, the first one of each process among them; nothing where they could not be seen.
    pub threads: Option<u64>,
    /// The lives of all threads, summed; nothing where threads could not be seen.
    pub thread_time: Option<RunParts>,
    /// The real time: each instant is in the first part that held for any thread.
    pub real_time: Option<RunParts>,
    /// Part of the time of all processors that other programs had meanwhile, from 0 to 1; nothing for a run that
    /// is shorter than the kernel's tick.
    #[serde(default)]
    pub others_share: Option<f64>,
    /// What each line of standard output cost; nothing where that was not asked for.
    #[serde(default)]
    pub per_line: Option<RunPerLine>,
    /// How long each kind of event took; nothing where that was not asked for, or could not be seen.
    #[serde(default)]
    pub meters: Option<RunMeters>,
    /// Where it ran, and where its faults were; nothing where that was not asked for, or could not be seen.
    #[serde(default)]
    pub profile: Option<RunProfile>,
    /// Each run in its order, where several were asked for. Then the other fields are those of the run in the
    /// middle by real time.
    #[serde(default)]
    pub runs: Vec<RunSample>,
    /// What is missing, and why.
    pub notes: Vec<Warning>,
}

impl RunDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.run/1";
}

/// What a command asked of the page cache of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunCache {
    /// Reads of up to 31 pages in a row, and faults on mapped files.
    pub lookups: u64,
    /// Those of them that found all their pages.
    pub hits: u64,
    /// Pages that were put into the cache, those read ahead among them.
    pub fills: u64,
}

/// The lines of a command's standard output, and what each cost on average: all that the command did, by its
/// lines. Costs per line are nothing where there is no line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunPerLine {
    /// Lines, a last one without an end among them.
    pub lines: u64,
    /// Bytes of all lines.
    pub bytes: u64,
    /// System calls of the whole command from its `execve` on; nothing without tracepoints.
    pub calls: Option<u64>,
    /// Time of processors in programs, for each line.
    pub user_seconds_per_line: Option<f64>,
    /// Time of processors in the kernel, for each line.
    pub system_seconds_per_line: Option<f64>,
    /// Page faults that waited for a disc, for each line.
    pub faults_major_per_line: Option<f64>,
    /// Other page faults, for each line.
    pub faults_minor_per_line: Option<f64>,
    /// System calls for each line; nothing without tracepoints.
    pub calls_per_line: Option<f64>,
}

/// Time in parts, in the order of their precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunParts {
    /// On a processor.
    pub on_cpu_seconds: f64,
    /// Able to run, without a processor.
    pub runnable_seconds: f64,
    /// Waiting for a disc.
    pub disc_seconds: f64,
    /// Waiting for memory to be reclaimed.
    pub memory_seconds: f64,
    /// Waiting for another thread or program: a lock, a pipe, a socket, a terminal.
    pub lock_or_pipe_seconds: f64,
    /// Waiting for a time, a signal or the end of a child.
    pub asleep_seconds: f64,
    /// Waiting, and no rule says for what.
    pub unknown_seconds: f64,
}

impl RunParts {
    /// Each part with its name, in the order of precedence.
    pub fn named(&self) -> [(&'static str, f64); 7] {
        [
            ("on CPU", self.on_cpu_seconds),
            ("runnable", self.runnable_seconds),
            ("disc", self.disc_seconds),
            ("memory", self.memory_seconds),
            ("lock or pipe", self.lock_or_pipe_seconds),
            ("asleep", self.asleep_seconds),
            ("unknown", self.unknown_seconds),
        ]
    }

    /// All parts together.
    pub fn sum_seconds(&self) -> f64 {
        self.named().iter().map(|(_, seconds)| seconds).sum()
    }
}

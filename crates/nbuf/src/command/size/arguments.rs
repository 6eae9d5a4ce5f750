//! What can be asked of `nbuf size`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use nbuf::experiment::size::{self, PrivateDisc, Rate, Spec};
use nbuf::experiment::target::Target;
use nbuf::units::{Bytes, Size};

use super::follow::Following;
use super::help::HELP;
use super::probe::Probing;
use super::server::Served;
use super::values::{Budget, budget, duration, rate, share, some_time, window};
use crate::command::attach::Attach;
use crate::command::capture::Capture;
use crate::command::memory::allowed;
use crate::fail::UsageError;
use crate::sudo_user::Needs;

/// How much memory does a command need?
///
/// Runs the command once to record every page it asks of the page cache, computes how many pages the
/// kernel would fill at every cache size, and recommends a memory limit. Then it runs the command again
/// under that limit, 0.9 and 0.75 of it, and without a limit, and compares the kernel's count of filled
/// pages with the prediction. These runs verify the limit: if every count agrees, the answer is
/// `Proved`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_long_help = HELP)]
pub(crate) struct Args {
    /// Print one JSON document; the command's own output goes to standard error
    #[arg(long)]
    pub(super) json: bool,

    /// Do not ask before running the command again
    #[arg(long, short)]
    pub(super) yes: bool,

    /// Do not run the command again
    #[arg(long, conflicts_with = "verify_at", conflicts_with = "running")]
    pub(super) no_verify: bool,

    /// Limits to verify under instead of 1.0, 0.9 and 0.75 of the recommendation: memory limits
    /// (96MiB), or percentages of the footprint as cache (50%); a percentage at a cliff is verified on
    /// both sides of it
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', conflicts_with = "running")]
    pub(super) verify_at: Vec<Size>,

    /// Verify every size this many times, and compare medians. By default once, and up to five times
    /// where a count is close to what was predicted and yet outside
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "no_verify",
        value_parser = clap::value_parser!(u16).range(1..=1000), conflicts_with = "running")]
    pub(super) samples: u16,

    /// Run the command at most this many times after the recording: to verify, to repeat a run that
    /// misses its prediction, and to find the size where the fills are out of band; 0 for no such search
    #[arg(
        long,
        value_name = "N",
        default_value = "8",
        conflicts_with = "no_verify",
        conflicts_with = "running"
    )]
    pub(super) runs: u16,

    /// Recommend by this instead of the knee: hit=0.95 (share of page accesses that hit),
    /// slowdown=1.1 (times as long as without a limit, by runs), stall=1% (share of the time that a task
    /// waits for memory, by runs), fills=100/s (pages a second, of programs that run already), or
    /// price=3.5,0.4 (dollars for a GiB-month of memory, dollars for a million fills: the lowest bill)
    #[arg(long, value_name = "TARGET")]
    pub(super) target: Option<Target>,

    /// Predict fills with this readahead window of the disc (0, 128KiB); no setting changes
    #[arg(long, value_name = "SIZE", value_parser = window, conflicts_with = "running")]
    pub(super) readahead: Option<Bytes>,

    /// Run this shell command before every run, to restore what the command changes
    #[arg(long, value_name = "COMMAND", conflicts_with = "running")]
    pub(super) prepare: Option<String>,

    /// Stop after this time (90, 90s, 10m, 1h) and report what was measured. Without it, a run under a
    /// limit stops after a minute or ten times its predicted time, the longer of both
    #[arg(long, value_name = "TIME", value_parser = some_time, conflicts_with = "running")]
    pub(super) max_time: Option<Duration>,

    /// What a run under a limit may take at the least; for provoking runs that are ended
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60", hide = true)]
    pub(super) patience: Duration,

    /// How much of the log of the recording is kept in memory; for provoking that there is no room
    #[arg(long, value_name = "BYTES", hide = true)]
    pub(super) log_memory: Option<usize>,

    /// Which process ends a run
    #[arg(long, value_name = "WHEN", default_value = "last", conflicts_with = "running")]
    pub(super) until: Until,

    /// What recording by BPF what runs already may cost, as 1% of a processor: above it, nbuf records a sample of
    /// the pages [default: all pages].
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "running")]
    pub(super) overhead: Option<f64>,

    /// How to record: a command by any of these; what runs already by `auto` or `perf`
    #[arg(long, value_name = "HOW", default_value = "auto", conflicts_with = "trace")]
    pub(super) capture: Capture,

    /// Limit the discs to this many requests a second in every verifying run, and predict its time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "running")]
    pub(super) iops: Option<u64>,

    /// Limit the discs to this many bytes a second (50MiB) in every verifying run
    #[arg(long, value_name = "SIZE", value_parser = rate, conflicts_with = "running")]
    pub(super) bps: Option<Bytes>,

    /// Copy the directory of --data to a private file system of this size, and run the command there
    #[arg(long = "loop", value_name = "SIZE", value_parser = rate, requires = "data",
        conflicts_with = "trace", conflicts_with = "running")]
    pub(super) loop_size: Option<Bytes>,

    /// The directory that --loop copies
    #[arg(long, value_name = "DIR", requires = "loop_size")]
    pub(super) data: Option<PathBuf>,

    /// Readahead window of the private file system
    #[arg(long, value_name = "SIZE", requires = "loop_size", default_value = "128KiB",
        value_parser = window)]
    pub(super) loop_readahead: Bytes,

    /// Recommend a size even from a curve that is a lower bound
    #[arg(long, conflicts_with = "running")]
    pub(super) force: bool,

    /// Write the report to this new file, or with `-` to standard output [default: standard error, or
    /// standard output if it is a terminal]
    #[arg(
        long,
        short,
        value_name = "FILE",
        conflicts_with = "compare",
        conflicts_with = "running"
    )]
    pub(super) output: Option<PathBuf>,

    /// Write the trace to this file; it must not exist
    #[arg(long, value_name = "FILE", conflicts_with = "running")]
    pub(super) trace_out: Option<PathBuf>,

    /// Write the curve as an SVG picture to this file; it must not exist
    #[arg(long, value_name = "FILE", conflicts_with = "running")]
    pub(super) svg: Option<PathBuf>,

    /// Write the report as one HTML page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// Use a recorded trace instead of a command; runs nothing
    #[arg(long, value_name = "FILE", conflicts_with_all =
        ["command", "prepare", "trace_out", "verify_at", "max_time"], conflicts_with = "running")]
    pub(super) trace: Option<PathBuf>,

    /// With --trace: memory to use at most, 2GiB or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed, requires = "trace")]
    pub(super) memory: Option<Size>,

    /// Compare two documents of --json; runs nothing. Exit status 1 if B needs more memory than A,
    /// beyond noise
    #[arg(long, num_args = 2, value_names = ["A.json", "B.json"], conflicts_with_all =
        ["command", "trace", "prepare", "trace_out", "verify_at", "max_time", "svg", "html", "target",
         "readahead", "samples", "force", "no_verify"], conflicts_with = "running")]
    pub(super) compare: Vec<PathBuf>,

    /// The time for all runs (90s, 10m), as --max-time. With --compare: allow B this many times the memory
    /// of A [default: 1.0]
    #[arg(long, value_name = "TIME|TIMES", value_parser = budget, conflicts_with = "running")]
    pub(super) budget: Option<Budget>,

    #[command(flatten)]
    pub(super) running: Attach,

    #[command(flatten)]
    pub(super) following: Following,

    #[command(flatten)]
    pub(super) probing: Probing,

    #[command(flatten)]
    pub(super) served: Served,

    /// The command and its arguments; the first word that is no option begins it, or the first after `--`
    #[arg(trailing_var_arg = true, conflicts_with = "running",
        required_unless_present_any = ["trace", "compare", "running"],
        value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

/// When a run is over.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Until {
    /// The last descendant
    Last,
    /// The command itself; descendants that still run are killed
    Main,
}

impl Args {
    /// A trace and documents are read with the caller's rights alone.
    pub(crate) fn needs(&self) -> Needs {
        match (&self.loop_size, &self.trace, self.compare.is_empty()) {
            _ if self.served.server.is_some() => Needs::Nothing,
            (Some(_), ..) => Needs::Mounting,
            (None, None, true) => Needs::Watching,
            _ => Needs::Nothing,
        }
    }

    /// Refuses what only a look at several options can tell. clap lets a requirement go that another
    /// argument is in conflict with, as a command is with --compare.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        match (self.budget, self.compare.is_empty()) {
            (Some(Budget::Times(times)), true) => Err(UsageError(format!(
                "--budget {times} needs --compare A.json B.json; add it, or write a time such as 90s or 10m"
            ))),
            (Some(Budget::Time(_)), false) => Err(UsageError(
                "--budget with --compare is a factor, not a time: write 1.05 for at most 5 % more"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// How many times the memory of A the B of a comparison may need.
    pub(super) fn times(&self) -> f64 {
        match self.budget {
            Some(Budget::Times(times)) => times,
            _ => 1.0,
        }
    }

    fn time_max(&self) -> Option<Duration> {
        match self.budget {
            Some(Budget::Time(time)) => Some(self.max_time.map_or(time, |most| most.min(time))),
            _ => self.max_time,
        }
    }
}

impl Args {
    /// What the experiment is asked.
    pub(super) fn spec(&self) -> Spec {
        let (size, directory) = (self.loop_size, self.data.clone());
        let private_disc = size.zip(directory).map(|(size_bytes, directory)| PrivateDisc {
            directory,
            size_bytes,
            readahead_bytes: self.loop_readahead,
        });
        Spec {
            command: self.command.clone(),
            trace: self.trace.clone(),
            memory: self.memory,
            capture: self.capture.into(),
            until: match self.until {
                Until::Last => size::Until::Last,
                Until::Main => size::Until::Main,
            },
            prepare: self.prepare.clone(),
            time_max: self.time_max(),
            run_time_min: Some(self.patience),
            log_memory_bytes: self.log_memory,
            private_disc,
            force: self.force,
            target: self.target,
            readahead: self.readahead,
            rate: Rate { iops: self.iops, bytes_per_second: self.bps },
            verify: !self.no_verify,
            verify_at: self.verify_at.clone(),
            samples: self.samples,
            runs: self.runs,
            agreed: self.yes,
        }
    }
}

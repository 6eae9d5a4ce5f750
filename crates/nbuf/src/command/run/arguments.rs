//! What can be asked of `nbuf run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgGroup;
use nbuf::experiment::result::RunBy;
use nbuf::experiment::run::Spec;

use super::shell::Shell;
use crate::command::capture::UntilArgument;

const AFTER: &str = "\
Examples:
  sudo nbuf run -- make -j2
  sudo nbuf run --meters -- git status
  sudo nbuf run --profile --html profile.html -- ./job
  sudo nbuf run --runs 10 --json -- ./job >before.json
  sudo nbuf run --baseline before.json -- ./job     # faster or slower now, and why
  nbuf run --compare before.json after.json
  eval \"$(nbuf run --shell bash)\"                  # in ~/.bashrc

Under sudo the command runs as the user who called sudo. Without the right to read tracepoints, waits
are not split by cause; the message names the missing right.

Exit status:
  the command's; 128+n when signal n killed it or nbuf; 0 with --compare
  2    usage error
  125  nbuf failed; standard error says why
  126  the command cannot be executed
  127  the command was not found";

/// What has meters of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// Each process
    Process,
    /// Each thread
    Thread,
    /// Each file whose pages a page fault or a system call looks for
    File,
}

impl From<By> for RunBy {
    fn from(by: By) -> Self {
        match by {
            By::Process => Self::Process,
            By::Thread => Self::Thread,
            By::File => Self::File,
        }
    }
}

/// Where did a command's time go?
///
/// Runs the command and prints one line after it: real time, processor time, page faults, page cache,
/// disc, peak memory, and where the time went. The command keeps its standard input, output and error.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "the switches of a command line")]
#[command(after_help = AFTER, group(ArgGroup::new("paged").args(["profile", "baseline", "compare"])))]
pub(crate) struct Arguments {
    /// Print one JSON document; the command's standard output goes to standard error
    #[arg(long)]
    pub(super) json: bool,
    /// Time every kind of event: faults and their steps, system calls, disc requests, waits for a
    /// processor, interrupts
    #[arg(long)]
    pub(super) meters: bool,
    /// Keep the meters also for each process, thread or file, and print those that took the most time
    #[arg(long, value_name = "WHAT", requires = "meters", conflicts_with = "compare")]
    pub(super) by: Option<By>,
    /// Count the lines of the command's standard output, and print what each cost: processor time, page faults,
    /// system calls
    #[arg(long)]
    pub(super) per_line: bool,
    /// Sample where the command runs: processor time by program, library and function, and page faults
    #[arg(long)]
    pub(super) profile: bool,
    /// Write the profile's stacks as lines for flame graphs to a new file
    #[arg(long, value_name = "FILE", requires = "profile", conflicts_with_all = ["runs", "baseline", "compare"])]
    pub(super) folded: Option<PathBuf>,
    /// Write the profile with a flame graph, or the comparison, as one page to a new file
    #[arg(long, value_name = "FILE", requires = "paged")]
    pub(super) html: Option<PathBuf>,
    /// Write the figures for Prometheus to a new file, as a node's exporter collects them
    #[arg(long, value_name = "FILE")]
    pub(super) openmetrics: Option<PathBuf>,
    /// Write what each thread of the first run did, one part after the other, to a new file: trace events
    /// that Perfetto and Chrome open
    #[arg(long, value_name = "FILE")]
    pub(super) perfetto: Option<PathBuf>,
    /// Run the command this many times, and keep the figures of each run [default: 1; with --baseline, as
    /// often as its file says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100), conflicts_with = "profile")]
    pub(super) runs: Option<u16>,
    /// Compare the command with this document of --json: whether it is faster or slower now, and why
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Compare two documents of --json; runs nothing
    #[arg(long, num_args = 2, value_names = ["A.json", "B.json"],
        conflicts_with_all = ["command", "meters", "by", "per_line", "profile", "folded", "openmetrics", "perfetto", "runs", "baseline", "until"])]
    pub(super) compare: Option<Vec<PathBuf>>,
    /// With --baseline and --compare: compare also what differs in more than time, as different commands
    #[arg(long)]
    pub(super) force: bool,
    /// Print a hook for a shell to evaluate: then a line follows every command of the session
    #[arg(long, value_name = "SHELL", exclusive = true)]
    pub(super) shell: Option<Shell>,
    /// Which process ends the run; descendants that still run are killed
    #[arg(long, value_name = "WHEN", default_value = "last")]
    until: UntilArgument,
    /// The command to run, and its arguments; the first word that is no option begins it, or the first
    /// after `--`
    #[arg(trailing_var_arg = true, required_unless_present_any = ["compare", "shell"], value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

impl Arguments {
    /// What the experiment is asked.
    pub(super) fn spec(&self) -> Spec {
        Spec {
            command: self.command.clone(),
            until: self.until.into(),
            meters: self.meters,
            profile: self.profile,
            timeline: self.perfetto.is_some(),
            by: self.by.map(Into::into),
            per_line: self.per_line,
            runs: self.runs.unwrap_or(1),
        }
    }
}

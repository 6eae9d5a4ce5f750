//! What can be asked of `nbuf bench`.

use std::path::PathBuf;

use nbuf::experiment::bench::{self, Spec};
use nbuf::units::{Bytes, Size};

use super::advise;

const HELP: &str = "\
Examples:
  nbuf bench --quick                            # the course's table, and what differs, in a minute
  nbuf bench r01-byte 'r1*'                     # some tests, by name
  nbuf bench --group 4096 --csv                 # one of the course's selections
  nbuf bench --html bench.html --json >a.json   # everything, as a page and as a document
  nbuf bench --compare a.json b.json            # two documents side by side
  nbuf bench advise --pattern '512 B, stride 1 MiB, hot'

Reads and writes unnamed files in --dir, and leaves nothing there. Keeps the medians of complete runs in \
~/.local/state/nbuf/bench-history.jsonl, to widen ranges by how far runs differ. Needs no privileges. \
Excludes and counts samples in which another program had the processor. Compares each row's label \
with the kernel's counters. Differences below the run's noise floor are not called differences.

Exit status:
  0    measured all rows that the machine allows, or that --quick has time for
  1    a row did not do what its label says, and has no number
  2    usage error
  125  nbuf failed; standard error says why
  130  interrupted by Ctrl-C; prints what was measured so far";

/// Which way of reading and writing is fastest here, by how much, and why?
///
/// Measures the 26 tests of the CS61 course and newer paths: system calls, standard I/O, mappings,
/// threads and rings, to memory and to the disc. Each row checks that the kernel did what its label
/// says.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "the switches of a command line")]
#[command(after_long_help = HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,

    /// Tests by name; `*` matches anything [default: all]
    #[arg(value_name = "TEST")]
    pub(super) tests: Vec<String>,

    /// Groups of tests
    #[arg(long, value_name = "GROUP,...", value_delimiter = ',')]
    pub(super) group: Vec<Group>,

    /// Finish within a minute: the course's tests, comparisons in memory, latency lines of four paths.
    /// Names what it did not reach
    #[arg(long)]
    pub(super) quick: bool,

    /// Only rows: no comparisons, no latency lines, no noise floor
    #[arg(long)]
    pub(super) rows: bool,

    /// List the tests; measures nothing
    #[arg(long)]
    pub(super) list: bool,

    /// Directory of the test files, on the disc to measure [default: ~/.local/state/nbuf if it has more than the
    /// history of runs, else /var/tmp]
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,

    /// Size of the test files [default: 10MiB for the course's tests and comparisons, 64MiB for others]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) size: Option<u64>,

    /// Read this file instead of test files, and never write to it: only rows that read
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    pub(super) file: Option<PathBuf>,

    /// Leave earlier runs of this machine out of the ranges, and do not keep this one for later ranges
    #[arg(long)]
    pub(super) no_history: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,

    /// Print the rows as comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,

    /// Write an HTML page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// Add the histograms of this document of `nbuf ping --json` to the page
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(super) ping: Option<PathBuf>,

    /// Write one line of JSON per sample to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) samples_out: Option<PathBuf>,

    /// Plant a slowdown of this many percent in every sample, to see whether --compare finds it
    #[arg(long, value_name = "PERCENT", hide = true)]
    pub(super) slowdown: Option<f64>,

    /// Compare two documents of --json; measures nothing
    #[arg(long, num_args = 2, value_names = ["A.json", "B.json"],
        conflicts_with_all = ["tests", "group", "quick", "rows", "list", "dir", "size", "file", "no_history",
            "csv", "html", "samples_out"])]
    pub(super) compare: Option<Vec<PathBuf>>,
}

impl Arguments {
    /// What the experiment is asked.
    pub(super) fn spec(&self) -> Spec {
        Spec {
            tests: self.tests.clone(),
            groups: self.group.iter().map(|group| (*group).into()).collect(),
            is_quick: self.quick,
            only_rows: self.rows,
            directory: self.dir.clone(),
            size_bytes: self.size,
            file: self.file.clone(),
            slowdown_percent: self.slowdown.unwrap_or(0.0),
            ignores_history: self.no_history,
        }
    }
}

/// What else there is below it.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Verb {
    Advise(advise::Arguments),
}

/// A selection of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Group {
    /// The course's tests of single bytes, in its order
    Byte,
    /// The course's tests of blocks of 4096
    #[value(name = "4096")]
    Page,
    /// The twenty-six of the course
    Cs61,
    /// Newer paths
    Modern,
}

impl From<Group> for bench::Group {
    fn from(group: Group) -> Self {
        match group {
            Group::Byte => Self::Byte,
            Group::Page => Self::Page,
            Group::Cs61 => Self::Cs61,
            Group::Modern => Self::Modern,
        }
    }
}

/// At least a page: less cannot be cold.
fn size(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(Size::Absolute(Bytes(bytes))) if bytes >= 4096 => Ok(bytes),
        Ok(_) => Err("give at least a page, as an amount: 64MiB, 1048576".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

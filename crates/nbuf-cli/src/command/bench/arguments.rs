//! What can be asked of `nbuf bench`.

use std::path::PathBuf;

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

Reads and writes files without a name in --dir; nothing is left behind, however it ends. Needs no
privileges. Samples in which something else had the processor are set aside and counted; what the kernel
says was done is held against the label of each row; differences below the noise floor of the same run
are not called differences.

Exit status:
  0    all that the machine allows was measured, or all that --quick had time for
  1    a row did not do what its name says, and has no number
  2    the command line makes no sense
  125  nbuf itself failed, and says why on standard error
  130  interrupted; what was measured before is told";

/// Which way of reading and writing is fastest here, by how much, and why?
///
/// Measures the twenty-six tests of the CS61 course and the ways that have come since: calls,
/// standard I/O, mappings, threads and rings, to memory and to the disc; each with the proof of
/// what was really done.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "the switches of a command line")]
#[command(after_long_help = HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,

    /// Tests, by name; * stands for anything [default: all]
    #[arg(value_name = "TEST")]
    pub(super) tests: Vec<String>,

    /// Groups of tests
    #[arg(long, value_name = "GROUP,...", value_delimiter = ',')]
    pub(super) group: Vec<Group>,

    /// End within a minute: the course's tests, what is compared in memory, the lines of four paths; what
    /// is not reached is named
    #[arg(long)]
    pub(super) quick: bool,

    /// Only the rows: no comparisons, no lines, and so no noise floor
    #[arg(long)]
    pub(super) rows: bool,

    /// List the tests, and measure nothing
    #[arg(long)]
    pub(super) list: bool,

    /// Where the files lie, on the disc that is to be measured [default: ~/.local/state/nbuf if it
    /// exists, else /var/tmp]
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,

    /// Bytes of the files [default: 10MiB for the course's tests and what is compared, 64MiB for others]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) size: Option<u64>,

    /// Read this file instead of ours, and change nothing of it: rows that read, at its size or --size
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    pub(super) file: Option<PathBuf>,

    /// One JSON document on standard output
    #[arg(long)]
    pub(super) json: bool,

    /// The rows as comma-separated values on standard output
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,

    /// Write a page for a browser into this file, which must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// Put the histograms of `nbuf ping --json > FILE` into the page, too
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(super) ping: Option<PathBuf>,

    /// Write a line of JSON for each sample into this file, which must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) samples_out: Option<PathBuf>,

    /// Plant a slowdown of this many percent in every sample, to see whether --compare finds it
    #[arg(long, value_name = "PERCENT", hide = true)]
    pub(super) slowdown: Option<f64>,

    /// Show two documents of --json side by side, and measure nothing
    #[arg(long, num_args = 2, value_names = ["A.json", "B.json"],
        conflicts_with_all = ["tests", "group", "quick", "rows", "list", "dir", "size", "file", "csv", "html",
            "samples_out"])]
    pub(super) compare: Option<Vec<PathBuf>>,
}

/// What else there is below it.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Verb {
    Advise(advise::Arguments),
}

/// A selection of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Group {
    /// The course's tests of single bytes, in its own order
    Byte,
    /// The course's tests of blocks of 4096
    #[value(name = "4096")]
    Page,
    /// The twenty-six of the course
    Cs61,
    /// The ways that have come since
    Modern,
}

/// At least a page: less cannot be cold.
fn size(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(Size::Absolute(Bytes(bytes))) if bytes >= 4096 => Ok(bytes),
        Ok(_) => Err("give at least a page, as an amount: 64MiB, 1048576".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

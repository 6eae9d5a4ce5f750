//! What can be asked of `nbuf size`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use nbuf::experiment::target::Target;
use nbuf::units::{Bytes, PAGE_BYTES, Size};

use crate::caller::Needs;
use crate::command::capture::Capture;
use crate::command::memory::allowed;
use crate::fail::Senseless;

/// How much memory does a command need?
///
/// Runs the command once to record every page it asks of the page cache, draws how many pages the
/// kernel would have to fill at every size of the cache, recommends a memory limit, and proves it:
/// the command is run again under that limit, 0.9 and 0.75 of it, and without a limit, and the
/// kernel's own count of filled pages is held against the prediction.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_long_help = HELP)]
pub(crate) struct Args {
    /// One JSON document on standard output; the command's own output goes to standard error
    #[arg(long)]
    pub(super) json: bool,

    /// Do not ask before running the command again
    #[arg(long, short)]
    pub(super) yes: bool,

    /// Do not run the command again
    #[arg(long, conflicts_with = "verify_at")]
    pub(super) no_verify: bool,

    /// Limits to verify under instead of 1.0, 0.9 and 0.75 of the recommendation: memory limits
    /// (96MiB), or percentages of the footprint as cache (50%)
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',')]
    pub(super) verify_at: Vec<Size>,

    /// Verify every size this many times and judge the medians
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "no_verify",
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) samples: u16,

    /// Recommend by this instead of the knee: hit=0.95 (share of page accesses that hit),
    /// slowdown=1.1 (times as long as with room for everything), or price=3.5,0.4 (dollars for a
    /// GiB-month of memory, dollars for a million fills: the lowest bill)
    #[arg(long, value_name = "TARGET")]
    pub(super) target: Option<Target>,

    /// Tell what this readahead window of the disc would change (0, 128KiB); nothing is set
    #[arg(long, value_name = "SIZE", value_parser = window)]
    pub(super) readahead: Option<Bytes>,

    /// Shell command that is run before every run, to bring things back to where they were
    #[arg(long, value_name = "COMMAND")]
    pub(super) prepare: Option<String>,

    /// End everything after this long (90, 90s, 10m, 1h) and report what was measured; without it,
    /// a run under a limit is ended after a minute or ten times what was predicted, the longer
    #[arg(long, value_name = "TIME", value_parser = some_time)]
    pub(super) max_time: Option<Duration>,

    /// What a run under a limit may take at the least; for provoking runs that are ended
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60", hide = true)]
    pub(super) patience: Duration,

    /// How much of the log of the recording is kept in memory; for provoking that there is no room
    #[arg(long, value_name = "BYTES", hide = true)]
    pub(super) log_memory: Option<usize>,

    /// A run is over when its last descendant has ended, or when the command itself has
    #[arg(long, value_name = "WHEN", default_value = "last")]
    pub(super) until: Until,

    /// How the command is watched
    #[arg(long, value_name = "HOW", default_value = "auto", conflicts_with = "trace")]
    pub(super) capture: Capture,

    /// Hold the discs to so many requests a second in every verified run, and predict its time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) iops: Option<u64>,

    /// Hold the discs to so many bytes a second (50MiB) in every verified run
    #[arg(long, value_name = "SIZE", value_parser = rate)]
    pub(super) bps: Option<Bytes>,

    /// Copy the directory of --data to a private file system of this size, and record and verify
    /// there; the directory itself stays as it is
    #[arg(long = "loop", value_name = "SIZE", value_parser = rate, requires = "data",
        conflicts_with = "trace")]
    pub(super) loop_size: Option<Bytes>,

    /// The directory that --loop copies
    #[arg(long, value_name = "DIR", requires = "loop_size")]
    pub(super) data: Option<PathBuf>,

    /// Readahead window of the private file system
    #[arg(long, value_name = "SIZE", requires = "loop_size", default_value = "128KiB",
        value_parser = window)]
    pub(super) loop_readahead: Bytes,

    /// Recommend a size even from a curve that is a lower bound
    #[arg(long)]
    pub(super) force: bool,

    /// Keep the trace in this file, which must not exist
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Draw the curve as a picture into this file, which must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,

    /// Write the report as a page for a browser into this file, which must not exist; it needs
    /// nothing beside it
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// Start from a recorded trace instead of a command; nothing is run
    #[arg(long, value_name = "FILE", conflicts_with_all =
        ["command", "prepare", "output", "verify_at", "max_time"])]
    pub(super) trace: Option<PathBuf>,

    /// With --trace: memory that may be used, 2GiB or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed, requires = "trace")]
    pub(super) memory: Option<Size>,

    /// Compare two documents that --json wrote; nothing is run. Exit status 1 when B needs more
    /// memory than A, by more than the noise
    #[arg(long, num_args = 2, value_names = ["A.json", "B.json"], conflicts_with_all =
        ["command", "trace", "prepare", "output", "verify_at", "max_time", "svg", "html", "target",
         "readahead", "samples", "force", "no_verify"])]
    pub(super) compare: Vec<PathBuf>,

    /// With --compare: B may need this many times the memory of A [default: 1.0]
    #[arg(long, value_name = "TIMES", requires = "compare", value_parser = budget)]
    pub(super) budget: Option<f64>,

    /// The command and its arguments
    #[arg(last = true, required_unless_present_any = ["trace", "compare"])]
    pub(super) command: Vec<OsString>,
}

/// When a run is over.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Until {
    /// When its last descendant has ended
    Last,
    /// When the command itself has ended; what still runs then is ended
    Main,
}

impl Args {
    /// A trace and documents are read with the caller's rights alone.
    pub(crate) fn needs(&self) -> Needs {
        match (&self.loop_size, &self.trace, self.compare.is_empty()) {
            (Some(_), ..) => Needs::Mounting,
            (None, None, true) => Needs::Watching,
            _ => Needs::Nothing,
        }
    }

    /// Refuses what only a look at several options can tell. clap lets a requirement go that another
    /// argument is in conflict with, as a command is with --compare.
    pub(crate) fn check(&self) -> Result<(), Senseless> {
        match self.budget {
            Some(budget) if self.compare.is_empty() => Err(Senseless(format!(
                "--budget {budget} is for --compare A.json B.json, which is missing"
            ))),
            _ => Ok(()),
        }
    }
}

const HELP: &str = "\
Examples:
  nbuf size -- grep -r unsafe src
  nbuf size --prepare 'make clean' -- make -j2
  nbuf size --html size.html -- ./query
  nbuf size --verify-at 100%,50%,25% --json -- sqlite3 my.db '.read queries.sql' > size.json
  nbuf size --target hit=0.95 --samples 5 -- ./query
  nbuf size --compare before.json after.json --budget 1.05

Exit status:
  0    every prediction held (or nothing was verified); B needs no more than A
  1    a prediction did not hold; B needs more than A and the budget allow
  2    the command line makes no sense
  125  nbuf itself failed
  126  the command cannot be executed
  127  the command was not found
  128+n  the recorded command, or nbuf, was ended by signal n";

/// `50MiB`, and more than nothing.
fn rate(text: &str) -> Result<Bytes, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(bytes)) if bytes > Bytes(0) => Ok(bytes),
        _ => Err("write a size of more than nothing, such as 50MiB".into()),
    }
}

/// `90`, `90s`, `10m`, `1h`
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("write 90, 90s, 10m or 1h".into()),
    };
    let number: f64 = digits.parse().map_err(|_| "write 90, 90s, 10m or 1h")?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| "write 90, 90s, 10m or 1h".into())
}

/// A duration in which something can be done.
fn some_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("nothing can be run in no time: write 90, 90s, 10m or 1h".into()),
        some => Ok(some),
    }
}

/// A readahead window: whole pages, none of anything, and as many as a device can have.
fn window(text: &str) -> Result<Bytes, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(window)) if window.0 % PAGE_BYTES != 0 => {
            Err("a window is of whole pages of 4KiB: write 0 or 128KiB".into())
        }
        Ok(Size::Absolute(window)) if window <= Bytes(1 << 30) => Ok(window),
        Ok(Size::Absolute(_)) => Err("no device reads ahead so far: write at most 1GiB".into()),
        Ok(Size::Percent(_)) => Err("a window is no share of anything: write 0 or 128KiB".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// A factor.
fn budget(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    factor.ok_or_else(|| "write 1.05 for at most 5 % more".into())
}

//! `nbuf size`: record, curve, recommend, verify, report.

mod outputs;
mod prove;
mod spool;
mod workload;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use nbuf::experiment::result::SizeReport;
use nbuf::experiment::size::Analysis;
use nbuf::meter::probe::residency::Residency;
use nbuf::sys::signal::Signals;
use nbuf::units::{Bytes, Size};
use nbuf::workload::trace::Trace;

use super::capture::Capture;
use crate::exit;
use crate::fail::say;
use crate::output::print;
use crate::show::{plot, progress, report};
use workload::Workload;

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
    json: bool,

    /// Do not ask before running the command again
    #[arg(long, short)]
    yes: bool,

    /// Do not run the command again
    #[arg(long, conflicts_with = "verify_at")]
    no_verify: bool,

    /// Limits to verify under instead of 1.0, 0.9 and 0.75 of the recommendation: memory limits
    /// (96MiB), or percentages of the footprint as cache (50%)
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',')]
    verify_at: Vec<Size>,

    /// Shell command that is run before every run, to bring things back to where they were
    #[arg(long, value_name = "COMMAND")]
    prepare: Option<String>,

    /// End everything after this long (90, 90s, 10m, 1h) and report what was measured
    #[arg(long, value_name = "TIME", value_parser = duration)]
    max_time: Option<Duration>,

    /// A run is over when its last descendant has ended, or when the command itself has
    #[arg(long, value_name = "WHEN", default_value = "last")]
    until: Until,

    /// How the command is watched
    #[arg(long, value_name = "HOW", default_value = "auto", conflicts_with = "trace")]
    capture: Capture,

    /// Hold the discs to so many requests a second in every verified run, and predict its time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iops: Option<u64>,

    /// Hold the discs to so many bytes a second (50MiB) in every verified run
    #[arg(long, value_name = "SIZE", value_parser = rate)]
    bps: Option<Bytes>,

    /// Copy the directory of --data to a private file system of this size, and record and verify
    /// there; the directory itself stays as it is
    #[arg(long = "loop", value_name = "SIZE", value_parser = rate, requires = "data",
        conflicts_with = "trace")]
    loop_size: Option<Bytes>,

    /// The directory that --loop copies
    #[arg(long, value_name = "DIR", requires = "loop_size")]
    data: Option<PathBuf>,

    /// Readahead window of the private file system
    #[arg(long, value_name = "SIZE", requires = "loop_size", default_value = "128KiB",
        value_parser = window)]
    loop_readahead: Bytes,

    /// Recommend a size even from a curve that is a lower bound
    #[arg(long)]
    force: bool,

    /// Keep the trace in this file, which must not exist
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Draw the curve as a picture into this file, which must not exist
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the report as a page for a browser into this file, which must not exist; it needs
    /// nothing beside it
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Start from a recorded trace instead of a command; nothing is run
    #[arg(long, value_name = "FILE", conflicts_with_all =
        ["command", "prepare", "output", "verify_at", "max_time"])]
    trace: Option<PathBuf>,

    /// The command and its arguments
    #[arg(last = true, required_unless_present = "trace")]
    command: Vec<OsString>,
}

/// When a run is over.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Until {
    /// When its last descendant has ended
    Last,
    /// When the command itself has ended; what still runs then is ended
    Main,
}

const HELP: &str = "\
Examples:
  nbuf size -- grep -r unsafe src
  nbuf size --prepare 'make clean' -- make -j2
  nbuf size --html size.html -- ./query
  nbuf size --verify-at 100%,50%,25% --json -- sqlite3 my.db '.read queries.sql' > size.json

Exit status:
  0    every prediction held (or nothing was verified)
  1    a prediction did not hold
  125  nbuf itself failed
  126  the command cannot be executed
  127  the command was not found
  128+n  the recorded command, or nbuf, was ended by signal n";

/// Runs the verb and gives the exit status.
pub(crate) fn run(args: &Args) -> Result<u8> {
    outputs::check(args)?;
    if let (Some(size), Some(data)) = (args.loop_size, &args.data) {
        // Before anything can start a thread.
        nbuf::disc::private::enter(data, size, args.loop_readahead)?;
    }
    let signals = Signals::block().context("cannot listen for signals")?;
    let workload = Workload::of(args, &signals);
    let trace = match workload.trace()? {
        Ok(trace) => trace,
        Err(status) => return Ok(status),
    };
    let left = workload.drop_files(&trace);
    let mut analysis = analyse(args, trace, &left, &signals, &workload)?;
    workload.estimate_time(&mut analysis);

    let page = Page::of(args);
    let first = analysis.report(Vec::new());
    page.show(&report::workload(&first, page.width))?;
    page.show(&page.curve(&analysis, &first))?;
    page.show(&report::recommendation(&first, page.width))?;
    page.show(&report::time(&first, page.width))?;
    page.show(&report::cautions(&first.cautions, page.width))?;

    let verified = prove::verify(args, &analysis, &workload, &signals)?;
    let last = analysis.report(verified);
    if !last.verify.is_empty() {
        page.show(&report::verification(&last, page.width))?;
        page.show(&report::cautions(&last.cautions[first.cautions.len()..], page.width))?;
    }
    if let Some(recommend) = &last.recommend {
        page.show(&report::paste(recommend, page.width))?;
    }
    outputs::write(args, &analysis, &last, &workload);
    if args.json {
        let text = serde_json::to_string_pretty(&last)?;
        print(format!("{text}\n").as_bytes())?;
    }
    Ok(match workload.interrupted() {
        Some(signal) => 128 + signal,
        None if workload.is_broken() => exit::OURS,
        None => u8::from(!last.held()),
    })
}

/// Simulates. The first signal meanwhile is heard when that is done, the second at once: nothing of
/// ours is left in the machine by then.
fn analyse(
    args: &Args,
    trace: Trace,
    left: &Residency,
    signals: &Signals,
    workload: &Workload<'_>,
) -> Result<Analysis> {
    let bar = progress::bar("simulating", 60);
    let heard = AtomicI32::new(0);
    let analysis = Analysis::of(trace, left, args.force, &|done, total| {
        bar.set(done, total);
        while let Some(signal) = signals.next() {
            if heard.swap(signal.number, Ordering::Relaxed) != 0 {
                bar.clear();
                std::process::exit(128 + signal.number);
            }
        }
    });
    bar.clear();
    let heard = heard.into_inner();
    if heard != 0 {
        workload.note_signal(heard);
        say("interrupted: nothing is verified");
    }
    analysis.context("cannot draw the curve")
}

/// Where and how the report for people is shown.
struct Page {
    width: usize,
    colour: bool,
    silent: bool,
}

impl Page {
    fn of(args: &Args) -> Self {
        let terminal = console::Term::stdout();
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = terminal.size_checked().map(|(_, columns)| usize::from(columns));
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self {
            width: width.filter(|&width| width > 0).or(columns).unwrap_or(80).clamp(20, 120),
            colour: std::io::stdout().is_terminal() && !dumb && !is_set("NO_COLOR"),
            silent: args.json,
        }
    }

    /// Prints a section and an empty line behind it; nothing for an empty section.
    fn show(&self, section: &str) -> Result<()> {
        if self.silent || section.is_empty() {
            return Ok(());
        }
        print(format!("{section}\n").as_bytes())
    }

    fn curve(&self, analysis: &Analysis, report: &SizeReport) -> String {
        if analysis.curve.accesses == 0 {
            return String::new();
        }
        plot::curve(&analysis.curve, report.recommend.as_ref(), &[], self.width, self.colour)
    }
}

/// A readahead window, which may be nothing.
fn window(text: &str) -> Result<Bytes, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(bytes)) => Ok(bytes),
        _ => Err("write a size, such as 128KiB, or 0".into()),
    }
}

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

//! `nbuf ping`: how often a second threads can wake each other here.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use nbuf::experiment::ping::{self, Listener, Plan};
use nbuf::experiment::result::{PingDocument, PingSampleLine};
use nbuf::path::wake::{Placement, Row, WAKES};
use nbuf::sys::signal::Signals;

use crate::output::{json_lines, keep, must_be_possible, print};
use crate::show::ping as shown;
use crate::show::progress::{self, Bar};
use crate::show::terminal::Terminal;
use crate::voice::note;

/// What the child is called, which nobody is to type.
const CHILD: &str = "ping-child";

/// How often a second can threads wake each other?
///
/// Two threads pass a number to and fro, by each mechanism and in three placements: both on one core,
/// on two, and wherever the kernel puts them. Each row is measured in processes of its own, in short
/// batches; those during which somebody else had the processors are counted and set aside. What hangs
/// is ended and told.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf ping                                 # everything, in some three minutes
  nbuf ping --quick --html ping.html        # within a minute, with the histograms as one page
  nbuf ping --only pipe+poll,futex --json
  nbuf ping --placement 'same core'         # or `other core`, or `unpinned`

Exit status:
  0    every row has a number, or the reason why it has none
  130  Ctrl-C ended it; what was measured by then is shown")]
pub(crate) struct Args {
    /// These mechanisms instead of all; `--list` names them
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = mechanism)]
    only: Vec<Named>,
    /// These placements instead of all three
    #[arg(long, value_name = "PLACEMENT", value_delimiter = ',', value_parser = placement)]
    placement: Vec<Placement>,
    /// One process a row instead of three, within a minute
    #[arg(long)]
    quick: bool,
    /// Name the mechanisms, and measure nothing
    #[arg(long, conflicts_with_all = ["only", "placement", "quick", "json", "html", "samples_out"])]
    list: bool,
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
    /// Also write the table and all histograms as one page, refused when it exists
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a line of JSON for each sample into this file, which must not exist
    #[arg(long, value_name = "FILE")]
    samples_out: Option<PathBuf>,
}

/// A mechanism of the table.
#[derive(Clone, Debug)]
struct Named(&'static Row);

fn mechanism(name: &str) -> Result<Named, String> {
    Row::named(WAKES, name).map(Named).ok_or_else(|| "`nbuf ping --list` names them all".into())
}

fn placement(name: &str) -> Result<Placement, String> {
    let unknown = || "there are `same core`, `other core` and `unpinned`".into();
    Placement::named(name).ok_or_else(unknown)
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    if args.list {
        print(shown::list(WAKES).as_bytes())?;
        return Ok(0);
    }
    for (path, option) in [(&args.html, "--html"), (&args.samples_out, "--samples-out")] {
        if let Some(path) = path {
            must_be_possible(path, option)?;
        }
    }
    let plan = plan(args);
    let program = std::env::current_exe().context("cannot find this program to start it again")?;
    let start = || {
        let mut command = Command::new(&program);
        command.arg(CHILD);
        command
    };
    let signals = Signals::block().context("cannot listen for Ctrl-C")?;
    let steps = plan.steps();
    note(format_args!(
        "measures at most about {:.0} s, in {steps} processes, one after the other; Ctrl-C ends it and leaves \
         what was measured",
        plan.seconds_max()
    ));
    let keeps = args.samples_out.is_some();
    let mut told = Told { bar: progress::bar("", steps), steps, keeps, lines: Vec::new() };
    let document = ping::run(&plan, ping::machine(), Some(&signals), &start, &mut told);
    told.bar.clear();
    tell(args, &document?, &told.lines)?;
    let ended = signals.next().map(|signal| 128 + signal.number);
    Ok(ended.and_then(|status| u8::try_from(status).ok()).unwrap_or(0))
}

/// What is heard while it runs.
struct Told {
    bar: Bar,
    steps: usize,
    keeps: bool,
    lines: Vec<PingSampleLine>,
}

impl Listener for Told {
    fn step(&mut self, done: usize, what: &str) {
        self.bar.say(what);
        self.bar.set(done, self.steps);
    }

    fn sample(&mut self, line: &PingSampleLine) {
        if self.keeps {
            self.lines.push(line.clone());
        }
    }
}

fn plan(args: &Args) -> Plan {
    let mechanisms: Vec<Row> = match args.only.as_slice() {
        [] => WAKES.to_vec(),
        only => only.iter().map(|named| named.0.clone()).collect(),
    };
    let mut plan = if args.quick { Plan::quick(&mechanisms) } else { Plan::thorough(&mechanisms) };
    if !args.placement.is_empty() {
        plan.placements.clone_from(&args.placement);
    }
    plan
}

fn tell(args: &Args, document: &PingDocument, lines: &[PingSampleLine]) -> Result<()> {
    let printed = if args.json {
        print((serde_json::to_string_pretty(document)? + "\n").as_bytes())
    } else {
        print(shown::table(document, Terminal::of_output().width).as_bytes())
    };
    let page = |path: &PathBuf| keep(path, "--html", shown::page(document).as_bytes());
    let mut kept = args.html.as_ref().map_or(Ok(()), page);
    if let Some(path) = &args.samples_out {
        kept = kept.and(keep(path, "--samples-out", &json_lines(lines)?));
    }
    kept.and(printed)
}

/// Measures one mechanism for a parent that asks on standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Child {}

pub(crate) fn child() -> Result<u8> {
    ping::serve(WAKES, io::stdin().lock(), io::stdout().lock())
        .context("this is a part of `nbuf ping`; run that")?;
    Ok(0)
}

//! `nbuf ping`: how often a second threads can wake each other here.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use nbuf::experiment::document;
use nbuf::experiment::ping::{self, Mechanism, Placement, Spec, WAKES};
use nbuf::experiment::result::{PingDocument, PingSampleLine};
use nbuf::experiment::session::Interim;

use crate::console::Console;
use crate::exit;
use crate::output::{json_lines, keep, must_be_possible, print};
use crate::show::ping as shown;
use crate::show::terminal::Terminal;

/// How often a second can threads wake each other?
///
/// Two threads pass a number to each other, by each mechanism and in three placements: one core, two
/// cores, and unpinned. Each row runs in processes of its own, in short batches. Batches disturbed by
/// other programs are counted and excluded. A row that hangs is killed and reported.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf ping                                 # everything, in some three minutes
  nbuf ping --quick --html ping.html        # within a minute, with the histograms as one page
  nbuf ping --only pipe+poll,futex --json
  nbuf ping --placement 'same core'         # or `other core`, or `unpinned`

Exit status:
  0    every row has a number, or a reason for none
  2    usage error
  125  nbuf failed; standard error says why
  130  interrupted by Ctrl-C; prints what was measured so far")]
pub(crate) struct Args {
    /// Only these mechanisms; see `--list`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Mechanism>,
    /// Only these placements
    #[arg(long, value_name = "PLACEMENT", value_delimiter = ',', value_parser = placement)]
    placement: Vec<Placement>,
    /// One process per row instead of three; finishes within a minute
    #[arg(long)]
    quick: bool,
    /// List the mechanisms; measures nothing
    #[arg(long, conflicts_with_all = ["only", "placement", "quick", "json", "html", "samples_out"])]
    list: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write the table and all histograms as one HTML page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write one line of JSON per sample to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    samples_out: Option<PathBuf>,
}

fn placement(name: &str) -> Result<Placement, String> {
    let unknown = || "there are `same core`, `other core` and `unpinned`".into();
    Placement::named(name).ok_or_else(unknown)
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    if args.list {
        print(shown::list(WAKES, Terminal::of_output().width).as_bytes())?;
        return Ok(0);
    }
    for (path, option) in [(&args.html, "--html"), (&args.samples_out, "--samples-out")] {
        if let Some(path) = path {
            must_be_possible(path, option)?;
        }
    }
    let lines = Mutex::new(Vec::new());
    let take = |interim: Interim<'_>| {
        if let Interim::PingSample(line) = interim
            && args.samples_out.is_some()
        {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
        }
        Ok(())
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    let document = ping::run(&args.spec(), &mut session)?;
    let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    tell(args, &document, &lines)?;
    Ok(session.cancellation.signal().map_or(0, |signal| exit::command(128 + signal)))
}

impl Args {
    /// What the experiment is asked.
    fn spec(&self) -> Spec {
        Spec {
            mechanisms: self.only.clone(),
            placements: self.placement.clone(),
            is_quick: self.quick,
        }
    }
}

fn tell(args: &Args, document: &PingDocument, lines: &[PingSampleLine]) -> Result<()> {
    let printed = if args.json {
        print(document::write(document)?.as_bytes())
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

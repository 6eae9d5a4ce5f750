//! `nbuf bench`: the I/O paths of this machine.

pub(crate) mod child;

mod advise;
mod arguments;
mod compare;

use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use nbuf::experiment::bench;
use nbuf::experiment::document;
use nbuf::experiment::result::{BenchDocument, BenchSampleLine, PingDocument};
use nbuf::experiment::session::Interim;

pub(crate) use arguments::Arguments;
use arguments::Verb;

use crate::console::Console;
use crate::output::{json_lines, keep, must_be_possible, print};
use crate::show::bench as shown;
use crate::show::terminal::Terminal;
use crate::verbosity::note;

/// Ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    if let Some(Verb::Advise(asked)) = &arguments.verb {
        return advise::run(asked);
    }
    if let Some([a, b]) = arguments.compare.as_deref() {
        return compare::run(a, b, arguments.json);
    }
    if arguments.list {
        print(shown::list(&bench::all_tests(), Terminal::of_output().width).as_bytes())?;
        return Ok(0);
    }
    for (path, option) in [(&arguments.html, "--html"), (&arguments.samples_out, "--samples-out")] {
        if let Some(path) = path {
            must_be_possible(path, option)?;
        }
    }
    let read = |path| document::open(path).map_err(|error| compare::unusable(error, "nbuf ping"));
    let pings: Option<PingDocument> = arguments.ping.as_deref().map(read).transpose()?;
    let lines = Mutex::new(Vec::new());
    let take = |interim: Interim<'_>| {
        if let Interim::BenchSample(line) = interim
            && arguments.samples_out.is_some()
        {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
        }
        Ok(())
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    let document = bench::run(&arguments.spec(), &mut session)?;
    let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    tell(arguments, &document, pings.as_ref(), &lines)?;
    let is_false = document.refused.iter().any(|refused| refused.is_contradiction);
    let is_ended = document.is_complete || !document.not_reached.is_empty();
    Ok(if is_ended { u8::from(is_false) } else { INTERRUPTED })
}

/// Shows the document as was asked: first on standard output, which no full disc takes away.
fn tell(
    arguments: &Arguments,
    document: &BenchDocument,
    pings: Option<&PingDocument>,
    lines: &[BenchSampleLine],
) -> Result<()> {
    let printed = if arguments.json {
        print(document::write(document)?.as_bytes())
    } else if arguments.csv {
        print(shown::csv(document).as_bytes())
    } else {
        print(shown::report(document, Terminal::of_output().width).as_bytes())
    };
    let mut kept = Ok(());
    if let Some(path) = &arguments.samples_out {
        kept = keep(path, "--samples-out", &json_lines(lines)?);
    }
    if let Some(path) = &arguments.html {
        let page = keep(path, "--html", shown::page(document, pings).as_bytes());
        if page.is_ok() {
            note(format_args!("the page is {}", path.display()));
        }
        kept = kept.and(page);
    }
    kept.and(printed)
}

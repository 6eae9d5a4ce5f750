//! `nbuf replay`: how long a workload takes behind a cache and in front of a disc.

mod arguments;
mod parameters;

use std::io::Write as _;

use anyhow::Result;
use nbuf::experiment::document;
use nbuf::experiment::output::Readers;
use nbuf::experiment::replay;
use nbuf::experiment::result::ReplayDocument;

pub(crate) use arguments::Args;

use crate::console::Console;
use crate::exit;
use crate::fail::ended;
use crate::output::{must_be_possible, print, write_new};
use crate::show::replay as shown;
use crate::show::terminal::Terminal;
use crate::verbosity::note;

pub(crate) fn run(args: &Args) -> Result<u8> {
    if let Some(path) = &args.html {
        must_be_possible(path, "--html")?;
    }
    let console = Console::plain();
    let mut session = console.session();
    session.seed = args.seed;
    let replayed = replay::run(&args.spec(), &mut session);
    let status = session.cancellation.signal().map_or(0, |signal| exit::command(128 + signal));
    let document = match replayed {
        Ok(document) => document,
        Err(nothing @ replay::Error::Interrupted { .. }) => {
            note(nothing);
            return Ok(status);
        }
        Err(error) => return ended(error.into(), &session.cancellation),
    };
    session.heeding(|| tell(args, &document))??;
    Ok(if console.is_broken() { exit::INTERNAL_ERROR } else { status })
}

/// Shows the document, and then writes the page: where that fails, the result is not lost.
fn tell(args: &Args, document: &ReplayDocument) -> Result<()> {
    let shown = show(args, document);
    if let Some(path) = &args.html {
        let page = shown::page(document);
        write_new(path, "--html", Readers::All, |mut file| file.write_all(page.as_bytes()))?;
        note(format_args!("the page is {}", path.display()));
    }
    shown
}

fn show(args: &Args, document: &ReplayDocument) -> Result<()> {
    if args.json {
        return print(document::write(document)?.as_bytes());
    }
    let Terminal { width, colour } = Terminal::of_output();
    print(shown::report(document, width, colour).as_bytes())
}

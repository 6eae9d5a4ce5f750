//! `nbuf curve`: what caches of other sizes and policies would hit.

mod arguments;
mod choices;
mod help;
mod knee;
mod values;

use std::io::Write as _;

use anyhow::Result;
use nbuf::experiment::curve;
use nbuf::experiment::document;
use nbuf::experiment::output::Readers;
use nbuf::experiment::result::CurveDocument;

pub(crate) use arguments::Args;
use knee::knee;

use crate::console::Console;
use crate::exit;
use crate::fail::{ended, say};
use crate::output::{must_be_possible, print, write_new};
use crate::show::curve as shown;
use crate::show::terminal::Terminal;
use crate::verbosity::note;

pub(crate) fn run(args: &Args) -> Result<u8> {
    if args.list.help_policies {
        print(help::policies(Terminal::of_output().width).as_bytes())?;
        return Ok(0);
    }
    if let Some(path) = &args.html {
        must_be_possible(path, "--html")?;
    }
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
        pool.build_global()?;
    }
    let console = Console::plain();
    let mut session = console.session();
    session.seed = args.seed;
    let drawn = match curve::run(&args.spec(), &mut session) {
        Ok(drawn) => drawn,
        Err(curve::Error::Source(error)) => return ended(error.into(), &session.cancellation),
        Err(error) => return ended(error.into(), &session.cancellation),
    };
    session.heeding(|| tell(args, &drawn))??;
    Ok(session.cancellation.signal().map_or(0, |signal| exit::command(128 + signal)))
}

/// Shows the document, and then writes the page: where that fails, the result is not lost.
fn tell(args: &Args, drawn: &CurveDocument) -> Result<()> {
    let shown = show(args, drawn);
    if let Some(path) = &args.html {
        let page = shown::page(drawn);
        write_new(path, "--html", Readers::All, |mut file| file.write_all(page.as_bytes()))?;
        note(format_args!("the page is {}", path.display()));
    }
    shown
}

/// Prints the document as was asked.
fn show(args: &Args, drawn: &CurveDocument) -> Result<()> {
    if args.json {
        return print(document::write(drawn)?.as_bytes());
    }
    if args.csv || args.knee {
        // These have no room for what must not go unsaid.
        drawn.warnings.iter().for_each(say);
    }
    if args.csv {
        return print(shown::csv(drawn).as_bytes());
    }
    if args.knee {
        return print(knee(drawn).as_bytes());
    }
    let Terminal { width, colour } = Terminal::of_output();
    print(shown::table(drawn, width).as_bytes())?;
    print(shown::plot(drawn, width, colour).as_bytes())
}

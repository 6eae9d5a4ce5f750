//! `nbuf doctor`: what works here, what does not, why, and what would change it.

use anyhow::Result;
use nbuf::experiment::doctor::{self, Spec};
use nbuf::experiment::document;

use crate::console::Console;
use crate::output::print;
use crate::show::doctor as shown;
use crate::show::terminal::Terminal;

const AFTER: &str = "\
Exit status:
  0    `nbuf size` can do everything here
  1    it can do a part
  2    usage error
  125  nbuf failed; standard error says why";

/// List what works on this machine, what does not, why, and how to change that.
///
/// Tries each thing: opens an event, traces a process, makes, limits and removes a group. Changes
/// nothing, and leaves nothing behind.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let console = Console::plain();
    let found = doctor::run(&Spec::default(), &mut console.session())?;
    let text = if arguments.json {
        document::write(&found)?
    } else {
        shown::table(&found, Terminal::of_output().width)
    };
    print(text.as_bytes())?;
    Ok(u8::from(!found.whole))
}

//! `nbuf unix boot`: a console.

use std::path::PathBuf;

use anyhow::{Result, bail};
use nbuf_pdp11::unix::boot::{self, Error, Spec};
use nbuf_pdp11::unix::guest::Slot;

use super::{Costs, Model};
use crate::console::Console;
use crate::exit;
use crate::fail::say;

/// Boot First Edition Unix with this terminal as its console.
///
/// Log in as root; there is no password. Ctrl-E leaves. The images are read, never written, unless
/// --write-back asks for it. Input that is no terminal is typed a line at a time, whenever a process
/// reads the console. The end of it leaves, as soon as nothing runs.
///
/// With --lines several people use the machine: who opens one of the pseudo-terminals has a line, who
/// closes it hangs up. Then the end of the input does not leave, but Ctrl-C does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf unix boot --images unix-v1/images
  (echo root; echo date) | nbuf unix boot --images unix-v1/images
  nbuf unix boot --images unix-v1/images --lines 4  # then, elsewhere: screen /dev/pts/N")]
pub(super) struct Boot {
    /// Directory with rf0.dsk and rk0.dsk
    #[arg(long, value_name = "DIR")]
    images: PathBuf,
    /// Boot the kernel of the cold slot, where msys2 1 has put one
    #[arg(long)]
    cold: bool,
    /// Give the machine N serial lines, each a pseudo-terminal, and print their names
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=8))]
    lines: u8,
    /// When you leave, write the discs back to the images
    #[arg(long)]
    write_back: bool,
    #[command(flatten)]
    costs: Costs,
}

pub(super) fn run(arguments: &Boot) -> Result<u8> {
    let spec = Spec {
        images: arguments.images.clone(),
        slot: if arguments.cold { Slot::Cold } else { Slot::Warm },
        lines: arguments.lines,
        write_back: arguments.write_back,
        model: arguments.costs.model(Model::Instant)?,
    };
    let console = Console::plain();
    let document = boot::run(&spec, &mut console.session()).map_err(unwrapped)?;
    if let Some(crash) = document.crash {
        say(format_args!("the machine as it stood:\n{}", crash.machine));
        let advice = if arguments.cold {
            "boot without --cold"
        } else {
            "build the images again, as `nbuf unix --help` says"
        };
        bail!("{}; {advice}", crash.why);
    }
    Ok(document.signal.map_or(0, |signal| exit::command(128 + signal)))
}

/// An error as it is: what a closed pipe of ours ends with is known by its type.
fn unwrapped(error: Error) -> anyhow::Error {
    match error {
        Error::Print(error) => error.into(),
        other => other.into(),
    }
}

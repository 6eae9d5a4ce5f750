//! `nbuf unix boot`: a console.

use std::path::PathBuf;

use anyhow::{Result, bail};
use nbuf_pdp11::unix::guest::{Guest, Slot};

use super::converse::{Ended, converse};
use super::lines::Lines;
use super::{Costs, Model, images};
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
    let timing = arguments.costs.model(Model::Instant)?.timing();
    let slot = if arguments.cold { Slot::Cold } else { Slot::Warm };
    let images = images::read(&arguments.images)?;
    if !slot.is_filled(&images.drum) {
        let drum = arguments.images.join("rf0.dsk");
        let advice = if arguments.cold {
            "boot without --cold, and put one there with `msys2 1`"
        } else {
            "build the images of Unix V1 first; `nbuf unix --help` says where they come from and what to type"
        };
        let name = if arguments.cold { "cold" } else { "warm" };
        bail!("{} has no kernel in its {name} slot: {advice}", drum.display());
    }
    let mut guest = Guest::boot(images, slot, &timing);
    guest.machine.stop_when_printed(false);
    let mut lines = Lines::open(arguments.lines)?;
    let console = Console::plain();
    let ended = converse(&mut guest, &timing, &mut lines, &console.session())?;
    if arguments.write_back {
        guest.rest(2);
        images::write_back(&arguments.images, &guest.images())?;
    }
    match ended {
        Ended::Left => Ok(0),
        Ended::Signal(number) => Ok(exit::command(128 + number)),
        Ended::Crashed(reason) => {
            say(format_args!("the machine as it stood:\n{}", guest.post_mortem()));
            let advice = if arguments.cold {
                "boot without --cold"
            } else {
                "build the images again, as `nbuf unix --help` says"
            };
            bail!("{reason}; {advice}");
        }
    }
}

//! `nbuf unix boot`: a console.

use std::path::PathBuf;

use anyhow::{Result, bail};
use nbuf_pdp11::unix::guest::{Guest, Slot};

use super::converse::{Ended, converse};
use super::{Costs, Model, images};
use crate::fail::say;

/// Boot First Edition Unix with this terminal as its console.
///
/// Log in as root; there is no password. Ctrl-E leaves. The images are read, never written, unless
/// --write-back asks for it. Input that is no terminal is typed a line at a time, whenever a process
/// reads the console. The end of it leaves, as soon as nothing runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf unix boot --images unix-v1/images
  (echo root; echo date) | nbuf unix boot --images unix-v1/images")]
pub(super) struct Boot {
    /// The folder with rf0.dsk and rk0.dsk
    #[arg(long, value_name = "DIR")]
    images: PathBuf,
    /// Boot the kernel of the cold slot, where msys2 1 has put one
    #[arg(long)]
    cold: bool,
    /// When you leave, write the discs back to the images
    #[arg(long)]
    write_back: bool,
    #[command(flatten)]
    costs: Costs,
}

pub(super) fn run(arguments: &Boot) -> Result<u8> {
    let timing = arguments.costs.timing(Model::Instant);
    let slot = if arguments.cold { Slot::Cold } else { Slot::Warm };
    let mut guest = Guest::boot(images::read(&arguments.images)?, slot, &timing);
    guest.machine.stop_when_printed(false);
    let ended = converse(&mut guest, &timing)?;
    if arguments.write_back {
        guest.rest(2);
        images::write_back(&arguments.images, &guest.images())?;
    }
    if let Ended::Crashed(reason) = ended {
        say(format_args!("the machine as it stood:\n{}", guest.post_mortem()));
        let advice = if arguments.cold { "boot without --cold" } else { "build the images again" };
        bail!("{reason}; {advice}");
    }
    Ok(0)
}

//! `nbuf unix boot`: a console.

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use nbuf::clock::Stopwatch;
use nbuf_pdp11::Stop;
use nbuf_pdp11::timing::Timing;
use nbuf_pdp11::unix::guest::{Guest, Slot};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::{Costs, Model, images};
use crate::voice::note;

/// Boot First Edition Unix with this terminal as its console.
///
/// Log in as root; there is no password. Ctrl-E leaves. The images are read, never written, unless
/// --write-back asks for it. Input that is no terminal is typed a line at a time, whenever the
/// guest waits, and the end of it leaves.
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

/// The key that leaves.
const LEAVE: u8 = 5;
/// Slices of a second without output after which a guest that waits wants the next line.
const QUIET_SLICES: u32 = 30;
/// Slices in a second.
const SLICES: u64 = 60;

pub(super) fn run(arguments: &Boot) -> Result<u8> {
    let timing = arguments.costs.timing(Model::Instant)?;
    let slot = if arguments.cold { Slot::Cold } else { Slot::Warm };
    let mut guest = Guest::boot(images::read(&arguments.images)?, slot, &timing);
    guest.machine.stop_when_printed(false);
    let terminal = io::stdin().is_terminal().then(Raw::enter).transpose()?;
    let ended = converse(&mut guest, &timing, terminal.is_some());
    drop(terminal);
    let stop = ended?;
    if let Some(stop) = stop {
        note(format_args!("the guest stopped ({stop:?})\n{}", guest.post_mortem()));
    }
    if arguments.write_back {
        guest.rest(2);
        images::write_back(&arguments.images, &guest.images())?;
    }
    Ok(0)
}

/// The terminal hands every key over at once, and is as before when this goes.
struct Raw(Termios);

impl Raw {
    fn enter() -> Result<Self> {
        note(format_args!("Ctrl-E leaves"));
        let before = tcgetattr(io::stdin()).context("cannot use the terminal")?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw).context("cannot use the terminal")?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = writeln!(io::stdout());
    }
}

/// Runs until somebody leaves, or the guest stops by itself.
fn converse(guest: &mut Guest, timing: &Timing, is_terminal: bool) -> Result<Option<Stop>> {
    let mut pending = Vec::new();
    if !is_terminal {
        io::stdin().lock().read_to_end(&mut pending).context("cannot read what is to be typed")?;
        pending.reverse();
    }
    let mut quiet = 0;
    let slice = (timing.second_ticks / SLICES).max(1);
    loop {
        let began = Stopwatch::start();
        let before = guest.machine.waited().ticks;
        let until = guest.machine.now() + slice;
        let stop = guest.machine.run(&mut guest.meters, until);
        let waits = guest.machine.waited().ticks - before > slice / 2;
        let printed = show(guest)?;
        quiet = if printed || !waits { 0 } else { quiet + 1 };
        if !matches!(stop, Stop::Limit | Stop::Printed) {
            return Ok(Some(stop));
        }
        if is_terminal {
            // A guest that waits does so as long as its clock says; one that works is not held up.
            let left = Duration::from_nanos(1_000_000_000 / SLICES).saturating_sub(began.elapsed());
            if let Some(keys) = keys(if waits { left } else { Duration::ZERO })? {
                if keys.contains(&LEAVE) {
                    return Ok(None);
                }
                guest.machine.type_in(&keys);
            }
        } else if quiet >= QUIET_SLICES {
            quiet = 0;
            if pending.is_empty() {
                return Ok(None);
            }
            while let Some(key) = pending.pop() {
                guest.machine.type_in(&[if key == b'\n' { b'\r' } else { key }]);
                if key == b'\n' {
                    break;
                }
            }
        }
    }
}

/// Hands on what was printed. Whether anything was.
fn show(guest: &mut Guest) -> Result<bool> {
    let printed = guest.machine.bus.console.take_printed();
    let text: Vec<u8> =
        printed.iter().map(|printed| printed.character).filter(|&c| c != 0).collect();
    let mut out = io::stdout().lock();
    out.write_all(&text).and_then(|()| out.flush())?;
    Ok(!text.is_empty())
}

/// Keys that were struck within a time.
fn keys(most: Duration) -> Result<Option<Vec<u8>>> {
    let input = io::stdin();
    let timeout = Timespec::try_from(most).ok();
    let mut wait = [PollFd::new(&input, PollFlags::IN)];
    if poll(&mut wait, timeout.as_ref()).unwrap_or(0) == 0 {
        return Ok(None);
    }
    let mut buffer = [0; 256];
    let length = input.lock().read(&mut buffer).context("cannot read the terminal")?;
    // A terminal that is gone leaves, too.
    Ok(Some(if length == 0 { vec![LEAVE] } else { buffer[..length].to_vec() }))
}

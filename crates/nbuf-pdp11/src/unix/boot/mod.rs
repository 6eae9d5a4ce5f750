//! A session at the console: a person at a terminal or a script, until either leaves or the guest crashes.
//!
//! Only this module reaches the terminal, the signals and the clock of the host. The guest sees nothing of
//! them but the moments at which keys arrive.

mod converse;
mod lines;
mod script;
mod spec;

use nbuf::experiment::session::Session;

use super::guest::Guest;
use super::images::{self, DRUM_FILE};
use super::result::{BootDocument, BootEnd, Crash, DiscOperations};
use crate::timing::Timing;
use converse::{Ended, converse};
use lines::Lines;

pub use spec::{Error, Spec};

/// Boots a kernel with standard input and output as its console. A signal ends it as leaving does.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<BootDocument, Error> {
    let timing = spec.model.timing();
    let images = images::read(&spec.images)?;
    if !spec.slot.is_filled(&images.drum) {
        return Err(Error::NoKernel { drum: spec.images.join(DRUM_FILE), slot: spec.slot });
    }
    let mut guest = Guest::boot(images, spec.slot, &timing);
    guest.machine.stop_when_printed(false);
    let mut lines = Lines::open(spec.lines, session)?;
    let ended = converse(&mut guest, &timing, &mut lines, session)?;
    let mut document = counted(&guest, &timing);
    if spec.write_back {
        guest.rest(2);
        images::write_back(&spec.images, &guest.images())?;
        document.is_written_back = true;
    }
    match ended {
        Ended::Left => {}
        Ended::Signal(number) => {
            (document.ended, document.signal) = (BootEnd::Signal, Some(number));
        }
        Ended::Crashed(why) => {
            document.ended = BootEnd::Crashed;
            document.crash = Some(Crash { why, machine: guest.post_mortem() });
        }
    }
    Ok(document)
}

/// What the guest did by now.
fn counted(guest: &Guest, timing: &Timing) -> BootDocument {
    let (units, bus) = (guest.machine.now(), &guest.machine.bus);
    let (drum, pack) = (bus.drum.transfer.tally(), bus.pack.transfer.tally());
    BootDocument {
        schema: BootDocument::SCHEMA.to_owned(),
        timing: timing.name.to_owned(),
        units_per_second: timing.second_ticks,
        units,
        seconds: units as f64 / timing.second_ticks as f64,
        instructions: guest.meters.instructions,
        disc: DiscOperations {
            drum_reads: drum.reads,
            drum_writes: drum.writes,
            pack_reads: pack.reads,
            pack_writes: pack.writes,
        },
        ..BootDocument::default()
    }
}

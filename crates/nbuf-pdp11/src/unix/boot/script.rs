//! Lines that are typed on the console of a guest, each when the guest reads it.
//!
//! A guest that idles may wait for a disc, or for the clock because it has lost a wakeup. So a line is
//! typed only when a process sleeps until the console has one, by the kernel's own table. In a kernel
//! that is not known nothing can be seen but that the machine stands still: no disc moves, nothing is
//! printed, and the processor waits, for half a second.

use std::io::{self, Read};

use nbuf::experiment::notice::{GuestNotice, Notice};
use nbuf::experiment::session::Session;

use super::Error;
use crate::unix::guest::Guest;

/// Slices for which a machine with an unknown kernel stands still before a line is typed.
const QUIET_SLICES: u32 = 30;

pub(super) struct Script {
    lines: Vec<u8>,
    typed: usize,
    quiet_slices: u32,
    is_unknown: bool,
}

impl Script {
    /// All of standard input.
    pub(super) fn read() -> Result<Self, Error> {
        let mut lines = Vec::new();
        io::stdin().lock().read_to_end(&mut lines).map_err(Error::Script)?;
        Ok(Self { lines, typed: 0, quiet_slices: 0, is_unknown: false })
    }

    /// Types the next line if the guest reads it; `false` when all was typed and nothing runs.
    /// `is_quiet`: in the last slice the processor waited and printed nothing.
    pub(super) fn go_on(
        &mut self,
        guest: &mut Guest,
        is_quiet: bool,
        session: &Session<'_>,
    ) -> bool {
        let (reads, rests) = match (guest.console_is_read(), guest.nothing_runs()) {
            (Some(reads), Some(rests)) => (reads, rests),
            _ => self.stands_still(guest, is_quiet, session),
        };
        if !reads {
            return true;
        }
        let rest = &self.lines[self.typed..];
        if rest.is_empty() {
            return !rests;
        }
        let length = rest.iter().position(|&key| key == b'\n').map_or(rest.len(), |end| end + 1);
        let line: Vec<u8> =
            rest[..length].iter().map(|&key| if key == b'\n' { b'\r' } else { key }).collect();
        guest.machine.type_in(&line);
        self.typed += length;
        self.quiet_slices = 0;
        true
    }

    fn stands_still(
        &mut self,
        guest: &Guest,
        is_quiet: bool,
        session: &Session<'_>,
    ) -> (bool, bool) {
        if !self.is_unknown {
            self.is_unknown = true;
            session.observer.notice(&Notice::Guest(GuestNotice::UnknownKernel));
        }
        let is_still = is_quiet && !guest.machine.bus.a_disc_is_busy();
        self.quiet_slices = if is_still { self.quiet_slices + 1 } else { 0 };
        let is_still = self.quiet_slices >= QUIET_SLICES;
        (is_still, is_still)
    }
}

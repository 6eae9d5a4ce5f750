//! The serial lines of a guest as pseudo-terminals: who opens one is connected, who closes it hangs up.
//!
//! A pseudo-terminal says that it was hung up from when its other side was closed first until it is
//! opened again, so each is opened and closed once at the beginning. It is raw: the guest echoes, and
//! knows `#` and `@`. What is not read is kept up to a bound, and then lost, as on paper that has run out.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nbuf::experiment::notice::{GuestNotice, Notice};
use nbuf::experiment::session::Session;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{read, write};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::Error;
use crate::machine::Pdp11;

/// Bytes that are typed ahead of the guest.
const TYPED_BYTES_MAX: usize = 256;
/// Bytes that are kept for a terminal that does not read.
const KEPT_BYTES_MAX: usize = 65_536;

struct Line {
    master: OwnedFd,
    is_open: bool,
    unread: Vec<u8>,
}

pub(super) struct Lines(Vec<Line>);

impl Lines {
    /// Makes the pseudo-terminals, and says their names.
    pub(super) fn open(count: u8, session: &Session<'_>) -> Result<Self, Error> {
        let mut lines = Vec::new();
        for number in 0..count {
            let (line, name) = Line::open().map_err(Error::Line)?;
            let notice = GuestNotice::Line { number, name: &name };
            session.observer.notice(&Notice::Guest(notice));
            lines.push(line);
        }
        Ok(Self(lines))
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What to wait for: the terminals that are open. One that is not would end every wait.
    pub(super) fn wanted(&self) -> impl Iterator<Item = PollFd<'_>> {
        let open = self.0.iter().filter(|line| line.is_open);
        open.map(|line| PollFd::new(&line.master, PollFlags::IN))
    }

    /// Connects and hangs up, types what came, and hands on what was printed.
    pub(super) fn serve(&mut self, machine: &mut Pdp11) {
        for (number, line) in self.0.iter_mut().enumerate() {
            line.serve(number, machine);
        }
    }
}

impl Line {
    fn open() -> io::Result<(Self, String)> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        drop(ioctl_tiocgptpeer(&master, flags)?);
        let line = Self { master, is_open: false, unread: Vec::new() };
        line.make_raw()?;
        Ok((line, name.to_string_lossy().into_owned()))
    }

    /// The modes are those of the other side, and stay when it is closed.
    fn make_raw(&self) -> io::Result<()> {
        let mut modes = tcgetattr(&self.master)?;
        modes.make_raw();
        Ok(tcsetattr(&self.master, OptionalActions::Now, &modes)?)
    }

    fn serve(&mut self, number: usize, machine: &mut Pdp11) {
        let mut state = [PollFd::from_borrowed_fd(self.master.as_fd(), PollFlags::IN)];
        if poll(&mut state, Some(&Timespec::default())).is_err() {
            return;
        }
        let state = state[0].revents();
        let is_open = !state.contains(PollFlags::HUP);
        if is_open != self.is_open {
            self.is_open = is_open;
            if is_open {
                machine.connect(number);
            } else {
                self.hang_up(number, machine);
            }
        }
        self.unread.extend(machine.bus.lines.take_printed(number));
        if !is_open {
            self.unread.clear();
            return;
        }
        if state.contains(PollFlags::IN) && machine.bus.lines.to_type(number) < TYPED_BYTES_MAX {
            let mut keys = [0; TYPED_BYTES_MAX];
            let length = read(&self.master, &mut keys).unwrap_or(0);
            machine.type_on(number, &keys[..length]);
        }
        if !self.unread.is_empty() {
            let written = write(&self.master, &self.unread).unwrap_or(0);
            self.unread.drain(..written);
            self.unread.truncate(KEPT_BYTES_MAX);
        }
    }

    /// Takes away what was typed and not read, and the modes that the terminal has left.
    fn hang_up(&self, number: usize, machine: &mut Pdp11) {
        machine.bus.lines.hang_up(number);
        let mut left = [0; TYPED_BYTES_MAX];
        while read(&self.master, &mut left).is_ok_and(|length| length > 0) {}
        // A terminal that is opened meanwhile has only other modes for it.
        let _ = self.make_raw();
    }
}

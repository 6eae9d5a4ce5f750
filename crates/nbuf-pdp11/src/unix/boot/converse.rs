//! The conversation with a guest: a terminal or a script on its console, and its serial lines.

use std::io::{self, IsTerminal, Read, Write};
use std::time::Duration;

use nbuf::experiment::notice::{GuestNotice, Notice};
use nbuf::experiment::session::{Cancellation, Session};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::Error;
use super::lines::Lines;
use super::script::Script;
use crate::machine::Stop;
use crate::timing::Timing;
use crate::unix::guest::Guest;

/// The key that leaves.
const LEAVE: u8 = 5;
/// Slices in a second. The clock of the guest has another number, so that a slice does not end at the
/// same place of it each time.
const SLICES: u64 = 61;
/// Instructions of the kernel in which nothing moves: more is a loop.
const LOOP_INSTRUCTIONS: u64 = 60_000_000;
/// Where the core of users begins.
const USERS: u16 = 0o40_000;

/// How a conversation ended.
pub(super) enum Ended {
    /// The user left with Ctrl-E.
    Left,
    /// This signal came.
    Signal(i32),
    /// The guest stopped by itself, for this reason.
    Crashed(String),
}

/// The terminal hands every key over at once, and is as before when this goes.
struct Raw(Termios);

impl Raw {
    fn enter(session: &Session<'_>) -> Result<Self, Error> {
        session.observer.notice(&Notice::Guest(GuestNotice::LeaveKey));
        let refused = |errno: Errno| Error::Terminal(errno.into());
        let before = tcgetattr(io::stdin()).map_err(refused)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw).map_err(refused)?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = writeln!(io::stdout());
    }
}

/// Runs until the user leaves, or the guest stops by itself.
pub(super) fn converse(
    guest: &mut Guest,
    timing: &Timing,
    lines: &mut Lines,
    session: &Session<'_>,
) -> Result<Ended, Error> {
    let is_terminal = io::stdin().is_terminal();
    let mut script = if is_terminal { None } else { Some(Script::read()?) };
    session.cancellation.listen().map_err(Error::Signals)?;
    let _raw = is_terminal.then(|| Raw::enter(session)).transpose()?;
    let slice = (timing.second_ticks / SLICES).max(1);
    let mut still = Still::default();
    loop {
        let began = session.clock.elapsed();
        let before = guest.machine.waited().ticks;
        let until = guest.machine.now() + slice;
        let stop = guest.machine.run(&mut guest.meters, until);
        let waits = guest.machine.waited().ticks - before > slice / 2;
        let printed = show(guest)?;
        lines.serve(&mut guest.machine);
        if !matches!(stop, Stop::Limit | Stop::Printed) {
            return Ok(Ended::Crashed(guest.reason(Some(stop))));
        }
        if guest.meters.panicked.is_some() || still.loops(guest, printed || waits) {
            return Ok(Ended::Crashed(guest.reason(None)));
        }
        if let Some(signal) = session.cancellation.poll() {
            return Ok(Ended::Signal(signal));
        }
        if script.as_mut().is_some_and(|script| !script.go_on(guest, waits && !printed, session)) {
            if lines.is_empty() {
                return Ok(Ended::Left);
            }
            script = None;
        }
        if !is_terminal && lines.is_empty() {
            continue;
        }
        // A guest that waits does so as long as its clock says; one that works is not held up.
        let spent = session.clock.elapsed().saturating_sub(began);
        let left = Duration::from_nanos(1_000_000_000 / SLICES).saturating_sub(spent);
        let most = if waits { left } else { Duration::ZERO };
        let keys = wait(is_terminal, &session.cancellation, lines, most)?;
        if keys.contains(&LEAVE) {
            return Ok(Ended::Left);
        }
        guest.machine.type_in(&keys);
    }
}

/// When the guest last did something that can be seen from outside.
#[derive(Default)]
struct Still {
    instructions: u64,
    words: u64,
}

impl Still {
    /// Whether the kernel has gone round in itself for long, without a character, a disc or a wait.
    fn loops(&mut self, guest: &Guest, moves: bool) -> bool {
        let bus = &guest.machine.bus;
        let words = bus.drum.transfer.tally().words + bus.pack.transfer.tally().words;
        let is_in_kernel = guest.meters.last().iter().all(|&address| address < USERS);
        if moves || words != self.words || !is_in_kernel {
            *self = Self { instructions: guest.meters.instructions, words };
        }
        guest.meters.instructions - self.instructions > LOOP_INSTRUCTIONS
    }
}

/// Hands on what was printed. Whether anything was.
fn show(guest: &mut Guest) -> Result<bool, Error> {
    let printed = guest.machine.bus.console.take_printed();
    let text: Vec<u8> =
        printed.iter().map(|printed| printed.character).filter(|&c| c != 0).collect();
    let mut out = io::stdout().lock();
    out.write_all(&text).and_then(|()| out.flush()).map_err(Error::Print)?;
    Ok(!text.is_empty())
}

/// Waits until a key is struck, on the terminal or on a line, or a signal comes, or a time is over.
/// The keys of the terminal.
fn wait(
    is_terminal: bool,
    cancellation: &Cancellation,
    lines: &Lines,
    most: Duration,
) -> Result<Vec<u8>, Error> {
    let input = io::stdin();
    let signals = cancellation.listen().map_err(Error::Signals)?;
    let timeout = Timespec::try_from(most).ok();
    let mut wanted = vec![PollFd::new(signals.descriptor(), PollFlags::IN)];
    if is_terminal {
        wanted.push(PollFd::new(&input, PollFlags::IN));
    }
    wanted.extend(lines.wanted());
    let count = poll(&mut wanted, timeout.as_ref()).unwrap_or(0);
    if count == 0 || !is_terminal || wanted[1].revents().is_empty() {
        return Ok(Vec::new());
    }
    let mut buffer = [0; 256];
    let length = input.lock().read(&mut buffer).map_err(Error::Keys)?;
    // A terminal that is gone leaves, too.
    Ok(if length == 0 { vec![LEAVE] } else { buffer[..length].to_vec() })
}

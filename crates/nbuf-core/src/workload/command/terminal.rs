//! The terminal that a command is given as its standard input: whether the command uses it, and
//! that it is afterwards as it was before.
//!
//! The command stays in our process group. The terminal's foreground thus remains where a shell put
//! it, and its keys reach the command as they would without us. A program that changes the
//! terminal's mode, or waits for a line from it, has a user. The keys are then for the program, not
//! for us.

use std::fs;
use std::os::fd::BorrowedFd;

use rustix::process::{Pid, getpgrp};
use rustix::termios::{
    LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp,
};

/// Number of interrupt keys within `KEYS_WITHIN_NS` that end a command, even if it uses the
/// terminal.
const KEYS: usize = 3;
const KEYS_WITHIN_NS: u64 = 2_000_000_000;
const LOOK_EVERY_NS: u64 = 20_000_000;

/// Our terminal, while a command has it.
#[derive(Debug)]
pub(super) struct Terminal {
    before: Termios,
    foreground: Option<Pid>,
    used: bool,
    look_due_ns: u64,
    keys_ns: Vec<u64>,
}

impl Terminal {
    /// The one on our standard input, if there is one.
    pub(super) fn on_input() -> Option<Self> {
        let input = input();
        if !isatty(input) {
            return None;
        }
        let before = tcgetattr(input).ok()?;
        let foreground = tcgetpgrp(input).ok();
        Some(Self { before, foreground, used: false, look_due_ns: 0, keys_ns: Vec::new() })
    }

    /// Whether the command has used it.
    pub(super) fn is_used(&self) -> bool {
        self.used
    }

    /// Looks whether the command uses it now.
    pub(super) fn look(&mut self, pid: i32, now_ns: u64) {
        if self.used || now_ns < self.look_due_ns {
            return;
        }
        self.look_due_ns = now_ns + LOOK_EVERY_NS;
        let modes =
            |termios: &Termios| termios.local_modes & (LocalModes::ICANON | LocalModes::ECHO);
        let changed = tcgetattr(input()).is_ok_and(|now| modes(&now) != modes(&self.before));
        // Its own group in the foreground is a shell's, or of another who rules over jobs.
        let taken = tcgetpgrp(input()).is_ok_and(|group| Some(group) != self.foreground);
        self.used = changed || taken || waits_for_input(pid);
    }

    /// A key was pressed that sends a signal. Whether the user has had enough of the command.
    pub(super) fn key(&mut self, now_ns: u64) -> bool {
        self.keys_ns.retain(|&then| now_ns.saturating_sub(then) < KEYS_WITHIN_NS);
        self.keys_ns.push(now_ns);
        self.keys_ns.len() >= KEYS
    }

    /// After the command: the foreground is ours again and, where the command was `cut` off, the
    /// mode is what it was.
    pub(super) fn give_back(&self, cut: bool) {
        // The terminal's foreground was not ours, or there was none: the terminal is not ours to
        // change.
        if self.foreground != Some(getpgrp()) {
            return;
        }
        if tcgetpgrp(input()).ok() != self.foreground {
            let _ = tcsetpgrp(input(), getpgrp());
        }
        if cut {
            let _ = tcsetattr(input(), OptionalActions::Drain, &self.before);
        }
    }
}

fn input() -> BorrowedFd<'static> {
    rustix::stdio::stdin()
}

/// Whether a process is in a read of its standard input that has to wait.
fn waits_for_input(pid: i32) -> bool {
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    let mut words = call.split(' ');
    let number = words.next().and_then(|number| number.parse::<libc::c_long>().ok());
    number == Some(libc::SYS_read) && words.next() == Some("0x0")
}

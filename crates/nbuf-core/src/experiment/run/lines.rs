//! Lines of the command's standard output, counted on their way: the cost per line that the notes of 1969 have for
//! `print`.
//!
//! The output goes through a pipe, or through a terminal of its own where ours goes to a terminal, so that a
//! program which looks at its output finds one. The bytes are passed on unchanged.
//! Cost: each byte is copied once more, by a thread of ours on another processor; none of it is in the figures.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::JoinHandle;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, isatty, tcgetattr, tcgetwinsize, tcsetattr};

use super::seconds;
use crate::experiment::result::{RunPerLine, Warning};
use crate::experiment::warning::RunWarning;
use crate::workload::command::{Ended, Watcher};
use crate::workload::observe::Threads;

/// Bytes that are passed on at once.
const CHUNK_BYTES: usize = 64 << 10;

/// What came through.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// Why the rest could not be passed on.
    error: Option<io::Error>,
}

impl Lines {
    fn take(&mut self, bytes: &[u8], ends_line: &mut bool) {
        self.count += bytes.split(|&byte| byte == b'\n').skip(1).count() as u64;
        self.bytes += bytes.len() as u64;
        *ends_line = bytes.last() == Some(&b'\n');
    }

    /// The figures of the document. Without a line there is no cost of one.
    pub(super) fn figures(&self, ended: &Ended, calls: Option<u64>) -> RunPerLine {
        let each = |all: f64| (self.count > 0).then(|| all / self.count as f64);
        RunPerLine {
            lines: self.count,
            bytes: self.bytes,
            calls,
            user_seconds_per_line: each(seconds(ended.user_ns)),
            system_seconds_per_line: each(seconds(ended.cpu_ns - ended.user_ns)),
            faults_major_per_line: each(ended.major_faults as f64),
            faults_minor_per_line: each(ended.minor_faults as f64),
            calls_per_line: calls.and_then(|calls| each(calls as f64)),
        }
    }

    pub(super) fn note(&self) -> Option<Warning> {
        let reason = self.error.as_ref()?.to_string();
        Some(Warning::Run(RunWarning::OutputCut { reason }))
    }
}

/// Passes output on and counts its lines.
#[derive(Debug)]
enum Relay {
    Ready { from: OwnedFd, to: OwnedFd },
    Runs(JoinHandle<Lines>),
    None,
}

/// The watcher of the threads, and the relay: that begins when there is a command.
#[derive(Debug)]
pub(super) struct Counting<'a> {
    threads: &'a mut Threads,
    relay: Relay,
}

impl<'a> Counting<'a> {
    /// Counts nothing.
    pub(super) fn off(threads: &'a mut Threads) -> Self {
        Self { threads, relay: Relay::None }
    }

    /// Counts the lines that go to this descriptor; gives the one for the command.
    pub(super) fn on(threads: &'a mut Threads, to: BorrowedFd<'_>) -> io::Result<(Self, OwnedFd)> {
        let (from, theirs) =
            if isatty(to) { terminal_like(to)? } else { pipe_with(PipeFlags::CLOEXEC)? };
        let to = to.try_clone_to_owned()?;
        Ok((Self { threads, relay: Relay::Ready { from, to } }, theirs))
    }

    /// Waits until all output has been passed on. The command has ended.
    pub(super) fn finish(self) -> Option<Lines> {
        match self.relay {
            Relay::Runs(thread) => Some(thread.join().unwrap_or_default()),
            Relay::Ready { .. } | Relay::None => None,
        }
    }
}

impl Watcher for Counting<'_> {
    fn attach(&mut self, pid: i32) -> io::Result<()> {
        self.threads.attach(pid)?;
        // Not before: a process with two threads is not forked.
        self.relay = match std::mem::replace(&mut self.relay, Relay::None) {
            Relay::Ready { from, to } => {
                let name = "output".to_owned();
                let pass = move || pass_on(File::from(from), File::from(to));
                Relay::Runs(std::thread::Builder::new().name(name).spawn(pass)?)
            }
            other => other,
        };
        Ok(())
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.threads.descriptors()
    }

    fn tick(&mut self) -> io::Result<()> {
        self.threads.tick()
    }
}

/// A terminal of the same size whose output is not changed; our own one does that.
fn terminal_like(ours: BorrowedFd<'_>) -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    unlockpt(&master)?;
    let theirs = ioctl_tiocgptpeer(&master, flags)?;
    let mut modes = tcgetattr(ours)?;
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(theirs.as_fd(), OptionalActions::Now, &modes)?;
    rustix::termios::tcsetwinsize(theirs.as_fd(), tcgetwinsize(ours)?)?;
    Ok((master, theirs))
}

fn pass_on(mut from: File, mut to: File) -> Lines {
    let mut lines = Lines::default();
    let mut ends_line = true;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let got = match from.read(&mut chunk) {
            Ok(0) => break,
            // The other end of a terminal is closed.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                lines.error = Some(error);
                break;
            }
            Ok(got) => &chunk[..got],
        };
        lines.take(got, &mut ends_line);
        if let Err(error) = to.write_all(got) {
            // The command finds out as it would without us: its next write fails.
            lines.error = (error.kind() != ErrorKind::BrokenPipe).then_some(error);
            break;
        }
    }
    // The last one has no end.
    lines.count += u64::from(!ends_line);
    lines
}

#[cfg(test)]
mod tests {
    use std::io::Seek;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As `str::lines` has it, and every byte arrives.
        #[test]
        fn lines_are_those_of_the_text(text in "[a\n]{0,200}", cut in 1..20_usize) {
            let (from, theirs) = pipe_with(PipeFlags::CLOEXEC).unwrap();
            let to = tempfile::tempfile().unwrap();
            let pass = std::thread::spawn({
                let to = to.try_clone().unwrap();
                move || pass_on(File::from(from), to)
            });
            let mut theirs = File::from(theirs);
            text.as_bytes().chunks(cut).for_each(|chunk| theirs.write_all(chunk).unwrap());
            drop(theirs);
            let lines = pass.join().unwrap();
            prop_assert_eq!(lines.count, text.lines().count() as u64);
            let mut arrived = String::new();
            (&to).rewind().unwrap();
            (&to).read_to_string(&mut arrived).unwrap();
            prop_assert_eq!(arrived, text);
        }
    }
}

//! The loop on our side of a run: reports, signals, the deadline and the watcher's ticks.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use super::leavers::{Leavers, Left};
use super::peers::Peers;
use super::{Command, Ended, Error, Terminal, Until, Watcher, refused};
use crate::sys::cgroup::Group;
use crate::sys::files;
use crate::sys::process;
use crate::sys::signal::{Signal, Signals};
use crate::sys::supervise::{Report, Supervisor};
use crate::units::Bytes;

/// How often the watcher is called when nothing else happens.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// What is asked to end has this long before it is killed.
const GRACE_NS: u64 = 1_000_000_000;
/// An engine has this long to remove its container.
const ENGINE_GRACE_NS: u64 = 10_000_000_000;
/// How often it is looked whether all that is left of a command is stopped, and how often in a row that must
/// be so.
const STOPPED_EVERY_NS: u64 = 250_000_000;
const STOPPED_LOOKS: u32 = 8;

/// A run under way.
pub(super) struct Run<'a> {
    pub(super) command: &'a Command,
    pub(super) supervisor: Supervisor,
    pub(super) group: Option<&'a Group>,
    pub(super) signals: &'a Signals,
    pub(super) until: Until,
    pub(super) deadline: Option<Duration>,
    /// The command's own process, once there is one.
    pub(super) main: i32,
    /// The terminal that the command was given.
    pub(super) terminal: Option<Terminal>,
    pub(super) started_ns: u64,
    pub(super) main_ended: bool,
    /// When what still runs is killed.
    pub(super) kill_at_ns: u64,
    /// When to look for stopped processes next, and how often in a row nothing else was found.
    pub(super) stopped_due_ns: u64,
    pub(super) stopped_looks: u32,
    pub(super) leavers: Leavers,
    pub(super) peers: Peers,
    pub(super) ended: Ended,
}

impl Run<'_> {
    /// Until everything has ended.
    pub(super) fn watch(&mut self, watcher: &mut dyn Watcher) -> Result<Ended, Error> {
        loop {
            self.wait(watcher)?;
            self.look_at_terminal();
            self.hear_signals()?;
            loop {
                match self.supervisor.report() {
                    Ok(Some(report)) => {
                        if self.hear(report, watcher)? {
                            watcher.tick()?;
                            self.reap()?;
                            // One that ended the command too may be here only now.
                            while let Some(signal) = self.signals.next() {
                                if !self.is_for_command(signal) {
                                    self.ended.interrupted = Some(signal.number);
                                }
                            }
                            self.ended.left = self.leavers.left().or_else(|| self.is_elsewhere());
                            self.ended.peers = self.peers.found();
                            return Ok(std::mem::take(&mut self.ended));
                        }
                    }
                    Ok(None) => break,
                    Err(_) => return Err(Error::SupervisorKilled),
                }
            }
            self.kill_in_time(watcher)?;
            watcher.tick()?;
            self.look_at_stopped()?;
            let now_ns = process::monotonic_ns();
            self.leavers.look(self.supervisor.pid, now_ns);
            self.peers.look(self.supervisor.pid, now_ns);
            let elapsed = Duration::from_nanos(process::monotonic_ns() - self.started_ns);
            if self.deadline.is_some_and(|deadline| elapsed > deadline) && !self.ended.timed_out {
                self.ended.timed_out = true;
                self.end_all()?;
            }
            if watcher.has_enough() && !self.ended.given_up {
                self.ended.given_up = true;
                self.end_all()?;
            }
        }
    }

    /// Sleeps until something happens, a tick at most.
    fn wait(&self, watcher: &dyn Watcher) -> io::Result<()> {
        use std::os::fd::AsFd;
        let others = watcher.descriptors();
        let mut waiting: Vec<PollFd<'_>> =
            [self.supervisor.descriptor().as_fd(), self.signals.descriptor().as_fd()]
                .into_iter()
                .chain(others)
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
        let tick = Timespec::try_from(watcher.tick_every()).map_err(io::Error::other)?;
        match poll(&mut waiting, Some(&tick)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in a report; true when it was the last one.
    fn hear(&mut self, report: Report, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        match report {
            Report::Ready { pid } => {
                if let Some(group) = self.group {
                    group.admit(pid)?;
                    self.leavers.start(group);
                }
                if watcher.looks_for_peers() {
                    self.peers.start();
                }
                watcher.attach(pid).map_err(|error| refused(error, Error::Attach))?;
                self.main = pid;
                self.started_ns = process::monotonic_ns();
                self.supervisor.go()?;
            }
            Report::StartFailed { errno } => {
                return Err(refused(io::Error::from_raw_os_error(errno), Error::NotStarted));
            }
            Report::ExecFailed { errno } => {
                return Err(cannot_execute(self.command, errno));
            }
            Report::MainEnded { status } => {
                self.ended.exit_status = process::shell_status(status);
                self.ended.signal = process::ending_signal(status);
                self.main_ended = true;
                if self.ended.signal == Some(libc::SIGINT) && self.ended.used_terminal {
                    self.ended.interrupted = Some(libc::SIGINT);
                }
                if self.until == Until::Main {
                    self.end_all()?;
                }
            }
            Report::AllEnded { used, timed_out } => {
                self.ended.elapsed_ns = process::monotonic_ns() - self.started_ns;
                self.ended.timed_out |= timed_out;
                self.ended.take(&used);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Asks everything to end; what has not done so in time is killed.
    fn end_all(&mut self) -> io::Result<()> {
        let at = process::monotonic_ns() + GRACE_NS;
        self.kill_at_ns = self.kill_at_ns.min(at);
        let container = self.group.filter(|group| group.parent_for_engine().is_some());
        let inside = container.map(Group::container_processes).unwrap_or_default();
        if inside.is_empty() {
            return self.supervisor.end_all();
        }
        // The engine sees the end of its container, and puts things in order.
        self.kill_at_ns = process::monotonic_ns() + ENGINE_GRACE_NS;
        for process in inside {
            let _ = process::signal(process.cast_signed(), libc::SIGKILL);
        }
        Ok(())
    }

    fn kill_all(&mut self) -> io::Result<()> {
        self.kill_at_ns = 0;
        self.supervisor.kill_all()
    }

    /// The supervisor keeps the time itself, for it does not depend on us; a tracer is ours.
    fn kill_in_time(&self, watcher: &mut dyn Watcher) -> io::Result<()> {
        if process::monotonic_ns() < self.kill_at_ns {
            return Ok(());
        }
        watcher.let_die();
        self.supervisor.kill_all()
    }

    /// Ends the processes that the command left, once all of them are stopped and stay so: they
    /// would never end. Without us they would stay stopped in the background, where no process
    /// waits for them.
    fn look_at_stopped(&mut self) -> io::Result<()> {
        let now = process::monotonic_ns();
        if !self.main_ended || now < self.stopped_due_ns {
            return Ok(());
        }
        self.stopped_due_ns = now + STOPPED_EVERY_NS;
        let supervisor = self.supervisor.pid;
        let mut left = process::descendants(&[supervisor]);
        left.retain(|&pid| pid != supervisor);
        let all_stopped = !left.is_empty() && left.iter().all(|&pid| process::is_stopped(pid));
        self.stopped_looks = if all_stopped { self.stopped_looks + 1 } else { 0 };
        if self.stopped_looks == STOPPED_LOOKS {
            self.ended.stopped = u32::try_from(left.len()).unwrap_or(u32::MAX);
            self.kill_all()?;
        }
        Ok(())
    }

    fn look_at_terminal(&mut self) {
        if let Some(terminal) = &mut self.terminal
            && self.main > 0
        {
            terminal.look(self.main, process::monotonic_ns());
            self.ended.used_terminal = terminal.is_used();
        }
    }

    /// Whether it is a key that the command, which uses the terminal, has from there too: what it does
    /// about it is its own affair.
    fn is_for_command(&self, signal: Signal) -> bool {
        let key = signal.from_terminal && signal.number == libc::SIGINT;
        key && self.ended.used_terminal
    }

    /// A signal from the terminal has reached the command too; one that was sent to us has not.
    fn hear_signals(&mut self) -> io::Result<()> {
        while let Some(signal) = self.signals.next() {
            let Signal { number, from_terminal } = signal;
            if self.is_for_command(signal) {
                let now = process::monotonic_ns();
                if self.terminal.as_mut().is_some_and(|terminal| terminal.key(now)) {
                    self.ended.interrupted = Some(number);
                    self.kill_all()?;
                }
                continue;
            }
            let again = self.ended.interrupted.replace(number).is_some();
            if again {
                self.kill_all()?;
            } else if !from_terminal {
                self.end_all()?;
            }
        }
        Ok(())
    }

    /// A container that its engine has put into another group than ours.
    fn is_elsewhere(&self) -> Option<Left> {
        let group = self.group.filter(|group| group.parent_for_engine().is_some())?;
        // Such a status says that there was none.
        let began = !(125..=127).contains(&self.ended.exit_status);
        let is_empty = group.limiter().usage().is_ok_and(|usage| usage.peak == Bytes(0));
        (began && is_empty).then(Left::container)
    }

    /// Collects the supervisor, which goes right after its last report.
    fn reap(&self) -> io::Result<()> {
        while process::try_wait(self.supervisor.pid)?.is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }
}

/// Why a command cannot be executed.
pub(super) fn cannot_execute(command: &Command, errno: i32) -> Error {
    let name = command.arguments.first().cloned().unwrap_or_default();
    let name = if name.is_empty() { "''".into() } else { name.to_string_lossy() };
    let name = name.into_owned();
    match errno {
        libc::ENOENT | libc::ENOTDIR => Error::NotFound(name),
        // A folder of PATH that may not be searched says no more of one that is nowhere.
        libc::EACCES if !is_anywhere(&name) => Error::NotFound(name),
        // A user who has too many processes may not execute another program.
        _ => refused(io::Error::from_raw_os_error(errno), |error| {
            Error::NotExecutable(name.clone(), error)
        }),
    }
}

/// Whether there is a program of this name, executable or not.
fn is_anywhere(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let is_there = |folder: PathBuf| files::open_path(&folder.join(name), OFlags::PATH).is_ok();
    name.contains('/') || std::env::split_paths(&path).any(is_there)
}

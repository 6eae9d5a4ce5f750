//! A command as a workload: started under supervision, watched from before its first instruction
//! to the end of its last descendant.
//!
//! Invariant: nothing is executed before the watcher is attached, and nothing of the command is
//! left when [`run`] returns.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::sys::cgroup::Group;
use crate::sys::process::{self, Account};
use crate::sys::signal::{Signal, Signals};
use crate::sys::supervise::{Plan, Report, Supervisor};

/// How often the watcher is called when nothing else happens.
const TICK: Duration = Duration::from_millis(20);

/// What to run, and as whom.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// Program and arguments, as typed.
    pub arguments: Vec<OsString>,
    /// The account to run under instead of our own: the caller of `sudo`.
    pub account: Option<Account>,
}

/// When a run is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// When the last descendant has ended.
    #[default]
    Last,
    /// When the command itself has ended; what still runs then is ended.
    Main,
}

/// The circumstances of one run.
#[derive(Debug, Default)]
pub struct Job<'a> {
    /// Private group that the command joins.
    pub group: Option<&'a Group>,
    /// Descriptors that become its standard input, output and error instead of our own.
    pub standard: [Option<OwnedFd>; 3],
    /// When it is over.
    pub until: Until,
    /// After this long it is ended.
    pub deadline: Option<Duration>,
}

/// Looks on while a command runs.
pub trait Watcher {
    /// The command's process exists but has not executed anything.
    fn attach(&mut self, pid: i32) -> io::Result<()>;

    /// What to wake up for.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// Called on every wake-up and every 20 ms.
    fn tick(&mut self) -> io::Result<()>;
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// As a shell gives it: 128 + n for signal n.
    pub exit_status: i32,
    /// The signal that we were sent meanwhile.
    pub interrupted: Option<i32>,
    /// Whether the deadline ended it.
    pub timed_out: bool,
    /// From the word to execute to the end of the last descendant.
    pub elapsed_ns: u64,
    /// User and system time of the command and its descendants.
    pub cpu_ns: u64,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// Bytes read from block devices for it.
    pub bytes_read: u64,
}

/// Why a command was not run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Exit status 127.
    #[error("{0}: command not found; check the spelling and PATH")]
    NotFound(String),
    /// Exit status 126.
    #[error("{0}: cannot be executed ({1}); check its permissions and its first line")]
    NotExecutable(String, io::Error),
    /// An argument or a variable holds a NUL byte.
    #[error("an argument holds a NUL byte, which no program can be given")]
    Nul(#[from] std::ffi::NulError),
    /// The supervisor was killed. Whatever it watched has been ended.
    #[error("our supervisor process was killed; the command was ended with it. Run it again")]
    SupervisorKilled,
    /// The watcher could not be attached.
    #[error("cannot attach to the command: {0}")]
    Attach(io::Error),
    /// Anything else the kernel refused.
    #[error("cannot run the command: {0}")]
    Io(#[from] io::Error),
}

/// Runs a command to its end.
pub fn run(
    command: &Command,
    job: Job<'_>,
    watcher: &mut dyn Watcher,
    signals: &Signals,
) -> Result<Ended, Error> {
    process::become_subreaper()?;
    let strangers = process::children();
    let plan = plan(command, job.group, job.standard)?;
    let supervisor = Supervisor::start(&plan)?;
    drop(plan);
    let mut run = Run {
        command,
        supervisor,
        signals,
        until: job.until,
        deadline: job.deadline,
        started_ns: process::monotonic_ns(),
        ended: Ended::default(),
    };
    let result = run.watch(watcher);
    if result.is_err() {
        // Closing our end makes the supervisor end everything, if it lives.
        let pid = run.supervisor.pid;
        drop(run);
        end_orphans(pid, &strangers);
    }
    result
}

struct Run<'a> {
    command: &'a Command,
    supervisor: Supervisor,
    signals: &'a Signals,
    until: Until,
    deadline: Option<Duration>,
    started_ns: u64,
    ended: Ended,
}

impl Run<'_> {
    fn watch(&mut self, watcher: &mut dyn Watcher) -> Result<Ended, Error> {
        loop {
            self.wait(watcher)?;
            self.hear_signals()?;
            loop {
                match self.supervisor.report() {
                    Ok(Some(report)) => {
                        if self.hear(report, watcher)? {
                            watcher.tick()?;
                            self.reap()?;
                            return Ok(self.ended);
                        }
                    }
                    Ok(None) => break,
                    Err(_) => return Err(Error::SupervisorKilled),
                }
            }
            watcher.tick()?;
            let elapsed = Duration::from_nanos(process::monotonic_ns() - self.started_ns);
            if self.deadline.is_some_and(|deadline| elapsed > deadline) && !self.ended.timed_out {
                self.ended.timed_out = true;
                self.supervisor.end_all()?;
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
        let tick = Timespec::try_from(TICK).map_err(io::Error::other)?;
        match poll(&mut waiting, Some(&tick)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in a report; true when it was the last one.
    fn hear(&mut self, report: Report, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        match report {
            Report::Ready { pid } => {
                watcher.attach(pid).map_err(Error::Attach)?;
                self.started_ns = process::monotonic_ns();
                self.supervisor.go()?;
            }
            Report::ExecFailed { errno } => {
                let name = self.command.arguments.first().cloned().unwrap_or_default();
                let name = name.to_string_lossy().into_owned();
                return Err(match errno {
                    libc::ENOENT | libc::ENOTDIR => Error::NotFound(name),
                    _ => Error::NotExecutable(name, io::Error::from_raw_os_error(errno)),
                });
            }
            Report::MainEnded { status } => {
                self.ended.exit_status = process::shell_status(status);
                if self.until == Until::Main {
                    self.supervisor.end_all()?;
                }
            }
            Report::AllEnded { cpu_ns, major_faults, bytes_read } => {
                self.ended.elapsed_ns = process::monotonic_ns() - self.started_ns;
                self.ended.cpu_ns = cpu_ns;
                self.ended.major_faults = major_faults;
                self.ended.bytes_read = bytes_read;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A signal from the terminal has reached the command too; one that was sent to us has not.
    fn hear_signals(&mut self) -> io::Result<()> {
        while let Some(Signal { number, from_terminal }) = self.signals.next() {
            let again = self.ended.interrupted.replace(number).is_some();
            if again {
                self.supervisor.kill_all()?;
            } else if !from_terminal {
                self.supervisor.end_all()?;
            }
        }
        Ok(())
    }

    /// Collects the supervisor, which goes right after its last report.
    fn reap(&self) -> io::Result<()> {
        while process::try_wait(self.supervisor.pid)?.is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }
}

/// Ends what a dead or dying supervisor leaves to us, its subreaper: everything that was not our
/// child before.
fn end_orphans(supervisor: i32, strangers: &[i32]) {
    for round in 0..2000 {
        let mine: Vec<i32> =
            process::children().into_iter().filter(|pid| !strangers.contains(pid)).collect();
        if mine.is_empty() {
            return;
        }
        for pid in mine {
            // The supervisor is left a moment to clean up by itself.
            if pid != supervisor || round > 1000 {
                let _ = process::signal(pid, libc::SIGKILL);
            }
            let _ = process::try_wait(pid);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Prepares every string and descriptor before the fork.
fn plan(
    command: &Command,
    group: Option<&Group>,
    standard: [Option<OwnedFd>; 3],
) -> Result<Plan, Error> {
    let name =
        command.arguments.first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let arguments = command.arguments.iter().map(|a| CString::new(a.as_bytes()));
    Ok(Plan {
        arguments: arguments.collect::<Result<_, _>>()?,
        environment: environment(command.account.as_ref())?,
        programs: programs(name)?,
        identity: command.account.as_ref().map(|account| account.identity.clone()),
        join: group.map_or_else(|| Ok(Vec::new()), Group::join_files)?,
        cgroups: group.map(Group::paths).unwrap_or_default(),
        standard,
    })
}

/// Our own environment, with the words of another account where the command runs under one.
fn environment(account: Option<&Account>) -> Result<Vec<CString>, Error> {
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    if let Some(account) = account {
        let set: [(&str, OsString); 3] = [
            ("HOME", account.home.clone().into()),
            ("USER", account.name.clone().into()),
            ("LOGNAME", account.name.clone().into()),
        ];
        variables.retain(|(name, _)| !set.iter().any(|(key, _)| name == key));
        variables.extend(set.map(|(name, value)| (name.into(), value)));
    }
    let joined = variables.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        CString::new(name.into_vec())
    });
    Ok(joined.collect::<Result<_, _>>()?)
}

/// The files to try, as `execvp(3)` would.
fn programs(name: &OsStr) -> Result<Vec<CString>, Error> {
    if name.as_bytes().contains(&b'/') || name.is_empty() {
        return Ok(vec![CString::new(name.as_bytes())?]);
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .map(
            |directory| {
                if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory }
            },
        )
        .map(|directory| Ok(CString::new(directory.join(name).into_os_string().into_vec())?))
        .collect()
}

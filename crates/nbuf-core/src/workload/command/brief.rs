//! A brief run of a command among many at the same time: under a supervisor like every other, but without
//! a terminal, a watcher or signals of its own.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

use super::{Command, Error, Input, cannot_execute, discarding, end_orphans, plan, refused};
use crate::sys::cgroup::Group;
use crate::sys::process;
use crate::sys::supervise::{Plan, Report, Supervisor, Used};

/// What is around a brief run.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// The group that it joins, if any; others may run in it.
    pub group: Option<&'a Group>,
    /// What it may run on, if not on all processors.
    pub processors: Option<CpuSet>,
    /// Once this is readable or closed at its other end, everything is ended.
    pub over: BorrowedFd<'a>,
    /// Is called with the number of the process just before it may execute, and the time.
    pub begins: &'a dyn Fn(i32, u64),
}

/// What a brief run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// When the word to execute was given, on the monotonic clock.
    pub began_ns: u64,
    /// When the last descendant had ended.
    pub ended_ns: u64,
    /// As a shell gives it: 128 + n for signal n.
    pub exit_status: i32,
    /// User and system time of the command and its descendants.
    pub cpu_ns: u64,
    /// Page faults of them that needed I/O.
    pub major_faults: u64,
    /// Those that needed none.
    pub minor_faults: u64,
    /// Bytes that they read from discs, by call or by fault.
    pub bytes_read: u64,
}

impl Brief {
    fn with(self, used: Used) -> Self {
        Self {
            cpu_ns: used.user_ns + used.system_ns,
            major_faults: used.major_faults,
            minor_faults: used.minor_faults,
            bytes_read: used.bytes_read,
            ..self
        }
    }
}

/// Runs a command to the end of its last descendant. Its input is empty and its output discarded. If it is
/// over before, there is no result.
///
/// May be called by many threads at once; the process must be a subreaper. Cost: two forks and an exec.
pub fn brief(command: &Command, around: Around<'_>) -> Result<Option<Brief>, Error> {
    let Around { group, over, .. } = around;
    let standard =
        [Some(Input::Nothing.again()?), Some(discarding(over)?), Some(discarding(over)?)];
    // The supervisor would end all of the group with its command.
    let plan = Plan { cgroups: Vec::new(), ..plan(command, group, standard)? };
    let supervisor = Supervisor::start(&plan).map_err(|error| refused(error, Error::NotStarted))?;
    drop(plan);
    let pid = supervisor.pid;
    let result = watch(&supervisor, command, around);
    // Its closed end makes the supervisor end what still runs, and itself.
    drop(supervisor);
    while process::try_wait(pid)?.is_none() {
        std::thread::sleep(Duration::from_micros(100));
    }
    result
}

/// Ends what supervisors that were killed have left of brief runs: everything that was not our child
/// before.
pub fn end_what_is_left(strangers: &[i32]) {
    end_orphans(0, strangers, None);
}

fn watch(
    supervisor: &Supervisor,
    command: &Command,
    Around { group, processors, over, begins }: Around<'_>,
) -> Result<Option<Brief>, Error> {
    let mut brief = Brief::default();
    let mut is_over = false;
    loop {
        let mut waiting = [
            PollFd::new(supervisor.descriptor(), PollFlags::IN),
            PollFd::from_borrowed_fd(over.as_fd(), PollFlags::IN),
        ];
        let waited = if is_over { poll(&mut waiting[..1], None) } else { poll(&mut waiting, None) };
        match waited {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Error::Io(error.into())),
        }
        if !is_over && !waiting[1].revents().is_empty() {
            is_over = true;
            supervisor.end_all()?;
        }
        loop {
            match supervisor.report() {
                Ok(None) => break,
                Err(_) => return Err(Error::SupervisorKilled),
                Ok(Some(Report::Ready { pid })) => {
                    group.map_or(Ok(()), |group| group.admit(pid))?;
                    if let Some(processors) = &processors {
                        sched_setaffinity(rustix::process::Pid::from_raw(pid), processors)
                            .map_err(|error| Error::Io(error.into()))?;
                    }
                    brief.began_ns = process::monotonic_ns();
                    begins(pid, brief.began_ns);
                    supervisor.go()?;
                }
                Ok(Some(Report::StartFailed { errno })) => {
                    let error = std::io::Error::from_raw_os_error(errno);
                    return Err(refused(error, Error::NotStarted));
                }
                Ok(Some(Report::ExecFailed { errno })) => {
                    return Err(cannot_execute(command, errno));
                }
                Ok(Some(Report::MainEnded { status })) => {
                    brief.exit_status = process::shell_status(status);
                }
                Ok(Some(Report::AllEnded { used, .. })) => {
                    brief.ended_ns = process::monotonic_ns();
                    return Ok((!is_over).then_some(brief.with(used)));
                }
            }
        }
    }
}

//! A fresh process that does a task in samples, and the parent that watches it.
//!
//! The task goes to its standard input; each sample comes back as a line, and so does the end. The
//! watchdog is the parent and no thread of the child, because a second thread switches the locks of C's
//! standard I/O on. The child is killed by its handle, which no other process can have; it sees to it
//! itself that it does not outlive its parent ([`die_with`](crate::sys::process::die_with)). Cost: a
//! fork and an exec, about 2 ms.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::session::{Cancellation, Session};
use crate::clock::Stopwatch;
use crate::sys::signal::Signals;

/// A line of a child. All but a sample are its last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line<S> {
    /// One sample.
    Sample(S),
    /// The machine refuses the task, for this reason.
    Refused(String),
    /// The task failed, for this reason.
    Failed(String),
    /// There are no more samples.
    Done,
}

/// How long a child may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// From one line to the next.
    pub(super) silence: Duration,
    /// For everything.
    pub(super) total: Duration,
}

/// How a child ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// It has no more samples.
    Done,
    /// The machine refuses, for this reason.
    Refused(String),
    /// It failed, for this reason.
    Failed(String),
    /// It ended without a last line.
    BrokeOff(ExitStatus),
    /// It wrote something that is no line.
    Nonsense(serde_json::Error),
    /// It wrote nothing for too long, and was killed.
    Silent,
    /// It took too long, and was killed.
    Late,
    /// A signal came for us, and it was killed.
    Interrupted,
}

/// Why a child cannot be used.
#[derive(Debug)]
pub(super) enum ChildError {
    /// It cannot be started.
    Start(io::Error),
    /// Its output cannot be read.
    Read(io::Error),
}

/// The command of a child for a task of this name.
pub(super) fn command(session: &Session<'_>, name: &str) -> Result<Command, ChildError> {
    let this_program = || -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(name);
        Ok(command)
    };
    session.start.map_or_else(this_program, |start| start(name)).map_err(ChildError::Start)
}

/// Has a child do a task until it ends, a limit is passed or a signal comes. The samples are those that
/// it had by then.
pub(super) fn run<S: DeserializeOwned>(
    command: &mut Command,
    task: &impl Serialize,
    limits: Limits,
    cancellation: &Cancellation,
) -> Result<(Vec<S>, Ending), ChildError> {
    let signals = cancellation.listen().map_err(ChildError::Read)?;
    // In a group of its own: Ctrl-C is for us, and we end it.
    let mut child = Watched::start(command.process_group(0), task).map_err(ChildError::Start)?;
    let (mut samples, mut last) = (Vec::new(), Ending::Done);
    let goes_on = |line: Line<S>| {
        match line {
            Line::Sample(sample) => {
                samples.push(sample);
                return true;
            }
            Line::Refused(why) => last = Ending::Refused(why),
            Line::Failed(why) => last = Ending::Failed(why),
            Line::Done => {}
        }
        false
    };
    let early = child.read(limits, signals, goes_on).map_err(ChildError::Read)?;
    let ending = early.unwrap_or(last);
    if matches!(ending, Ending::Interrupted) {
        // Noted, so that it does not end us when nothing listens any more.
        cancellation.poll();
    }
    Ok((samples, ending))
}

/// The task of this process.
pub(super) fn task<T: DeserializeOwned>(mut input: impl Read) -> io::Result<T> {
    let mut text = Vec::new();
    input.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Writes lines of this process, all at once.
pub(super) fn write<S: Serialize>(output: &mut impl Write, lines: &[Line<S>]) -> io::Result<()> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    output.write_all(&text)?;
    output.flush()
}

/// How long a child may take to end that has nothing more to say.
const ENDING: Duration = Duration::from_secs(10);

/// A child that does not outlive this value.
struct Watched(Child);

impl Drop for Watched {
    fn drop(&mut self) {
        // Ended already or not: both are well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Watched {
    /// Starts a child and gives it its task on its standard input.
    fn start(command: &mut Command, task: &impl Serialize) -> io::Result<Self> {
        let text = serde_json::to_vec(task)?;
        let mut child = Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let mut input = child.0.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        // A child that is gone already says why, or did not come to it: both are seen later.
        let _ = input.write_all(&text);
        Ok(child)
    }

    /// Reads its lines until one of them is the last, or until an early end.
    fn read<L: DeserializeOwned>(
        &mut self,
        limits: Limits,
        signals: &Signals,
        mut goes_on: impl FnMut(L) -> bool,
    ) -> io::Result<Option<Ending>> {
        let mut output = self.0.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let began = Stopwatch::start();
        let mut silent = Stopwatch::start();
        let (mut text, mut bytes) = (Vec::new(), [0; 8192]);
        loop {
            let Some(left) = limits.total.checked_sub(began.elapsed()) else {
                return Ok(Some(Ending::Late));
            };
            let Some(quiet) = limits.silence.checked_sub(silent.elapsed()) else {
                return Ok(Some(Ending::Silent));
            };
            match wait(&output, left.min(quiet), signals)? {
                Ready::Words => {}
                Ready::Signal => return Ok(Some(Ending::Interrupted)),
                Ready::Nothing => continue,
            }
            let got = match output.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                got => got?,
            };
            if got == 0 {
                return self.status().map(|status| Some(Ending::BrokeOff(status)));
            }
            silent = Stopwatch::start();
            text.extend_from_slice(&bytes[..got]);
            while let Some(end) = text.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                match serde_json::from_slice(&line).map(&mut goes_on) {
                    Ok(true) => {}
                    Ok(false) => return Ok(None),
                    Err(error) => return Ok(Some(Ending::Nonsense(error))),
                }
            }
        }
    }

    /// How it ended whose output has ended: by itself, unless that takes long.
    fn status(&mut self) -> io::Result<ExitStatus> {
        let clock = Stopwatch::start();
        while clock.elapsed() < ENDING {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        // Already gone is as good.
        let _ = self.0.kill();
        self.0.wait()
    }
}

enum Ready {
    Words,
    Signal,
    Nothing,
}

/// Waits for words of the child or for a signal, as long as there is time.
fn wait(output: &ChildStdout, left: Duration, signals: &Signals) -> io::Result<Ready> {
    let mut waiting =
        [PollFd::new(output, PollFlags::IN), PollFd::new(signals.descriptor(), PollFlags::IN)];
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut waiting, Some(&left)) {
        Ok(0) | Err(Errno::INTR) => return Ok(Ready::Nothing),
        Err(error) => return Err(error.into()),
        Ok(_) => {}
    }
    Ok(if waiting[1].revents().is_empty() { Ready::Words } else { Ready::Signal })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a child that is a shell script.
    fn child(script: &str, silence: Duration, total: Duration) -> (Vec<u64>, Ending) {
        let mut shell = Command::new("sh");
        let limits = Limits { silence, total };
        run(shell.args(["-c", script]), &"task", limits, &Cancellation::default()).unwrap()
    }

    #[test]
    fn every_end_of_a_child_is_reported() {
        let hour = Duration::from_hours(1);
        let check = |script: &str, silence, want: &str| {
            let (samples, ending) = child(script, silence, hour);
            assert_eq!(format!("{samples:?} {ending:?}"), want, "{script}");
        };
        check("echo '{\"sample\":7}'; echo '\"done\"'; exec sleep 1000", hour, "[7] Done");
        check("echo '{\"refused\":\"no\"}'", hour, "[] Refused(\"no\")");
        check("printf '{\"failed\":'; echo '\"no\"}'", hour, "[] Failed(\"no\")");
        let broke_off = "[7] BrokeOff(ExitStatus(unix_wait_status(768)))";
        check("echo '{\"sample\":7}'; exit 3", hour, broke_off);
        let hangs = "echo '{\"sample\":7}'; trap '' TERM INT; exec sleep 1000";
        check(hangs, Duration::from_secs(3), "[7] Silent");
        assert!(matches!(child("echo nonsense", hour, hour).1, Ending::Nonsense(_)));
        let endless = "while echo '{\"sample\":7}'; do sleep 0.1; done";
        let (samples, ending) = child(endless, hour, Duration::from_secs(1));
        assert!(samples.len() > 1 && matches!(ending, Ending::Late), "{ending:?}");
    }

    #[test]
    fn a_program_that_is_not_there_cannot_be_started() {
        let limits = Limits { silence: Duration::ZERO, total: Duration::ZERO };
        let mut command = Command::new("/nowhere/at/all");
        let run = run::<u64>(&mut command, &"task", limits, &Cancellation::default());
        assert!(matches!(run, Err(ChildError::Start(_))), "{run:?}");
    }
}

//! Children and who watches them: the parent gives a fresh process its task, hears its samples, and ends
//! it when it is late or when somebody presses Ctrl-C.
//!
//! The watchdog is the parent and no thread of the child, because a second thread switches the locks
//! of C's standard I/O on. Killed by its handle, which no other process can have. A parent that
//! is killed takes its child along (`PR_SET_PDEATHSIG`). Cost: a fork and an exec, about 2 ms.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::Error;
use crate::clock::Stopwatch;
use crate::experiment::result::{BenchLine, BenchSample, BenchTask};
use crate::sys::process::ending_signal;
use crate::sys::signal::Signals;

/// How long a child may take to end that has nothing more to say.
const ENDING: Duration = Duration::from_secs(10);

/// How children are started and interrupted.
#[derive(Debug)]
pub struct Watch {
    /// The program that runs a task: this one.
    pub program: PathBuf,
    /// The hidden verb that does.
    pub verb: &'static str,
    /// Ctrl-C, where it is heard.
    pub signals: Option<Signals>,
}

/// What came of a child.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// Its samples.
    pub samples: Vec<BenchSample>,
    /// Why there are no more, where it did not come to its end.
    pub refused: Option<String>,
}

impl Watch {
    /// What a child is given beyond its time: to start, to prepare, for one last operation.
    pub const GRACE: Duration = Duration::from_secs(20);

    /// Runs a task in a fresh process, which may take so much longer than its time.
    pub fn run(&self, task: &BenchTask, grace: Duration) -> Result<Heard, Error> {
        let task = BenchTask { parent: std::process::id(), ..task.clone() };
        let mut command = Command::new(&self.program);
        command.arg(self.verb).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(Error::Child)?;
        let heard = self.hear(&mut child, &task, grace);
        let is_ending = heard.as_ref().is_ok_and(|heard| heard.is_ended);
        let status = end(&mut child, is_ending).map_err(Error::Child)?;
        let mut heard = heard?;
        if heard.refused.is_none() && !heard.is_done {
            let how = ending_signal(std::os::unix::process::ExitStatusExt::into_raw(status));
            heard.refused = Some(match how {
                Some(signal) => format!("its process was ended by signal {signal}"),
                None => format!("its process ended with {status} in the middle"),
            });
        }
        Ok(Heard { samples: heard.samples, refused: heard.refused })
    }

    fn hear(&self, child: &mut Child, task: &BenchTask, grace: Duration) -> Result<Hearing, Error> {
        let mut input = child.stdin.take().ok_or_else(no_pipe)?;
        let line = serde_json::to_vec(task).map_err(|error| Error::Child(error.into()))?;
        // A child that is gone already says why by its status.
        let _ = input.write_all(&line);
        drop(input);
        let mut output = child.stdout.take().ok_or_else(no_pipe)?;
        let clock = Stopwatch::start();
        let deadline_ns =
            task.time_ns_max.saturating_add(u64::try_from(grace.as_nanos()).unwrap_or(u64::MAX));
        let mut hearing = Hearing::default();
        loop {
            let spent = u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let Some(left_ns) = deadline_ns.checked_sub(spent) else {
                hearing.refused = Some(format!(
                    "it did not end in {:.1} s: its process hung and was killed",
                    deadline_ns as f64 / 1e9
                ));
                return Ok(hearing);
            };
            match self.wait(&output, left_ns).map_err(Error::Child)? {
                Ready::Output => {}
                Ready::Signal => {
                    // Heard, so that it does not end us when nobody listens any more.
                    while self.signals.as_ref().and_then(Signals::next).is_some() {}
                    return Err(Error::Interrupted);
                }
                Ready::Late => continue,
            }
            if !hearing.more(&mut output).map_err(Error::Child)? {
                hearing.is_ended = true;
                return Ok(hearing);
            }
        }
    }

    fn wait(&self, output: &ChildStdout, left_ns: u64) -> io::Result<Ready> {
        let mut waiting = vec![PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN)];
        if let Some(signals) = &self.signals {
            waiting.push(PollFd::from_borrowed_fd(signals.descriptor().as_fd(), PollFlags::IN));
        }
        let seconds = i64::try_from(left_ns / 1_000_000_000).unwrap_or(i64::MAX);
        let nanoseconds = i64::try_from(left_ns % 1_000_000_000).unwrap_or(0);
        match poll(&mut waiting, Some(&Timespec { tv_sec: seconds, tv_nsec: nanoseconds })) {
            Ok(0) | Err(Errno::INTR) => Ok(Ready::Late),
            Ok(_) if waiting.get(1).is_some_and(|signal| !signal.revents().is_empty()) => {
                Ok(Ready::Signal)
            }
            Ok(_) => Ok(Ready::Output),
            Err(error) => Err(error.into()),
        }
    }
}

/// Waits for a child that is about to end by itself; ends any other, and one that takes long.
fn end(child: &mut Child, is_ending: bool) -> io::Result<ExitStatus> {
    let clock = Stopwatch::start();
    while is_ending && clock.elapsed() < ENDING {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    // Already gone is as good.
    let _ = child.kill();
    child.wait()
}

enum Ready {
    Output,
    Signal,
    Late,
}

fn no_pipe() -> Error {
    Error::Child(io::ErrorKind::BrokenPipe.into())
}

/// What has been heard so far.
#[derive(Debug, Default)]
struct Hearing {
    samples: Vec<BenchSample>,
    refused: Option<String>,
    is_done: bool,
    /// Whether its output has ended, or said that nothing more comes.
    is_ended: bool,
    rest: Vec<u8>,
}

impl Hearing {
    /// Reads what is there. Whether more may come.
    fn more(&mut self, output: &mut ChildStdout) -> io::Result<bool> {
        let mut piece = [0; 8192];
        let length = match output.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            read => read?,
        };
        if length == 0 {
            return Ok(false);
        }
        self.rest.extend_from_slice(&piece[..length]);
        while let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            match serde_json::from_slice(&line)? {
                BenchLine::Sample(sample) => self.samples.push(sample),
                BenchLine::Refused(reason) => {
                    self.refused = Some(reason);
                    return Ok(false);
                }
                BenchLine::Done => {
                    self.is_done = true;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(program: &str, verb: &'static str, grace: Duration) -> Result<Heard, Error> {
        let watch = Watch { program: program.into(), verb, signals: None };
        watch.run(&BenchTask::default(), grace)
    }

    #[test]
    fn children_that_do_not_do_their_work_are_told_apart() {
        let check = |program: &str, verb: &'static str, grace: Duration, want: &str| {
            let heard = heard(program, verb, grace).unwrap();
            let reason = heard.refused.unwrap_or_default();
            assert!(reason.contains(want), "{program}: {reason}");
            assert!(heard.samples.is_empty());
        };
        check("sleep", "1000", Duration::from_millis(50), "hung and was killed");
        check("true", "", Watch::GRACE, "ended with exit status: 0 in the middle");
        check("false", "", Watch::GRACE, "ended with exit status: 1 in the middle");
        assert!(matches!(heard("/nowhere/at/all", "", Watch::GRACE), Err(Error::Child(_))));
    }
}

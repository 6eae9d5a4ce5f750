//! The parent of a process that is measured: asks it, hears it, and ends it when it hangs.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::super::result::{PingSaid, PingSample, PingTask};
use super::Error;
use crate::clock::Stopwatch;
use crate::sys::signal::Signals;

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It had all its samples, and every message came once.
    Done,
    /// The kernel does not do what was asked.
    Refused(String),
    /// Something is wrong with it.
    Failed(String),
    /// It was ended because it had nothing to say for too long.
    Hung,
    /// It was ended after so long, though it had more to say now and then.
    Endless(Duration),
    /// Somebody wants to end everything.
    Interrupted,
}

/// A child that does not outlive this value.
struct Watched(Child);

impl Drop for Watched {
    fn drop(&mut self) {
        // Ended already or not: both are well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has a child do a task, until it says nothing for so long, or a signal comes. The samples are those
/// that it had by then.
pub(super) fn run(
    command: &mut Command,
    task: &PingTask,
    allowed: Duration,
    signals: Option<&Signals>,
) -> Result<(Vec<PingSample>, Ending), Error> {
    // In a group of its own: Ctrl-C is for us, and we end it.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = Watched(command.spawn().map_err(Error::Start)?);
    let (input, output) = (child.0.stdin.take(), child.0.stdout.take());
    let (Some(mut input), Some(output)) = (input, output) else {
        return Err(Error::Start(io::ErrorKind::BrokenPipe.into()));
    };
    let text = serde_json::to_vec(task).map_err(io::Error::from).map_err(Error::Start)?;
    // A child that is gone already says why, or did not come to it: both are seen below.
    let _ = input.write_all(&text);
    drop(input);
    // A busy machine makes it slow: its few samples may each take nearly as long as it may be silent.
    let in_all = Duration::from_millis(task.time_max_ms).saturating_add(allowed * 4);
    hear(output, allowed, in_all, signals)
}

fn hear(
    mut output: ChildStdout,
    allowed: Duration,
    in_all: Duration,
    signals: Option<&Signals>,
) -> Result<(Vec<PingSample>, Ending), Error> {
    let began = Stopwatch::start();
    let mut silent = Stopwatch::start();
    let (mut samples, mut text, mut bytes) = (Vec::new(), Vec::new(), [0; 8192]);
    loop {
        if began.elapsed() > in_all {
            return Ok((samples, Ending::Endless(in_all)));
        }
        let left = allowed.saturating_sub(silent.elapsed());
        match next(&output, left, signals).map_err(Error::Wait)? {
            Next::Nothing => return Ok((samples, Ending::Hung)),
            Next::Signal => return Ok((samples, Ending::Interrupted)),
            Next::Again => continue,
            Next::Words => {}
        }
        let got = output.read(&mut bytes).map_err(Error::Wait)?;
        if got == 0 {
            let broke_off = "its process broke off without a word".to_owned();
            return Ok((samples, Ending::Failed(broke_off)));
        }
        silent = Stopwatch::start();
        text.extend_from_slice(&bytes[..got]);
        while let Some(end) = text.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(PingSaid::Sample(sample)) => samples.push(sample),
                Ok(PingSaid::Refused(why)) => return Ok((samples, Ending::Refused(why))),
                Ok(PingSaid::Failed(why)) => return Ok((samples, Ending::Failed(why))),
                Ok(PingSaid::Done) => return Ok((samples, Ending::Done)),
                Err(error) => {
                    let what = format!("its process said what makes no sense: {error}");
                    return Ok((samples, Ending::Failed(what)));
                }
            }
        }
    }
}

enum Next {
    Words,
    Signal,
    Again,
    Nothing,
}

/// Waits for words of the child or for a signal, as long as there is time.
fn next(output: &ChildStdout, left: Duration, signals: Option<&Signals>) -> io::Result<Next> {
    let mut waiting = vec![PollFd::new(output, PollFlags::IN)];
    waiting.extend(signals.map(|signals| PollFd::new(signals.descriptor(), PollFlags::IN)));
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut waiting, Some(&left)) {
        Ok(0) => return Ok(Next::Nothing),
        Err(Errno::INTR) => return Ok(Next::Again),
        Err(error) => return Err(error.into()),
        Ok(_) => {}
    }
    let signal = waiting.get(1).is_some_and(|fd| !fd.revents().is_empty());
    Ok(if signal { Next::Signal } else { Next::Words })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a child that is a shell script.
    fn child(script: &str, allowed: Duration) -> (usize, Ending) {
        let task = PingTask {
            parent: 0,
            mechanism: String::new(),
            placement: String::new(),
            processors: Vec::new(),
            samples_min: 0,
            samples_max: 0,
            time_max_ms: 0,
        };
        let mut shell = Command::new("sh");
        let (samples, ending) = run(shell.args(["-c", script]), &task, allowed, None).unwrap();
        (samples.len(), ending)
    }

    #[test]
    fn every_end_of_a_child_is_told() {
        let hour = Duration::from_hours(1);
        let sample = serde_json::to_string(&PingSaid::Sample(PingSample::default())).unwrap();
        let check = |script: &str, allowed, samples, want: Ending| {
            assert_eq!(child(script, allowed), (samples, want), "{script}");
        };
        check(&format!("echo '{sample}'; echo '\"done\"'; exec sleep 1000"), hour, 1, Ending::Done);
        check("echo '{\"refused\":\"no\"}'", hour, 0, Ending::Refused("no".into()));
        check("printf '{\"failed\":'; echo '\"no\"}'", hour, 0, Ending::Failed("no".into()));
        let silent = "its process broke off without a word";
        check(&format!("echo '{sample}'; exit 3"), hour, 1, Ending::Failed(silent.into()));
        let (_, ending) = child("echo nonsense", hour);
        assert!(matches!(ending, Ending::Failed(what) if what.contains("makes no sense")));
        let hangs = format!("echo '{sample}'; trap '' TERM INT; exec sleep 1000");
        check(&hangs, Duration::from_secs(3), 1, Ending::Hung);
        let endless = format!("while echo '{sample}'; do sleep 0.1; done");
        let (samples, ending) = child(&endless, Duration::from_secs(1));
        assert!(samples > 1 && ending == Ending::Endless(Duration::from_secs(4)), "{ending:?}");
    }
}

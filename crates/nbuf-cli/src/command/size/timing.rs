//! A run that is not recorded, for how long it takes: where recording stops the command at each call.

use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::Result;
use nbuf::units::Bytes;
use nbuf::workload::command::{self, Input, Job, Nobody, run};
use nbuf::workload::trace::{Facts, Timed};

use super::prove::{agreed, asks, input, output};
use super::workload::Workload;
use crate::fail::{chain, say};
use crate::voice;

impl Workload<'_> {
    /// Times the command that was recorded, if it may be run again. Right after the recording: what
    /// it reads is in memory, so that it works and hardly waits. A failure is told, and costs no more
    /// than the time. What had a pipe to read would do nothing without it.
    pub(super) fn time(&self, facts: &Facts) -> Option<Timed> {
        let is_alone = self.used_terminal() && !self.args.yes;
        if self.args.no_verify || is_alone || self.interrupted().is_some() {
            return None;
        }
        if self.input == Input::Stream {
            say("not timed: a pipe cannot be read twice (a file can: `< FILE`)");
            return None;
        }
        if !voice::is_quiet() || !self.args.yes && asks() {
            say(format_args!(
                "recording by system calls made it slower; to know how long it takes, the command is \
                 run once more without being recorded; its input is {} and its output {}",
                input(self),
                output(self)
            ));
        }
        match self.timed(facts) {
            Ok(Ok(timed)) => return Some(timed),
            Ok(Err(why)) => say(why),
            Err(error) => say(chain(&error.context("not timed"))),
        }
        None
    }

    /// The run, or why there is none.
    fn timed(&self, facts: &Facts) -> Result<Result<Timed, String>> {
        const INTERRUPTED: &str = "interrupted: how long it takes is not known";
        if !self.args.yes && !agreed(self)? {
            self.decline();
            return Ok(Err(self
                .interrupted()
                .map_or("not timed, and nothing will be verified", |_| INTERRUPTED)
                .into()));
        }
        self.prepare()?;
        if self.hears_signals() {
            return Ok(Err(INTERRUPTED.into()));
        }
        let ended = self.run_once(facts)?;
        self.note(&ended);
        let status = ended.exit_status;
        Ok(if ended.interrupted.is_some() {
            Err(INTERRUPTED.into())
        } else if ended.timed_out {
            Err("not timed: the time was up before it had ended".into())
        } else if Some(status) != facts.exit_status {
            Err(format!(
                "not timed: it ended with status {status}, and not as when it was recorded"
            ))
        } else {
            let read_bytes = Bytes(ended.bytes_read);
            Ok(Timed { elapsed_ns: ended.elapsed_ns, cpu_ns: ended.cpu_ns, read_bytes })
        })
    }

    fn run_once(&self, facts: &Facts) -> Result<command::Ended> {
        let output = self.output();
        let standard = [Some(self.input.again()?), Some(command::repeating(output.as_fd())?), None];
        // Faster than when it was recorded, but for what a run from memory may vary by.
        let recorded = Duration::from_nanos(facts.elapsed_ns);
        let deadline = self.time_left().unwrap_or(recorded.max(self.args.patience));
        let job = Job { group: None, standard, until: self.until(), deadline: Some(deadline) };
        Ok(run(&self.command, job, &mut Nobody, self.signals)?)
    }
}

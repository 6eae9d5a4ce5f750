//! A run that is not recorded, for how long it takes: where recording stops the command at each call.

use std::os::fd::AsFd;
use std::time::Duration;

use super::Error;
use super::Subject;
use crate::experiment::notice::{NotTimed, Notice, Question};
use crate::trace::{Facts, Timed};
use crate::units::Bytes;
use crate::workload::command::{self, Ended, Input, Job, Unwatched, run};

impl Subject<'_> {
    /// Times the command that was recorded, if it may be run again. Right after the recording: what
    /// it reads is in memory, so that it works and hardly waits. A failure is reported, and costs no
    /// more than the time. What had a pipe to read would do nothing without it.
    pub(super) fn time(&mut self, facts: &Facts) -> Option<Timed> {
        let is_alone = self.used_terminal && !self.spec.agreed;
        if !self.spec.verify || is_alone || self.interrupted().is_some() {
            return None;
        }
        if self.input == Input::Stream {
            self.notice(&Notice::NotTimed(NotTimed::Pipe));
            return None;
        }
        match self.timed(facts) {
            Ok(Ok(timed)) => return Some(timed),
            Ok(Err(why)) => self.notice(&Notice::NotTimed(why)),
            Err(error) => self.notice(&Notice::TimingFailed(&error)),
        }
        None
    }

    /// The run, or why there is none.
    fn timed(&mut self, facts: &Facts) -> Result<Result<Timed, NotTimed>, Error> {
        if !self.agrees(&Question::Time(self.streams()))? {
            self.cannot_verify = true;
            let interrupted = self.interrupted().is_some();
            return Ok(Err(if interrupted { NotTimed::Interrupted } else { NotTimed::Declined }));
        }
        self.prepare()?;
        if self.session.cancellation.poll().is_some() {
            return Ok(Err(NotTimed::Interrupted));
        }
        let ended = self.run_once(facts)?;
        self.note(&ended);
        let status = ended.exit_status;
        Ok(if ended.interrupted.is_some() {
            Err(NotTimed::Interrupted)
        } else if ended.timed_out {
            Err(NotTimed::TimeUp)
        } else if Some(status) != facts.exit_status {
            Err(NotTimed::Status(status))
        } else {
            let read_bytes = Bytes(ended.bytes_read);
            Ok(Timed { elapsed_ns: ended.elapsed_ns, cpu_ns: ended.cpu_ns, read_bytes })
        })
    }

    fn run_once(&self, facts: &Facts) -> Result<Ended, Error> {
        let output = self.session.output.stream();
        let standard = command::repeated(&self.input, output.as_fd())?;
        // The run from memory is faster than the recorded run, except for its variation.
        let recorded = Duration::from_nanos(facts.elapsed_ns);
        let deadline = self.time_left().unwrap_or(recorded.max(self.spec.run_time_min()));
        let job = Job { group: None, standard, until: self.spec.until, deadline: Some(deadline) };
        Ok(run(&self.command, job, &mut Unwatched, self.signals)?)
    }
}

//! One fresh process of a test, and its samples.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use super::measure::{Bench, Effort, lengths};
use super::pages::is_in_memory;
use super::table::Test;
use super::{CHILD, Error};
use crate::experiment::child::{self, Ending, Limits};
use crate::experiment::result::{BenchSample, BenchSampleLine, BenchTask};
use crate::experiment::session::{Interim, Session};
use crate::meter::probe::sibling;
use crate::sys::process::ending_signal;

/// What a process is given beyond its time: to start, to prepare, for one last operation.
const GRACE: Duration = Duration::from_secs(20);
/// How much later than its end a run may wait for a process that hangs.
const LATE: Duration = Duration::from_secs(2);

/// What came of a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sampled {
    /// Its samples.
    pub samples: Vec<BenchSample>,
    /// Why there are no more, where it did not come to its end.
    pub refused: Option<String>,
}

impl Bench<'_> {
    /// Runs a test in one fresh process.
    pub(super) fn process(
        &mut self,
        test: &Test,
        effort: &Effort,
    ) -> Result<(BenchTask, Sampled), Error> {
        let grace = match self.deadline.map(|deadline| deadline.left()) {
            Some(None) => return Err(Error::Late),
            Some(Some(left)) => GRACE.min(left + LATE),
            None => GRACE,
        };
        let (slowdown_percent, loop_best_ns) = (self.slowdown_percent, self.loop_best_ns);
        let loop_slack_percent = sibling::slack_percent(&self.loops_ns, loop_best_ns);
        // Half of the rounds, and half of every second or fourth of them (Thue and Morse).
        let in_huge_pages = self.renewals.count_ones() % 2 == 1;
        let file = self.file(test)?;
        if is_in_memory(test.state) {
            file.refresh()?;
        }
        let task = BenchTask {
            file: file.path(),
            clean: effort.clean,
            samples_max: effort.samples_max,
            sample_ns: effort.sample_ns * lengths(test),
            time_ns_max: effort.time_ns_max,
            slowdown_percent,
            loop_best_ns,
            loop_slack_percent,
            is_whole_pass: effort.is_whole_pass,
            in_huge_pages,
            ..test.task()
        };
        if test.is_write {
            file.settle();
        }
        let sampled = run(self.session, &task, grace)?;
        let process = self.processes;
        self.processes += 1;
        let shortest = sampled.samples.iter().map(|sample| sample.loop_ns).min();
        self.loop_best_ns = match (self.loop_best_ns, shortest) {
            (0, shortest) => shortest.unwrap_or(0),
            (best, shortest) => best.min(shortest.unwrap_or(best)),
        };
        self.loops_ns.extend(sampled.samples.iter().map(|sample| sample.loop_ns));
        for &sample in &sampled.samples {
            let line = BenchSampleLine { test: test.name.clone(), process, sample };
            let sample = Interim::BenchSample(&line);
            self.session.observer.interim(sample).map_err(Error::Observer)?;
        }
        Ok((task, sampled))
    }
}

/// Runs a task in a fresh process, which may take so much longer than its time.
fn run(session: &Session<'_>, task: &BenchTask, grace: Duration) -> Result<Sampled, Error> {
    let task = BenchTask { parent: std::process::id(), ..task.clone() };
    let total = Duration::from_nanos(task.time_ns_max).saturating_add(grace);
    let limits = Limits { silence: total, total };
    let mut command = child::command(session, CHILD)?;
    let (samples, ending) = child::run(&mut command, &task, limits, &session.cancellation)?;
    let refused = match ending {
        Ending::Done => None,
        Ending::Refused(why) | Ending::Failed(why) => Some(why),
        Ending::BrokeOff(status) => Some(broken_off(status)),
        Ending::Nonsense(error) => return Err(Error::Child(error.into())),
        Ending::Silent | Ending::Late => Some(format!(
            "it did not end in {:.1} s: its process hung and was killed",
            total.as_secs_f64()
        )),
        Ending::Interrupted => return Err(Error::Interrupted),
    };
    Ok(Sampled { samples, refused })
}

fn broken_off(status: ExitStatus) -> String {
    match ending_signal(status.into_raw()) {
        Some(signal) => format!("its process was ended by signal {signal}"),
        None => format!("its process ended with {status} in the middle"),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn sampled(program: &str, argument: &str, grace: Duration) -> Result<Sampled, Error> {
        let start = |_: &str| {
            let mut command = Command::new(program);
            command.arg(argument);
            Ok(command)
        };
        let session = Session { start: Some(&start), ..Session::new(&()) };
        run(&session, &BenchTask::default(), grace)
    }

    #[test]
    fn processes_that_do_not_do_their_work_are_told_apart() {
        let check = |program: &str, argument: &str, grace: Duration, want: &str| {
            let sampled = sampled(program, argument, grace).unwrap();
            let reason = sampled.refused.unwrap_or_default();
            assert!(reason.contains(want), "{program}: {reason}");
            assert!(sampled.samples.is_empty());
        };
        check("sleep", "1000", Duration::from_millis(50), "hung and was killed");
        check("true", "", GRACE, "ended with exit status: 0 in the middle");
        check("false", "", GRACE, "ended with exit status: 1 in the middle");
        assert!(matches!(sampled("/nowhere/at/all", "", GRACE), Err(Error::Child(_))));
    }
}

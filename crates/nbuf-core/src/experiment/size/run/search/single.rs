//! One run of a search.

use std::os::fd::AsFd;
use std::time::Duration;

use super::{HOPELESS, MEASURING, Search};
use crate::experiment::fills::Counter;
use crate::experiment::result::{SearchGoal, SearchOutcome, SearchRun};
use crate::experiment::target::Target;
use crate::experiment::verify;
use crate::meter::probe::residency::Residency;
use crate::units::Bytes;
use crate::workload::command::engine::group_for;
use crate::workload::command::{self, Job, run};

/// What a run may fill where fills are not the goal: more than this keep every task waiting.
const THRASHING: u64 = 16;

impl Search<'_> {
    /// Makes a run. None if a signal ended it, or if it could not be made: runs that were made before stay, also where
    /// the preparation of this one fails or outlasts the time for all runs.
    pub(super) fn measure(&mut self, limit: Option<Bytes>) -> Option<SearchRun> {
        let subject = self.subject;
        let observer = subject.session.observer;
        observer.progress(MEASURING, self.made, self.most);
        self.made += 1;
        if let Err(error) = subject.prepare() {
            observer.failure(&error);
            return None;
        }
        if subject.session.cancellation.poll().is_some() {
            return None;
        }
        self.measured(limit).unwrap_or_else(|error| {
            observer.failure(&error);
            None
        })
    }

    fn measured(&self, limit: Option<Bytes>) -> Result<Option<SearchRun>, verify::Error> {
        let Self { subject, analysis, .. } = self;
        let _ = Residency::drop_files(analysis.names.iter().map(String::as_str));
        let throttle = subject.throttle(analysis);
        let group = group_for(&subject.command, &subject.hierarchies, throttle.as_ref())?;
        let charged = limit.map(|limit| limit.saturating_sub(analysis.memory.shared_text_bytes));
        if charged.is_some() && group.limiter().limit(charged).is_err() {
            // Below what a group needs to exist.
            let outcome = SearchOutcome::Killed;
            return Ok(Some(SearchRun { limit_bytes: limit, outcome, ..SearchRun::default() }));
        }
        if matches!(subject.spec.target, Some(Target::Stall(_))) && !group.knows_pressure() {
            return Err(verify::Error::NoPressure);
        }
        let mut counter = Counter::prepare(subject.meter, &group)?;
        let hopeless = match self.enough.goal {
            SearchGoal::Fills => HOPELESS,
            // Some of these are fast enough; time ends the others.
            SearchGoal::Seconds(_) => u64::MAX,
            SearchGoal::Stall(_) => THRASHING,
        };
        counter.stop_above(self.enough.fills.saturating_mul(hopeless));
        let output = subject.session.output.stream();
        let standard = command::repeated(&subject.input, output.as_fd())?;
        let deadline = Some(self.time_for_run());
        let job = Job { group: Some(&group), standard, until: subject.spec.until, deadline };
        let ended = run(&subject.command, job, &mut counter, subject.signals)?;
        subject.note(&ended);
        if ended.interrupted.is_some() {
            return Ok(None);
        }
        if let Some(left) = ended.left {
            return Err(verify::Error::Left(left));
        }
        let usage = group.limiter().usage()?;
        let pressure = group.pressure();
        let other_bytes = counter.other_peak();
        let killed = usage.oom_kills > 0 || counter.saw_kill(&ended);
        let (fills, lost) = counter.finish(&ended)?;
        let outcome = if killed {
            SearchOutcome::Killed
        } else if ended.timed_out || ended.given_up {
            SearchOutcome::Stopped
        } else if Some(ended.exit_status) != analysis.facts.exit_status {
            SearchOutcome::Failed
        } else if lost > 0 && self.enough.goal == SearchGoal::Fills {
            SearchOutcome::TooManyFills
        } else {
            SearchOutcome::Enough
        };
        let pressure = Duration::from_nanos(pressure.memory_some_ns);
        Ok(Some(self.enough.judged(SearchRun {
            limit_bytes: limit,
            outcome,
            fills,
            lost_events: lost,
            read_bytes: Bytes(ended.bytes_read),
            major_faults: usage.major_faults,
            peak_bytes: usage.peak,
            other_bytes,
            cache_bytes: usage.page_cache,
            seconds: Duration::from_nanos(ended.elapsed_ns).as_secs_f64(),
            memory_pressure_seconds: pressure.as_secs_f64(),
        })))
    }

    /// Ten times the longest run so far, and a minute at least; less where that is too slow anyway.
    fn time_for_run(&self) -> Duration {
        let recorded = Duration::from_nanos(self.analysis.facts.elapsed_ns);
        let usual = recorded.saturating_mul(10).max(self.subject.spec.run_time_min());
        let usual = self.subject.time_left().unwrap_or(usual);
        match self.enough.goal {
            SearchGoal::Seconds(most) => Duration::try_from_secs_f64(most * HOPELESS as f64)
                .map_or(usual, |it| it.min(usual)),
            _ => usual,
        }
    }
}

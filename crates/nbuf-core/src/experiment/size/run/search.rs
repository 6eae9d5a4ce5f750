//! The third part of `size`: where no model gives a size, or its predictions did not hold, runs find one.

mod enough;

use std::os::fd::AsFd;
use std::time::Duration;

use super::{Analysis, Error, Subject};
use crate::experiment::fills::Counter;
use crate::experiment::notice::{Notice, Question};
use crate::experiment::recommend::recommend;
use crate::experiment::result::{
    MAPPED_SHARE_MAX, Recommend, SearchGoal, SearchOutcome, SearchReport, SearchRun, SizeReport,
    Verified,
};
use crate::experiment::search::{Bracket, with_slack};
use crate::experiment::target::Target;
use crate::meter::probe::residency::Residency;
use crate::sys::cgroup::Group;
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::command::{self, Job, run};
use enough::Enough;

/// The stage in which runs find the size.
const MEASURING: &str = "measuring";
/// What a run may fill before it is stopped, as a multiple of what is enough.
const HOPELESS: u64 = 2;

impl Subject<'_> {
    /// Finds the smallest limit that is enough by runs, if the report has none that can be relied on.
    pub(super) fn search(
        &self,
        analysis: &Analysis,
        report: &SizeReport,
    ) -> Result<Option<SearchReport>, Error> {
        // How long a task takes or waits is known by runs alone.
        let is_timed = matches!(self.spec.target, Some(Target::Slowdown(_) | Target::Stall(_)));
        let is_needed = report.recommend.is_none() || !report.held() || is_timed;
        let is_wanted = self.verifies() && self.spec.runs > 0 && !self.spec.force;
        let is_chosen = self.spec.target.is_some() && !is_timed || !self.spec.verify_at.is_empty();
        // What it does the next time says nothing of what was recorded.
        let is_other = report.repeatable == Some(false);
        let is_over = self.interrupted().is_some() || self.time_left() == Some(Duration::ZERO);
        if !is_needed || !is_wanted || is_chosen || is_other || is_over {
            return Ok(None);
        }
        if self.used_terminal && !self.spec.agreed {
            self.notice(&Notice::TerminalUsed);
            return Ok(None);
        }
        let question = Question::Search { runs: self.spec.runs, streams: self.streams() };
        if !self.agrees(&question)? {
            return Ok(None);
        }
        self.session.observer.progress(MEASURING, 0, self.spec.runs.into());
        let found = Search::new(self, analysis, report).run();
        self.session.observer.stage_over();
        found
    }
}

/// The same where fills are not the goal: more than this keep every task waiting.
const THRASHING: u64 = 16;

struct Search<'a> {
    subject: &'a Subject<'a>,
    analysis: &'a Analysis,
    /// Runs that were made to verify predictions: they teach as much.
    known: &'a [Verified],
    runs: Vec<SearchRun>,
    made: u16,
    enough: Enough,
}

impl<'a> Search<'a> {
    fn new(subject: &'a Subject<'a>, analysis: &'a Analysis, report: &'a SizeReport) -> Self {
        Self {
            subject,
            analysis,
            known: &report.verify,
            runs: Vec::new(),
            made: 0,
            enough: Enough::default(),
        }
    }

    fn run(mut self) -> Result<Option<SearchReport>, Error> {
        let Some(unlimited) = self.unlimited()? else { return Ok(None) };
        self.enough = Enough::of(self.subject.spec.target, &unlimited);
        let mut bracket = self.bracket(&unlimited);
        for known in self.known.iter().filter_map(|run| self.enough.of_verified(run)) {
            let Some(limit) = known.limit_bytes else { continue };
            if (bracket.low..bracket.high).contains(&limit) {
                bracket = bracket.after(limit, known.outcome == SearchOutcome::Enough);
            }
            self.runs.push(known);
        }
        let mut guess = self.guess();
        while self.may_go_on() {
            // In the end both must have been run: the larger one, and the number made of it.
            let is_found = bracket.is_narrow() && self.is_enough(bracket.high);
            let limit = match bracket {
                found if is_found => with_slack(found.high),
                narrow if narrow.is_narrow() => narrow.high,
                wide => wide.next(guess.take()),
            };
            if is_found && self.is_enough(limit) {
                break;
            }
            let Some(run) = self.try_limit(limit)? else { break };
            let is_enough = run.outcome == SearchOutcome::Enough;
            self.subject.notice(&Notice::Searched(&run));
            self.runs.push(run);
            if !is_enough && limit >= bracket.high {
                // More than it took without a limit, or in another run, is needed.
                bracket = Bracket { low: limit, high: self.next_above(limit) };
            } else {
                bracket = bracket.after(limit, is_enough);
            }
        }
        let is_narrow = bracket.is_narrow() && self.is_enough(bracket.high);
        let mut runs = vec![unlimited];
        runs.append(&mut self.runs);
        Ok(Some(SearchReport {
            goal: self.enough.goal,
            fills_enough: self.enough.fills,
            runs,
            too_small_bytes: bracket.low,
            enough_bytes: bracket.high,
            is_narrow,
        }))
    }

    /// Whether a run under this limit was enough.
    fn is_enough(&self, limit: Bytes) -> bool {
        let at = |run: &SearchRun| run.limit_bytes == Some(limit);
        self.runs.iter().any(|run| at(run) && run.outcome == SearchOutcome::Enough)
    }

    /// The least limit above one that is too small, of those that were enough; else a quarter more.
    fn next_above(&self, limit: Bytes) -> Bytes {
        let enough = self.runs.iter().filter(|run| run.outcome == SearchOutcome::Enough);
        let above = enough.filter_map(|run| run.limit_bytes).filter(|&at| at > limit).min();
        above.unwrap_or(Bytes((limit.0 + limit.0 / 4).next_multiple_of(1 << 20)))
    }

    fn may_go_on(&self) -> bool {
        let subject = self.subject;
        self.made < subject.spec.runs
            && subject.time_left() != Some(Duration::ZERO)
            && subject.session.cancellation.poll().is_none()
    }

    /// The run without a limit: one that verified a prediction, or a new one.
    fn unlimited(&mut self) -> Result<Option<SearchRun>, Error> {
        let known = self
            .known
            .iter()
            .find(|run| run.limit_bytes.is_none() && !run.timed_out && run.lost_events == 0);
        if let Some(run) = known.and_then(|run| self.enough.of_verified(run)) {
            return Ok(Some(run));
        }
        let run = self.measure(None)?;
        if let Some(run) = &run {
            self.subject.notice(&Notice::Searched(run));
        }
        Ok(run.filter(|run| run.outcome == SearchOutcome::Enough))
    }

    /// Other memory is too small; what a run without a limit had at its peak is enough.
    fn bracket(&self, unlimited: &SearchRun) -> Bracket {
        let memory = &self.analysis.memory;
        let other = memory.other_bytes();
        let filled = Bytes(unlimited.fills.saturating_mul(PAGE_BYTES));
        let all = other + filled.max(self.analysis.curve.footprint_bytes);
        // The recording looks at memory now and then, and may miss its peak.
        let peak = unlimited.peak_bytes + memory.shared_text_bytes;
        let high = if unlimited.peak_bytes > Bytes(0) { peak } else { all };
        let high = Bytes((high.0 + high.0 / 50 + (1 << 20)).next_multiple_of(1 << 20));
        Bracket { low: other.min(high), high }
    }

    /// What the model would recommend, where it saw most touches: right or wrong, a place to begin.
    fn guess(&self) -> Option<Bytes> {
        if let (Some(advice), Some(_)) = (&self.analysis.recommend, self.subject.spec.target) {
            return Some(advice.limit_bytes);
        }
        let Analysis { curve, memory, facts, stream, .. } = self.analysis;
        if stream.mapped_share() > MAPPED_SHARE_MAX {
            return None;
        }
        let readahead = facts.devices.first().map_or(128 << 10, |device| device.readahead_bytes);
        let advice: Option<Recommend> = recommend(curve, memory, Bytes(readahead)).ok();
        advice.map(|advice| advice.limit_bytes)
    }

    /// Makes a run with this limit. Time is noisy: what is too slow by little gets another chance.
    fn try_limit(&mut self, limit: Bytes) -> Result<Option<SearchRun>, Error> {
        let Some(first) = self.measure(Some(limit))? else { return Ok(None) };
        if !self.enough.is_close(&first) || !self.may_go_on() {
            return Ok(Some(first));
        }
        let second = self.measure(Some(limit))?;
        Ok(Some(second.filter(|run| run.outcome == SearchOutcome::Enough).unwrap_or(first)))
    }

    /// Makes a run. None if a signal ended it, or if it could not be made.
    fn measure(&mut self, limit: Option<Bytes>) -> Result<Option<SearchRun>, Error> {
        let subject = self.subject;
        let observer = subject.session.observer;
        observer.progress(MEASURING, self.made.into(), subject.spec.runs.into());
        self.made += 1;
        subject.prepare()?;
        if subject.session.cancellation.poll().is_some() {
            return Ok(None);
        }
        match self.measured(limit) {
            Ok(run) => Ok(run),
            Err(error) => {
                observer.failure(&error);
                Ok(None)
            }
        }
    }

    fn measured(
        &self,
        limit: Option<Bytes>,
    ) -> Result<Option<SearchRun>, crate::experiment::verify::Error> {
        let Self { subject, analysis, .. } = self;
        let _ = Residency::drop_files(analysis.names.iter().map(String::as_str));
        let throttle = subject.throttle(analysis);
        let group = Group::create_with(&subject.hierarchies, throttle.as_ref())?;
        let charged = limit.map(|limit| limit.saturating_sub(analysis.memory.shared_text_bytes));
        if charged.is_some() && group.limiter().limit(charged).is_err() {
            // Below what a group needs to exist.
            let outcome = SearchOutcome::Killed;
            return Ok(Some(SearchRun { limit_bytes: limit, outcome, ..SearchRun::default() }));
        }
        if matches!(subject.spec.target, Some(Target::Stall(_))) && !group.knows_pressure() {
            return Err(crate::experiment::verify::Error::NoPressure);
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
        let output = command::repeating(output.as_fd())?;
        let standard = [Some(subject.input.again()?), Some(output), None];
        let deadline = Some(self.time_for_run());
        let job = Job { group: Some(&group), standard, until: subject.spec.until, deadline };
        let ended = run(&subject.command, job, &mut counter, subject.signals)?;
        subject.note(&ended);
        if ended.interrupted.is_some() {
            return Ok(None);
        }
        let usage = group.limiter().usage()?;
        let pressure = group.pressure();
        let (fills, lost) = counter.finish(&ended)?;
        let outcome = if usage.oom_kills > 0 {
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
            read_bytes: Bytes(ended.bytes_read),
            major_faults: usage.major_faults,
            peak_bytes: usage.peak,
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

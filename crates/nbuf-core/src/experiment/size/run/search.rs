//! The third part of `size`: where no model gives a size, or the fills were out of band, runs find one.

mod enough;
mod single;

use std::time::Duration;

use super::{Analysis, Error, Subject};
use crate::experiment::notice::{Notice, Question};
use crate::experiment::recommend::recommend;
use crate::experiment::result::{
    MAPPED_SHARE_MAX, Recommend, SearchOutcome, SearchReport, SearchRun, SizeReport, Verified,
};
use crate::experiment::search::{Bracket, with_slack};
use crate::units::{Bytes, PAGE_BYTES};
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
        let is_needed = report.recommend.is_none() || !report.within_band() || self.spec.is_timed();
        let is_wanted = self.verifies() && self.spec.may_search();
        // What it does the next time says nothing of what was recorded.
        let is_other = report.repeatable == Some(false);
        let runs = self.runs_left(report);
        if !is_needed || !is_wanted || is_other || self.is_over() || runs == 0 {
            return Ok(None);
        }
        if self.used_terminal && !self.spec.agreed {
            self.notice(&Notice::TerminalUsed);
            return Ok(None);
        }
        let question = Question::Search { runs, streams: self.streams() };
        if !self.agrees(&question)? {
            return Ok(None);
        }
        self.session.observer.progress(MEASURING, 0, runs);
        let found = Search::new(self, analysis, report, runs).run();
        self.session.observer.stage_over();
        Ok(found)
    }

    /// Runs that are left for a search, after those that verified.
    fn runs_left(&self, report: &SizeReport) -> usize {
        let made: usize = match self.spec.samples {
            1 => report.verify.iter().map(|run| run.samples.len()).sum(),
            _ => report.verify.len(),
        };
        usize::from(self.spec.runs).saturating_sub(made)
    }
}

struct Search<'a> {
    subject: &'a Subject<'a>,
    analysis: &'a Analysis,
    /// Runs that were made to verify predictions: they teach as much.
    known: &'a [Verified],
    runs: Vec<SearchRun>,
    made: usize,
    most: usize,
    enough: Enough,
    /// Whether the command ran twice without a limit, or need not.
    is_sure: bool,
}

impl<'a> Search<'a> {
    fn new(
        subject: &'a Subject<'a>,
        analysis: &'a Analysis,
        report: &'a SizeReport,
        most: usize,
    ) -> Self {
        Self {
            subject,
            analysis,
            known: &report.verify,
            runs: Vec::new(),
            made: 0,
            most,
            enough: Enough::default(),
            is_sure: false,
        }
    }

    fn run(mut self) -> Option<SearchReport> {
        let mut unlimited = self.unlimited()?;
        self.enough = Enough::of(self.subject.spec.target, &unlimited);
        let mut bracket = self.bracket(&unlimited);
        for known in self.known.iter().filter_map(|run| self.enough.of_verified(run)) {
            if known.limit_bytes.is_some() {
                self.runs.push(known.clone());
                if self.enough.is_decided(&known) {
                    bracket = self.after(bracket, &known);
                }
            }
        }
        let mut guess = self.guess();
        while self.may_go_on() {
            // In the end both must have been run: the larger one, and the number made of it.
            let is_found = bracket.is_narrow() && self.is_enough(bracket.high);
            let number = with_slack(bracket.high);
            // The last run is the proof of the number, whatever else it might teach.
            let is_proof = is_found || self.made + 1 >= self.most && !self.is_enough(number);
            let limit = match bracket {
                _ if is_proof => number,
                narrow if narrow.is_narrow() => narrow.high,
                wide => wide.next(guess.take()),
            };
            if is_found && self.is_enough(limit) {
                break;
            }
            let Some(run) = self.try_limit(limit) else { break };
            if self.is_cut_off(&run) {
                let (done, of) = (self.made.saturating_sub(1), self.most);
                self.subject.notice(&Notice::TimeUp { done, of });
                break;
            }
            self.subject.notice(&Notice::Searched(&run));
            let is_doubtful = self.enough.is_doubtful(&run) && !self.is_sure;
            self.runs.push(run.clone());
            bracket = self.after(bracket, &run);
            // One more run is left for the proof.
            if is_doubtful && self.made + 1 < self.most && self.may_go_on() {
                self.is_sure = true;
                if self.unlimited_again(&mut unlimited) {
                    let start = self.bracket(&unlimited);
                    let decided = self.runs.iter().filter(|run| self.enough.is_decided(run));
                    bracket = decided.fold(start, |known, run| self.after(known, run));
                }
            }
        }
        let high = bracket.high;
        let is_enough = self.is_enough(high) || self.is_enough(with_slack(high));
        let is_narrow = bracket.is_narrow() && is_enough;
        let mut runs = vec![unlimited];
        runs.append(&mut self.runs);
        Some(SearchReport {
            goal: self.enough.goal,
            fills_enough: self.enough.fills,
            runs,
            too_small_bytes: bracket.low,
            enough_bytes: bracket.high,
            is_narrow,
        })
    }

    /// Whether the end of the time for all runs stopped it before it had missed the goal: its limit may be enough.
    fn is_cut_off(&self, run: &SearchRun) -> bool {
        let is_stopped = run.outcome == SearchOutcome::Stopped && !self.enough.is_missed(run);
        is_stopped && self.subject.time_left() == Some(Duration::ZERO)
    }

    /// What is known after a run under a limit.
    fn after(&self, bracket: Bracket, run: &SearchRun) -> Bracket {
        let Some(limit) = run.limit_bytes else { return bracket };
        let is_enough = run.outcome == SearchOutcome::Enough;
        if !is_enough && limit >= bracket.high {
            // More than it took without a limit, or in another run, is needed.
            return Bracket { low: limit, high: self.next_above(limit) };
        }
        bracket.after(limit, is_enough)
    }

    /// Makes a second run without a limit; whether it filled more than the first, and takes its place. Other processes
    /// may have kept a library in memory during the first, and all runs would seem to fill too much. What is known is
    /// judged again.
    fn unlimited_again(&mut self, first: &mut SearchRun) -> bool {
        let Some(mut again) = self.measure(None) else { return false };
        self.subject.notice(&Notice::Searched(&again));
        let takes_its_place = again.outcome == SearchOutcome::Enough && again.fills > first.fills;
        if takes_its_place {
            std::mem::swap(first, &mut again);
            self.enough = Enough::of(self.subject.spec.target, first);
            for run in &mut self.runs {
                *run = self.enough.judged_again(run);
            }
        }
        self.runs.push(again);
        takes_its_place
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
        self.made < self.most
            && subject.time_left() != Some(Duration::ZERO)
            && subject.session.cancellation.poll().is_none()
    }

    /// The run without a limit: one that verified a prediction, or a new one.
    fn unlimited(&mut self) -> Option<SearchRun> {
        let known = self
            .known
            .iter()
            .find(|run| run.limit_bytes.is_none() && !run.timed_out && run.lost_events == 0);
        if let Some(run) = known.and_then(|run| self.enough.of_verified(run)) {
            return Some(run);
        }
        let run = self.measure(None)?;
        self.subject.notice(&Notice::Searched(&run));
        (run.outcome == SearchOutcome::Enough).then_some(run)
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
    fn try_limit(&mut self, limit: Bytes) -> Option<SearchRun> {
        let first = self.measure(Some(limit))?;
        if !self.enough.is_close(&first) || !self.may_go_on() {
            return Some(first);
        }
        let second = self.measure(Some(limit));
        Some(second.filter(|run| run.outcome == SearchOutcome::Enough).unwrap_or(first))
    }
}

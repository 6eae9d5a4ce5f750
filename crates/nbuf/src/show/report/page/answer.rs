//! The answer in one sentence: the need, what less and more would do, and how well that is proved.

use std::fmt::Write as _;

use nbuf::experiment::result::{Advice, Recommend, SizeReport, Verdict, Verified};
use nbuf::units::Bytes;

use super::super::super::page::{self, Mood, shortened};
use super::super::super::text::{count, listed};
use super::command;

/// Characters of the command that a sentence can bear.
const COMMAND: usize = 60;

/// What there is to say.
pub(super) struct Answer<'a> {
    report: &'a SizeReport,
    out_of_band: usize,
}

impl<'a> Answer<'a> {
    pub(super) fn of(report: &'a SizeReport) -> Self {
        let out_of_band = report.verify.iter().filter(|run| run.within_band == Some(false)).count();
        Self { report, out_of_band }
    }

    /// A word ahead of the sentence.
    pub(super) fn verdict(&self) -> &'static str {
        match self.report.verdict {
            Verdict::NoRecommendation => "No recommendation.",
            Verdict::Unreliable => "Not to be relied on.",
            Verdict::Undecided => "Undecided.",
            Verdict::Unproved => "Not proved.",
            Verdict::LowerBound => "A lower bound.",
            Verdict::Proved => "Proved.",
            Verdict::Measured => "Measured.",
        }
    }

    /// For the page.
    pub(super) fn shown(&self) -> page::Answer {
        let mood = match self.report.verdict {
            Verdict::Proved | Verdict::Measured => Mood::Good,
            Verdict::Unreliable => Mood::Bad,
            _ => Mood::Open,
        };
        page::Answer {
            mood,
            verdict: self.verdict(),
            command: shortened(&command(self.report), COMMAND),
            sentence: self.sentence(),
        }
    }

    /// What follows the command.
    pub(super) fn sentence(&self) -> String {
        let mut text = self.need();
        if self.report.capture.lost > 0 {
            text.push_str("; events were lost, so that the need is higher than it looks");
        }
        for part in self.proof() {
            text.push_str("; ");
            text.push_str(&part);
        }
        text + "."
    }

    fn need(&self) -> String {
        let report = self.report;
        let Some(recommend) = &report.recommend else {
            if report.capture.accesses == 0 {
                return "touched no file pages that the page cache holds, so that there is no size \
                        to recommend"
                    .into();
            }
            return format!(
                "has an unknown need: {:.0} % of its pages were touched through mappings, \
                 where repeated touches are not seen, so that the curve is a lower bound",
                report.capture.mapped_share * 100.0
            );
        };
        let least = if report.is_lower_bound { "at least " } else { "" };
        let limit = recommend.limit_bytes;
        match recommend.kind {
            Advice::Knee => format!("needs {least}{limit} of memory: {}", around(recommend)),
            Advice::Measured => format!("needs {limit} of memory: {}", recommend.reason),
            Advice::Target => {
                let goal = report.target.as_ref().map_or("", |target| &target.goal);
                let reason = &recommend.reason;
                format!("needs {least}{limit} of memory for {goal}: {reason}")
            }
            Advice::NothingToGain => format!(
                "gains nothing from a larger cache: {limit} of memory is enough, and with more it \
                 would read as much"
            ),
        }
    }

    /// Sizes at which the command reached its end and could be judged.
    fn finished(&self) -> impl Iterator<Item = &'a Verified> {
        self.report.verify.iter().filter(|run| run.within_band.is_some())
    }

    /// Why it is not proved: the size was not run, or the run says nothing.
    fn unproved(&self, recommend: &Recommend) -> String {
        let limit = recommend.tried_bytes();
        if self.report.verify.iter().any(|run| run.is_at(recommend)) {
            return format!("not proved, as no run with {limit} could be judged");
        }
        let with = |run: &Verified| match run.limit_bytes {
            Some(limit) => format!("with {limit}"),
            None => "without a limit".into(),
        };
        let ran: Vec<String> = self.finished().map(with).collect();
        format!("not proved, as it was not run with {limit}, only {}", listed(&ran))
    }

    fn proof(&self) -> Vec<String> {
        if let Some(search) = &self.report.search {
            let is_measured = self.report.verdict == Verdict::Measured;
            let verb = if is_measured { "measured" } else { "not proved" };
            return vec![format!("{verb} by {}", count(search.runs.len() as u64, "run", "runs"))];
        }
        let verify = &self.report.verify;
        let finished = self.finished().count();
        let mut parts = Vec::new();
        if self.out_of_band > 0 {
            let (at, of) = if self.finished().any(is_median) {
                ("at", count(finished as u64, "size", "sizes"))
            } else {
                ("in", runs(self.finished()))
            };
            let mut part = format!("the fills were out of band {at} {} of {of}", self.out_of_band);
            if self.report.repeatable == Some(false) {
                part.push_str(", and without a limit it did not do the same again");
            }
            parts.push(part);
        } else if finished > 0 {
            let (mut all, within) = (runs(self.finished()), within(verify));
            if self.finished().any(is_median) {
                let _ = write!(all, " at {}", count(finished as u64, "size", "sizes"));
            }
            parts.push(match &self.report.recommend {
                Some(_) if self.report.within_band() && self.report.within_band_at_limit() => {
                    format!("proved by {all}, {within}")
                }
                Some(recommend) if self.report.within_band() => {
                    format!("{}; {all}, {within}", self.unproved(recommend))
                }
                // One was killed that should not have been, or there is no need to prove.
                _ => format!("the fills were in band in {all}"),
            });
        } else if self.report.recommend.is_some() && verify.is_empty() {
            parts.push("not proved, because it was not run again under that limit".into());
        }
        for run in verify.iter().filter(|run| run.killed) {
            let limit = run.limit_bytes.map_or("no limit".into(), |limit| limit.to_string());
            parts.push(format!("with {limit} it was OOM-killed"));
        }
        let open = || verify.iter().filter(|run| run.within_band.is_none() && !run.killed);
        if open().any(|run| run.timed_out) {
            let cut = runs(open().filter(|run| run.timed_out));
            parts.push(format!("{cut} ended before the command was done"));
        }
        if open().any(|run| !run.timed_out) {
            let few = runs(open().filter(|run| !run.timed_out));
            parts.push(format!("{few} filled too few pages to judge by"));
        }
        parts
    }
}

/// Whether a size was run several times.
fn is_median(run: &Verified) -> bool {
    run.samples.len() > 1
}

/// How many runs were made at some sizes.
fn runs<'a>(sizes: impl Iterator<Item = &'a Verified>) -> String {
    let number: usize = sizes.map(|run| run.samples.len().max(1)).sum();
    count(number as u64, "run", "runs")
}

/// Returns the effects of less and of more memory. The floor and the ceiling are sizes of cache;
/// the memory besides the cache is needed with any of them.
fn around(recommend: &Recommend) -> String {
    let beside = recommend.limit_bytes.saturating_sub(recommend.cache_bytes);
    let (floor, ceiling) = (recommend.floor_bytes + beside, recommend.ceiling_bytes + beside);
    let same = |size: Bytes| size.to_string() == recommend.limit_bytes.to_string();
    let below = if same(floor) { "with less".into() } else { format!("below about {floor}") };
    let above = if same(ceiling) { "with more".into() } else { format!("above about {ceiling}") };
    format!("{below} it reads the same pages again and again, {above} nothing is gained")
}

/// How near the counts came to what was predicted.
fn within(verify: &[Verified]) -> String {
    let finished = || verify.iter().filter(|run| run.within_band.is_some());
    if finished().all(|run| run.near_band) {
        let all = match (finished().count(), finished().any(is_median)) {
            (1, false) => "",
            (1, true) => "the median ",
            (_, false) => "all ",
            (_, true) => "all medians ",
        };
        return format!("{all}within 5 % of what was predicted");
    }
    if finished().any(|run| !run.near_band && run.cliff_bytes.is_some()) {
        return "some of them on a cliff of the curve, where both sides count as predicted".into();
    }
    "as the report says below".into()
}

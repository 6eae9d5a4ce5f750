//! The answer in one sentence: the need, what less and more would do, and how well that is proved.

use std::fmt::Write as _;

use nbuf::experiment::result::{Advice, Recommend, SizeReport, Verified};
use nbuf::experiment::size::MAPPED_SHARE_MAX;
use nbuf::units::Bytes;

use super::super::markup::escape;
use super::super::text::{count, listed};
use super::{command, shortened};

/// How far outside the band a count may lie and be called within what was predicted.
const NEAR: f64 = 0.05;
/// Characters of the command that a sentence can bear.
const COMMAND: usize = 60;

/// What there is to say.
pub(super) struct Answer<'a> {
    report: &'a SizeReport,
    broken: usize,
}

impl<'a> Answer<'a> {
    pub(super) fn of(report: &'a SizeReport) -> Self {
        let broken = report.verify.iter().filter(|run| run.held == Some(false)).count();
        Self { report, broken }
    }

    fn is_lower_bound(&self) -> bool {
        self.report.capture.mapped_share > MAPPED_SHARE_MAX || self.report.capture.lost > 0
    }

    /// A word ahead of the sentence.
    pub(super) fn verdict(&self) -> &'static str {
        match &self.report.recommend {
            None => "No recommendation.",
            Some(_) if !self.report.held() => "Not to be relied on.",
            Some(recommend) if !self.held_at(recommend) => "Not proved.",
            Some(_) if self.is_lower_bound() => "A lower bound.",
            Some(_) => "Proved.",
        }
    }

    /// The class that goes with it.
    pub(super) fn mood(&self) -> &'static str {
        match self.verdict() {
            "Proved." => "good",
            "Not to be relied on." => "bad",
            _ => "open",
        }
    }

    /// The sentence, as markup.
    pub(super) fn sentence(&self) -> String {
        let command = escape(&shortened(&command(self.report), COMMAND));
        let mut text = format!("<code>{command}</code> {}", self.need());
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
                "has a need that cannot be told: {:.0} % of its pages were touched through mappings, \
                 where repeated touches are not seen, so that the curve is a lower bound",
                report.capture.mapped_share * 100.0
            );
        };
        let least = if self.is_lower_bound() { "at least " } else { "" };
        let limit = recommend.limit_bytes;
        match recommend.kind {
            Advice::Knee => format!("needs {least}{limit} of memory: {}", around(recommend)),
            Advice::Target => {
                let asked = report.target.as_ref().map_or("", |target| &target.asked);
                let (asked, reason) = (escape(asked), escape(&recommend.reason));
                format!("needs {least}{limit} of memory for {asked}: {reason}")
            }
            Advice::NothingToGain => format!(
                "gains nothing from a larger cache: {limit} of memory is enough, and with more it \
                 would read as much"
            ),
        }
    }

    /// Sizes at which the command reached its end and could be judged.
    fn finished(&self) -> impl Iterator<Item = &'a Verified> {
        self.report.verify.iter().filter(|run| run.held.is_some())
    }

    /// Whether it was run with what is recommended, and held there.
    fn held_at(&self, recommend: &Recommend) -> bool {
        self.finished().any(|run| run.held == Some(true) && is_at(run, recommend))
    }

    /// Why it is not proved: the size was not run, or the run says nothing.
    fn unproved(&self, recommend: &Recommend) -> String {
        let limit = recommend.limit_bytes;
        if self.report.verify.iter().any(|run| is_at(run, recommend)) {
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
        let verify = &self.report.verify;
        let finished = self.finished().count();
        let mut parts = Vec::new();
        if self.broken > 0 {
            let (at, of) = if self.finished().any(is_median) {
                ("at", count(finished as u64, "size", "sizes"))
            } else {
                ("in", runs(self.finished()))
            };
            let mut part = format!("what was predicted did not hold {at} {} of {of}", self.broken);
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
                Some(recommend) if self.report.held() && self.held_at(recommend) => {
                    format!("proved by {all}, {within}")
                }
                Some(recommend) if self.report.held() => {
                    format!("{}; {all}, {within}", self.unproved(recommend))
                }
                // One was killed that should not have been, or there is no need to prove.
                _ => format!("what was predicted held in {all}"),
            });
        } else if self.report.recommend.is_some() && verify.is_empty() {
            parts.push("not proved, because it was not run again under that limit".into());
        }
        for run in verify.iter().filter(|run| run.killed) {
            let limit = run.limit_bytes.map_or("no limit".into(), |limit| limit.to_string());
            parts.push(format!("with {limit} it was killed for want of memory"));
        }
        let open = || verify.iter().filter(|run| run.held.is_none() && !run.killed);
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

/// Whether a run was made with what is recommended: the limit in whole pages, or that which is
/// pasted, in whole MiB.
fn is_at(run: &Verified, recommend: &Recommend) -> bool {
    let least = recommend.limit_bytes.pages_down().bytes();
    let most = Bytes(recommend.limit_bytes.0.next_multiple_of(1 << 20));
    run.limit_bytes.is_some_and(|limit| (least..=most).contains(&limit))
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

/// What less and what more would do. The floor and the ceiling are sizes of cache; what is beside
/// the cache is needed with any of them.
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
    let finished = || verify.iter().filter(|run| run.held.is_some());
    if finished().all(|run| beyond(run) <= NEAR) {
        let all = match (finished().count(), finished().any(is_median)) {
            (1, false) => "",
            (1, true) => "the median ",
            (_, false) => "all ",
            (_, true) => "all medians ",
        };
        return format!("{all}within 5 % of what was predicted");
    }
    if finished().any(|run| beyond(run) > NEAR && run.step_bytes.is_some()) {
        return "some of them on a step of the curve, where both sides count as predicted".into();
    }
    "as the report says below".into()
}

/// How far outside its band a count lies, as a share of the nearer edge.
fn beyond(run: &Verified) -> f64 {
    let (low, high) = (run.predicted_fills_low as f64, run.predicted_fills_high as f64);
    let fills = run.measured_fills as f64;
    let share = |distance: f64, edge: f64| distance.max(0.0) / edge.max(1.0);
    share(low - fills, low).max(share(fills - high, high))
}

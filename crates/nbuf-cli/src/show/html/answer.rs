//! The answer in one sentence: the need, what less and more would do, and how well that is proved.

use nbuf::experiment::result::{Advice, Recommend, SizeReport, Verified};
use nbuf::experiment::size::MAPPED_SHARE_MAX;

use super::super::markup::escape;
use super::super::text::count;
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
            Some(_) if self.limited() == 0 => "Not proved.",
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

    /// Runs that reached their end.
    fn finished(&self) -> usize {
        self.report.verify.iter().filter(|run| run.held.is_some()).count()
    }

    /// Those of them that had a limit.
    fn limited(&self) -> usize {
        let is_limited = |run: &&Verified| run.held.is_some() && run.limit_bytes.is_some();
        self.report.verify.iter().filter(is_limited).count()
    }

    fn proof(&self) -> Vec<String> {
        let verify = &self.report.verify;
        let finished = self.finished();
        let runs = |number: usize| count(number as u64, "run", "runs");
        let mut parts = Vec::new();
        if self.broken > 0 {
            let of = runs(finished);
            let mut part = format!("what was predicted did not hold in {} of {of}", self.broken);
            if self.report.repeatable == Some(false) {
                part.push_str(", and without a limit it did not do the same again");
            }
            parts.push(part);
        } else if finished > 0 {
            let (all, within) = (runs(finished), within(verify));
            let is_need = self.report.held() && self.report.recommend.is_some();
            parts.push(match (is_need, self.limited()) {
                // One was killed that should not have been, or there is no need to prove.
                (false, _) => format!("what was predicted held in {all}"),
                (true, 1..) => format!("proved by {all}, {within}"),
                (true, 0) => {
                    format!("not proved, as none ran under a limit to its end; {all} came {within}")
                }
            });
        } else if self.report.recommend.is_some() && verify.is_empty() {
            parts.push("not proved, because it was not run again under that limit".into());
        }
        for run in verify.iter().filter(|run| run.killed) {
            let limit = run.limit_bytes.map_or("no limit".into(), |limit| limit.to_string());
            parts.push(format!("with {limit} it was killed for want of memory"));
        }
        let open = || verify.iter().filter(|run| run.held.is_none() && !run.killed);
        let cut = open().filter(|run| run.timed_out).count();
        if cut > 0 {
            parts.push(format!("{} ended before the command was done", runs(cut)));
        }
        let few = open().filter(|run| !run.timed_out).count();
        if few > 0 {
            parts.push(format!("{} filled too few pages to judge by", runs(few)));
        }
        parts
    }
}

/// What less and what more would do. The floor and the ceiling are sizes of cache; what is beside
/// the cache is needed with any of them.
fn around(recommend: &Recommend) -> String {
    let beside = recommend.limit_bytes.saturating_sub(recommend.cache_bytes);
    let (floor, ceiling) = (recommend.floor_bytes + beside, recommend.ceiling_bytes + beside);
    let same = |size: nbuf::units::Bytes| size.to_string() == recommend.limit_bytes.to_string();
    let below = if same(floor) { "with less".into() } else { format!("below about {floor}") };
    let above = if same(ceiling) { "with more".into() } else { format!("above about {ceiling}") };
    format!("{below} it reads the same pages again and again, {above} nothing is gained")
}

/// How near the counts came to what was predicted.
fn within(verify: &[Verified]) -> String {
    let finished = || verify.iter().filter(|run| run.held.is_some());
    if finished().all(|run| beyond(run) <= NEAR) {
        let all = if finished().count() == 1 { "" } else { "all " };
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

//! What a report of `size` comes to, as fields of the document: no face decides it.

use serde::{Deserialize, Serialize};

use super::{Recommend, SizeReport, Verified};
use crate::units::Bytes;

/// Above this share of mapped touches the curve is a lower bound: what is touched again through a
/// mapping is not seen.
pub const MAPPED_SHARE_MAX: f64 = 0.05;

/// A measured count may lie this far outside the band.
pub const TOLERANCE: f64 = 0.05;

/// A command that is not repeatable has shown it in this many runs without a limit.
const UNLIMITED_RUNS: u64 = 3;

/// How well the recommendation is proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No size is recommended.
    #[default]
    NoRecommendation,
    /// Fills were out of their band, or the command was killed at the recommended limit.
    Unreliable,
    /// Runs under one limit disagree whether the fills are within the band.
    Undecided,
    /// No run at the recommended limit was within its band; none of a search was enough with it.
    Unproved,
    /// A run at the recommended limit was within its band, but more than that may be needed.
    LowerBound,
    /// A run at the recommended limit was within its band.
    Proved,
    /// Runs found the limit: it is enough, and less is not.
    Measured,
}

impl SizeReport {
    /// The report with its verdicts: to be called when anything else has changed.
    #[must_use]
    pub fn judged(mut self) -> Self {
        self.capture.is_mapped = self.capture.mapped_share > MAPPED_SHARE_MAX;
        self.is_lower_bound = self.capture.is_mapped || self.capture.lost > 0;
        for run in &mut self.verify {
            run.near_band = deviation(run) <= TOLERANCE;
        }
        let is_found = self.search.as_ref().map(|search| search.proof().is_some());
        self.verdict = match &self.recommend {
            None => Verdict::NoRecommendation,
            Some(_) if is_found == Some(true) => Verdict::Measured,
            Some(_) if is_found == Some(false) => Verdict::Unproved,
            Some(_) if !self.within_band() && self.is_undecided() => Verdict::Undecided,
            Some(_) if !self.within_band() => Verdict::Unreliable,
            Some(_) if !self.within_band_at_limit() => Verdict::Unproved,
            Some(_) if self.is_lower_bound => Verdict::LowerBound,
            Some(_) => Verdict::Proved,
        };
        self
    }

    /// Whether all fills that were compared with a prediction were within their bands.
    pub fn within_band(&self) -> bool {
        let limit = self.recommend.as_ref().map(Recommend::tried_bytes);
        self.verify.iter().all(|run| match run.within_band {
            Some(is_within) => is_within,
            // Killed below the recommendation is an answer; killed at it is a broken promise. Cut
            // off by the time allowed is neither.
            None if run.killed => {
                run.limit_bytes.is_some_and(|at| limit.is_none_or(|limit| at < limit))
            }
            None => true,
        })
    }

    /// Whether more runs would decide: they disagree at every limit whose fills were out of band, or a search
    /// ended before a run proved its size.
    pub fn is_undecided(&self) -> bool {
        if self.search.is_some() {
            return self.verdict != Verdict::Measured;
        }
        let mut missed = self.verify.iter().filter(|run| run.within_band == Some(false)).peekable();
        missed.peek().is_some() && missed.all(Verified::is_undecided)
    }

    /// Whether nothing contradicts the recommendation: it was measured, or all fills were within their bands.
    pub fn is_reliable(&self) -> bool {
        match &self.search {
            Some(_) => self.verdict == Verdict::Measured,
            None => self.within_band(),
        }
    }

    /// Whether a run with the recommended limit was within its band.
    pub fn within_band_at_limit(&self) -> bool {
        let at = |recommend: &Recommend| {
            self.verify.iter().any(|run| run.within_band == Some(true) && run.is_at(recommend))
        };
        self.recommend.as_ref().is_some_and(at)
    }
}

impl Verified {
    /// Whether its runs disagree: the median is out of band, and more than a fifth of the samples are in
    /// band. Without a limit a miss takes three runs, too: it says that the command does not repeat itself.
    pub fn is_undecided(&self) -> bool {
        let runs = self.samples.len() as u64;
        let too_few = self.limit_bytes.is_none() && self.lost_events == 0 && runs < UNLIMITED_RUNS;
        self.within_band == Some(false) && (too_few || self.samples_within_band * 5 > runs)
    }

    /// Whether the run had the recommended limit: in whole pages, or in whole MiB, as it is pasted.
    pub fn is_at(&self, recommend: &Recommend) -> bool {
        let least = recommend.tried_bytes().pages_down().bytes();
        let most = Bytes(recommend.tried_bytes().0.next_multiple_of(1 << 20));
        self.limit_bytes.is_some_and(|limit| (least..=most).contains(&limit))
    }
}

/// Returns how far a count is outside its band, as a share of the nearer edge.
pub(in crate::experiment) fn deviation(run: &Verified) -> f64 {
    let (low, high) = (run.predicted_fills_low as f64, run.predicted_fills_high as f64);
    let fills = run.measured_fills as f64;
    let share = |distance: f64, edge: f64| distance.max(0.0) / edge.max(1.0);
    share(low - fills, low).max(share(fills - high, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::{Advice, SearchOutcome, SearchReport, SearchRun};
    use crate::experiment::search::with_slack;

    const MIB: u64 = 1 << 20;

    /// A search that ends with this size, after a run without a limit and these.
    fn searched(enough: u64, runs: &[(Bytes, SearchOutcome)]) -> SizeReport {
        let run = |limit_bytes, outcome| SearchRun { limit_bytes, outcome, ..SearchRun::default() };
        let mut all = vec![run(None, SearchOutcome::Enough)];
        all.extend(runs.iter().map(|&(limit, outcome)| run(Some(limit), outcome)));
        let enough_bytes = Bytes(enough * MIB);
        SizeReport {
            recommend: Some(Recommend {
                kind: Advice::Measured,
                limit_bytes: with_slack(enough_bytes),
                cache_bytes: enough_bytes,
                knee_bytes: enough_bytes,
                floor_bytes: enough_bytes,
                ceiling_bytes: enough_bytes,
                slack_bytes: Bytes(0),
                spread_bytes: Bytes(0),
                reason: String::new(),
            }),
            search: Some(SearchReport { runs: all, enough_bytes, ..SearchReport::default() }),
            ..SizeReport::default()
        }
        .judged()
    }

    #[test]
    fn a_search_measures_its_size_only_if_a_run_had_it_and_was_enough() {
        use SearchOutcome::{Enough, Killed, TooManyFills};
        let (exact, slack) = (Bytes(48 * MIB), with_slack(Bytes(48 * MIB)));
        let cases: [(&[(Bytes, SearchOutcome)], bool); 6] = [
            (&[(exact, Enough)], true),
            (&[(slack, Enough)], true),
            (&[(Bytes(24 * MIB), TooManyFills), (exact, Enough)], true),
            // The last run was to prove another size, and showed that it is too small.
            (&[(Bytes(37 * MIB), TooManyFills)], false),
            (&[(exact, Killed)], false),
            (&[], false),
        ];
        for (runs, is_measured) in cases {
            let report = searched(48, runs);
            let want = if is_measured { Verdict::Measured } else { Verdict::Unproved };
            assert_eq!(report.verdict, want, "{runs:?}");
            assert_eq!(report.is_reliable(), is_measured, "{runs:?}");
            assert_eq!(report.is_undecided(), !is_measured, "{runs:?}");
        }
    }
}

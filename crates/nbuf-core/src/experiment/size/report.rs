//! The document of an analysis and its runs.

use super::Analysis;
use crate::experiment::result::{
    Advice, CaptureReport, Recommend, SearchGoal, SearchOutcome, SearchReport, SearchRun,
    SizeDetail, SizeReport, Verdict, Verified,
};
use crate::experiment::search::with_slack;
use crate::experiment::warning::Warning;
use crate::experiment::warnings::UNREACHED_SHARE_MAX;
use crate::units::{Bytes, grouped};

/// Files that are listed.
const FILES_MAX: usize = 10;

impl SizeReport {
    pub(in crate::experiment) fn new(of: &Analysis, mut verify: Vec<Verified>) -> Self {
        verify.sort_by_key(|run| std::cmp::Reverse(run.limit_bytes.map_or(u64::MAX, |l| l.0)));
        let unlimited = verify.iter().find(|run| run.limit_bytes.is_none());
        // A run that found its files in memory does not tell.
        let tells = |is_within: &bool| *is_within || of.unreached <= UNREACHED_SHARE_MAX;
        let decided = unlimited.filter(|run| !run.is_undecided());
        let repeatable = decided.and_then(|run| run.within_band).filter(tells);
        let mut warnings = of.warnings.clone();
        if repeatable == Some(false) {
            warnings.push(Warning::NotRepeatable);
        }
        let device = of.facts.devices.first();
        Self {
            schema: Self::SCHEMA.into(),
            command: of.facts.command.clone(),
            exit_status: of.facts.exit_status,
            capture: CaptureReport {
                backend: of.facts.capture.backend.clone(),
                events: of.facts.capture.events,
                lost: of.facts.capture.lost,
                accesses: of.curve.accesses,
                distinct_pages: of.curve.footprint_bytes.pages_up().0,
                mapped_share: of.stream.mapped_share(),
                is_mapped: false,
                shared_bytes: of.shared,
                readahead_bytes: Bytes(device.map_or(0, |device| device.readahead_bytes)),
            },
            memory: of.memory,
            traffic: of.traffic,
            curve: of.curve.points.clone(),
            footprint_bytes: of.curve.footprint_bytes,
            recommend: of.recommend.clone(),
            verdict: Verdict::default(),
            is_lower_bound: false,
            target: of.target.clone(),
            readahead: of.readahead.clone(),
            time: of.timing.as_ref().map(|timing| timing.report(&of.time)),
            verify,
            search: None,
            repeatable,
            files: of.files.top.iter().take(FILES_MAX).cloned().collect(),
            shared: of.shared_files(),
            warnings,
            detail: SizeDetail {
                cliffs: of.cliffs.clone(),
                files: of.files.clone(),
                facts: of.facts.clone(),
                curve: of.curve.clone(),
            },
        }
        .judged()
    }
}

impl SizeReport {
    /// The report with the size that runs found.
    pub(in crate::experiment) fn measured(mut self, search: SearchReport) -> Self {
        let is_killed = |run: &&SearchRun| run.outcome == SearchOutcome::Killed;
        let killed = search.runs.iter().filter(is_killed).filter_map(|run| run.limit_bytes).max();
        let memory = &mut self.memory;
        // The recording looks at memory now and then; a kill shows a peak that it missed.
        let rest = memory.other_bytes().saturating_sub(memory.anonymous_bytes);
        let least = killed.unwrap_or_default().saturating_sub(rest);
        memory.anonymous_bytes = memory.anonymous_bytes.max(least);
        let other = memory.anonymous_bytes + rest;
        let sum = search.enough_bytes;
        let limit = with_slack(sum);
        let cache = sum.saturating_sub(other);
        let is_small = |run: &&SearchRun| run.outcome != SearchOutcome::Enough;
        let too_small = search.runs.iter().filter(is_small).max_by_key(|run| run.limit_bytes);
        let gains_nothing = too_small.is_none() && search.is_narrow;
        let kind = if gains_nothing { Advice::NothingToGain } else { Advice::Measured };
        self.recommend = Some(Recommend {
            kind,
            limit_bytes: limit,
            cache_bytes: cache,
            knee_bytes: cache,
            floor_bytes: cache,
            ceiling_bytes: cache,
            slack_bytes: limit.saturating_sub(sum),
            spread_bytes: Bytes(0),
            reason: reason(&search, too_small),
        });
        if let Some(target) = &mut self.target
            && search.goal != SearchGoal::Fills
        {
            (target.met, target.reason) = met(&search);
        }
        self.search = Some(search);
        // The runs saw what the recording did not.
        self.warnings.retain(|warning| !matches!(warning, Warning::Mapped { .. }));
        self.judged()
    }
}

fn unlimited(search: &SearchReport) -> Option<&SearchRun> {
    search.runs.iter().find(|run| run.limit_bytes.is_none())
}

/// What the run that proves the size showed of a target of time.
fn met(search: &SearchReport) -> (bool, String) {
    let Some(((enough, run), unlimited)) = search.proof().zip(unlimited(search)) else {
        let reason = "no run with a limit met it; the limit is the peak of a run without one";
        return (false, reason.to_owned());
    };
    let reason = match search.goal {
        SearchGoal::Stall(_) => {
            let percent = run.stall_share() * 100.0;
            format!("with {enough} it waits for memory in {percent:.1} % of the time")
        }
        _ => format!(
            "with {enough} it takes {:.2} s, without a limit {:.2} s",
            run.seconds, unlimited.seconds
        ),
    };
    (true, reason)
}

/// What the runs on both sides of the size showed.
fn reason(search: &SearchReport, too_small: Option<&SearchRun>) -> String {
    let wide = if search.is_narrow { "" } else { "; more runs would narrow that down (--runs)" };
    let unlimited = unlimited(search).map_or(0, |run| run.fills);
    let Some((limit, proof)) = search.proof() else {
        let (tried, unlimited) = (with_slack(search.enough_bytes), grouped(unlimited));
        let small = too_small.map_or_else(String::new, |run| format!(", and {}", too_little(run)));
        return format!(
            "no run with {tried} was enough; without a limit it fills {unlimited} pages{small}{wide}"
        );
    };
    let fills = proof.fills;
    let fills_more = fills > unlimited;
    let (enough, unlimited) = (grouped(fills), grouped(unlimited));
    let Some(small) = too_small else {
        if !search.is_narrow || fills_more {
            return format!(
                "with {limit} it fills {enough} pages, without a limit {unlimited}{wide}"
            );
        }
        return format!(
            "cache buys nothing: with {limit} it fills no more pages than without a limit, {unlimited}"
        );
    };
    let less = too_little(small);
    format!("with {limit} it fills {enough} pages, without a limit {unlimited}, and {less}{wide}")
}

/// What a run showed whose limit was too small.
fn too_little(run: &SearchRun) -> String {
    let limit = run.limit_bytes.unwrap_or_default();
    match run.shortcoming() {
        Some(shortcoming) => format!("with {limit} it {shortcoming}"),
        None if run.outcome == SearchOutcome::Stopped => {
            format!("with {limit} over {}", grouped(run.fills))
        }
        None => format!("with {limit} {}", grouped(run.fills)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_reason_names_the_runs_on_both_sides_of_the_size() {
        let check = |runs: &[(Option<u64>, SearchOutcome)], is_narrow, reason: &str| {
            let run = |&(mib, outcome): &(Option<u64>, SearchOutcome)| SearchRun {
                limit_bytes: mib.map(|mib| Bytes(mib * MIB)),
                outcome,
                fills: 5000,
                ..SearchRun::default()
            };
            let search = SearchReport {
                runs: runs.iter().map(run).collect(),
                enough_bytes: Bytes(50 * MIB),
                is_narrow,
                ..SearchReport::default()
            };
            let recommend = SizeReport::default().measured(search).recommend.unwrap();
            assert_eq!(recommend.reason, reason);
            assert_eq!(recommend.limit_bytes, Bytes(51 * MIB));
        };
        let unlimited = (None, SearchOutcome::Enough);
        let (enough, many) = (SearchOutcome::Enough, SearchOutcome::TooManyFills);
        let more = "more runs would narrow that down (--runs)";
        check(
            &[unlimited, (Some(51), enough)],
            false,
            &format!("with 51.0 MiB it fills 5,000 pages, without a limit 5,000; {more}"),
        );
        check(
            &[unlimited, (Some(50), enough), (Some(48), many)],
            true,
            "with 50.0 MiB it fills 5,000 pages, without a limit 5,000, and with 48.0 MiB 5,000",
        );
        check(
            &[unlimited, (Some(40), many)],
            false,
            &format!(
                "no run with 51.0 MiB was enough; without a limit it fills 5,000 pages, and with 40.0 MiB \
                 5,000; {more}"
            ),
        );
        check(
            &[unlimited],
            false,
            &format!(
                "no run with 51.0 MiB was enough; without a limit it fills 5,000 pages; {more}"
            ),
        );
    }
}

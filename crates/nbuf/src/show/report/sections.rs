//! The report in its order: the answer first, then what proves it, then what it rests on.

use nbuf::experiment::result::SizeReport;

use super::answer::{answer, paste, reasons};
use super::{chart, readahead, search, time, verification, warnings, workload};

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// The number and its proof.
    Answer,
    /// What to set.
    Paste,
    /// What a reader must know before a figure is believed.
    Warnings,
    /// The runs under limits.
    Runs,
    /// The runs that found the size.
    Search,
    /// Fills by size.
    Curve,
    /// What more or less would do.
    Reasons,
    /// How long other sizes would take.
    Time,
    /// Other readahead windows.
    Readahead,
    /// What was seen.
    Workload,
}

/// The sections that have something to say.
pub(crate) fn sections(report: &SizeReport, width: usize, colour: bool) -> Vec<(Section, String)> {
    let pasted = report.recommend.as_ref();
    let pasted = pasted.map(|recommend| paste(report, recommend, width));
    let verified =
        if report.verify.is_empty() { String::new() } else { verification(report, width) };
    let searched = report.search.as_ref().map(|it| search(it, width));
    // The estimate follows from fills that runs have refuted.
    let is_refuted = report.search.is_some() && report.is_lower_bound;
    let all = [
        (Section::Answer, answer(report, width)),
        (Section::Paste, pasted.unwrap_or_default()),
        (Section::Warnings, warnings(&report.warnings, width)),
        (Section::Runs, verified),
        (Section::Search, searched.unwrap_or_default()),
        (Section::Curve, chart::of(report, width, colour)),
        (Section::Reasons, reasons(report, width)),
        (Section::Time, if is_refuted { String::new() } else { time(report, width) }),
        (Section::Readahead, readahead(report, width)),
        (Section::Workload, workload(report, width)),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// The whole report, an empty line between sections.
pub(crate) fn whole(report: &SizeReport, width: usize, colour: bool) -> String {
    let texts = sections(report, width, colour).into_iter().map(|(_, text)| text + "\n");
    texts.collect()
}

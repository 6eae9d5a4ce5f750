//! What was not seen, and what that means: the honest part.

use nbuf::experiment::result::SizeReport;
use nbuf::experiment::size::MAPPED_SHARE_MAX;
use nbuf::units::Bytes;

use super::super::markup::escape;
use super::super::report::limit;
use super::super::text::{count, grouped};

pub(super) fn section(report: &SizeReport) -> String {
    let mut items = vec![lost(report), mapped(report)];
    if report.capture.shared_bytes > Bytes(0) {
        items.push(format!(
            "{} of shared text and data was kept in memory by other processes: free here, as long as \
             they run, and in no figure.",
            report.capture.shared_bytes
        ));
    }
    items.push(match report.capture.backend.as_str() {
        "perf" => {
            "Captured by the tracepoints of the kernel&#39;s page cache. What goes past it is in \
             no figure: O_DIRECT, tmpfs and shared memory (these count in the limit), directories \
             and inodes. Files used that way are named below."
                .into()
        }
        "calls" => {
            "Captured by stopping the command at its system calls. What the kernel read ahead is \
             not seen but modelled; neither are accesses by io_uring, nor which shared libraries \
             other processes keep in memory."
                .into()
        }
        "" => "How it was captured is not known.".into(),
        other => format!("Captured by {}.", escape(other)),
    });
    for run in report.verify.iter().filter(|run| run.lost_events > 0) {
        let lost = count(run.lost_events, "fill event was", "fill events were");
        items.push(format!("In the run with limit {}, {lost} lost.", limit(run)));
    }
    let stayed = report.verify.iter().map(|run| run.stayed_bytes).max().unwrap_or_default();
    if stayed > Bytes(0) {
        items.push(format!(
            "What stayed in memory before a run differed from what was reckoned with by up to \
             {stayed}."
        ));
    }
    if report.verify.is_empty() {
        items.push("It was not run under a limit, so no prediction was put to the test.".into());
    }
    items.extend(report.cautions.iter().map(|caution| format!("{}.", escape(caution))));
    let items = items.into_iter().map(|item| format!("<li>{item}</li>\n"));
    format!("<ul>\n{}</ul>\n", items.collect::<String>())
}

fn lost(report: &SizeReport) -> String {
    let events = count(report.capture.events, "kernel event", "kernel events");
    match report.capture.lost {
        0 => format!("Of {events}, none was lost."),
        lost => format!(
            "<b>{} of {events} were lost: every figure is too low.</b> Record again with less else \
             running.",
            grouped(lost)
        ),
    }
}

fn mapped(report: &SizeReport) -> String {
    let share = report.capture.mapped_share;
    let what = if share > MAPPED_SHARE_MAX {
        "enough to make the curve a lower bound of the need"
    } else {
        "too few to change the answer"
    };
    format!(
        "{:.1} % of the page accesses went through mappings, where only the first touch is seen: \
         {what}.",
        share * 100.0
    )
}

//! What was not seen, and what that means: the honest part.

use nbuf::experiment::result::SizeReport;
use nbuf::units::Bytes;

use super::super::super::page::{Part, sentence};
use super::super::super::text::{count, grouped};
use super::super::limit;

pub(super) fn section(report: &SizeReport) -> Vec<Part> {
    let mut items = vec![mapped(report)];
    if report.capture.shared_bytes > Bytes(0) {
        items.push(format!(
            "{} of its files stayed in memory for other processes. It used {} of that: charged to \
             them while they run, included in every limit, and taken off the limits of the runs.",
            report.capture.shared_bytes, report.memory.shared_text_bytes
        ));
    }
    items.push(match report.capture.backend.as_str() {
        "perf" => {
            "Captured by the tracepoints of the kernel's page cache. What goes past it is in \
             no figure: O_DIRECT, tmpfs and shared memory (these count in the limit), directories \
             and inodes. Files used that way are named below."
                .into()
        }
        "calls" => {
            "Captured by stopping the command at its system calls. What the kernel read ahead is \
             not seen but modelled; neither are accesses by io_uring."
                .into()
        }
        "" => "How it was captured is not known.".into(),
        other => format!("Captured by {other}."),
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
    items.extend(report.warnings.iter().map(|warning| sentence(&warning.to_string())));
    vec![lost(report), Part::List(items)]
}

fn lost(report: &SizeReport) -> Part {
    let events = count(report.capture.events, "kernel event", "kernel events");
    match report.capture.lost {
        0 => Part::Text(format!("None of {events} was lost.")),
        lost => Part::Bad(format!(
            "{} of {events} were lost: every figure is too low. Record again with fewer programs running.",
            grouped(lost)
        )),
    }
}

fn mapped(report: &SizeReport) -> String {
    let share = report.capture.mapped_share;
    let what = if report.capture.is_mapped {
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

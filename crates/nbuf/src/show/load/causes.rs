//! Why the response rose: the idle split, the parts of service, and the evidence of each label.

use nbuf::experiment::result::{
    LoadDocument, LoadEvidence, LoadFigure, LoadIdle, LoadLabel, LoadSplit, LoadStep,
};

use super::super::scale::whole;
use super::super::table::{Table, number, text};
use super::super::text::grouped;
use super::{answered, label, name, percent, seconds};

/// A row for each step; empty where nothing was seen.
pub(super) fn sheet(document: &LoadDocument) -> Table {
    let first = super::conditions(document);
    let is_seen = document.steps.iter().any(|step| step.idle.is_some() || step.split.is_some());
    let idle = |step: &LoadStep, of: fn(&LoadIdle) -> f64| percent(step.idle.as_ref().map(of));
    // No time is a figure of its own.
    let brief = |value: f64| if value < 5e-6 { "0".to_owned() } else { seconds(value) };
    let part = |step: &LoadStep, of: fn(&LoadSplit) -> f64| {
        step.split.as_ref().map_or_else(String::new, |split| brief(of(split)))
    };
    Table::of("Why response rose", document.steps.iter().filter(|_| is_seen))
        .columns(first.columns(), |step| first.cells(step))
        .column(number("users"), |step| step.users.to_string())
        .column(number("running").rank(1), |step| idle(step, |idle| idle.running_share))
        .column(number("true idle").rank(1), |step| idle(step, |idle| idle.true_idle_share))
        .column(number("disc idle").rank(1), |step| idle(step, |idle| idle.disc_idle_share))
        .column(number("CPU"), |step| part(step, |split| split.on_cpu_seconds))
        .column(number("CPU wait"), |step| part(step, |split| split.runnable_seconds))
        .column(number("disc"), |step| part(step, |split| split.disc_seconds))
        .column(number("memory").rank(1), |step| part(step, |split| split.memory_seconds))
        .column(number("lock"), |step| part(step, |split| split.lock_seconds))
        .column(number("asleep").rank(2), |step| part(step, |split| split.asleep_seconds))
        .column(number("other").rank(3), |step| part(step, |split| split.unknown_seconds))
        .column(number("between faults").rank(2), |step| between_faults(step).map(seconds))
        .column(text("bound"), |step| answered(step, label(step.label)))
        .done()
}

fn between_faults(step: &LoadStep) -> Option<f64> {
    step.used.and_then(|used| used.seconds_between_faults)
}

/// A line for each step that has evidence: its label, and what crossed what.
pub(super) fn lines(document: &LoadDocument) -> Vec<String> {
    let shown = document.steps.iter().filter(|step| !step.evidence.is_empty());
    let omitted = document.steps.iter().filter_map(|step| omitted(document, step));
    shown.map(|step| line(document, step)).chain(omitted).collect()
}

/// The error of a driver that counts from the actual beginnings, where it halves p99 or worse. A wait for a place is a
/// column of its own.
fn omitted(document: &LoadDocument, step: &LoadStep) -> Option<String> {
    const TIMES: f64 = 2.0;
    let (response, service) = (step.response?.p99_seconds, step.service?.p99_seconds);
    let is_late = service > 0.0 && response >= TIMES * service;
    let is_hidden = is_late && step.place_seconds.is_none();
    is_hidden.then(|| {
        format!(
            "{}: p99 is {} from the intended beginnings, and {} from the actual ones, which omits late beginnings \
             (coordinated omission)",
            name(document, step),
            seconds(response),
            seconds(service)
        )
    })
}

fn line(document: &LoadDocument, step: &LoadStep) -> String {
    let evidence: Vec<String> = step.evidence.iter().map(said).collect();
    let mut line = format!(
        "{}: {}: {}",
        name(document, step),
        answered(step, label(step.label)),
        evidence.join("; ")
    );
    if let (LoadLabel::CoreBound, Some(between)) = (step.label, between_faults(step)) {
        line += "; running time between major faults ";
        line += &seconds(between);
    }
    line
}

fn said(evidence: &LoadEvidence) -> String {
    let LoadEvidence { figure, value, above } = *evidence;
    let share = |what: &str| format!("{what} {:.0} %, above {:.0} %", value * 100.0, above * 100.0);
    let times = |what: &str| format!("{what} {value:.1} times the least, above {above}");
    match figure {
        LoadFigure::ProcessorsBusy => share("processors busy"),
        LoadFigure::DiscBusy => share("disc busy"),
        LoadFigure::ProcessorWait => share("service waits for a processor"),
        LoadFigure::DiscWait => share("service waits for discs"),
        LoadFigure::MemoryWait => share("service waits for reclaim of memory"),
        LoadFigure::LockWait => share("service waits for locks, pipes or sockets"),
        LoadFigure::Refaults => share("pages read that memory had held before"),
        LoadFigure::Fills => {
            format!("{} pages read by a command, above {above}", grouped(whole(value)))
        }
        LoadFigure::CpuRise => times("CPU of a command"),
        LoadFigure::ResponseRise => times("response"),
        LoadFigure::PlaceWait => share("response waits for a place in the system table"),
        LoadFigure::DiscIdle => share("processors idle while tasks wait for a disc"),
        LoadFigure::NotBegun => {
            format!("{} arrivals that no user took", grouped(whole(value)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::document;
    use super::*;

    #[test]
    fn a_response_that_the_service_hides_is_named() {
        let mut document = document();
        assert!(lines(&document).is_empty());
        // p99 is four means.
        document.steps[1].response.as_mut().unwrap().p99_seconds = 3.2;
        let hidden = "8 users: p99 is 3.20 s from the intended beginnings, and 1.45 s from the actual ones, which \
                      omits late beginnings (coordinated omission)";
        assert_eq!(lines(&document), [hidden]);
        // With a system table the wait for a place is in a column of its own.
        document.steps[1].place_seconds = Some(0.1);
        assert!(lines(&document).is_empty());
    }
}

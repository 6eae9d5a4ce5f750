//! Why the response rose: the idle split, the parts of service, and the evidence of each label.

use nbuf::experiment::result::{
    LoadDocument, LoadEvidence, LoadFigure, LoadLabel, LoadSplit, LoadStep,
};

use super::super::scale::whole;
use super::super::table::{Cell, Table, number, text};
use super::super::text::grouped;
use super::{answered, label, name, percent, seconds};

/// A row for each step; empty where nothing was seen.
pub(super) fn sheet(document: &LoadDocument) -> Table {
    let first = super::conditions(document);
    let columns = [
        number("users"),
        number("running").rank(1),
        number("true idle").rank(1),
        number("disc idle").rank(1),
        number("CPU"),
        number("CPU wait"),
        number("disc"),
        number("memory").rank(1),
        number("lock"),
        number("asleep").rank(2),
        number("other").rank(3),
        number("between faults").rank(2),
        text("bound"),
    ];
    let columns = first.columns().chain(columns);
    let is_seen = document.steps.iter().any(|step| step.idle.is_some() || step.split.is_some());
    let rows = document.steps.iter().filter(|_| is_seen).map(|step| {
        let idle = |of: fn(&nbuf::experiment::result::LoadIdle) -> f64| {
            percent(step.idle.as_ref().map(of))
        };
        let part = |of: fn(&LoadSplit) -> f64| {
            step.split.as_ref().map_or_else(String::new, |split| brief(of(split)))
        };
        let between = step.used.and_then(|used| used.seconds_between_faults);
        let cells = [
            step.users.to_string(),
            idle(|idle| idle.running_share),
            idle(|idle| idle.true_idle_share),
            idle(|idle| idle.disc_idle_share),
            part(|split| split.on_cpu_seconds),
            part(|split| split.runnable_seconds),
            part(|split| split.disc_seconds),
            part(|split| split.memory_seconds),
            part(|split| split.lock_seconds),
            part(|split| split.asleep_seconds),
            part(|split| split.unknown_seconds),
            between.map_or_else(String::new, seconds),
            answered(step, label(step.label)).to_owned(),
        ];
        first.cells(step).into_iter().chain(cells).map(Cell::from).collect::<Vec<_>>()
    });
    Table::new("Why response rose", columns).with(rows)
}

/// No time is a figure of its own.
fn brief(value: f64) -> String {
    if value < 5e-6 { "0".to_owned() } else { seconds(value) }
}

/// A line for each step that has evidence: its label, and what crossed what.
pub(super) fn lines(document: &LoadDocument) -> Vec<String> {
    let has_label = |step: &&LoadStep| step.interactions > 0 && !step.evidence.is_empty();
    let shown = document.steps.iter().filter(has_label);
    shown.map(|step| line(document, step)).collect()
}

fn line(document: &LoadDocument, step: &LoadStep) -> String {
    let evidence: Vec<String> = step.evidence.iter().map(said).collect();
    let mut line =
        format!("{}: {}: {}", name(document, step), label(step.label), evidence.join("; "));
    let between = step.used.and_then(|used| used.seconds_between_faults);
    if let (LoadLabel::CoreBound, Some(between)) = (step.label, between) {
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
    }
}

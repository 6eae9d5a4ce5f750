//! Wake-ups for people: a table with a small histogram in each row, and a page.

mod histogram;
mod page;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Write as _;

use nbuf::experiment::ping::Row;
use nbuf::experiment::result::{
    PingDocument, PingJudged, PingMachine, PingOutcome, PingRange, PingRow,
};

use super::page::uppercased;
use super::table::{Cell, Table, number, text};
use super::text::{grouped, listed, wrap, wrap_each};
use histogram::{RateAxis, short};
pub(crate) use page::page;
pub(super) use page::parts;

/// Columns of the histogram in a row.
const BARS: usize = 16;

/// What can be measured.
pub(crate) fn list(rows: &[Row], width: usize) -> String {
    let columns = [text("").label("mechanism"), text("").label("how"), text("").label("waits")];
    let rows = rows.iter().map(|row| [row.name, row.about, row.waits.name()]);
    // A pipe counts as so wide, and gets a line for each.
    let width = if width < 80 { width } else { usize::MAX };
    Table::new("Mechanisms", columns).with(rows).draw(width)
}

/// The whole report.
pub(crate) fn table(document: &PingDocument, width: usize) -> String {
    let mut out = String::new();
    wrap_each(&mut out, [machine(&document.machine)].iter().chain(&sentences(document)), width);
    let axis = RateAxis::of(&document.rows);
    for placement in placements(document) {
        let rows: Vec<&PingRow> =
            document.rows.iter().filter(|row| row.placement == placement).collect();
        let heading = uppercased(placement);
        let _ = write!(out, "\n{heading}\n{}", block(&heading, &rows, &axis).draw(width));
        wrap_each(&mut out, reasons(&rows), width);
    }
    out.push_str("\nFor comparison\n");
    for reference in &document.references {
        let rate = rate(reference.round_trips_per_second);
        let text = format!(
            "{}: {}: {} {rate} round trips a second",
            reference.machine, reference.mechanism, reference.is
        );
        wrap(&mut out, &text, width);
    }
    out.push('\n');
    wrap_each(&mut out, notes(document), width);
    out
}

/// The rows of one placement.
fn block(title: &str, rows: &[&PingRow], axis: &RateAxis) -> Table {
    let middle =
        |row: &PingRow| row.round_trips_per_second.filter(|_| row.outcome == PingOutcome::Measured);
    let mark = |row: &PingRow| if row.judged == PingJudged::All { "~" } else { "" };
    let number_of = |row: &PingRow| match middle(row) {
        Some(middle) => format!("{}{}", mark(row), rate(middle)),
        None => word(row.outcome).to_owned(),
    };
    let picture = |row: &PingRow, middle: f64| {
        let label = format!("{}, {}", row.mechanism, row.placement);
        let picture = axis.picture(&row.histogram, middle, &label);
        Cell::picture(axis.bars(&row.histogram, BARS), picture)
    };
    let clean = |row: &PingRow| format!("{}/{}", row.clean, row.samples);
    let sleeps = |row: &PingRow| row.sleeps_per_round_trip.map(|sleeps| format!("{sleeps:.1}"));
    let histogram = text(axis.heading(BARS)).label("samples by rate").rank(3);
    Table::of(title, rows.iter().copied())
        .column(text("").label("mechanism"), |row| row.mechanism.as_str())
        .column(number("round trips/s"), number_of)
        .column(number("low..high").rank(1), |row| middle(row).and_then(|_| spread(row)))
        .column(number("clean").rank(2), |row| middle(row).map(|_| clean(row)))
        .column(histogram, |row| middle(row).map(|middle| picture(row, middle)))
        .column(number("sleeps").rank(4), |row| middle(row).and_then(|_| sleeps(row)))
        .done()
}

/// What stands in the place of a number.
fn word(outcome: PingOutcome) -> &'static str {
    match outcome {
        PingOutcome::Measured => "",
        PingOutcome::NotApplicable => "n/a",
        PingOutcome::Busy => "busy",
        PingOutcome::Refused => "refused",
        PingOutcome::Hung => "HUNG",
        PingOutcome::Failed => "FAILED",
        PingOutcome::NotMeasured => "-",
    }
}

fn spread(row: &PingRow) -> Option<String> {
    Some(format!("{}..{}", short(row.low?), short(row.high?)))
}

/// Why rows have no number; those with the same reason together.
fn reasons(rows: &[&PingRow]) -> Vec<String> {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let Some(reason) = &row.reason else { continue };
        let reason = format!("{}: {reason}", word(row.outcome));
        match told.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, names)) => names.push(row.mechanism.clone()),
            None => told.push((reason, vec![row.mechanism.clone()])),
        }
    }
    told.iter().map(|(reason, names)| format!("{} {reason}", listed(names))).collect()
}

/// What the machine is.
fn machine(machine: &PingMachine) -> String {
    let processors: Vec<String> = machine.used.iter().map(ToString::to_string).collect();
    let name = match machine.processor.as_str() {
        "" => "processor unknown",
        name => name,
    };
    let pressure = machine.pressure_percent.map_or(String::new(), |percent| {
        format!(
            "; in the ten seconds before, programs waited for a processor {percent:.0} % of the time")
    });
    let plural = if processors.len() == 1 { "processor" } else { "processors" };
    format!("{name}, Linux {}, {plural} {}{pressure}", machine.kernel, listed(&processors))
}

/// What two threads that sleep come to, in a sentence a placement.
fn sentences(document: &PingDocument) -> Vec<String> {
    document.ranges.iter().map(sentence).collect()
}

fn sentence(range: &PingRange) -> String {
    let PingRange { placement, mechanisms, slowest, low, fastest, high } = range;
    if *mechanisms == 1 {
        return format!("{placement}: {} round trips a second by {fastest}", rate(*high));
    }
    format!(
        "{placement}: {} ({slowest}) to {} ({fastest}) round trips a second by what sleeps",
        rate(*low),
        rate(*high)
    )
}

/// What the columns and marks mean, as far as there are any, and the warnings.
fn notes(document: &PingDocument) -> Vec<String> {
    let mut notes = Vec::new();
    let measured = |row: &&PingRow| row.outcome == PingOutcome::Measured;
    notes.extend(coalesced(document));
    let mut rounds: Vec<(&str, &str)> = Vec::new();
    for row in &document.rows {
        if row.mechanism.starts_with("loop-") && !rounds.contains(&(&row.mechanism, &row.round)) {
            rounds.push((&row.mechanism, &row.round));
        }
    }
    notes.extend(rounds.iter().map(|(name, round)| format!("{name} counts {round}")));
    notes.push(
        "round trips/s: the median of the clean samples; low..high: 5 and 95 of a hundred of them; sleeps: \
         those of a round trip"
            .to_owned(),
    );
    if document.rows.iter().any(|row| measured(&row) && row.judged == PingJudged::All) {
        notes.push(
            "~ this kernel does not tell which samples were clean: all are judged".to_owned(),
        );
    }
    notes.extend(document.warnings.iter().map(ToString::to_string));
    notes
}

/// How many sends there were to a wake-up, for each mechanism that makes one of several.
fn coalesced(document: &PingDocument) -> Vec<String> {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for row in &document.rows {
        let counts =
            (row.round_trips_per_second, row.sends_per_round_trip, row.wakes_per_round_trip);
        let (Some(middle), Some(sends), Some(wakes)) = counts else { continue };
        if wakes >= sends * 0.99 {
            continue;
        }
        let (sends, wakes) = (rate(middle * sends), rate(middle * wakes));
        let what = format!("{sends} sends made {wakes} wake-ups ({})", row.placement);
        match told.iter_mut().find(|(name, _)| *name == row.mechanism) {
            Some((_, whats)) => whats.push(what),
            None => told.push((&row.mechanism, vec![what])),
        }
    }
    told.iter().map(|(name, whats)| format!("{name}: a second, {}", listed(whats))).collect()
}

/// The placements that were asked for, each once.
fn placements(document: &PingDocument) -> Vec<&str> {
    let mut names = Vec::new();
    for row in &document.rows {
        if !names.contains(&row.placement.as_str()) {
            names.push(row.placement.as_str());
        }
    }
    names
}

/// A rate in three significant digits: more would be read as if they came again.
fn rate(rate: f64) -> String {
    if rate < 100.0 {
        return format!("{rate:.0}");
    }
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "above 100, rounded"
    )]
    let whole = ((rate / unit).round() * unit).round() as u64;
    grouped(whole)
}

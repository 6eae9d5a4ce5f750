//! A sweep as a page: the time by value with its interval, and the table.

use nbuf::experiment::result::{SweepDocument, SweepRow};

use super::super::chart::{Band, Chart, Line, Look};
use super::super::page::{Answer, Mood, Page, Part};
use super::super::scale::Axis;
use super::{against, digits, notes, sheet, too_few};

/// Values that are named under the chart.
const TICKS_MAX: usize = 12;

/// What the words of the page mean.
const WORDS: &str = "\
seconds: the median of the runs with this value
from, to: the 95 % interval of the median; below 5 runs, their range
speedup: how many times as fast as the first value, by medians
vs previous: how much faster than the value before, by pairs of runs of the same round
round: every value once; the next round goes backwards, so that a drift cancels";

/// The whole page.
pub(crate) fn page(document: &SweepDocument) -> String {
    let measured: Vec<&SweepRow> =
        document.rows.iter().filter(|row| !row.samples.is_empty()).collect();
    let (title, time) = if measured.len() > 1 {
        let chart = Part::Chart(chart(document, &measured));
        (format!("Time by {}", document.parameter), Some(chart))
    } else {
        ("Time".to_owned(), Part::table(sheet(document)))
    };
    let mut facts = vec![("command", document.command.join(" "))];
    facts.extend(document.prepare.iter().map(|script| ("before each run", script.clone())));
    let notes = Part::notes(notes(document));
    let mood = if document.is_complete { Mood::Good } else { Mood::Open };
    Page::new("sweep", document.command.join(" "), WORDS)
        .answers([Answer::new(mood, answer(document, &measured))])
        .section(title, time)
        .section("How it was measured", [Part::Facts(facts)].into_iter().chain(notes))
        .html()
}

/// The fastest value, and whether the last step still gained something.
fn answer(document: &SweepDocument, measured: &[&SweepRow]) -> String {
    let Some(first) = measured.first() else { return "Nothing was measured.".to_owned() };
    let fastest = measured.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)).unwrap_or(first);
    let name = &document.parameter;
    if measured.len() == 1 {
        return format!("{name} = {}: {} s.", first.value, digits(first.seconds));
    }
    let than = if fastest.value == first.value {
        String::new()
    } else {
        format!(", {:.2} times as fast as {}", fastest.speedup, first.value)
    };
    let fastest =
        format!("Fastest with {name} = {}: {} s{than}.", fastest.value, digits(fastest.seconds));
    if let Some(needed) = too_few(document) {
        return format!("{fastest} It takes --samples {needed} to tell neighbours apart.");
    }
    let last = measured.iter().rev().find(|row| row.against_previous.is_some_and(|a| a.differs));
    match last {
        Some(last) => format!(
            "{fastest} The last step that made a difference: {}, {}.",
            last.value,
            against(last.against_previous, false)
        ),
        None => format!("{fastest} No step made a difference beyond chance."),
    }
}

/// Medians over values, with their intervals. Values are not always numbers: they stand at equal
/// distances, in their order.
fn chart(document: &SweepDocument, measured: &[&SweepRow]) -> Chart {
    let at = |number: usize| (number + 1) as f64;
    let points = |of: fn(&SweepRow) -> f64| -> Vec<(f64, f64)> {
        measured.iter().enumerate().map(|(number, row)| (at(number), of(row))).collect()
    };
    let step = measured.len().div_ceil(TICKS_MAX);
    let ticks = measured.iter().enumerate().step_by(step);
    let ticks = ticks.map(|(number, row)| (at(number), row.value.clone())).collect();
    let x = Axis::given(&document.parameter, at(measured.len()), ticks);
    let y = Axis::seconds("seconds", measured.iter().map(|row| row.high));
    let mut chart = Chart::new(format!("seconds by {}", document.parameter), x, y);
    let (low, high) = (points(|row| row.low), points(|row| row.high));
    let name = "the median nineteen times of twenty".to_owned();
    chart.bands = vec![Band { name, look: Look::Nth(0), low, high, has_edges: false }];
    chart.lines = vec![Line::new("median", Look::Nth(0), points(|row| row.seconds))];
    chart.at = (0..measured.len()).map(at).collect();
    chart.table = sheet(document);
    chart
}

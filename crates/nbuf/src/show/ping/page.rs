//! Wake-ups as a page: a sentence first, then every placement with its mechanisms and their
//! histograms, all on one axis.

use nbuf::experiment::result::{PingDocument, PingRow};

use super::super::page::{Answer, Mood, Page, Part, sentence, uppercased};
use super::super::table::{Table, number, text};
use super::histogram::RateAxis;
use super::{block, machine, notes, placements, rate, reasons, sentences};

/// What the words of the page mean.
const WORDS: &str = "\
round trip: a message to the other thread and its answer: two wake-ups
clean: a sample during which the threads waited for their processor less than 1 % of the time
median: the middle one of the clean samples, the line in each histogram
low..high: the range from the 5th to the 95th of a hundred clean samples
sleeps: how often the threads slept, for each round trip
unpinned: the kernel chooses the processors, and may move the threads while they run";

/// The whole page.
pub(crate) fn page(document: &PingDocument) -> String {
    let mood = Mood::of(&document.warnings);
    let answers = sentences(document).into_iter().map(|text| Answer::new(mood, sentence(&text)));
    Page::new("ping", "How often a second threads wake each other", WORDS)
        .title("nbuf ping: round trips a second")
        .answers(answers)
        .section("Round trips a second", parts(document))
        .section("Machine", [Part::Text(sentence(&machine(&document.machine)))])
        .html()
}

/// The histograms, what is to be said of them, and what they can be compared with; the page of
/// `nbuf bench` has them too.
pub(in crate::show) fn parts(document: &PingDocument) -> Vec<Part> {
    let axis = RateAxis::of(&document.rows);
    let mut parts = Vec::new();
    for placement in placements(document) {
        let rows: Vec<&PingRow> =
            document.rows.iter().filter(|row| row.placement == placement).collect();
        parts.push(Part::Table(block(&uppercased(placement), &rows, &axis)));
        parts.extend(Part::notes(reasons(&rows)));
    }
    let (low, high) = axis.ends();
    parts.push(Part::Note(format!(
        "Each histogram is of samples by their rate, all on one axis from {low} to {high} in equal \
         ratios. Blue samples are clean, grey ones were disturbed; the line is the median."
    )));
    parts.extend(Part::notes(notes(document)));
    let columns = [text("machine"), text("mechanism"), number("round trips a second")];
    let references = document.references.iter().map(|reference| {
        let rate = format!("{} {}", reference.is, rate(reference.round_trips_per_second));
        [reference.machine.clone(), reference.mechanism.clone(), rate]
    });
    parts.extend(Part::table(Table::new("For comparison", columns).with(references)));
    parts
}

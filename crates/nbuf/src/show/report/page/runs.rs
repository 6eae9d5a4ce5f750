//! The runs that were made to prove it: predictions next to the kernel's counts.

use nbuf::experiment::result::{SearchReport, SizeReport, Verified};

use super::super::super::page::{Part, sentence};
use super::super::super::table::{Cell, Table, number, text as words};
use super::super::super::text::grouped;
use super::super::notes::{meter, notes};
use super::super::search::{goal, table as search_table};
use super::super::{band, estimate, limit, medians, spread_of_fills, spread_of_seconds, verdict};

pub(super) fn section(report: &SizeReport) -> Vec<Part> {
    let searched = report.search.as_ref().map_or_else(Vec::new, searched);
    if report.verify.is_empty() && !searched.is_empty() {
        return searched;
    }
    if report.verify.is_empty() {
        let text = "The command was not run again: nothing on this page is proved.";
        return vec![Part::Text(text.to_owned())];
    }
    let medians = match medians(report) {
        single if single.is_empty() => String::new(),
        medians => format!(
            " The figures are{}, made in random order; minimum and maximum stand next to them.",
            medians.trim_start_matches(',')
        ),
    };
    let count = meter(report).unwrap_or("the measured fills are the kernel's own count");
    let text = format!(
        "Each prediction was written down before the command ran again, from a cold cache, under a \
         real memory limit; {count}.{medians}"
    );
    let notes = notes(report).into_iter().map(|note| Part::Note(sentence(&note)));
    let parts = [Part::Text(text), Part::Table(table(&report.verify))];
    parts.into_iter().chain(notes).chain(searched).collect()
}

/// The runs that found the size.
fn searched(search: &SearchReport) -> Vec<Part> {
    let text = format!(
        "The recording alone gives no size that holds. So the command ran from a cold cache, under \
         limits that close in on the smallest one that is enough: {}.",
        goal(search)
    );
    vec![Part::Text(text), Part::Table(search_table(search))]
}

fn table(runs: &[Verified]) -> Table {
    let verdict = |run: &Verified| {
        let mood = match run.within_band {
            Some(true) => "good",
            Some(false) => "bad",
            None => "open",
        };
        Cell::class(verdict(run), mood)
    };
    let with = |median: String, spread: Option<String>| match spread {
        Some(spread) => format!("{median} ({spread})"),
        None => median,
    };
    let waited = |run: &Verified| run.memory_pressure_seconds.max(run.io_pressure_seconds);
    Table::of("Runs under memory limits", runs)
        .column(number("memory limit"), limit)
        .column(number("cache in it"), |run| run.cache_bytes.to_string())
        .column(number("fills predicted"), band)
        .column(number("fills measured"), |run| {
            with(grouped(run.measured_fills), spread_of_fills(run))
        })
        .column(words("verdict"), verdict)
        .column(number("read"), |run| run.read_bytes.to_string())
        .column(number("written"), |run| run.written_bytes.to_string())
        .column(number("major faults"), |run| grouped(run.major_faults))
        .column(number("seconds"), |run| {
            with(format!("{:.2}", run.measured_seconds), spread_of_seconds(run))
        })
        .column(number("estimated"), estimate)
        .column(number("waited"), |run| format!("{:.2}", waited(run)))
        .done()
}

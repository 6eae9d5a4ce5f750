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
    let columns = [
        number("memory limit"),
        number("cache in it"),
        number("fills predicted"),
        number("fills measured"),
        words("verdict"),
        number("read"),
        number("written"),
        number("major faults"),
        number("seconds"),
        number("estimated"),
        number("waited"),
    ];
    let table = Table::new("Runs under memory limits", columns);
    let table = table.with(report.verify.iter().map(row));
    let notes = notes(report).into_iter().map(|note| Part::Note(sentence(&note)));
    [Part::Text(text), Part::Table(table)].into_iter().chain(notes).chain(searched).collect()
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

fn row(run: &Verified) -> [Cell; 11] {
    let mood = match run.within_band {
        Some(true) => "good",
        Some(false) => "bad",
        None => "open",
    };
    let with = |median: String, spread: Option<String>| match spread {
        Some(spread) => format!("{median} ({spread})"),
        None => median,
    };
    [
        limit(run).into(),
        run.cache_bytes.to_string().into(),
        band(run).into(),
        with(grouped(run.measured_fills), spread_of_fills(run)).into(),
        Cell::class(verdict(run), mood),
        run.read_bytes.to_string().into(),
        run.written_bytes.to_string().into(),
        grouped(run.major_faults).into(),
        with(format!("{:.2}", run.measured_seconds), spread_of_seconds(run)).into(),
        estimate(run).into(),
        format!("{:.2}", run.memory_pressure_seconds.max(run.io_pressure_seconds)).into(),
    ]
}

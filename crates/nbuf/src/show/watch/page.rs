//! An interval of `nbuf watch` as a page, with the intervals before it as a table.

use nbuf::experiment::result::WatchDocument;
use nbuf::units::{date, grouped, whole};

use super::super::page::{Answer, Mood, Page, Part};
use super::super::table::{Table, number, text};
use super::{clock, shares, time};

/// What the words of the page mean.
const WORDS: &str = "\
true idle: no task could run
multiprogramming idle: a processor was idle while a task waited for a disc
major fault: a page fault that waited for a disc";

/// Rows of the table.
const ROWS: usize = 60;

/// The time of an interval as a part of a file name: `2026-11-25-080429`.
pub(crate) fn stamp(seen: &WatchDocument) -> String {
    date(whole(seen.unix_seconds))
}

/// The whole page, of the last of these intervals.
pub(crate) fn html(seen: &[&WatchDocument]) -> String {
    let Some(now) = seen.last() else { return String::new() };
    let [running, idle] = shares(&now.cpu);
    let answers = [format!("Processors: {running}."), format!("Idle: {idle}.")];
    Page::new("watch", format!("The machine at {} UTC", clock(now.unix_seconds)), WORDS)
        .title(format!("nbuf watch: {}", stamp(now)))
        .answers(answers.map(|text| Answer::new(Mood::Good, text)))
        .section("This interval", [Part::Lines(super::text(now))])
        .section("Intervals up to it", [Part::Table(table(seen))])
        .html()
}

fn table(seen: &[&WatchDocument]) -> Table {
    let percent = |seen: &WatchDocument, part: f64| {
        format!("{:.1} %", 100.0 * part / seen.cpu.sum_seconds().max(1e-9))
    };
    Table::of("The newest first", seen.iter().copied().rev().take(ROWS))
        .column(text("time"), |seen| clock(seen.unix_seconds))
        .column(number("running"), |seen| {
            percent(seen, seen.cpu.user_seconds + seen.cpu.system_seconds)
        })
        .column(number("multiprogramming idle"), |seen| {
            percent(seen, seen.cpu.multiprogramming_idle_seconds)
        })
        .column(number("true idle"), |seen| percent(seen, seen.cpu.true_idle_seconds))
        .column(number("queue"), |seen| format!("{:.1}", seen.queue.length_mean))
        .column(number("major faults"), |seen| grouped(seen.faults.major))
        .column(number("between faults"), |seen| {
            seen.faults.running_between_mean_seconds.map_or_else(|| "-".to_owned(), time)
        })
        .column(number("evictions"), |seen| grouped(seen.cache.evictions))
        .done()
}

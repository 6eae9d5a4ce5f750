//! An interval of `nbuf watch` as a page, with the intervals before it as a table.

use nbuf::experiment::result::WatchDocument;
use nbuf::units::{date, grouped, whole};

use super::super::page::{Answer, Mood, Page, Part};
use super::super::table::{Table, number, text};
use super::{clock, shares, time};

/// What the words of the page mean.
const WORDS: [(&str, &str); 3] = [
    ("true idle", "no task could run"),
    ("multiprogramming idle", "a processor was idle while a task waited for a disc"),
    ("major fault", "a page fault that waited for a disc"),
];

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
    Page {
        verb: "watch",
        title: format!("nbuf watch: {}", stamp(now)),
        heading: format!("The machine at {} UTC", clock(now.unix_seconds)),
        answers: answers.into_iter().map(|text| Answer::new(Mood::Good, text)).collect(),
        sections: vec![
            ("This interval".to_owned(), vec![Part::Lines(super::text(now))]),
            ("Intervals up to it".to_owned(), vec![Part::Table(table(seen))]),
        ],
        words: &WORDS,
        ..Page::default()
    }
    .html()
}

fn table(seen: &[&WatchDocument]) -> Table {
    let columns = [
        text("time"),
        number("running"),
        number("multiprogramming idle"),
        number("true idle"),
        number("queue"),
        number("major faults"),
        number("between faults"),
        number("evictions"),
    ];
    let rows = seen.iter().rev().take(ROWS).map(|seen| {
        let cpu = &seen.cpu;
        let percent = |part: f64| format!("{:.1} %", 100.0 * part / cpu.sum_seconds().max(1e-9));
        let mean = seen.faults.running_between_mean_seconds;
        [
            clock(seen.unix_seconds),
            percent(cpu.user_seconds + cpu.system_seconds),
            percent(cpu.multiprogramming_idle_seconds),
            percent(cpu.true_idle_seconds),
            format!("{:.1}", seen.queue.length_mean),
            grouped(seen.faults.major),
            mean.map_or_else(|| "-".to_owned(), time),
            grouped(seen.cache.evictions),
        ]
    });
    Table::new("The newest first", columns).with(rows)
}

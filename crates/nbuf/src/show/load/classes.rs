//! How many users of each class there are, and how long they wait, for people.

use nbuf::experiment::result::{LoadClass, LoadDocument, LoadTimes};

use super::super::table::{Table, number, text};
use super::super::text::{clean, rate};
use super::seconds;

/// A row for each step and class; empty where there is one class.
pub(super) fn sheet(document: &LoadDocument) -> Table {
    let first = super::conditions(document);
    let time = |class: &LoadClass, of: fn(&LoadTimes) -> f64| {
        class.response.as_ref().map_or_else(String::new, |times| seconds(of(times)))
    };
    let steps = document.steps.iter().filter(|step| step.classes.len() > 1);
    let rows = steps.flat_map(|step| step.classes.iter().map(move |class| (step, class)));
    Table::of("Users and response of each class", rows)
        .columns(first.columns(), |(step, _)| first.cells(step))
        .column(number("users"), |(step, _)| step.users.to_string())
        .column(text("class"), |(_, class)| clean(&class.name))
        .column(number("of it"), |(_, class)| class.users.to_string())
        .column(number("per second").rank(1), |(_, class)| rate(class.throughput_per_second))
        .column(number("response"), |(_, class)| time(class, |times| times.mean_seconds))
        .column(number("p50").rank(2), |(_, class)| time(class, |times| times.p50_seconds))
        .column(number("p90").rank(2), |(_, class)| time(class, |times| times.p90_seconds))
        .column(number("p99").rank(1), |(_, class)| time(class, |times| times.p99_seconds))
        .done()
}

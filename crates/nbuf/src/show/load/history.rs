//! The runs of a history: the "Steps" of the notes of 1969.

use nbuf::experiment::result::LoadHistory;
use nbuf::units::date;

use super::super::table::{Cell, Table, number, text};
use super::limits::amount;
use super::seconds;

/// A row for each run, the first one first; empty without a history.
pub(super) fn sheet(runs: &[LoadHistory]) -> Table {
    let is_priced = runs.iter().any(|run| run.price_per_thousand.is_some());
    let columns = [
        text("run"),
        text("ended").rank(2),
        number("N*"),
        number("1 user"),
        number("near N*"),
        number("users").rank(2),
        number("CPU"),
        number("fills").rank(1),
    ];
    let columns = columns.into_iter().chain(is_priced.then(|| number("1,000 cost")));
    let rows = runs.iter().enumerate().map(|(at, run)| {
        let of = |value: Option<f64>, said: fn(f64) -> String| value.map_or_else(String::new, said);
        let cells = [
            run.label.clone().unwrap_or_else(|| format!("run {}", at + 1)),
            date(run.unix_seconds)[..10].to_owned(),
            of(run.knee_users, |users| format!("{users:.1}")),
            of(run.one_user_seconds, seconds),
            of(run.near_knee_seconds, seconds),
            run.near_knee_users.map_or_else(String::new, |users| users.to_string()),
            of(run.cpu_seconds_each, seconds),
            of(run.fills_each, amount),
        ];
        let price = is_priced.then(|| of(run.price_per_thousand, amount));
        cells.into_iter().chain(price).map(Cell::from).collect::<Vec<_>>()
    });
    Table::new("Steps", columns).with(rows)
}

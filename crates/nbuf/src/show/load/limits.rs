//! What commands used under each memory limit, for people.

use nbuf::experiment::result::{LoadDocument, LoadLimit, LoadUse};

use super::super::table::{Cell, Column, Table, number};
use super::super::text::grouped;
use super::seconds;

/// Each step, where a limit has several, and each limit.
pub(super) fn tables(document: &LoadDocument) -> Vec<Table> {
    let all = steps(document).into_iter().chain([totals(document)]);
    all.filter(|table| !table.is_empty()).collect()
}

/// Each step, where a limit has several.
pub(super) fn steps(document: &LoadDocument) -> Option<Table> {
    let several = document.steps.len() > document.limits.len();
    several.then(|| sheet(document)).filter(|table| !table.is_empty())
}

/// A row for each step of which commands were answered; empty without a limit.
fn sheet(document: &LoadDocument) -> Table {
    let columns =
        [number("limit"), number("users")].into_iter().chain(columns(document.price.is_some()));
    let rows = document.steps.iter().filter_map(|step| {
        let (limit, used) = (step.limit_bytes?, step.used.as_ref()?);
        let first: [Cell; 2] = [limit.to_string().into(), step.users.to_string().into()];
        Some(first.into_iter().chain(cells(document, used)).collect::<Vec<Cell>>())
    });
    Table::new("A command on average, by step", columns).with(rows)
}

/// A row for each limit: all of its steps.
pub(super) fn totals(document: &LoadDocument) -> Table {
    let columns = [number("limit"), number("commands").rank(1)]
        .into_iter()
        .chain(columns(document.price.is_some()));
    let rows = document.limits.iter().filter_map(|limit| {
        let used = limit.used.as_ref()?;
        let first: [Cell; 2] =
            [limit.limit_bytes.to_string().into(), grouped(used.commands).into()];
        Some(first.into_iter().chain(cells(document, used)).collect::<Vec<Cell>>())
    });
    Table::new("A command on average, by limit", columns).with(rows)
}

fn columns(is_priced: bool) -> Vec<Column> {
    let columns = [
        number("major faults"),
        number("minor").rank(2),
        number("fills"),
        number("disc operations"),
        number("CPU").rank(1),
        number("page-seconds"),
        number("between faults"),
        number("between fills").rank(1),
    ];
    columns.into_iter().chain(is_priced.then(|| number("1,000 cost"))).collect()
}

/// Each is of one command, on average.
fn cells(document: &LoadDocument, used: &LoadUse) -> Vec<Cell> {
    let commands = used.commands.max(1) as f64;
    let given = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(String::new, text);
    let cells = [
        amount(used.major_faults as f64 / commands),
        amount(used.minor_faults as f64 / commands),
        amount(used.fills_each),
        given(used.disc_operations_each, amount),
        seconds(used.cpu_seconds_each),
        given(used.page_seconds_each, amount),
        given(used.seconds_between_faults, seconds),
        given(used.seconds_between_fills, brief_seconds),
    ];
    let price = document.price.map(|_| given(used.price_per_thousand, amount));
    cells.into_iter().chain(price).map(Cell::from).collect()
}

/// An average: three digits, or all of a large one.
pub(super) fn amount(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v >= 99.95 => grouped(super::super::scale::whole(v)),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.00995 => format!("{v:.2}"),
        v => format!("{v:.5}"),
    }
}

/// Times between fills are often far below a millisecond.
pub(super) fn brief_seconds(value: f64) -> String {
    if value < 0.001 { format!("{:.1} us", value * 1e6) } else { seconds(value) }
}

/// The limits with the least fills and with the least cost.
pub(super) fn cheapest(document: &LoadDocument) -> Option<String> {
    let best = document.limits.iter().find(|limit| limit.is_cheapest)?;
    let price = best.used.as_ref()?.price_per_thousand?;
    let fills =
        |limit: &&LoadLimit| limit.used.as_ref().map_or(f64::INFINITY, |used| used.fills_each);
    let least = document.limits.iter().min_by(|a, b| fills(a).total_cmp(&fills(b)))?;
    let is_alone = document.limits.len() < 2;
    let most = document.limits.iter().map(|limit| fills(&limit)).fold(0.0, f64::max);
    let note = match () {
        () if is_alone => String::new(),
        () if fills(&least) >= most => "; all have the same fills".to_owned(),
        () if fills(&best) <= fills(&least) => "; it also has the least fills".to_owned(),
        () => format!("; the least fills are under {}", least.limit_bytes),
    };
    let limit = best.limit_bytes;
    let cost = if is_alone { "cost" } else { "cost least" };
    Some(format!("1,000 commands {cost} under {limit}: {}{note}", amount(price)))
}

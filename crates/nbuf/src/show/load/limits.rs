//! What commands used under each memory limit, for people.

use nbuf::experiment::result::{LoadDocument, LoadLimit, LoadUse, LoadWorkingSet};
use nbuf::units::{Bytes, count};

use super::super::table::{Rows, Table, number};
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
    let rows = document
        .steps
        .iter()
        .filter_map(|step| Some((step.limit_bytes?, u64::from(step.users), step.used.as_ref()?)));
    let rows = Table::of("A command on average, by step", rows)
        .column(number("limit"), |(limit, ..)| limit.to_string())
        .column(number("users"), |(_, users, _)| users.to_string());
    averages(rows, document.price.is_some())
}

/// A row for each limit: all of its steps.
pub(super) fn totals(document: &LoadDocument) -> Table {
    let rows = document.limits.iter().filter_map(|limit| {
        let used = limit.used.as_ref()?;
        Some((limit.limit_bytes, used.commands, used))
    });
    let rows = Table::of("A command on average, by limit", rows)
        .column(number("limit"), |(limit, ..)| limit.to_string())
        .column(number("commands").rank(1), |(_, commands, _)| grouped(commands));
    averages(rows, document.price.is_some())
}

/// Each is of one command, on average.
fn averages(rows: Rows<(Bytes, u64, &LoadUse)>, is_priced: bool) -> Table {
    let each = |used: &LoadUse, number: u64| amount(number as f64 / used.commands.max(1) as f64);
    rows.column(number("major faults"), |(.., used)| each(used, used.major_faults))
        .column(number("minor").rank(2), |(.., used)| each(used, used.minor_faults))
        .column(number("fills"), |(.., used)| amount(used.fills_each))
        .column(number("disc operations"), |(.., used)| used.disc_operations_each.map(amount))
        .column(number("CPU").rank(1), |(.., used)| seconds(used.cpu_seconds_each))
        .column(number("page-seconds"), |(.., used)| used.page_seconds_each.map(amount))
        .column(number("between faults"), |(.., used)| used.seconds_between_faults.map(seconds))
        .column(number("between fills").rank(1), |(.., used)| {
            used.seconds_between_fills.map(brief_seconds)
        })
        .column_if(is_priced, number("1,000 cost"), |(.., used)| {
            used.price_per_thousand.map(amount)
        })
        .done()
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

/// The smallest limit that holds the working set of a command.
pub(super) fn working_set(document: &LoadDocument) -> Option<String> {
    let LoadWorkingSet { users, limit_bytes, below_bytes, read_back_below } =
        document.working_set?;
    let users = count(users.into(), "user", "users");
    let rest = match (below_bytes, read_back_below) {
        (Some(below), Some(pages)) => {
            format!("and not into {below}, where a command reads back {} pages", amount(pages))
        }
        (Some(below), None) => format!("and not into {below}, where no command was answered"),
        (None, _) => "the smallest limit that was tried".to_owned(),
    };
    Some(format!("{users}: the working set of a command fits into {limit_bytes}, {rest}"))
}

#[cfg(test)]
mod tests {
    use nbuf::units::Bytes;

    use super::*;

    #[test]
    fn the_working_set_is_between_two_limits() {
        let with = |below_bytes, read_back_below| {
            let limit_bytes = Bytes(96 << 20);
            let set = LoadWorkingSet { users: 1, limit_bytes, below_bytes, read_back_below };
            let document = LoadDocument { working_set: Some(set), ..LoadDocument::default() };
            working_set(&document).unwrap()
        };
        let start = "1 user: the working set of a command fits into 96.0 MiB, ";
        let below = Some(Bytes(32 << 20));
        for (said, rest) in [
            (
                with(below, Some(1234.0)),
                "and not into 32.0 MiB, where a command reads back 1,234 pages",
            ),
            (with(below, None), "and not into 32.0 MiB, where no command was answered"),
            (with(None, None), "the smallest limit that was tried"),
        ] {
            assert_eq!(said.strip_prefix(start), Some(rest));
        }
        assert_eq!(working_set(&LoadDocument::default()), None);
    }
}

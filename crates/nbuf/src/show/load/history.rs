//! The runs of a history: the "Steps" of the notes of 1969.

use nbuf::experiment::result::LoadHistory;

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
            day(run.unix_seconds),
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

/// The day in UTC, by the algorithm of Howard Hinnant, "chrono-compatible low-level date algorithms".
fn day(unix_seconds: u64) -> String {
    let days = unix_seconds / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, want) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(day(seconds), want);
        }
    }
}

//! The runs of a history: the "Steps" of the notes of 1969.

use nbuf::experiment::result::LoadHistory;
use nbuf::units::date;

use super::super::table::{Table, number, text};
use super::super::text::clean;
use super::limits::amount;
use super::seconds;

/// A row for each run, the first one first; empty without a history.
pub(super) fn sheet(runs: &[LoadHistory]) -> Table {
    let is_priced = runs.iter().any(|run| run.price_per_thousand.is_some());
    let classes = classes(runs);
    let columns = classes.iter().map(|class| number(format!("{} alone", clean(class))).rank(1));
    let of = |value: Option<f64>, said: fn(f64) -> String| value.map_or_else(String::new, said);
    Table::of("Steps", runs.iter().enumerate())
        .column(text("run"), |(at, run)| {
            run.label.clone().unwrap_or_else(|| format!("run {}", at + 1))
        })
        .column(text("ended").rank(2), |(_, run)| date(run.unix_seconds)[..10].to_owned())
        .column(number("N*"), |(_, run)| of(run.knee_users, |users| format!("{users:.1}")))
        .column(number("1 user"), |(_, run)| of(run.one_user_seconds, seconds))
        .column(number("near N*"), |(_, run)| of(run.near_knee_seconds, seconds))
        .column(number("users").rank(2), |(_, run)| run.near_knee_users.map(|n| n.to_string()))
        .column(number("CPU"), |(_, run)| of(run.cpu_seconds_each, seconds))
        .column(number("fills").rank(1), |(_, run)| of(run.fills_each, amount))
        .column_if(is_priced, number("1,000 cost"), |(_, run)| of(run.price_per_thousand, amount))
        .columns(columns, |(_, run)| {
            let users = |class: &&str| {
                let own = run.alone.iter().find(|one| one.name == *class);
                own.map(|one| u64::from(one.users))
            };
            classes.iter().map(users).collect::<Vec<_>>()
        })
        .done()
}

/// All classes of all runs, in the order in which they came.
fn classes(runs: &[LoadHistory]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for one in runs.iter().flat_map(|run| &run.alone) {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::LoadCarried;

    use super::*;

    /// As in the notes: users of each class, by version.
    #[test]
    fn each_class_has_a_column_by_version() {
        let run = |all: &[(&str, u32)]| LoadHistory {
            alone: all
                .iter()
                .map(|&(name, users)| LoadCarried { name: name.to_owned(), users })
                .collect(),
            ..LoadHistory::default()
        };
        let runs = [run(&[("heavy", 8), ("light", 16)]), run(&[("light", 1040)]), run(&[])];
        let shown = sheet(&runs).draw(120);
        let rows: Vec<Vec<&str>> =
            shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(rows[0].ends_with(&["heavy", "alone", "light", "alone"]), "{shown}");
        assert!(rows[1].ends_with(&["8", "16"]), "{shown}");
        assert!(rows[2].ends_with(&["1,040"]) && !rows[3].contains(&"16"), "{shown}");
    }
}

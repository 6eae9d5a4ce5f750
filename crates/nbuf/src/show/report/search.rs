//! The runs of a search for the size, from the largest limit to the smallest.

use nbuf::experiment::result::{SearchGoal, SearchOutcome, SearchReport, SearchRun};

use super::super::scale::trimmed;
use super::super::table::{Table, number, text as words};
use super::super::text::{grouped, wrap};

/// The runs, for a terminal.
pub(super) fn search(search: &SearchReport, width: usize) -> String {
    let mut text = String::from("Measured: pages filled\n");
    text.push_str(&table(search).draw(width));
    wrap(&mut text, &format!("enough: {}", goal(search)), width);
    text
}

/// What is enough.
pub(super) fn goal(search: &SearchReport) -> String {
    match search.goal {
        SearchGoal::Fills => {
            let enough = grouped(search.fills_enough);
            format!("at most {enough} pages filled, a tenth, or 256, more than without a limit")
        }
        SearchGoal::Seconds(seconds) => format!("at most {seconds:.2} s"),
        SearchGoal::Stall(share) => {
            format!(
                "at most {} % of the time waiting for memory",
                trimmed(&format!("{:.2}", share * 100.0))
            )
        }
    }
}

/// The runs, from the largest limit to the smallest.
pub(super) fn table(search: &SearchReport) -> Table {
    let mut runs: Vec<&SearchRun> = search.runs.iter().collect();
    runs.sort_by_key(|run| std::cmp::Reverse(run.limit_bytes.map_or(u64::MAX, |limit| limit.0)));
    Table::of("Runs that found the size", runs)
        .column(number("limit"), |run| {
            run.limit_bytes.map_or("none".to_owned(), |limit| limit.to_string())
        })
        .column(number("filled"), |run| grouped(run.fills))
        .column(words("").label("outcome"), outcome)
        .column(number("major").rank(2), |run| grouped(run.major_faults))
        .column(number("read").rank(1), |run| run.read_bytes.to_string())
        .column(number("seconds"), |run| format!("{:.2}", run.seconds))
        .column(number("waited").rank(3), |run| format!("{:.2}", run.memory_pressure_seconds))
        .done()
}

/// What a run showed, in a word or two.
fn outcome(run: &SearchRun) -> &'static str {
    match run.outcome {
        SearchOutcome::Enough if run.limit_bytes.is_none() => "",
        SearchOutcome::Enough => "enough",
        SearchOutcome::TooManyFills => "too small",
        SearchOutcome::TooSlow => "too slow",
        SearchOutcome::Stalled => "stalled",
        SearchOutcome::Stopped => "stopped",
        SearchOutcome::Killed => "killed",
        SearchOutcome::Failed => "failed",
    }
}

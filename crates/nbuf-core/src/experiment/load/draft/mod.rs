//! A draft of a script from a log: of nginx in its combined format, or of `PostgreSQL` with durations. A recording of
//! `nbuf watch` gives less: the rate of its tasks and their cost (`watch`).
//!
//! Pure: it opens no file. A line that cannot be read is left out, and named by its number. What a user asked first
//! and how long he paused afterwards come from the log; pauses beyond half an hour end a session.
//! Users whose requests cost much more than the others' get a class of their own ([`classes`]).

mod classes;
mod nginx;
mod postgres;
mod watch;
mod write;

use std::collections::BTreeMap;

/// A longer pause is between two sessions.
const SESSION_SECONDS: f64 = 1800.0;
/// The first of the lines that cannot be read are named.
const PROBLEMS: usize = 10;
/// What a log is not, and what to do.
const NOTHING: &str = "this is no access log of nginx in the combined format, no log of PostgreSQL whose \
     log_line_prefix has a time (%m) and a session (%c or %p), and no recording of nbuf watch --record: give one of \
     these to --from";

/// What a user did once.
#[derive(Clone, Debug, PartialEq)]
struct Turn {
    user: String,
    begin_seconds: f64,
    end_seconds: f64,
    /// What it cost: seconds, or bytes of an answer.
    cost: f64,
    /// The words of a command, or the path of a request; nothing where a script cannot do it.
    action: Option<Action>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Get(String),
    Query(String),
}

/// A draft, and what was left out of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The script, in TOML.
    pub script: String,
    /// Lines that could not be read: their number, and why; ten at most.
    pub problems: Vec<(usize, String)>,
    /// How many could not be read.
    pub unread: usize,
}

/// Why a log gives no draft.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct DraftError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

/// Drafts a script. Requests go to `server`, which begins with `http://`.
pub(super) fn draft(log: &str, server: &str) -> Result<Draft, DraftError> {
    let nothing = |line: usize| DraftError { line, what: NOTHING.to_owned() };
    if watch::is_recording(log) {
        return watch::draft(log);
    }
    let first = log.lines().find(|line| !line.trim().is_empty()).ok_or_else(|| nothing(1))?;
    let is_nginx = nginx::turn(first).is_ok();
    let Read { turns, problems } = if is_nginx { nginx::read(log) } else { postgres::read(log) };
    let unit = if is_nginx { Unit::Bytes } else { Unit::Seconds };
    if turns.is_empty() {
        return Err(problems.into_iter().next().map_or_else(
            || DraftError {
                line: 1,
                what: "no line has a duration: set log_min_duration_statement = 0".to_owned(),
            },
            |(line, what)| DraftError { line, what: format!("{what}; {}", nothing(line).what) },
        ));
    }
    let classes = classes::of(&turns);
    let classes: Vec<(Class, Summary)> =
        classes.into_iter().map(|(class, turns)| (class, Summary::of(&turns))).collect();
    // A class of users who do nothing that a script can do is left out.
    if classes.iter().all(|(_, summary)| summary.actions.is_empty()) {
        let what = "no line is a GET, or a query that reads: a script cannot do the others";
        return Err(DraftError { line: 1, what: what.to_owned() });
    }
    let script = write::script(&classes, unit, server);
    let unread = problems.len();
    Ok(Draft { script, unread, problems: problems.into_iter().take(PROBLEMS).collect() })
}

/// What costs are in.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Bytes,
    Seconds,
}

/// A class of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    All,
    Heavy,
    Light,
}

/// What a log has.
#[derive(Debug, Default)]
struct Read {
    turns: Vec<Turn>,
    problems: Vec<(usize, String)>,
}

/// What a script is written from.
#[derive(Debug)]
struct Summary {
    users: usize,
    turns: usize,
    /// The mean cost of a request.
    cost: f64,
    /// What cannot be done again.
    others: usize,
    rate_per_second: Option<f64>,
    /// Mean and standard deviation of pauses, and their number.
    think: Option<(f64, f64, usize)>,
    /// The most frequent first.
    actions: Vec<(Action, u64)>,
}

impl Summary {
    fn of(turns: &[&Turn]) -> Self {
        let mut by_user: BTreeMap<&str, Vec<&Turn>> = BTreeMap::new();
        let mut counts: BTreeMap<&Action, u64> = BTreeMap::new();
        for &turn in turns {
            by_user.entry(&turn.user).or_default().push(turn);
            if let Some(action) = &turn.action {
                *counts.entry(action).or_default() += 1;
            }
        }
        let mut pauses = Vec::new();
        for own in by_user.values_mut() {
            own.sort_by(|a, b| a.begin_seconds.total_cmp(&b.begin_seconds));
            let each = own.windows(2).map(|two| two[1].begin_seconds - two[0].end_seconds);
            pauses
                .extend(each.map(|pause| pause.max(0.0)).filter(|&pause| pause <= SESSION_SECONDS));
        }
        let mut actions: Vec<(Action, u64)> =
            counts.into_iter().map(|(action, count)| (action.clone(), count)).collect();
        // A stable order where two are alike.
        actions.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let begin = turns.iter().map(|turn| turn.begin_seconds).fold(f64::INFINITY, f64::min);
        let end = turns.iter().map(|turn| turn.begin_seconds).fold(f64::NEG_INFINITY, f64::max);
        Self {
            users: by_user.len(),
            turns: turns.len(),
            cost: turns.iter().map(|turn| turn.cost).sum::<f64>() / turns.len().max(1) as f64,
            others: turns.iter().filter(|turn| turn.action.is_none()).count(),
            rate_per_second: (end > begin).then(|| (turns.len() - 1) as f64 / (end - begin)),
            think: moments(&pauses),
            actions,
        }
    }
}

fn moments(values: &[f64]) -> Option<(f64, f64, usize)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (!values.is_empty()).then(|| (mean, variance.sqrt(), values.len()))
}

/// Days since 1970 of a day of the calendar, by the algorithm of Howard Hinnant, "chrono-compatible low-level date
/// algorithms"; nothing where there is no such month or day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Seconds since 1970 of a day and a time `20:30:01.5`.
fn seconds(days: i64, time: &str) -> Option<f64> {
    let mut parts = time.split(':');
    let mut part = |most: f64| {
        let text = parts.next().filter(|text| text.starts_with(|c: char| c.is_ascii_digit()))?;
        text.parse::<f64>().ok().filter(|value| (0.0..most).contains(value))
    };
    let (hours, minutes, seconds) = (part(24.0)?, part(60.0)?, part(61.0)?);
    Some(days as f64 * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
}

#[cfg(test)]
mod tests;

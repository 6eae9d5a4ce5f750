//! A log of `PostgreSQL`, with `log_min_duration_statement` or with `log_duration`.
//!
//! A line of an event begins with its prefix, which has a time (`%m` or `%t`) first, and a session: `%c`, or `%p` in
//! brackets. A line that begins with a tab goes on with the statement before. A line is written at the end of a
//! statement. Statements that write, and those with parameters, are left out: a draft shall do no harm.
//! Source: `PostgreSQL` 15 documentation, 20.8, "Error Reporting and Logging".

use super::{Action, Read, Turn, days, seconds};

const LEVELS: [&str; 11] = [
    "LOG:",
    "DETAIL:",
    "HINT:",
    "ERROR:",
    "WARNING:",
    "NOTICE:",
    "STATEMENT:",
    "FATAL:",
    "PANIC:",
    "INFO:",
    "CONTEXT:",
];
/// Queries that begin so only read.
const READS: [&str; 4] = ["select", "show", "values", "table"];

pub(super) fn read(log: &str) -> Read {
    let mut read = Read::default();
    // The statement under way: it may go on in the next lines.
    let mut open: Option<Turn> = None;
    for (at, line) in log.lines().enumerate() {
        if let Some(more) = line.strip_prefix('\t') {
            if let Some(Turn { action: Some(Action::Query(query)), .. }) = &mut open {
                query.push('\n');
                query.push_str(more);
            }
            continue;
        }
        read.turns.extend(open.take().map(judged));
        if line.trim().is_empty() {
            continue;
        }
        match turn(line) {
            Ok(turn) => open = turn,
            Err(what) => read.problems.push((at + 1, what.to_owned())),
        }
    }
    read.turns.extend(open.map(judged));
    read
}

/// One line of an event; nothing where it is of no statement.
fn turn(line: &str) -> Result<Option<Turn>, &'static str> {
    let level = LEVELS.iter().filter_map(|level| Some((line.find(&format!(" {level}"))?, level)));
    let (at, level) =
        level.min().ok_or("there is no level, as LOG: behind the prefix, and no tab before it")?;
    let (prefix, rest) = (&line[..at], line[at + 1 + level.len()..].trim_start());
    let end_seconds = time_of(prefix).ok_or("the prefix does not begin with a time: use %m")?;
    if *level != "LOG:" {
        return Ok(None);
    }
    let Some(rest) = rest.strip_prefix("duration: ") else { return Ok(None) };
    let (ms, rest) = rest.split_once(" ms").ok_or("the duration has no unit")?;
    let ms: f64 = ms.parse().map_err(|_| "the duration is no number")?;
    let user = session(prefix).ok_or("the prefix has no session: add %c to log_line_prefix")?;
    let rest = rest.trim_start();
    let query = ["statement: ", "execute "].into_iter().find_map(|kind| {
        let rest = rest.strip_prefix(kind)?;
        // The name of a prepared statement comes first.
        if kind == "execute " { Some(rest.split_once(": ")?.1) } else { Some(rest) }
    });
    let action = query.map(|query| Action::Query(query.to_owned()));
    let cost = ms / 1e3;
    Ok(Some(Turn { user, begin_seconds: end_seconds - cost, end_seconds, cost, action }))
}

/// Keeps what only reads and has no parameters.
fn judged(turn: Turn) -> Turn {
    let Some(Action::Query(query)) = &turn.action else { return turn };
    let query = query.trim().trim_end_matches(';').trim_end();
    let word = query.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let reads = READS.contains(&word.to_ascii_lowercase().as_str());
    let has_parameter = query
        .match_indices('$')
        .any(|(at, _)| query[at + 1..].starts_with(|next: char| next.is_ascii_digit()));
    // Two statements in one: the second may write.
    let is_one = !query.contains([';', '\0']);
    // `SELECT ... INTO` and locks write.
    let lower = query.to_ascii_lowercase();
    let plain =
        !lower.split_ascii_whitespace().any(|word| matches!(word, "into" | "update" | "share"));
    let keep = reads && is_one && plain && !has_parameter;
    let action = keep.then(|| Action::Query(query.to_owned()));
    Turn { action, ..turn }
}

/// `2026-11-25 21:31:42.920 UTC`
fn time_of(prefix: &str) -> Option<f64> {
    let mut words = prefix.split_ascii_whitespace();
    let (date, time) = (words.next()?, words.next()?);
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let days = days(parts.next()??, parts.next()??, parts.next()??)?;
    seconds(days, time)
}

/// `6b0753be.5ac5`, or the number of a process in brackets.
fn session(prefix: &str) -> Option<String> {
    let is_hex = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut words = prefix.split([' ', ',', '[', ']']).skip(2);
    let found =
        words.find(|word| word.split_once('.').is_some_and(|(a, b)| is_hex(a) && is_hex(b)));
    let process = || {
        let (_, rest) = prefix.split_once('[')?;
        let (number, _) = rest.split_once(']')?;
        number.parse::<u32>().ok().map(|number| number.to_string())
    };
    found.map(str::to_owned).or_else(process)
}

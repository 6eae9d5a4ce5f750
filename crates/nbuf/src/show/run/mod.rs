//! The ready message: one line.

pub(crate) mod compare;
mod compare_page;
mod flame;
mod keyed;
mod meters;
mod openmetrics;
mod page;
mod perfetto;
pub(crate) mod profile;
mod session;

use nbuf::experiment::result::{RunDocument, RunParts, RunPerLine, Spread};
use nbuf::units::{count, grouped};

pub(crate) use compare::comparison;
pub(crate) use compare_page::comparison_page;
pub(crate) use keyed::keyed;
pub(crate) use meters::tables;
pub(crate) use openmetrics::openmetrics;
pub(crate) use page::page;
pub(crate) use perfetto::perfetto;
pub(crate) use profile::{folded, profile};
pub(crate) use session::session_line;

/// The line after a command.
pub(crate) fn line(ran: &RunDocument) -> String {
    let mut parts = vec![split("real", ran.real_seconds, ran.real_time.as_ref())];
    if let Some(threads) = &ran.thread_time {
        parts.push(split("threads", threads.sum_seconds(), Some(threads)));
    }
    parts.push(format!(
        "CPU {} user, {} system",
        seconds(ran.user_seconds),
        seconds(ran.system_seconds)
    ));
    let (major, minor) = (grouped(ran.faults_major), grouped(ran.faults_minor));
    parts.push(format!("faults {major} major, {minor} minor"));
    if let Some(cache) = &ran.cache {
        let (hits, lookups) = (grouped(cache.hits), grouped(cache.lookups));
        let filled = count(cache.fills, "page", "pages");
        parts.push(format!("page cache {hits} hits of {lookups}, {filled} filled"));
    }
    parts.push(format!("disc {} read", ran.device_read_bytes));
    parts.push(format!("peak memory {}", ran.memory_bytes_max));
    parts.extend(ran.per_line.as_ref().map(per_line));
    match ran.interrupted {
        // What the command ended with is our doing.
        Some(signal) => parts.push(format!("interrupted by signal {signal}")),
        None if ran.signal.is_some() => {
            parts.extend(ran.signal.map(|signal| format!("killed by signal {signal}")));
        }
        None if ran.exit_status != 0 => parts.push(format!("exit status {}", ran.exit_status)),
        None => {}
    }
    if let Some(spread) = Spread::of(ran.runs.iter().map(|run| run.real_seconds)) {
        let (low, high) = (seconds(spread.low), seconds(spread.high));
        parts.push(format!("the middle of {} runs, {low} to {high}", spread.count));
    }
    parts.join("; ")
}

/// `11 lines, each 1.20 ms CPU, 0 major faults, 3.5 minor faults, 6.1 calls`.
fn per_line(of: &RunPerLine) -> String {
    let lines = count(of.lines, "line", "lines");
    let (Some(user), Some(system)) = (of.user_seconds_per_line, of.system_seconds_per_line) else {
        return lines;
    };
    let mut parts = vec![format!("{} CPU", super::watch::time(user + system))];
    let counts = [
        ("major faults", of.faults_major_per_line),
        ("minor faults", of.faults_minor_per_line),
        ("calls", of.calls_per_line),
    ];
    parts.extend(
        counts.iter().filter_map(|(name, each)| Some(format!("{} {name}", digits((*each)?)))),
    );
    format!("{lines}, each {}", parts.join(", "))
}

/// `real 1.00 s (on CPU 40 %, asleep 60 %)`: the parts of half a per cent and more.
fn split(name: &str, all: f64, parts: Option<&RunParts>) -> String {
    let named = parts.map(RunParts::named).unwrap_or_default();
    let shares = named.iter().map(|(name, part)| (name, 100.0 * part / all));
    let shown = shares.filter(|(_, share)| *share >= 0.5);
    let shown: Vec<String> = shown.map(|(name, share)| format!("{name} {share:.0} %")).collect();
    let all = seconds(all);
    if shown.is_empty() {
        format!("{name} {all}")
    } else {
        format!("{name} {all} ({})", shown.join(", "))
    }
}

/// Two decimals where they say something.
fn digits(number: f64) -> String {
    if number >= 100.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}

/// Three significant digits.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 99.95 => format!("{s:.0} s"),
        s if s >= 9.995 => format!("{s:.1} s"),
        s if s >= 0.9995 => format!("{s:.2} s"),
        s if s >= 0.0995 => format!("{:.0} ms", s * 1e3),
        s if s >= 0.00995 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.2} ms", s * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use nbuf::experiment::result::RunCache;
    use nbuf::units::Bytes;

    use super::*;

    #[test]
    fn the_line_says_where_the_time_went() {
        let real_time = RunParts {
            on_cpu_seconds: 0.4,
            disc_seconds: 0.004,
            asleep_seconds: 0.6,
            ..RunParts::default()
        };
        let thread_time = RunParts { runnable_seconds: 0.1, ..real_time };
        let ran = RunDocument {
            real_seconds: 1.004,
            user_seconds: 0.39,
            system_seconds: 0.0101,
            faults_major: 2,
            faults_minor: 1234,
            cache: Some(RunCache { lookups: 5000, hits: 4990, fills: 1 }),
            device_read_bytes: Bytes(8192),
            memory_bytes_max: Bytes(3 << 20),
            real_time: Some(real_time),
            thread_time: Some(thread_time),
            exit_status: 3,
            ..RunDocument::default()
        };
        expect!["real 1.00 s (on CPU 40 %, asleep 60 %); threads 1.10 s (on CPU 36 %, runnable 9 %, asleep 54 %); CPU 390 ms user, 10.1 ms system; faults 2 major, 1,234 minor; page cache 4,990 hits of 5,000, 1 page filled; disc 8.00 KiB read; peak memory 3.00 MiB; exit status 3"].assert_eq(&line(&ran));
        let ordinary = RunDocument { real_time: None, thread_time: None, cache: None, ..ran };
        expect!["real 1.00 s; CPU 390 ms user, 10.1 ms system; faults 2 major, 1,234 minor; disc 8.00 KiB read; peak memory 3.00 MiB; exit status 3"].assert_eq(&line(&ordinary));
    }

    #[test]
    fn each_line_has_its_cost() {
        let (user, system) = (Some(0.001), Some(0.0002));
        let of = RunPerLine {
            lines: 11,
            user_seconds_per_line: user,
            system_seconds_per_line: system,
            faults_major_per_line: Some(0.0),
            faults_minor_per_line: Some(3.5),
            calls_per_line: Some(123.4),
            ..RunPerLine::default()
        };
        expect!["11 lines, each 1.20 ms CPU, 0.00 major faults, 3.50 minor faults, 123 calls"]
            .assert_eq(&per_line(&of));
        expect!["0 lines"].assert_eq(&per_line(&RunPerLine::default()));
    }

    #[test]
    fn seconds_have_three_digits() {
        let of = [123.4, 12.34, 1.234, 0.1234, 0.012_34, 0.001_234, 0.0];
        let want = ["123 s", "12.3 s", "1.23 s", "123 ms", "12.3 ms", "1.23 ms", "0.00 ms"];
        assert_eq!(of.map(seconds), want);
    }
}

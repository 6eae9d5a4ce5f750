//! An interval of `nbuf watch` as text.

mod lines;
pub(crate) mod metrics;
mod page;
pub(crate) mod screen;

use std::fmt::Write as _;

use nbuf::experiment::result::{WatchChosen, WatchDocument, WatchFile};
use nbuf::units::{Bytes, count, grouped};

use super::text::{clean, tail};
pub(in crate::show) use lines::{clock, time, times};
use lines::{cost, discs, per_second, pressed, shares, states, strip};

/// Width of the names of the lines.
const NAMES: usize = 10;

/// A line of an interval: its name and its text. Further lines of a name have none.
pub(in crate::show) type Named = (&'static str, String);

/// A paragraph, with an empty line behind it.
pub(crate) fn text(seen: &WatchDocument) -> String {
    let processors = count(seen.processors, "processor", "processors");
    let mut lines = lines_of_processors(seen);
    lines.extend(lines_of_faults(seen));
    lines.extend(lines_of_cache(seen));
    lines.extend(seen.files.iter().flat_map(lines_of_file));
    lines.extend(seen.chosen.iter().flat_map(|chosen| lines_of_chosen(chosen, seen)));
    lines.push(("own", cost(&seen.own)));
    lines.extend(seen.notes.iter().map(|note| ("note", clean(&note.to_string()))));
    let (clock, lines) = (clock(seen.unix_seconds), paragraph(lines));
    format!("{clock:<NAMES$}{:.2} s of {processors}\n{lines}", seen.seconds)
}

/// These lines, and an empty one behind them.
pub(in crate::show) fn paragraph(lines: Vec<Named>) -> String {
    let mut text = String::new();
    for (name, value) in lines {
        let _ = writeln!(text, "{}", format!("{name:<NAMES$}{value}").trim_end());
    }
    text + "\n"
}

fn lines_of_processors(seen: &WatchDocument) -> Vec<Named> {
    let [running, idle] = shares(&seen.cpu);
    let pressure = seen.pressure.as_ref().map(|pressure| ("pressure", pressed(pressure)));
    let queue = &seen.queue;
    let length = format!("{} now, mean {:.1}", grouped(queue.length), queue.length_mean);
    let samples = count(queue.samples, "sample", "samples");
    let [entries, exits] =
        [(queue.entries, "entries"), (queue.exits, "exits")].map(|(count, name)| {
            count.map_or_else(String::new, |count| format!("{} {name}, ", per_second(count, seen)))
        });
    let (switches, created) = (per_second(queue.switches, seen), per_second(queue.created, seen));
    let lines = [
        ("queue", format!("{length} of {samples}")),
        ("", format!("{entries}{exits}{switches} switches and {created} tasks made")),
        ("states", states(&seen.states)),
    ];
    [("CPU", running), ("idle", idle)].into_iter().chain(pressure).chain(lines).collect()
}

fn lines_of_faults(seen: &WatchDocument) -> Vec<Named> {
    let faults = &seen.faults;
    let (major, minor) = (per_second(faults.major, seen), per_second(faults.minor, seen));
    let mean = |mean: Option<f64>| mean.map_or_else(|| "-".to_owned(), time);
    let (of_major, of_any) = (
        mean(faults.running_between_major_mean_seconds),
        mean(faults.running_between_mean_seconds),
    );
    let between = [("major", &faults.between_major), ("any", &faults.between)];
    let between = between.into_iter().filter_map(|(name, between)| {
        Some(("between", format!("{name} {}", times(between.as_ref()?))))
    });
    let lines = [
        ("faults", format!("{major} major and {minor} minor")),
        ("", format!("running time by faults: {of_major} a major one, {of_any} any")),
    ];
    lines.into_iter().chain(between).collect()
}

fn lines_of_cache(seen: &WatchDocument) -> Vec<Named> {
    let cache = &seen.cache;
    let sign = if cache.grown_bytes < 0 { '-' } else { '+' };
    let grown = Bytes(cache.grown_bytes.unsigned_abs());
    let read = cache.read_bytes;
    let pages = [cache.fills_min, cache.evictions, cache.refaults].map(|n| per_second(n, seen));
    let [fills, evictions, refaults] = pages;
    let lines = [
        ("cache", format!("{}, {sign}{grown}, {read} read from discs", cache.bytes)),
        ("", format!("pages: {fills} filled at least, {evictions} evicted, {refaults} refaulted")),
    ];
    let discs = discs(seen).into_iter().map(|disc| ("disc", disc));
    let service = seen.service.as_ref().map(|service| ("service", times(service)));
    lines.into_iter().chain(discs).chain(service).collect()
}

fn lines_of_file(file: &WatchFile) -> Vec<Named> {
    let name = ("file", tail(&file.path, 68));
    if let Some(error) = &file.error {
        return vec![name, ("", clean(error))];
    }
    let grown = file.grown.map_or_else(String::new, |grown| format!(" ({grown:+})"));
    let (cached, pages) = (grouped(file.cached), count(file.pages, "page", "pages"));
    let others = format!("{} dirty, {} evicted", grouped(file.dirty), grouped(file.evicted));
    let pages = format!("{cached} of {pages} cached{grown}, {others}");
    vec![name, ("", pages), ("", format!("|{}|", strip(&file.map)))]
}

fn lines_of_chosen(chosen: &WatchChosen, seen: &WatchDocument) -> Vec<Named> {
    let percent = |seconds: f64| format!("{:.1} %", 100.0 * seconds / seen.seconds);
    let (user, system) = (percent(chosen.user_seconds), percent(chosen.system_seconds));
    let processes = count(chosen.processes.len() as u64, "process", "processes");
    let memory = chosen.resident_bytes;
    let (major, minor) =
        (per_second(chosen.faults_major, seen), per_second(chosen.faults_minor, seen));
    let mean = chosen.running_between_mean_seconds.map_or_else(|| "-".to_owned(), time);
    vec![
        ("chosen", format!("{processes}: user {user}, system {system} of a core, {memory}")),
        ("", format!("threads: {}", states(&chosen.thread_states))),
        ("", format!("{major} major and {minor} minor faults, running time {mean} a fault")),
    ]
}

#[cfg(test)]
pub(crate) mod tests;

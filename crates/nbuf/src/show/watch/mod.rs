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

/// A paragraph, with an empty line behind it.
pub(crate) fn text(seen: &WatchDocument) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{}", format!("{name:<NAMES$}{value}").trim_end());
    };
    let processors = count(seen.processors, "processor", "processors");
    line(&clock(seen.unix_seconds), &format!("{:.2} s of {processors}", seen.seconds));
    lines_of_processors(seen, &mut line);
    lines_of_faults(seen, &mut line);
    lines_of_cache(seen, &mut line);
    for file in &seen.files {
        lines_of_file(file, &mut line);
    }
    if let Some(chosen) = &seen.chosen {
        lines_of_chosen(chosen, seen, &mut line);
    }
    line("own", &cost(&seen.own));
    for note in &seen.notes {
        line("note", &clean(&note.to_string()));
    }
    text.push('\n');
    text
}

/// Takes a line by its name and its text. Further lines of a name have none.
type Line<'a> = dyn FnMut(&str, &str) + 'a;

fn lines_of_processors(seen: &WatchDocument, line: &mut Line<'_>) {
    let [running, idle] = shares(&seen.cpu);
    line("CPU", &running);
    line("idle", &idle);
    if let Some(pressure) = &seen.pressure {
        line("pressure", &pressed(pressure));
    }
    let queue = &seen.queue;
    let length = format!("{} now, mean {:.1}", grouped(queue.length), queue.length_mean);
    line("queue", &format!("{length} of {}", count(queue.samples, "sample", "samples")));
    let [entries, exits] =
        [(queue.entries, "entries"), (queue.exits, "exits")].map(|(count, name)| {
            count.map_or_else(String::new, |count| format!("{} {name}, ", per_second(count, seen)))
        });
    let (switches, created) = (per_second(queue.switches, seen), per_second(queue.created, seen));
    line("", &format!("{entries}{exits}{switches} switches and {created} tasks made"));
    line("states", &states(&seen.states));
}

fn lines_of_faults(seen: &WatchDocument, line: &mut Line<'_>) {
    let faults = &seen.faults;
    let (major, minor) = (per_second(faults.major, seen), per_second(faults.minor, seen));
    line("faults", &format!("{major} major and {minor} minor"));
    let mean = |mean: Option<f64>| mean.map_or_else(|| "-".to_owned(), time);
    let (of_major, of_any) = (
        mean(faults.running_between_major_mean_seconds),
        mean(faults.running_between_mean_seconds),
    );
    line("", &format!("running time by faults: {of_major} a major one, {of_any} any"));
    for (name, between) in [("major", &faults.between_major), ("any", &faults.between)] {
        if let Some(between) = between {
            line("between", &format!("{name} {}", times(between)));
        }
    }
}

fn lines_of_cache(seen: &WatchDocument, line: &mut Line<'_>) {
    let cache = &seen.cache;
    let sign = if cache.grown_bytes < 0 { '-' } else { '+' };
    let grown = Bytes(cache.grown_bytes.unsigned_abs());
    let read = cache.read_bytes;
    line("cache", &format!("{}, {sign}{grown}, {read} read from discs", cache.bytes));
    let pages = [cache.fills_min, cache.evictions, cache.refaults].map(|n| per_second(n, seen));
    let [fills, evictions, refaults] = pages;
    line("", &format!("pages: {fills} filled at least, {evictions} evicted, {refaults} refaulted"));
    for disc in discs(seen) {
        line("disc", &disc);
    }
    if let Some(service) = &seen.service {
        line("service", &times(service));
    }
}

fn lines_of_file(file: &WatchFile, line: &mut Line<'_>) {
    line("file", &tail(&file.path, 68));
    if let Some(error) = &file.error {
        line("", &clean(error));
        return;
    }
    let grown = file.grown.map_or_else(String::new, |grown| format!(" ({grown:+})"));
    let (cached, pages) = (grouped(file.cached), count(file.pages, "page", "pages"));
    let others = format!("{} dirty, {} evicted", grouped(file.dirty), grouped(file.evicted));
    line("", &format!("{cached} of {pages} cached{grown}, {others}"));
    line("", &format!("|{}|", strip(&file.map)));
}

fn lines_of_chosen(chosen: &WatchChosen, seen: &WatchDocument, line: &mut Line<'_>) {
    let percent = |seconds: f64| format!("{:.1} %", 100.0 * seconds / seen.seconds);
    let (user, system) = (percent(chosen.user_seconds), percent(chosen.system_seconds));
    let processes = count(chosen.processes.len() as u64, "process", "processes");
    let memory = chosen.resident_bytes;
    line("chosen", &format!("{processes}: user {user}, system {system} of a core, {memory}"));
    line("", &format!("threads: {}", states(&chosen.thread_states)));
    let (major, minor) =
        (per_second(chosen.faults_major, seen), per_second(chosen.faults_minor, seen));
    let mean = chosen.running_between_mean_seconds.map_or_else(|| "-".to_owned(), time);
    line("", &format!("{major} major and {minor} minor faults, running time {mean} a fault"));
}

#[cfg(test)]
pub(crate) mod tests;

//! The pages of the live display, as lines.

use nbuf::experiment::result::{WatchDocument, WatchTimes};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::super::{
    clock, cost, lines_of_cache, lines_of_chosen, lines_of_faults, lines_of_file,
    lines_of_processors, page as saved,
};
use super::View;
use super::parts::{FIGURES, NAMES, bar, histogram, strip, written};

/// The figures of the machine.
impl View for WatchDocument {
    const PAGES: &'static [&'static str] = &["Processors", "Faults", "Cache", "Discs"];
    const WORDS: &'static [&'static str] = &[
        "true idle                no task could run, and none waited for a disc",
        "multiprogramming idle    no task could run, and one waited for a disc",
        "major fault              a page fault that waited for a disc",
        "own cost                 of watching, in per cent of one core",
    ];

    fn head(&self) -> String {
        let (seconds, processors) = (self.seconds, self.processors);
        format!("{} UTC  {seconds:.2} s of {processors} processors", clock(self.unix_seconds))
    }

    /// The cost in per cent of a core is always there.
    fn cost(&self) -> String {
        format!("own cost {:.1} %", self.own.cpu_percent + self.own.records_percent)
    }

    fn lines(seen: &[&Self], page: usize, width: usize, has_colour: bool) -> Vec<Line<'static>> {
        let Some(now) = seen.last() else { return Vec::new() };
        match page {
            0 => processors(seen, now, width, has_colour),
            1 => faults(seen, now, width),
            2 => cache(seen, now, width),
            _ => discs(seen, now, width),
        }
    }

    fn stamp(&self) -> String {
        saved::stamp(self)
    }

    fn html(seen: &[&Self]) -> String {
        saved::html(seen)
    }
}

fn processors(
    seen: &[&WatchDocument],
    now: &WatchDocument,
    width: usize,
    has_colour: bool,
) -> Vec<Line<'static>> {
    const COLOURS: [Color; 6] =
        [Color::Green, Color::Cyan, Color::Yellow, Color::Magenta, Color::Red, Color::DarkGray];
    let all = now.cpu.sum_seconds().max(1e-9);
    let room = width.saturating_sub(NAMES + FIGURES + 1);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for ((name, part), colour) in now.cpu.named().into_iter().zip(COLOURS) {
        let share = part / all;
        let style = if has_colour { Style::new().fg(colour) } else { Style::new() };
        let figure = format!("{name:<NAMES$}{:>8.1} %", 100.0 * share);
        lines
            .push(Line::from(vec![Span::raw(figure + " "), Span::styled(bar(share, room), style)]));
    }
    let idle = |seen: &WatchDocument| {
        seen.cpu.multiprogramming_idle_seconds / seen.cpu.sum_seconds().max(1e-9)
    };
    let busy = |seen: &WatchDocument| {
        (seen.cpu.user_seconds + seen.cpu.system_seconds) / seen.cpu.sum_seconds().max(1e-9)
    };
    lines.push(strip("running", seen, width, Some(1.0), busy));
    lines.push(strip("multiprogramming idle", seen, width, Some(1.0), idle));
    lines.push(strip("queue", seen, width, None, |seen| seen.queue.length_mean));
    // The states of processes over time, as core watch had them; the others are below.
    lines.push(strip("processes running", seen, width, None, |seen| seen.states.running as f64));
    lines.push(strip("processes at a disc", seen, width, None, |seen| seen.states.disc as f64));
    lines.push(Line::default());
    // The shares are above.
    lines.extend(written(lines_of_processors(now)).skip(2));
    lines.extend(now.chosen.iter().flat_map(|chosen| written(lines_of_chosen(chosen, now))));
    lines.push(Line::from(format!("own cost: {}", cost(&now.own))));
    for note in &now.notes {
        lines.push(Line::from(super::super::clean(&note.to_string())));
    }
    lines
}

fn faults(seen: &[&WatchDocument], now: &WatchDocument, width: usize) -> Vec<Line<'static>> {
    let rate = |count: u64, seen: &WatchDocument| count as f64 / seen.seconds.max(1e-9);
    let mut lines = vec![
        strip("major a second", seen, width, None, |seen| rate(seen.faults.major, seen)),
        strip("minor a second", seen, width, None, |seen| rate(seen.faults.minor, seen)),
    ];
    lines.extend(written(lines_of_faults(now)));
    let kinds = [("major", &now.faults.between_major), ("any", &now.faults.between)];
    for (name, times) in kinds {
        let title = format!("running time between two faults, {name}");
        lines.extend(titled(&title, times.as_ref(), width));
    }
    lines
}

fn cache(seen: &[&WatchDocument], now: &WatchDocument, width: usize) -> Vec<Line<'static>> {
    let rate = |count: u64, seen: &WatchDocument| count as f64 / seen.seconds.max(1e-9);
    let mut lines = vec![
        strip("GiB in the cache", seen, width, None, |seen| {
            seen.cache.bytes.0 as f64 / f64::from(1 << 30)
        }),
        strip("fills a second", seen, width, None, |seen| rate(seen.cache.fills_min, seen)),
        strip("evictions a second", seen, width, None, |seen| rate(seen.cache.evictions, seen)),
        strip("refaults a second", seen, width, None, |seen| rate(seen.cache.refaults, seen)),
    ];
    lines.extend(written(lines_of_cache(now)).take(2));
    if now.files.is_empty() {
        lines.push(Line::default());
        lines.push(Line::from("no file is named; --file FILE shows its cached part here"));
    }
    for file in &now.files {
        lines.push(Line::default());
        lines.extend(written(lines_of_file(file)));
    }
    lines
}

fn discs(seen: &[&WatchDocument], now: &WatchDocument, width: usize) -> Vec<Line<'static>> {
    let requests = |seen: &WatchDocument| {
        let all: u64 = seen.discs.iter().map(|disc| disc.reads + disc.writes).sum();
        all as f64 / seen.seconds.max(1e-9)
    };
    // The sum of no floating-point numbers is -0.
    let queue =
        |seen: &WatchDocument| seen.discs.iter().map(|disc| disc.queue_mean).sum::<f64>() + 0.0;
    let mut lines = vec![
        strip("requests a second", seen, width, None, requests),
        strip("queue of all", seen, width, None, queue),
    ];
    // The first two are of the cache.
    lines.extend(written(lines_of_cache(now)).skip(2));
    let title = "time at the device, from issue to completion";
    lines.extend(titled(title, now.service.as_ref(), width));
    lines
}

/// A histogram under its title, if it has steps.
fn titled(title: &str, times: Option<&WatchTimes>, width: usize) -> Vec<Line<'static>> {
    let steps = times.map_or(&[][..], |times| &times.steps);
    if steps.is_empty() {
        return Vec::new();
    }
    let title = [Line::default(), Line::from(title.to_owned())];
    title.into_iter().chain(histogram(steps, width)).collect()
}

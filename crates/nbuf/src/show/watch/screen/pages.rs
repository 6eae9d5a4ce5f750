//! The pages of the live display, as lines.

use nbuf::experiment::result::{FigureStep, WatchDocument};
use nbuf::units::{grouped, whole};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::super::{
    Line as TakeLine, lines_of_cache, lines_of_chosen, lines_of_faults, lines_of_file,
};
use super::super::{lines_of_processors, time};
use super::cost_line;

/// Width of the names of bars and strips.
const NAMES: usize = 22;
/// Width of their figures.
const FIGURES: usize = 10;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Processors,
    Faults,
    Cache,
    Discs,
}

impl Page {
    pub(super) const ALL: [Self; 4] = [Self::Processors, Self::Faults, Self::Cache, Self::Discs];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Processors => "Processors",
            Self::Faults => "Faults",
            Self::Cache => "Cache",
            Self::Discs => "Discs",
        }
    }

    pub(super) fn next(self) -> Self {
        match self {
            Self::Processors => Self::Faults,
            Self::Faults => Self::Cache,
            Self::Cache => Self::Discs,
            Self::Discs => Self::Processors,
        }
    }

    pub(super) fn previous(self) -> Self {
        self.next().next().next()
    }

    /// The page of the last of these intervals, with strips of all.
    pub(super) fn lines(
        self,
        seen: &[&WatchDocument],
        width: usize,
        has_colour: bool,
    ) -> Vec<Line<'static>> {
        let Some(now) = seen.last() else { return Vec::new() };
        match self {
            Self::Processors => processors(seen, now, width, has_colour),
            Self::Faults => faults(seen, now, width),
            Self::Cache => cache(seen, now, width),
            Self::Discs => discs(seen, now, width),
        }
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
    lines.push(Line::default());
    written(&mut lines, |line| {
        // The shares are above.
        let mut behind = 2;
        lines_of_processors(now, &mut |name, text| {
            if behind > 0 {
                behind -= 1;
            } else {
                line(name, text);
            }
        });
        if let Some(chosen) = &now.chosen {
            lines_of_chosen(chosen, now, line);
        }
    });
    lines.push(Line::from(cost_line(now)));
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
    written(&mut lines, |line| lines_of_faults(now, line));
    let kinds = [("major", &now.faults.between_major), ("any", &now.faults.between)];
    for (name, times) in kinds {
        let steps = times.as_ref().map_or(&[][..], |times| &times.steps);
        if !steps.is_empty() {
            lines.push(Line::default());
            lines.push(Line::from(format!("running time between two faults, {name}")));
            lines.extend(histogram(steps, width));
        }
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
    written(&mut lines, |line| {
        let mut first = 2;
        lines_of_cache(now, &mut |name, text| {
            if first > 0 {
                first -= 1;
                line(name, text);
            }
        });
    });
    if now.files.is_empty() {
        lines.push(Line::default());
        lines.push(Line::from("no file is named; --file FILE shows its cached part here"));
    }
    for file in &now.files {
        lines.push(Line::default());
        written(&mut lines, |line| lines_of_file(file, line));
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
    written(&mut lines, |line| {
        let mut first = 2;
        lines_of_cache(now, &mut |name, text| {
            if first > 0 {
                first -= 1;
            } else {
                line(name, text);
            }
        });
    });
    let steps = now.service.as_ref().map_or(&[][..], |times| &times.steps);
    if !steps.is_empty() {
        lines.push(Line::default());
        lines.push(Line::from("time at the device, from issue to completion"));
        lines.extend(histogram(steps, width));
    }
    lines
}

/// Lines of the text, below those that are there.
fn written(lines: &mut Vec<Line<'static>>, write: impl FnOnce(&mut TakeLine<'_>)) {
    write(&mut |name, text| lines.push(Line::from(format!("{name:<10}{text}"))));
}

/// A figure with what it was in the intervals before, the last at the right. `most` is the top of the strip;
/// the largest value without it.
fn strip(
    name: &str,
    seen: &[&WatchDocument],
    width: usize,
    most: Option<f64>,
    value: impl Fn(&WatchDocument) -> f64,
) -> Line<'static> {
    const SIGNS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let room = width.saturating_sub(NAMES + FIGURES + 1);
    let values: Vec<f64> = seen.iter().map(|seen| value(seen)).collect();
    let shown = &values[values.len().saturating_sub(room)..];
    let most = most.unwrap_or_else(|| shown.iter().copied().fold(0.0, f64::max)).max(1e-12);
    let signs: String = shown
        .iter()
        .map(|value| {
            let height = whole((8.0 * value / most).ceil());
            SIGNS[usize::try_from(height).unwrap_or(8).min(8)]
        })
        .collect();
    let last = shown.last().copied().unwrap_or(0.0);
    let figure = if last >= 100.0 { grouped(whole(last.round())) } else { format!("{last:.2}") };
    Line::from(format!("{name:<NAMES$}{figure:>FIGURES$} {signs:>room$}"))
}

/// A bar of a share from 0 to 1.
fn bar(share: f64, room: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = usize::try_from(whole((share.clamp(0.0, 1.0) * room as f64 * 8.0).round()));
    let eighths = eighths.unwrap_or(0).min(room * 8);
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

fn histogram(steps: &[FigureStep], width: usize) -> Vec<Line<'static>> {
    let most = steps.iter().map(|step| step.count).max().unwrap_or(0).max(1);
    let room = width.saturating_sub(NAMES + FIGURES + 1);
    let line = |step: &FigureStep| {
        let name = format!("{} to {}", time(step.from), time(step.to));
        let share = step.count as f64 / most as f64;
        let count = grouped(step.count);
        Line::from(format!("{name:<NAMES$}{count:>FIGURES$} {}", bar(share, room)))
    };
    steps.iter().map(line).collect()
}

//! The six figures of a cache in front of a disc: as text, and as pictures for a page.
//!
//! Invariant: both say the same; the rows of a distribution are made here, and drawn there.

mod map;
mod page;
mod text;

use nbuf::experiment::result::{FigureLists, FigureStep, FigureTracks, ReplayFigures};
use nbuf::units::{Bytes, Nanos};

use super::text::{count, grouped};
pub(super) use page::sections;
pub(super) use text::text;

/// Whose figures they are: a server cannot separate the queue of its disc, and measures a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Replay,
    Server,
}

/// A line of a distribution.
struct Row {
    label: String,
    count: u64,
}

/// What is drawn as bars.
struct Distribution {
    title: &'static str,
    /// What the labels are of.
    of: &'static str,
    /// What is counted.
    counted: &'static str,
    rows: Vec<Row>,
    caption: String,
}

/// The four of the six that are distributions; those that have nothing to show are left out.
fn distributions(figures: &ReplayFigures, of: Of) -> Vec<Distribution> {
    let lists = figures.lists.as_ref().map(list_lengths);
    let others = [hit_rates(figures), service(&figures.service, of), rates(figures)];
    lists.into_iter().chain(others).filter(|figure| !figure.rows.is_empty()).collect()
}

fn list_lengths(lists: &FigureLists) -> Distribution {
    let rows = lists.distribution.iter().enumerate();
    Distribution {
        title: "Hash queue length distribution",
        of: "entries",
        counted: "lists",
        rows: rows.map(|(length, &count)| Row { label: length.to_string(), count }).collect(),
        caption: format!(
            "{}, looked at {}: {:.2} entries on average, {:.0} % have three or fewer; at the end, the \
             longest has {}",
            count(lists.lengths.len() as u64, "list", "lists"),
            count(lists.looks, "time", "times"),
            lists.mean,
            lists.share_up_to_3 * 100.0,
            lists.longest
        ),
    }
}

fn hit_rates(figures: &ReplayFigures) -> Distribution {
    let parts = figures.hit_rates.len().max(1);
    let label = |part: usize| format!("{}-{} %", part * 100 / parts, (part + 1) * 100 / parts);
    let rows = figures.hit_rates.iter().enumerate();
    let rows = rows.map(|(part, &count)| Row { label: label(part), count });
    by_period("Hit rate distribution", "requests served by the cache", rows, figures)
}

fn rates(figures: &ReplayFigures) -> Distribution {
    let label = |step: &FigureStep| format!("{}-{}", step.from, step.to);
    let rows = figures.rates.iter().map(|step| Row { label: label(step), count: step.count });
    by_period("Operation rate distribution", "requests a second", rows, figures)
}

fn by_period(
    title: &'static str,
    of: &'static str,
    rows: impl Iterator<Item = Row>,
    figures: &ReplayFigures,
) -> Distribution {
    let (counted, caption) = ("periods", periods(figures));
    Distribution { title, of, counted, rows: trimmed(rows.collect()), caption }
}

fn periods(figures: &ReplayFigures) -> String {
    let busy: u64 = figures.hit_rates.iter().sum();
    let idle = match figures.idle_periods {
        0 => String::new(),
        idle => format!(", and {} without a request", grouped(idle)),
    };
    let seconds = figures.period_seconds;
    format!("{} of {seconds} s{idle}", count(busy, "period", "periods"))
}

fn service(steps: &[FigureStep], of: Of) -> Distribution {
    let rows = steps.iter().map(|step| Row { label: between(step), count: step.count });
    let requests = count(steps.iter().map(|step| step.count).sum(), "request", "requests");
    let caption = match of {
        Of::Replay => format!("{requests}, without their turns in the queue of the disc"),
        Of::Server => format!("a sample of {requests}, from asking to having"),
    };
    Distribution {
        title: "Disc + cache service time distribution",
        of: "time from asking to having",
        counted: "requests",
        rows: trimmed(rows.collect()),
        caption,
    }
}

/// Two times in the unit of the first: `20-30 ms`.
fn between(step: &FigureStep) -> String {
    let from = if step.from > 0.0 { step.from } else { step.to };
    let shown = Nanos::from_seconds(from).to_string();
    let unit = shown.split_once(' ').map_or("s", |(_, unit)| unit);
    let scale = match unit {
        "ns" => 1e9,
        "us" => 1e6,
        "ms" => 1e3,
        _ => 1.0,
    };
    // The ends are round: what is behind the third digit comes from the arithmetic.
    let number = |seconds: f64| (seconds * scale * 1e3).round() / 1e3;
    format!("{}-{} {unit}", number(step.from), number(step.to))
}

/// Without the empty rows at both ends.
fn trimmed(mut rows: Vec<Row>) -> Vec<Row> {
    let last = rows.iter().rposition(|row| row.count > 0).map_or(0, |last| last + 1);
    rows.truncate(last);
    let first = rows.iter().position(|row| row.count > 0).unwrap_or(0);
    rows.split_off(first)
}

/// What is in the cache, in words.
fn tracks_caption(tracks: &FigureTracks) -> String {
    let management = tracks.units_management.filter(|_| tracks.units_held > 0).map(|units| {
        let share = units as f64 / tracks.units_held as f64 * 100.0;
        format!(", {share:.0} % of them from the management space")
    });
    let pieces = if tracks.is_track {
        "tracks".to_owned()
    } else {
        format!("pieces of {}", Bytes(tracks.track_bytes))
    };
    format!(
        "{} in the cache{}; they lie in {} of {} {pieces}",
        count(tracks.units_held, "unit", "units"),
        management.unwrap_or_default(),
        grouped(tracks.tracks_held),
        grouped(tracks.tracks)
    )
}

/// What the map is called.
fn tracks_title(tracks: &FigureTracks) -> &'static str {
    if tracks.is_track { "Tracks in cache" } else { "Places in cache" }
}

/// What a place of the map is.
fn place_size(map: &map::Map, tracks: &FigureTracks) -> String {
    let pieces = map.tracks_of_place(tracks);
    if tracks.is_track {
        return format!("{pieces:.1} tracks");
    }
    Bytes(nbuf::units::whole(pieces * tracks.track_bytes as f64)).to_string()
}

#[cfg(test)]
pub(crate) mod tests;

//! Elapsed time and hit ratio against size.

use nbuf::experiment::result::{ReplayDocument, ReplaySize};

use super::super::chart::{Chart, Line, Look, Mark};
use super::super::plot;
use super::super::scale::Axis;

/// Least width at which there is a plot.
const WIDTH_MIN: usize = 20;

/// Both on a terminal, one above the other.
pub(super) fn plots(document: &ReplayDocument, width: usize, colour: bool) -> String {
    let most = document.sizes.iter().map(|row| row.size_units).max().unwrap_or(0);
    if width < WIDTH_MIN || most == 0 {
        return String::new();
    }
    let height = (width / 12 + 3).clamp(5, 11);
    let ticks = [(0.0, "0"), (0.5, "50"), (1.0, "100")].map(|(at, text)| (at, text.to_owned()));
    let both = [elapsed(document), hits(document, ticks.to_vec())].map(|mut chart| {
        // The table has said which size it is.
        let enough = marks(document).into_iter().filter(|mark| mark.is_chosen);
        chart.marks = enough.map(|mark| Mark { label: String::new(), ..mark }).collect();
        plot::draw(&chart, width, height, colour)
    });
    both.join("\n")
}

/// Elapsed time.
pub(super) fn elapsed(document: &ReplayDocument) -> Chart {
    let times = document.sizes.iter().map(|row| row.elapsed_seconds);
    let y = Axis::seconds("elapsed", times);
    chart(document, "elapsed by cache size", y, |row| row.elapsed_seconds)
}

/// The hit ratio, with these ticks.
pub(super) fn hits(document: &ReplayDocument, ticks: Vec<(f64, String)>) -> Chart {
    let y = Axis::given("hits %", 1.0, ticks);
    chart(document, "hit % by cache size", y, |row| row.hit_ratio)
}

fn chart(
    document: &ReplayDocument,
    title: &str,
    y: Axis,
    value: impl Fn(&ReplaySize) -> f64,
) -> Chart {
    let bytes = |units: u64| units.saturating_mul(document.unit_bytes) as f64;
    let most = document.sizes.iter().map(|row| row.size_units).max().unwrap_or(0);
    let x = Axis::linear_sizes("cache size", bytes(most.max(1)));
    let points = document.sizes.iter().map(|row| (bytes(row.size_units), value(row)));
    let mut chart = Chart::new(title, x, y);
    chart.at = document.sizes.iter().map(|row| bytes(row.size_units)).collect();
    chart.lines = vec![Line::new("", Look::Nth(0), points.collect())];
    chart
}

/// The three points, those of one size together.
pub(super) fn marks(document: &ReplayDocument) -> Vec<Mark> {
    let Some(points) = document.points else { return Vec::new() };
    let all = [
        ("slower than no cache", points.worse_to_units),
        ("worth it", points.worth_from_units),
        ("saves nothing more", points.enough_from_units),
    ];
    let known: Vec<(&str, u64)> =
        all.into_iter().filter_map(|(name, units)| Some((name, units?))).collect();
    let mark = |group: &[(&str, u64)]| {
        let names: Vec<&str> = group.iter().map(|(name, _)| *name).collect();
        Mark {
            x: group[0].1.saturating_mul(document.unit_bytes) as f64,
            label: names.join(" = "),
            is_chosen: names.contains(&"saves nothing more"),
        }
    };
    known.chunk_by(|a, b| a.1 == b.1).map(mark).collect()
}

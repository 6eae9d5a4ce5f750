//! What running programs need, as a page: the answer, misses over sizes, what to paste.

use nbuf::experiment::result::{LiveDocument, LivePoint};

use super::super::chart::{Band, Chart, Line, Look, Mark};
use super::super::page::{Answer, Mood, Page, Part, Tile};
use super::super::scale::Axis;
use super::super::text::rate;
use super::note::Note;
use super::paste::{autoscaler, paste};
use super::{answer, limit, notes, parts, probe, rows, sheet};

/// Lines to paste are not broken.
const PASTED_WIDTH: usize = 200;

/// What the words of the page mean.
const WORDS: &str = "\
cache: memory for pages of files
limit: the cache and the other memory of the programs: what to set
miss: an access to a page of a file that is not in the cache
hit %: accesses that find their page, of 100
from, to: the range that holds the misses nineteen times of twenty, by parts of the window";

/// The whole page.
pub(crate) fn page(live: &LiveDocument) -> String {
    let command = live.command.join(" ");
    let mut lead = Vec::new();
    let mut tiles = Vec::new();
    if let Some(point) = &live.answer {
        lead.push(Part::Text(format!("{} {}.", limit(point), parts(live, point))));
        lead.push(Part::Lines(paste(point, PASTED_WIDTH)));
        lead.push(Part::Lines(autoscaler(point)));
        let tile = |name, value: String, note: String| Tile { name, value, note };
        tiles = vec![
            tile("limit", limit(point).to_string(), "to set".to_owned()),
            tile("cache", point.cache_bytes.to_string(), "of it".to_owned()),
            tile("other memory", live.memory.other_bytes().to_string(), "at the end".to_owned()),
            tile("misses", rate(point.misses_per_second), "a second".to_owned()),
        ];
    }
    let of_probe = live.probe.iter().flat_map(probe::notes);
    let (bad, plain): (Vec<Note>, Vec<Note>) =
        of_probe.chain(notes(live)).partition(Note::is_warning);
    let mood = match live.answer {
        Some(_) if bad.is_empty() => Mood::Good,
        _ => Mood::Open,
    };
    lead.extend(bad.iter().map(|note| Part::Bad(note.to_string())));
    let misses = if rows(live).count() > 1 {
        Some(Part::Chart(chart(live)))
    } else {
        Part::table(sheet(live))
    };
    let tried = live.probe.iter().filter(|probe| !probe.steps.is_empty());
    let plain = plain.iter().map(|note| Part::Note(note.to_string()));
    Page::new("size", command, WORDS)
        .answers([Answer::new(mood, answer(live))])
        .tiles(tiles)
        .lead(lead)
        .section("Misses by size of the cache", misses)
        .section(
            "Limits that were tried",
            tried.filter_map(|probe| Part::table(probe::sheet(probe))),
        )
        .section("How it was modelled", plain)
        .html()
}

fn tick(value: f64) -> String {
    if value > 0.0 { rate(value) } else { "0".to_owned() }
}

/// Misses a second over the size of the cache, with their band.
fn chart(live: &LiveDocument) -> Chart {
    let shown: Vec<&LivePoint> = rows(live).collect();
    let (first, last) = (shown[0], shown[shown.len() - 1]);
    let size = |point: &LivePoint| point.cache_bytes.0 as f64;
    let all: Vec<&LivePoint> =
        live.points.iter().filter(|point| point.cache_bytes >= first.cache_bytes).collect();
    let points = |of: fn(&LivePoint) -> f64| -> Vec<(f64, f64)> {
        all.iter().map(|point| (size(point), of(point))).collect()
    };
    let most = all.iter().map(|point| point.misses_per_second_high).fold(0.0, f64::max);
    let x = Axis::sizes("cache", size(first), size(last));
    let y = Axis::numbers("misses a second", most, tick);
    let mut chart = Chart::new("misses a second by size of the cache", x, y);
    let (low, high) =
        (points(|it| it.misses_per_second_low), points(|it| it.misses_per_second_high));
    let name = "nineteen times of twenty".to_owned();
    chart.bands = vec![Band { name, look: Look::Nth(0), low, high, has_edges: false }];
    chart.lines = vec![Line::new("misses", Look::Nth(0), points(|point| point.misses_per_second))];
    let mark = |point: &LivePoint| Mark {
        x: size(point),
        label: format!("{} of cache", point.cache_bytes),
        is_chosen: true,
    };
    chart.marks = live.answer.iter().map(mark).collect();
    chart.at = shown.iter().map(|point| size(point)).collect();
    chart.table = sheet(live);
    chart
}

#[cfg(test)]
mod tests {
    use super::super::tests::document;
    use super::*;

    #[test]
    fn the_page_has_the_answer_the_curve_and_what_to_paste() {
        let page = page(&document());
        // All its misses are 0, and have positions.
        super::super::super::page::tests::well_formed(&page);
        for part in [
            "53.0 MiB. Modelled from 60 s",
            "misses a second",
            "memory: 53Mi",
            "<svg",
            "MemoryHigh=53M",
            "kind: VerticalPodAutoscaler",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let idle = LiveDocument { answer: None, points: vec![], ..document() };
        let page = super::page(&idle);
        assert!(page.contains("Cache buys nothing") && !page.contains("<svg"), "{page}");
    }
}

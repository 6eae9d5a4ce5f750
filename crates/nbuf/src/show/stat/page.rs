//! The shape of a trace as a page.

use nbuf::experiment::result::TraceDocument;

use super::super::page::{Answer, Mood, Page, Part, Tile};
use super::super::text::grouped;
use super::counts;
use super::sections::{Section, most, sections};
use super::words::{keys, percent, share};

/// What the words of the page mean.
const WORDS: &str = "\
first use: the first access to a page or key, or the first after a discard: no cache has it
one-hit wonder: a page or key that the trace uses once
Zipf exponent: the key of rank r is used in proportion to 1 / r to this power; ± is the error nineteen times of \
    twenty, if the law holds
reuse distance: distinct pages or keys since the last use, this one included: the smallest LRU cache that hits
loop: accesses in a row at one reuse distance, for a whole round more
scan: accesses to keys that follow each other, 64 or more, up to sixteen scans at once
eviction age: accesses from the last use of a key to its eviction
stay: accesses from the arrival of a key to its eviction
near, far: accesses outside of loops and scans whose reuse distance is within the size of the cache, or beyond";

/// The whole page. `names` are those of the inputs.
pub(crate) fn page(document: &TraceDocument, names: &[String]) -> String {
    let shape = document.shape.as_ref();
    let answer = shape.map_or_else(String::new, most);
    Page::new("trace stat", names.join(", "), WORDS)
        .answers([Answer::new(Mood::Good, answer)])
        .tiles(tiles(document))
        .sections(sections(document).into_iter().map(|section| (section.title, parts(section))))
        .section("The trace", trace(document))
        .html()
}

fn parts(section: Section) -> Vec<Part> {
    let Section { lines, tables, charts, heats, .. } = section;
    let mut parts: Vec<Part> = lines.into_iter().map(Part::Text).collect();
    parts.extend(heats.iter().map(|heat| Part::Map(heat.map())));
    parts.extend(charts.into_iter().map(Part::Chart));
    parts.extend(tables.into_iter().filter_map(Part::table));
    parts
}

fn tiles(document: &TraceDocument) -> Vec<Tile> {
    let Some(shape) = &document.shape else { return Vec::new() };
    let tile = |name, value, note: &str| Tile { name, value, note: note.to_owned() };
    let mut tiles = vec![
        tile("could hit", share(shape.ceiling.hit_ratio), "any cache, any policy"),
        tile("accesses", grouped(shape.accesses), &keys(shape, shape.keys)),
        tile("used once", percent(shape.popularity.used_once, shape.keys), "one-hit wonders"),
    ];
    if let Some(zipf) = &shape.popularity.zipf {
        let error = format!("± {:.2}", zipf.error);
        tiles.push(tile("Zipf exponent", format!("{:.2}", zipf.exponent), &error));
    }
    tiles
}

/// The counts of both traces, and what was said of them.
fn trace(document: &TraceDocument) -> Vec<Part> {
    let mut parts = Vec::new();
    for trace in [Some(document), document.against.as_deref()].into_iter().flatten() {
        parts.push(Part::Facts(counts::rows(trace)));
        parts.extend(trace.warnings.iter().map(|warning| Part::Note(warning.to_string())));
    }
    parts
}

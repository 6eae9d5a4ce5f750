//! The figures as pictures of a page.

use std::fmt::Write as _;

use nbuf::experiment::result::{FigureLists, FigureTracks, ReplayFigures};

use super::super::axis::CountAxis;
use super::super::curve::page::sheet::{Sheet, frames};
use super::super::markup::escape;
use super::super::text::grouped;
use super::map::{Map, STRENGTHS};
use super::{Distribution, distributions, place_size, tracks_caption, tracks_title};

/// What the pictures need beside the style of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Rows and columns of the map.
const MAP_ROWS: usize = 40;
const MAP_COLUMNS: usize = 100;
/// Of a bar's place, what is left between it and the next.
const GAP: f64 = 0.16;
/// Pixels that a label along the ground needs.
const LABEL_PIXELS: f64 = 76.0;

/// A section for each that has something to show.
pub(crate) fn sections(figures: &ReplayFigures) -> String {
    let mut out = String::new();
    let mut section = |title: &str, body: &str, caption: &str| {
        let _ = write!(
            out,
            "<section class=\"sixth\"><h2>{title}</h2>\n<figure>\n{body}<figcaption>{}.</figcaption>\
             </figure></section>\n",
            escape(caption)
        );
    };
    if figures.tracks.units_held > 0 {
        let (body, scale) = tracks(&figures.tracks);
        let caption = format!("{}. {scale}", tracks_caption(&figures.tracks));
        section(tracks_title(&figures.tracks), &body, &caption);
    }
    if let Some(figure) = &figures.lists {
        let caption = "A bar is a hash list; as many entries as it is high";
        section("Hash queue lengths", &lists(figure), caption);
    }
    for figure in distributions(figures) {
        section(figure.title, &bars(&figure), &figure.caption);
    }
    out
}

/// The map, and its scale in words.
fn tracks(tracks: &FigureTracks) -> (String, String) {
    let map = Map::of(tracks, MAP_ROWS * MAP_COLUMNS);
    let columns = map.places.len().min(MAP_COLUMNS);
    let rows = map.places.len().div_ceil(columns);
    let mut out = format!(
        "<svg class=\"tracks\" viewBox=\"0 0 {columns} {rows}\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"tracks in cache\">\n"
    );
    if map.management > 0 {
        let _ =
            writeln!(out, "<path class=\"space\" d=\"{}\"/>", strokes(0..map.management, columns));
    }
    for strength in 1..=STRENGTHS {
        let held = map.places.iter().enumerate();
        let held = held.filter(|(_, units)| map.strength(**units) == strength).map(|(at, _)| at);
        let path = strokes(held, columns);
        if !path.is_empty() {
            let _ = writeln!(out, "<path class=\"held s{strength}\" d=\"{path}\"/>");
        }
    }
    out.push_str("</svg>\n");
    let space = if map.management > 0 { " Shaded: the management space." } else { "" };
    let scale = format!(
        "The disc begins at the top left; a place is {}, and the strongest hold {} units.{space}",
        place_size(&map, tracks),
        grouped(map.units_of(STRENGTHS))
    );
    (out, scale.trim_end_matches('.').to_owned())
}

/// A short stroke in each of these places.
fn strokes(places: impl Iterator<Item = usize>, columns: usize) -> String {
    places.fold(String::new(), |mut path, at| {
        let _ = write!(path, "M{} {}.5h1", at % columns, at / columns);
        path
    })
}

fn lists(lists: &FigureLists) -> String {
    let count = lists.lengths.len();
    let lengths = lists.lengths.iter().map(|&length| u64::from(length));
    let axis = CountAxis::of(lengths.clone());
    let mut out = String::new();
    for frame in frames(260.0, 240.0) {
        let mut sheet = Sheet::new(frame, &[]);
        sheet.upright("entries", &axis.ticks(6));
        let place = |list: usize| list as f64 / count.max(1) as f64;
        let step = (count / (frame.ticks - 1)).max(1);
        let round = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000].into_iter().find(|&r| r >= step);
        let step = round.unwrap_or(step);
        let ticks: Vec<_> =
            (0..count).step_by(step).map(|at| (place(at), at.to_string())).collect();
        sheet.level("list", &ticks);
        let mut path = String::new();
        for (at, length) in lengths.clone().enumerate().filter(|(_, length)| *length > 0) {
            let x = sheet.x((at as f64 + 0.5) / count as f64);
            let (ground, y) = (sheet.ground(), sheet.y(axis.position(length as f64)));
            let _ = write!(path, "M{x:.1} {ground}V{y:.1}");
        }
        let width = (sheet.x(1.0) - sheet.x(0.0)) / count.max(1) as f64 * (1.0 - GAP);
        sheet
            .add(format_args!("<path class=\"stroke\" stroke-width=\"{width:.2}\" d=\"{path}\"/>"));
        out.push_str(&sheet.svg("hash queue lengths", None));
    }
    out
}

fn bars(distribution: &Distribution) -> String {
    let rows = &distribution.rows;
    let axis = CountAxis::of(rows.iter().map(|row| row.count));
    let mut out = String::new();
    for frame in frames(260.0, 240.0) {
        let mut sheet = Sheet::new(frame, &[]);
        sheet.upright(distribution.counted, &axis.ticks(6));
        let each = 1.0 / rows.len().max(1) as f64;
        let fit = ((frame.right - frame.left) / LABEL_PIXELS).floor().max(1.0);
        let step = nbuf::units::whole((rows.len() as f64 / fit).ceil()).max(1);
        let labelled = rows.iter().enumerate().step_by(usize::try_from(step).unwrap_or(1));
        let ticks: Vec<(f64, String)> =
            labelled.map(|(at, row)| ((at as f64 + 0.5) * each, row.label.clone())).collect();
        sheet.level(distribution.of, &ticks);
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.count > 0) {
            let left = sheet.x((at as f64 + GAP / 2.0) * each);
            let right = sheet.x((at as f64 + 1.0 - GAP / 2.0) * each);
            let top = sheet.y(axis.position(row.count as f64));
            let (wide, high) = (right - left, (sheet.ground() - top).max(1.0));
            let said = format!("{}: {} {}", row.label, grouped(row.count), distribution.counted);
            sheet.add(format_args!(
                "<rect class=\"held\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" \
                 height=\"{high:.1}\"><title>{}</title></rect>",
                sheet.ground() - high,
                escape(&said)
            ));
        }
        out.push_str(&sheet.svg(&distribution.title.to_lowercase(), None));
    }
    out
}

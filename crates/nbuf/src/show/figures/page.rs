//! The figures as parts of a page.

use nbuf::experiment::result::{FigureLists, FigureTracks, ReplayFigures};

use super::super::chart::{Bar, Chart};
use super::super::page::{Map as Picture, Part};
use super::super::scale::Axis;
use super::super::table::{Table, number, text};
use super::super::text::grouped;
use super::map::{Map, STRENGTHS};
use super::{Distribution, Of, distributions, place_size, tracks_caption, tracks_title};

/// Rows and columns of the map.
const MAP_ROWS: usize = 40;
const MAP_COLUMNS: usize = 100;
/// Lists that a table of them shows.
const LISTS: usize = 200;

/// A section for each that has something to show.
pub(in crate::show) fn sections(figures: &ReplayFigures, of: Of) -> Vec<(String, Vec<Part>)> {
    let mut all = Vec::new();
    if figures.tracks.units_held > 0 {
        let part = Part::Map(tracks(&figures.tracks));
        all.push((tracks_title(&figures.tracks).to_owned(), vec![part]));
    }
    if let Some(figure) = &figures.lists {
        all.push(("Hash queue lengths".to_owned(), vec![Part::Chart(lists(figure))]));
    }
    for figure in distributions(figures, of) {
        all.push((figure.title.to_owned(), vec![Part::Chart(bars(&figure))]));
    }
    all
}

/// The map, and its scale in words.
fn tracks(tracks: &FigureTracks) -> Picture {
    let map = Map::of(tracks, MAP_ROWS * MAP_COLUMNS);
    let space = if map.management > 0 { " Shaded: the management space." } else { "" };
    let place = place_size(&map, tracks);
    let caption = format!(
        "{}. The disc begins at the top left; a place is {place}, and the strongest hold {} units.{space}",
        tracks_caption(tracks),
        grouped(map.units_of(STRENGTHS))
    );
    let rows = (1..=STRENGTHS).map(|strength| {
        let places = map.places.iter().filter(|units| map.strength(**units) == strength);
        let units = places.clone().sum::<u64>();
        let most = grouped(map.units_of(strength));
        [format!("to {most}"), grouped(places.count() as u64), grouped(units)]
    });
    let columns = [text("units in a place"), number("places"), number("units in all")];
    let spot = |&units: &u64| (units > 0).then(|| (0, map.strength(units), units));
    let wide = map.places.len().min(MAP_COLUMNS);
    let row = |at: usize| format!("places from {}", grouped((at * wide) as u64 + 1));
    Picture {
        title: tracks_title(tracks).to_lowercase(),
        columns: (1..=wide).map(|at| format!("column {at}")).collect(),
        rows: (0..map.places.len().div_ceil(wide)).map(row).collect(),
        spots: map.places.iter().map(spot).collect(),
        unit: "units",
        kinds: vec!["in the cache"],
        shaded: map.management,
        table: Table::new("Places by what they hold", columns).with(rows),
        caption,
        ..Picture::default()
    }
}

fn lists(lists: &FigureLists) -> Chart {
    let count = lists.lengths.len();
    let lengths = || lists.lengths.iter().map(|&length| u64::from(length));
    let x = Axis::numbers("list", count.max(1) as f64, |list| format!("{list:.0}"));
    let mut chart = Chart::new("hash queue lengths", x, Axis::counts("entries", lengths()));
    let numbered = || (0_u64..).zip(lengths());
    chart.bars = numbered()
        .map(|(at, length)| Bar { from: at as f64, to: (at + 1) as f64, height: length as f64 })
        .collect();
    chart.caption = String::from("A bar is a hash list; as many entries as it is high.");
    let shown = || numbered().take(LISTS);
    chart.at = shown().map(|(at, _)| at as f64 + 0.5).collect();
    let rows = shown().map(|(at, length)| [grouped(at), grouped(length)]);
    let caption = if count > LISTS { "The first hash lists" } else { "Hash lists" };
    chart.table = Table::new(caption, ["list", "entries"].map(number)).with(rows);
    chart
}

fn bars(distribution: &Distribution) -> Chart {
    let rows = &distribution.rows;
    let middles = || (0_u32..).map(|at| f64::from(at) + 0.5);
    let ticks = middles().zip(rows).map(|(at, row)| (at, row.label.clone())).collect();
    let x = Axis::given(distribution.of, rows.len().max(1) as f64, ticks);
    let y = Axis::counts(distribution.counted, rows.iter().map(|row| row.count));
    let mut chart = Chart::new(distribution.title.to_lowercase(), x, y);
    chart.at = middles().take(rows.len()).collect();
    let bar = |(at, row): (f64, &super::Row)| Bar {
        from: at - 0.5,
        to: at + 0.5,
        height: row.count as f64,
    };
    chart.bars = middles().zip(rows).map(bar).collect();
    chart.caption = format!("{}.", distribution.caption);
    let columns = [text(distribution.of), number(distribution.counted)];
    let rows = rows.iter().map(|row| [row.label.clone(), grouped(row.count)]);
    chart.table = Table::new(distribution.title, columns).with(rows);
    chart
}

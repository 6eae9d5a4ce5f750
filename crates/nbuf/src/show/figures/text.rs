//! The figures as plain text.
//!
//! Invariant: no line is wider than asked for, from forty columns on.

use std::fmt::Write as _;

use nbuf::experiment::result::{FigureLists, FigureTracks, ReplayFigures};

use super::super::text::{grouped, wrap_each};
use super::map::{Map, STRENGTHS};
use super::{Distribution, Of, distributions, place_size, tracks_caption, tracks_title};

/// Rows of the map.
const MAP_ROWS: usize = 8;
/// Rows of hash lists at most.
const LIST_ROWS: usize = 16;
/// Nothing, and four strengths.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// A bar's end, in eighths of a column.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// All that have something to show.
pub(in crate::show) fn text(figures: &ReplayFigures, of: Of, width: usize) -> String {
    let mut all = Vec::new();
    if figures.tracks.units_held > 0 {
        all.push(tracks(&figures.tracks, width));
    }
    all.extend(figures.lists.as_ref().map(|figure| lists(figure, width)));
    all.extend(distributions(figures, of).iter().map(|figure| bars(figure, width)));
    all.join("\n")
}

/// A picture under its title, over its caption.
fn figure(title: &str, body: &str, captions: &[String], width: usize) -> String {
    let mut out = format!("{title}\n{body}");
    wrap_each(&mut out, captions, width);
    out
}

fn tracks(tracks: &FigureTracks, width: usize) -> String {
    let columns = width.saturating_sub(2).max(1);
    let map = Map::of(tracks, columns * MAP_ROWS);
    let shade = |&units: &u64| {
        SHADES[usize::try_from(map.strength(units)).unwrap_or(0).min(SHADES.len() - 1)]
    };
    let mut body = String::new();
    for row in map.places.chunks(columns) {
        body.push_str("  ");
        body.extend(row.iter().map(shade));
        body.push('\n');
    }
    let mut scale = format!("a character is {}; ", place_size(&map, tracks));
    let mut below = 0;
    for strength in 1..=STRENGTHS {
        let units = map.units_of(strength);
        if units > below {
            let shade = SHADES[usize::try_from(strength).unwrap_or(0)];
            let _ = write!(scale, "{shade} to {}, ", grouped(units));
            below = units;
        }
    }
    scale.truncate(scale.len() - 2);
    scale += " units";
    if map.management > 0 {
        let _ = write!(
            scale,
            "; the first {} are the management space",
            grouped(map.management as u64)
        );
    }
    figure(tracks_title(tracks), &body, &[tracks_caption(tracks), scale], width)
}

/// A digit for each list, in rows of a multiple of ten, which makes a period of five or ten stand upright.
fn lists(lists: &FigureLists, width: usize) -> String {
    let columns = (width.saturating_sub(2) / 10 * 10).max(10);
    let digit = |&length: &u32| match length {
        0 => '·',
        1..=9 => char::from_digit(length, 10).unwrap_or('+'),
        _ => '+',
    };
    let mut body = String::new();
    for row in lists.lengths.chunks(columns).take(LIST_ROWS) {
        body.push_str("  ");
        body.extend(row.iter().map(digit));
        body.push('\n');
    }
    let mut caption =
        "each character is one list, and shows its number of entries; · none, + ten and more"
            .to_owned();
    if let Some(left) = lists.lengths.len().checked_sub(columns * LIST_ROWS).filter(|&n| n > 0) {
        let _ = write!(caption, "; {} more lists are not shown", grouped(left as u64));
    }
    figure("Hash queue lengths", &body, &[caption], width)
}

fn bars(distribution: &Distribution, width: usize) -> String {
    let rows = &distribution.rows;
    let labels = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let counts: Vec<String> = rows.iter().map(|row| grouped(row.count)).collect();
    let numbers = counts.iter().map(|count| count.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(2 + labels + 1 + 1 + numbers).max(1);
    let most = rows.iter().map(|row| row.count).max().unwrap_or(0).max(1);
    let mut body = String::new();
    for (row, count) in rows.iter().zip(&counts) {
        let bar = bar(row.count, most, room);
        let gap = " ".repeat(labels - row.label.chars().count());
        let _ = writeln!(body, "  {gap}{} {bar} {count:>numbers$}", row.label);
    }
    let title = format!("{}: {} by {}", distribution.title, distribution.counted, distribution.of);
    let title = if title.chars().count() > width { distribution.title.to_owned() } else { title };
    figure(&title, &body, std::slice::from_ref(&distribution.caption), width)
}

/// Returns a bar of `room` columns; a count above zero is always visible.
fn bar(count: u64, most: u64, room: usize) -> String {
    let eighths = (u128::from(count) * 8 * room as u128).div_ceil(u128::from(most));
    let eighths = usize::try_from(eighths).unwrap_or(0);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend(eighths.checked_rem(8).and_then(|rest| EIGHTHS.get(rest.checked_sub(1)?)));
    let length = bar.chars().count();
    bar + &" ".repeat(room.saturating_sub(length))
}

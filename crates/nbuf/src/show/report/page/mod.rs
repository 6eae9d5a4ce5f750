//! The report of `nbuf size` as a page: a sentence, the pictures, and the facts to check it by.

mod answer;
mod charts;
mod files;
mod machine;
mod map;
mod runs;
mod unseen;

use nbuf::experiment::result::{Detail, Recommend, SizeReport};

use super::super::page::{Page, Part, Tile, sentence, shortened};
use super::answer::paste;
use super::{readahead, target_line};
use crate::shell;
use answer::Answer;

/// What the words of the page mean, as the glossary has them.
const WORDS: &str = "\
page: the unit of the page cache, 4 KiB
fill: a page put into the cache, for demand or ahead of it
band: the range between the fills predicted under LRU and under the kernel's active and inactive lists
floor, knee, ceiling: the size below which a cache saves almost nothing, the one that saves most of what a cache \
    can save, and the one above which more saves nothing
cliff: a size at which the curve falls steeply; close to it a prediction is uncertain
in band: the measured fills were in the band or within 5 % of its edges
waited: the time in which tasks waited for memory or for the disc
major faults: page faults that waited for the disc";

/// The whole page.
pub(crate) fn page(report: &SizeReport, detail: &Detail<'_>) -> String {
    let command = command(report);
    let (mut tiles, mut lead) = (Vec::new(), Vec::new());
    if let Some(recommend) = &report.recommend {
        tiles = self::tiles(recommend);
        lead.extend(
            report.target.as_ref().map(|target| Part::Note(sentence(&target_line(target)))),
        );
        let paste = paste(report, recommend, usize::MAX);
        let lines = paste.lines().skip(1).map(|line| line.strip_prefix("  ").unwrap_or(line));
        lead.push(Part::Lines(lines.collect::<Vec<_>>().join("\n")));
    }
    let sections = [
        ("Page fills against memory", charts::fills(report, detail)),
        ("Predicted and measured", runs::section(report)),
        ("Another readahead window", windows(report)),
        ("Time against memory", charts::time(report, detail)),
        ("Files", files::section(report, detail)),
        ("Accesses over time", map::section(detail)),
        ("What was not seen", unseen::section(report)),
        ("Machine and recording", machine::section(report, detail)),
    ];
    Page::new("size", command.as_str(), WORDS)
        .title(format!("{}: how much memory", shortened(&command, 80)))
        .answers([Answer::of(report).shown()])
        .tiles(tiles)
        .lead(lead)
        .sections(sections)
        .html()
}

/// The command as a shell would be given it.
fn command(report: &SizeReport) -> String {
    match shell::line(&report.command) {
        empty if empty.is_empty() => "a recorded command".to_owned(),
        command => command,
    }
}

/// The sum behind the limit.
fn tiles(recommend: &Recommend) -> Vec<Tile> {
    let Recommend { limit_bytes, cache_bytes, floor_bytes, ceiling_bytes, .. } = recommend;
    let beside = limit_bytes.saturating_sub(*cache_bytes);
    let mut tiles = vec![
        ("memory limit to set", *limit_bytes, "cache and all other memory"),
        ("of it cache", *cache_bytes, "pages of files"),
        ("other memory", beside, "heap, kernel, slack"),
    ];
    if nbuf::experiment::size::gains(recommend) {
        tiles.push(("floor", *floor_bytes, "less cache saves nothing"));
        tiles.push(("ceiling", *ceiling_bytes, "more cache gains nothing"));
    }
    let tile = |(name, size, note): (&'static str, nbuf::units::Bytes, &str)| Tile {
        name,
        value: size.to_string(),
        note: note.to_owned(),
    };
    tiles.into_iter().map(tile).collect()
}

/// What other readahead windows would change; nothing where they change little.
fn windows(report: &SizeReport) -> Vec<Part> {
    let Some(note) = readahead::note(report) else { return Vec::new() };
    vec![Part::Table(readahead::table(report)), Part::Note(sentence(&note))]
}

#[cfg(test)]
pub(crate) mod tests;

//! A replay as a page: what came of it, and where there are several sizes the S of elapsed time and
//! the hit ratio below it.

use nbuf::experiment::result::ReplayDocument;

use super::super::figures;
use super::super::page::{Answer, Mood, Page, Part, sentence, uppercased};
use super::super::table::{Table, number};
use super::chart::{elapsed, hits, marks};
use super::words::{facts, percent, points, size, title};
use super::{kinds, sizes};

/// What the words of the page mean.
const WORDS: &str = "\
elapsed: virtual time from the first step of a process to the last
busy: share of that during which something was to be done
response: from asking to having, the queue of the disc and the work of the cache included
worth it: from this size on, every cache saves more than a hundredth of the time
saves nothing more: from this size on, no larger cache saves a hundredth of the time";

/// The numbers behind the hit ratio alone.
fn ratios(document: &ReplayDocument) -> Table {
    Table::of("Hit ratio by size", &document.sizes)
        .column(number(format!("{}s", document.unit)), |row| row.size_units)
        .column(number("hits %"), |row| percent(row.hit_ratio))
        .done()
}

/// The whole page.
pub(crate) fn page(document: &ReplayDocument) -> String {
    let (workload, behind) = title(document);
    let mut charts = Vec::new();
    if !document.sizes.is_empty() {
        let ticks = (0..=4).map(|part| (0.25 * f64::from(part), (25 * part).to_string()));
        let (mut times, mut shares) = (elapsed(document), hits(document, ticks.collect()));
        (times.marks, shares.marks) = (marks(document), marks(document));
        times.table = sizes(document);
        shares.table = ratios(document);
        charts = vec![Part::Chart(times), Part::Chart(shares)];
    }
    let warnings = document.warnings.iter().map(ToString::to_string);
    let facts = Part::notes(facts(document).into_iter().chain(warnings));
    let six = document.figures.iter();
    Page::new("replay", workload, WORDS)
        .answers([Answer::new(Mood::of(&document.warnings), sentence(&behind))])
        .lead(Part::notes(points(document)))
        .section("By size", charts)
        .section(
            uppercased(&size(document, document.size_units)),
            [Part::Table(kinds(document))].into_iter().chain(facts),
        )
        .sections(six.flat_map(|six| figures::sections(six, figures::Of::Replay)))
        .html()
}

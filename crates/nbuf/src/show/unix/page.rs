//! The nbuf experiment as a page: the curve with the post's, and the tables.

use nbuf_pdp11::unix::result::SweepDocument;

use super::super::chart::{Chart, Line, Look};
use super::super::page::{Answer, Mood, Page, Part, sentence};
use super::super::scale::Axis;
use super::{meaning, sheets};

/// What the words of the page mean.
const WORDS: &str = "\
nbuf: the number of buffers of 512 bytes in the kernel
as u*.s: the command that is timed: the assembler makes a kernel of its sources
speed-up: how many times as fast as the first row
post: the figures of the article that is done again here
lost: wake-ups that came before the process slept: it waits until the next
waits: how often a process waited for a free buffer
drum, pack: the fixed-head disc that is swapped to, and the disc of the files
overlap: time in which the processor and a disc worked at once";

/// The whole page.
pub(crate) fn page(document: &SweepDocument) -> String {
    // The first is behind the chart.
    let tables = sheets(&document.rows).into_iter().skip(1);
    let refused = document.refused.iter().map(|refused| {
        let parts = vec![Part::Text(sentence(&refused.why)), Part::Lines(refused.machine.clone())];
        (format!("nbuf {}", refused.nbuf), parts)
    });
    let warnings = document.warnings.iter().map(|warning| sentence(&warning.to_string()));
    Page::new("unix sweep", "First Edition Unix assembles its kernel, by buffers", WORDS)
        .title("nbuf unix: buffers of First Edition Unix")
        .answers([Answer::new(Mood::of(&document.warnings), sentence(&answer(document)))])
        .section("Speed-up", [Part::Chart(chart(document))])
        .sections(tables.map(|sheet| (sheet.caption().to_owned(), vec![Part::Table(sheet)])))
        .sections(refused)
        .section("Warnings", warnings.map(Part::Note))
        .html()
}

fn answer(document: &SweepDocument) -> String {
    let gain = match (document.rows.first(), document.rows.last()) {
        (Some(first), Some(last)) if first.nbuf != last.nbuf => format!(
            "{} buffers instead of {}: {:.2} times as fast; ",
            last.nbuf, first.nbuf, last.speedup
        ),
        _ => String::new(),
    };
    format!("{gain}{}", meaning(document))
}

/// Speed-ups over buffers.
fn chart(document: &SweepDocument) -> Chart {
    let rows = &document.rows;
    let post_first = rows.first().and_then(|row| row.post_seconds);
    let ours = rows.iter().map(|row| (f64::from(row.nbuf), row.speedup));
    let post =
        rows.iter().filter_map(|row| Some((f64::from(row.nbuf), post_first? / row.post_seconds?)));
    let (ours, post): (Vec<_>, Vec<_>) = (ours.collect(), post.collect());
    let most = ours.iter().chain(&post).map(|point| point.1).fold(1.0, f64::max);
    let ticks = rows.iter().map(|row| (f64::from(row.nbuf), row.nbuf.to_string())).collect();
    let last = rows.iter().map(|row| f64::from(row.nbuf)).fold(1.0, f64::max);
    let x = Axis::given("buffers", last, ticks);
    let y = Axis::numbers("speed-up", 1.05 * most, |times| format!("{times}x"));
    let mut chart = Chart::new("speed-up over the first row, by buffers", x, y);
    chart.at = ours.iter().map(|point| point.0).collect();
    chart.lines = vec![Line::new("here", Look::Nth(0), ours)];
    if !post.is_empty() {
        chart.lines.push(Line::new("in the post", Look::Bound, post));
    }
    chart.table = sheets(rows).swap_remove(0);
    chart
}

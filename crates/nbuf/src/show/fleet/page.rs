//! A fleet as a page: the answers, the curve of the whole, the split, and all volumes.

use nbuf::experiment::result::{FleetDocument, FleetPoint};

use super::super::chart::{Chart, Line, Look};
use super::super::page::{Answer, Mood, Page, Part, sentence};
use super::super::scale::Axis;
use super::super::table::{Table, number};
use super::{answers, hits, memory, notes, percent, size, tables};

/// Steps of the axis of hits.
const STEPS: usize = 5;

/// What the words of the page mean.
const WORDS: &str = "\
best: the share of the budget with which all volumes together miss least
equal share: the budget divided by the number of volumes
starves: the best share is more than twice the equal share
wastes: the best share is less than half the equal share
uncacheable: everything in memory would hit less than 5 % of the accesses
knee: the size from which more memory saves little
regret: misses more than with the best policy of each volume
best before: the split that is best for the accesses before --until
partition: memory of a host for one of its volumes alone
representative: a volume whose miss ratios are like those of others, at each share of their pages
checksum: a hash of all curves: equal wherever the tasks ran";

/// The whole page.
pub(crate) fn page(document: &FleetDocument) -> String {
    let is_good = document.failures.is_empty() && document.tasks_missing == 0;
    let mood = if is_good { Mood::Good } else { Mood::Open };
    let answer = |text: &String| Answer::new(mood, sentence(text));
    let curve = (document.whole.points.len() > 1).then(|| Part::Chart(chart(document)));
    let sections = tables(document, true)
        .map(|(title, tables)| (title, tables.into_iter().filter_map(Part::table).collect()));
    Page::new("fleet", size(document), WORDS)
        .answers(answers(document).iter().map(answer))
        .section("All volumes, memory split as well as can be", curve)
        .sections(sections)
        .section("Notes", Part::notes(notes(document)))
        .html()
}

/// Hits of the whole by memory.
fn chart(document: &FleetDocument) -> Chart {
    let accesses = document.whole.accesses;
    let bytes = |point: &FleetPoint| (point.pages.saturating_mul(document.page_bytes)) as f64;
    let share = |point: &FleetPoint| 100.0 * hits(accesses, point.misses);
    let points = &document.whole.points;
    let (low, high) = (points.first().map_or(1.0, bytes), points.last().map_or(2.0, bytes));
    let x = Axis::log_sizes("memory", low, high);
    let y = Axis::shares("hits, %", points.iter().map(share), STEPS);
    let mut chart = Chart::new("hits by memory", x, y);
    let line = points.iter().map(|point| (bytes(point), share(point))).collect();
    chart.lines = vec![Line::new("all volumes", Look::Nth(0), line)];
    chart.at = points.iter().map(bytes).collect();
    let rows = points
        .iter()
        .map(|point| [memory(document, point.pages), percent(hits(accesses, point.misses))]);
    chart.table = Table::new("Hits by memory", [number("memory"), number("hits, %")]).with(rows);
    chart
}

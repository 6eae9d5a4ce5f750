//! Two traces next to each other.

use nbuf::experiment::result::{TraceDocument, TraceShape};

use super::super::table::{Table, number, text};
use super::super::text::grouped;
use super::popularity::{chart, law};
use super::sections::Section;
use super::words::{ends, percent, share};

pub(super) fn section(document: &TraceDocument, other: &TraceDocument) -> Option<Section> {
    let shapes = [document.shape.as_ref()?, other.shape.as_ref()?];
    let mut table =
        Table::new("Both traces", [text("property"), number("this one"), number("the other")]);
    let mut row = |name: &str, of: &dyn Fn(&TraceShape) -> String| {
        table.row([name.to_owned(), of(shapes[0]), of(shapes[1])]);
    };
    row("accesses", &|shape| grouped(shape.accesses));
    row("distinct", &|shape| format!("{} {}s", grouped(shape.keys), shape.unit));
    row("any cache could hit", &|shape| share(shape.ceiling.hit_ratio));
    row("the same by bytes", &|shape| {
        shape.ceiling.byte_hit_ratio.map_or("not known".to_owned(), share)
    });
    row("used once", &|shape| percent(shape.popularity.used_once, shape.keys));
    row("Zipf exponent", &|shape| {
        let zipf = shape.popularity.zipf.as_ref().map(law);
        zipf.map_or("not known".to_owned(), |law| law.replace("Zipf exponent ", ""))
    });
    row("accesses to the top tenth", &|shape| {
        let first = shape.popularity.deciles.first().copied().unwrap_or(0);
        percent(first, shape.accesses)
    });
    row("mean lifetime", &|shape| ends(&shape.clock, shape.lifetimes.mean));
    row("in scans", &|shape| found(shape, shape.scans.map(|scans| scans.accesses)));
    let in_loops = |shape: &TraceShape| {
        shape.loops.as_ref().map(|loops| loops.iter().map(|found| found.accesses).sum())
    };
    row("in loops", &|shape| found(shape, in_loops(shape)));
    row("writes", &|shape| percent(shape.writes.values.iter().sum(), shape.accesses));
    Some(Section {
        title: "Two traces",
        lines: vec![verdict(shapes)],
        tables: vec![table],
        charts: chart(&[("this one", shapes[0]), ("the other", shapes[1])]).into_iter().collect(),
        ..Section::default()
    })
}

fn found(shape: &TraceShape, accesses: Option<u64>) -> String {
    accesses.map_or("not known".to_owned(), |accesses| percent(accesses, shape.accesses))
}

/// Whether the exponents differ by more than their errors.
fn verdict(shapes: [&TraceShape; 2]) -> String {
    let [Some(one), Some(other)] = shapes.map(|shape| shape.popularity.zipf.as_ref()) else {
        return "The exponents cannot be compared.".to_owned();
    };
    let error = one.error.hypot(other.error);
    if (one.exponent - other.exponent).abs() > error {
        "The Zipf exponents differ by more than their errors.".to_owned()
    } else {
        "The Zipf exponents do not differ by more than their errors.".to_owned()
    }
}

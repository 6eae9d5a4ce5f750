//! The grid as a heat map: the higher the rate, the stronger the colour, in equal ratios.

use nbuf::experiment::result::{BenchRow, Trust};

use super::super::super::html::table;
use super::super::super::markup::escape;
use super::super::words::{rate, times};

/// The strongest colour, in percent.
const STRONGEST: f64 = 55.0;

/// The scale of one grid.
struct Heat {
    low: f64,
    high: f64,
}

impl Heat {
    fn of(rates: impl Iterator<Item = f64> + Clone) -> Self {
        let low = rates.clone().fold(f64::INFINITY, f64::min);
        Self { low: low.max(1.0), high: rates.fold(1.0, f64::max) }
    }

    fn cell(&self, number: f64, text: &str) -> String {
        let span = (self.high / self.low).ln().max(f64::MIN_POSITIVE);
        let part = ((number / self.low).ln() / span).clamp(0.0, 1.0) * STRONGEST;
        format!("<span class=\"cell\" style=\"--part:{part:.0}%\">{text}</span>")
    }
}

/// The tests of the course, beside its two machines.
pub(super) fn course(rows: &[&BenchRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let all = rows.iter().flat_map(|row| {
        [Some(row.bytes_per_second), row.imac_2011, row.thinkpad_2007].into_iter().flatten()
    });
    let heat = Heat::of(all);
    let cells = |row: &&BenchRow| {
        let mut cells = common(row, &heat);
        cells.push(range(row));
        for reference in [row.imac_2011, row.thinkpad_2007].into_iter().flatten() {
            cells.push(heat.cell(reference, &rate(reference)));
            cells.push(times(row.bytes_per_second / reference));
        }
        cells
    };
    let header =
        ["test", "what", "here", "clean", "range", "iMac 2011", "x", "ThinkPad 2007", "x "];
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    table("heat", &header, &[0, 1], &rows) + NOTE
}

const NOTE: &str = "<p class=\"note\">Bytes a second, two digits: the median of the clean samples, and the \
                    range that holds the median of another run 95 times in 100. ?: few samples were \
                    clean. !: hardly any was, and the median is of all. x: how many times the rate of that \
                    machine.</p>\n";

fn range(row: &BenchRow) -> String {
    format!("{} to {}", rate(row.low), rate(row.high))
}

const NOTE_OTHERS: &str = "<p class=\"note\">The range holds the median of another run 95 times in 100. \
                           ?: few samples were clean. !: hardly any was, and the median is of all.</p>\n";

/// The other tests.
pub(super) fn others(rows: &[&BenchRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let measured = rows.iter().filter(|row| row.path != "null");
    let heat = Heat::of(measured.map(|row| row.bytes_per_second));
    let cells = |row: &&BenchRow| {
        let mut cells = common(row, &heat);
        cells.push(range(row));
        cells
    };
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    table("heat", &["test", "what", "here", "clean", "range"], &[0, 1], &rows) + NOTE_OTHERS
}

fn common(row: &BenchRow, heat: &Heat) -> Vec<String> {
    let mark = match row.trust {
        Trust::Clean => "",
        Trust::Few => " ?",
        Trust::Contended => " !",
    };
    vec![
        escape(&row.test),
        escape(&row.about),
        heat.cell(row.bytes_per_second, &(rate(row.bytes_per_second) + mark)),
        format!("{}/{}", row.clean, row.samples),
    ]
}

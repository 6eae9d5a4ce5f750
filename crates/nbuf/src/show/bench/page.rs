//! The I/O paths of a machine as a page: whether every row did what its name says, and the fastest;
//! then every row, the comparisons, the lines through the times, and what the kernel counted.

use nbuf::experiment::result::{
    BenchComparison, BenchDocument, BenchModel, BenchRow, ModelPoint, PingDocument,
};
use nbuf::units::Bytes;

use super::super::chart::{Chart, Dot, Kind, Line, Look};
use super::super::page::{Answer, Mood, Page, Part, Tile, sentence};
use super::super::ping;
use super::super::scale::Axis;
use super::super::svg::whisker;
use super::super::table::{Cell, Table, number, text};
use super::lines::{floor_of, verdict};
use super::words::{percent, rate, ratio};
use super::{model, table};

/// What the words of the page mean.
const WORDS: &str = "\
clean: a sample of a few milliseconds in which nothing else had the processor or its core
?, !: few samples were clean; hardly any was, and the median is of all
range: it holds the median of another run 95 times in 100
hot, cold: all of the file in memory before a sample; none of it, and proven so
noise floor: how far apart two measurements of the same thing came out in this run, nineteen times of twenty; \
    smaller differences are not called differences
half bandwidth: the block with which half of the time is for the call and half for the bytes
label check: the kernel's counts of what was done, compared with the name of the row
iMac 2011, ThinkPad 2007: the machines of the CS61 course's table, both with hard discs";

/// Places of a line that is drawn.
const STEPS: u32 = 60;
/// The ratio at an end of the scale of comparisons.
const REACH: f64 = 32.0;

/// The whole page, with wake-ups if there are any.
pub(crate) fn page(document: &BenchDocument, pings: Option<&PingDocument>) -> String {
    let machine = &document.machine;
    let (course, others): (Vec<&BenchRow>, Vec<&BenchRow>) =
        document.rows.iter().partition(|row| row.imac_2011.is_some());
    let x = "Rates, two digits: the median of the clean samples. x: how many times the rate \
             of that machine.";
    let without = sentence(&model::without(document));
    let sections = [
        ("The tests of the CS61 course", noted(table::table(&course, true), x)),
        ("Newer paths", noted(table::table(&others, true), "Rates, two digits.")),
        ("What differs", comparisons(document)),
        ("Time of an operation against its block", chart(document)),
        ("Lines through the times", noted(model::table(document), without)),
        ("How often threads wake each other", pings.map(ping::parts).unwrap_or_default()),
        ("Label checks", label_checks(document)),
        ("Without a number", refused(document)),
        ("Machine and warnings", facts(document)),
    ];
    let heading =
        format!("{}, Linux {}, {}", machine.processor, machine.kernel, machine.filesystem);
    Page::new("bench", heading, WORDS)
        .title("nbuf bench: the I/O paths of a machine")
        .answers([answer(document)])
        .tiles(tiles(document))
        .sections(sections)
        .html()
}

/// A table, and what it says; nothing of an empty table.
fn noted(table: Table, note: impl Into<String>) -> Vec<Part> {
    match Part::table(table) {
        Some(part) => vec![part, Part::Note(note.into())],
        None => Vec::new(),
    }
}

/// The sentence: what was measured, and whether all of it was what it says.
fn answer(document: &BenchDocument) -> Answer {
    let false_rows = document.refused.iter().filter(|refused| refused.is_contradiction).count();
    let (mood, said) = match (false_rows, document.is_complete) {
        (0, true) => (Mood::Good, "Every row did what its name says.".to_owned()),
        (0, false) if !document.not_reached.is_empty() => {
            let count = document.not_reached.len();
            (Mood::Open, format!("The time was over before {count} parts were measured."))
        }
        (0, false) => {
            (Mood::Open, "Interrupted: only what was measured before is here.".to_owned())
        }
        (count, _) => (Mood::Bad, format!("{count} rows did not do what their labels say.")),
    };
    let best = |is_course: bool| {
        let reads =
            document.rows.iter().filter(|row| row.direction == "read" && row.path != "null");
        reads
            .filter(|row| row.imac_2011.is_some() == is_course)
            .max_by(|a, b| a.bytes_per_second.total_cmp(&b.bytes_per_second))
    };
    let fastest = best(true).or_else(|| best(false)).map_or_else(String::new, |row| {
        let [middle, low, high] = [row.bytes_per_second, row.low, row.high].map(rate);
        format!(" The fastest way to read: {}, {middle} (from {low} to {high}).", row.test)
    });
    Answer::new(mood, said + &fastest)
}

/// The figures that all others are read by.
fn tiles(document: &BenchDocument) -> Vec<Tile> {
    let tile = |name, value, note: String| Tile { name, value, note };
    let mut tiles = Vec::new();
    if let Some(floor) = &document.noise_floor {
        let note = format!("{} comparisons of a test with itself", floor.comparisons);
        tiles.push(tile("noise floor", percent(floor.percent), note));
    }
    if let Some(floor) = &document.noise_floor_device {
        let note = "of what waits for the disc".to_owned();
        tiles.push(tile("noise floor, device", percent(floor.percent), note));
    }
    let samples: u64 = document.rows.iter().map(|row| row.samples).sum();
    let clean: u64 = document.rows.iter().map(|row| row.clean).sum();
    if samples > 0 {
        let part = 100.0 * clean as f64 / samples as f64;
        tiles.push(tile("clean samples", percent(part), format!("{clean} of {samples}")));
    }
    if let Some(pressure) = document.machine.processor_pressure_percent {
        let note = "tasks waited for a processor".to_owned();
        tiles.push(tile("machine busy", percent(pressure), note));
    }
    tiles
}

/// The comparisons: each ratio with its interval, on a scale of equal ratios around "the same".
fn comparisons(document: &BenchDocument) -> Vec<Part> {
    let place = |ratio: f64| 0.5 + 0.5 * (ratio.ln() / REACH.ln()).clamp(-1.0, 1.0);
    let picture = |found: &BenchComparison| {
        let is_sure = ["faster", "slower"].contains(&found.verdict.as_str());
        let places = [found.low, found.ratio, found.high].map(place);
        let [low, value, high] = [found.low, found.ratio, found.high].map(ratio);
        let says =
            [format!("95 % from {low}"), format!("ratio {value}"), format!("95 % to {high}")];
        let label = format!("{} {}", found.question, found.pattern);
        Cell::picture("", whisker(places, says, is_sure, &label))
    };
    let table = Table::of("Ways compared", &document.comparisons)
        .column(text("question"), |found| found.question.as_str())
        .column(text("pattern"), |found| found.pattern.as_str())
        .column(text("ways"), |found| format!("{} to {}", found.a, found.b))
        .column(number("ratio"), |found| ratio(found.ratio))
        .column(number("95 % interval"), |found| {
            format!("{} to {}", ratio(found.low), ratio(found.high))
        })
        .column(number("on a scale"), picture)
        .column(text("the second is"), |found| verdict(found, floor_of(document, found)));
    let note = format!(
        "Ratios of rates, from pairs of fresh processes in turn. The scale goes from 1/{REACH} to \
         {REACH} in equal ratios, and ratios beyond are at its ends; the dashed line is no difference."
    );
    noted(table.done(), note)
}

/// What was measured, and what a + b x block says, both axes in equal ratios.
fn chart(document: &BenchDocument) -> Vec<Part> {
    let models = &document.models;
    let points = || models.iter().flat_map(|model| &model.points);
    let times = points().map(|point| point.measured_ns);
    let mut blocks: Vec<u64> = points().map(|point| point.block_bytes.max(1)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let (Some(y), [least, .., most]) =
        (Axis::decades("time of an operation", times, tick), blocks.as_slice())
    else {
        return Vec::new();
    };
    let x = Axis::log_sizes("block", *least as f64, *most as f64);
    let mut chart = Chart::new("time of an operation against its block", x, y);
    for (number, model) in models.iter().enumerate() {
        let line = (0..=STEPS).map(|step| {
            let block = chart.x.value(f64::from(step) / f64::from(STEPS));
            (block, model.base_ns + model.byte_ns * block)
        });
        let line = Line::new(name(model), Look::Nth(number), line.collect());
        let place = |point: &ModelPoint| (point.block_bytes as f64, point.measured_ns);
        let shapes = Some(model.points.iter().map(place).collect());
        chart.lines.push(Line { shapes, ..line });
        let odd = model.points.iter().filter(|point| point.is_odd());
        chart.dots.extend(odd.map(|point| Dot {
            kind: Kind::Odd,
            x: point.block_bytes as f64,
            y: point.measured_ns,
            name: "more than 15 % off its line",
            label: String::new(),
            title: model::point(point),
        }));
    }
    chart.caption = String::from("Shapes were measured, lines are a + b x block.");
    chart.at = blocks.iter().map(|&block| block as f64).collect();
    let title = "Measured, and in brackets what the line says";
    let mut table = Table::of(title, blocks.iter().copied()).column(number("block"), Bytes);
    for model in models {
        let point = |block: u64| model.points.iter().find(|point| point.block_bytes == block);
        table = table.column(number(name(model)), |block| point(block).map(model::beside));
    }
    chart.table = table.done();
    vec![Part::Chart(chart)]
}

fn name(model: &BenchModel) -> String {
    format!("{} {}, {}", model.path, model.direction, model.state.name())
}

/// A power of ten in the unit that it is the least of: `1 us` and not `1000 ns`.
pub(in crate::show) fn tick(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    let unit = units.into_iter().find(|(unit, _)| ns >= *unit).unwrap_or((1.0, "ns"));
    format!("{:.0} {}", ns / unit.0, unit.1)
}

/// What the kernel counted, row by row.
fn label_checks(document: &BenchDocument) -> Vec<Part> {
    let names =
        ["calls", "faults", "waits", "rung", "device bytes a byte", "in memory before", "after"];
    let columns = [text("test")].into_iter().chain(names.map(number));
    let row = |row: &BenchRow| {
        let check = &row.label_check;
        let each =
            |number: f64| if number == 0.0 { "0".to_owned() } else { format!("{number:.3}") };
        let bytes = check.bytes.max(1) as f64;
        let device = (check.device_read_bytes + check.device_written_bytes) as f64 / bytes;
        [
            row.test.clone(),
            each(check.calls_per_operation),
            each(check.faults_minor_per_operation + check.faults_major_per_operation),
            each(check.waits_per_operation),
            check.completions_per_operation.map_or("-".into(), each),
            each(device),
            percent(check.resident_before_least * 100.0),
            percent(check.resident_after * 100.0),
        ]
    };
    let note = "For each operation: calls that read or write, faults, times it slept, completions \
                through a ring; bytes to or from a device for each byte moved; the least part of the \
                file in memory before a sample, and the part after the last.";
    noted(Table::new("What the kernel counted", columns).with(document.rows.iter().map(row)), note)
}

fn refused(document: &BenchDocument) -> Vec<Part> {
    let columns = [text("test"), text("").label("what"), text("why")];
    let rows = document.refused.iter().map(|refused| {
        let what = if refused.is_contradiction { "failed" } else { "refused" };
        [refused.test.as_str(), what, refused.reason.as_str()]
    });
    Part::table(Table::new("Tests without a number", columns).with(rows)).into_iter().collect()
}

fn facts(document: &BenchDocument) -> Vec<Part> {
    let warnings = document.warnings.iter().map(ToString::to_string);
    let lines = super::machine(document).into_iter().chain(warnings);
    lines.map(|line| Part::Text(sentence(&line))).collect()
}

#[cfg(test)]
pub(crate) mod tests;

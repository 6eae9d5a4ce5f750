//! The nbuf experiment for people: tables, a table of a scan, and a page with the curve.

mod page;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Write as _;

use nbuf_pdp11::unix::result::{ScanRow, SweepDocument, SweepRow};

use super::table::{Table, number};
use super::text::{self, count, grouped, wrap, wrap_each};
pub(crate) use page::page;

/// Three significant digits.
fn digits(number: f64) -> String {
    text::digits(number, 3)
}

/// A table with a row for each kernel that booted, whose first column is its number of buffers.
fn sheet(
    title: &str,
    header: &[&str],
    rows: &[SweepRow],
    row: impl Fn(usize, &SweepRow) -> Vec<String>,
) -> Table {
    let columns = ["nbuf"].iter().chain(header).map(|name| number(*name));
    let rows = rows.iter().enumerate();
    let rows = rows.map(|(at, kernel)| [vec![kernel.nbuf.to_string()], row(at, kernel)].concat());
    Table::new(title, columns).with(rows)
}

/// All of them.
fn sheets(rows: &[SweepRow]) -> Vec<Table> {
    let first = rows.first().map_or(1, |row| row.nbuf);
    let title = format!("Time to as u*.s; speed-up over nbuf {first}");
    let mut sheets = vec![times(&title, rows, digits, |row| Some(row.seconds))];
    if rows.iter().any(|row| row.post_seconds.is_some()) {
        let as_posted = |seconds| format!("{seconds:.3}");
        sheets.push(times("The same in the post", rows, as_posted, |row| row.post_seconds));
    }
    let title = "Shortest and longest sample, in seconds";
    let ends = |row: &SweepRow| row.range_seconds.map(digits).to_vec();
    sheets.push(sheet(title, &["from", "to"], rows, |_, row| ends(row)));
    sheets.extend(counts(rows));
    sheets.extend(split(rows));
    sheets
}

/// The columns of the post: seconds, how many times as fast as the first row, and how much faster than
/// the row before.
fn times(
    title: &str,
    rows: &[SweepRow],
    shown: impl Fn(f64) -> String,
    seconds: impl Fn(&SweepRow) -> Option<f64>,
) -> Table {
    let header = &["seconds", "speedup", "vs previous"];
    sheet(title, header, rows, |at, row| {
        let against = |other: &SweepRow| Some(seconds(other)? / seconds(row)?);
        let previous = at.checked_sub(1).and_then(|before| against(&rows[before]));
        vec![
            seconds(row).map(&shown).unwrap_or_default(),
            against(&rows[0]).map(|speedup| format!("{speedup:.2}x")).unwrap_or_default(),
            previous.map(|ratio| format!("{:.1} %", (ratio - 1.0) * 100.0)).unwrap_or_default(),
        ]
    })
}

/// A number, or a dash where nothing was counted.
fn counted(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), grouped)
}

/// What the post could not see.
fn counts(rows: &[SweepRow]) -> [Table; 2] {
    let buffers = &["requests", "hits", "misses", "lost", "waits"];
    let discs = &["hits r/w", "drum r/w", "pack r/w"];
    let hits = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    [
        sheet("Buffers", buffers, rows, |_, row| {
            let numbers = [row.requests, row.hits, row.misses, row.lost_wakeups, row.buffer_waits];
            numbers.map(counted).to_vec()
        }),
        sheet("Reads and writes", discs, rows, |_, row| {
            let disc = &row.disc;
            vec![
                format!("{}/{}", hits(row.read_hits), hits(row.write_hits)),
                format!("{}/{}", disc.drum_reads, disc.drum_writes),
                format!("{}/{}", disc.pack_reads, disc.pack_writes),
            ]
        }),
    ]
}

/// Where the time went.
fn split(rows: &[SweepRow]) -> [Table; 2] {
    let all = &["cpu", "discs", "overlap", "idle"];
    let discs = &["latency", "seek", "rotation", "transfer"];
    [
        sheet("Where the time went, in seconds", all, rows, |_, row| {
            let time = &row.time;
            let discs = time.drum_latency + time.seek + time.rotation + time.transfer;
            [time.cpu, discs, time.overlap, time.idle].map(digits).to_vec()
        }),
        sheet("What the discs took, in seconds", discs, rows, |_, row| {
            let time = &row.time;
            [time.drum_latency, time.seek, time.rotation, time.transfer].map(digits).to_vec()
        }),
    ]
}

/// What the seconds are.
fn meaning(document: &SweepDocument) -> String {
    match document.timing.as_str() {
        "simh" => format!(
            "seconds of SIMH 3.8: a unit is an instruction or a cycle of WAIT, {} million are taken for a \
             second",
            grouped(document.units_per_second / 1_000_000)
        ),
        "hardware" => "seconds of the machine of 1971, by its handbooks".to_owned(),
        _ => "discs are done at once; a million instructions are taken for a second".to_owned(),
    }
}

/// The whole report.
pub(crate) fn table(document: &SweepDocument, width: usize) -> String {
    let mut out = String::new();
    let samples = document.samples;
    wrap(&mut out, &format!("{}; median of {samples}", meaning(document)), width);
    out.extend(sheets(&document.rows).iter().map(|sheet| sheet.under_caption(width)));
    for refused in &document.refused {
        out.push('\n');
        wrap(&mut out, &format!("nbuf {}: {}", refused.nbuf, refused.why), width);
        for line in refused.machine.lines() {
            let _ = writeln!(out, " {}", line.trim_end());
        }
    }
    wrap_each(&mut out, &document.warnings, width);
    out
}

/// The window of the lost wakeup.
pub(crate) fn scan(nbuf: u16, rows: &[ScanRow], width: usize) -> String {
    let line =
        |row: &ScanRow| [grouped(row.rk_units), digits(row.seconds), counted(row.lost_wakeups)];
    let buffers = count(u64::from(nbuf), "buffer", "buffers");
    let title = format!("as u*.s with {buffers} under simh");
    let columns = ["rk-time", "seconds", "lost wakeups"].map(number);
    let table = Table::new(&title, columns).with(rows.iter().map(line));
    let is_known = rows.iter().all(|row| row.lost_wakeups.is_some());
    let note = "  this kernel is not known:\n  lost wakeups are not counted\n";
    format!("{title}\n{}{}", table.draw(width), if is_known { "" } else { note })
}

/// The rows for a spreadsheet.
pub(crate) fn csv(document: &SweepDocument) -> String {
    const COUNTS: [&str; 7] =
        ["requests", "hits", "misses", "read_hits", "write_hits", "lost_wakeups", "buffer_waits"];
    const DISCS: [&str; 4] = ["drum_reads", "drum_writes", "pack_reads", "pack_writes"];
    const TIMES: [&str; 7] =
        ["cpu", "drum_latency", "seek", "rotation", "transfer", "overlap", "idle"];
    let known = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    Table::of("", &document.rows)
        .column(number("nbuf"), |row| row.nbuf.to_string())
        .column(number("seconds"), |row| row.seconds.to_string())
        .column(number("speedup"), |row| row.speedup.to_string())
        .column(number("against_previous"), |row| row.against_previous.to_string())
        .column(number("post_seconds"), |row| row.post_seconds.map(|post| post.to_string()))
        .columns(COUNTS.map(number), |row| {
            let (read, written) = (row.read_hits, row.write_hits);
            let (lost, waits) = (row.lost_wakeups, row.buffer_waits);
            [row.requests, row.hits, row.misses, read, written, lost, waits].map(known)
        })
        .columns(DISCS.map(number), |row| {
            let disc = &row.disc;
            [disc.drum_reads, disc.drum_writes, disc.pack_reads, disc.pack_writes]
                .map(|count| count.to_string())
        })
        .columns(TIMES.map(number), |row| {
            let t = &row.time;
            [t.cpu, t.drum_latency, t.seek, t.rotation, t.transfer, t.overlap, t.idle]
                .map(|seconds| seconds.to_string())
        })
        .done()
        .csv()
}

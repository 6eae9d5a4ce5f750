//! The nbuf experiment for people: two tables, a table of a scan, and a page with the curve.

mod page;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use nbuf_pdp11::unix::result::{ScanRow, SweepDocument, SweepRow};

use super::report::table::{indent, plain, right};
use super::text::{count, grouped, wrap};
pub(crate) use page::page;

/// Three significant digits.
fn digits(number: f64) -> String {
    match number {
        n if n >= 99.95 => format!("{n:.0}"),
        n if n >= 9.995 => format!("{n:.1}"),
        n if n >= 0.9995 => format!("{n:.2}"),
        n => format!("{n:.3}"),
    }
}

/// Times, as the post has them, and its own beside them.
fn times(rows: &[SweepRow]) -> ([&'static str; 7], Vec<[String; 7]>) {
    let header = ["nbuf", "seconds", "from", "to", "speedup", "vs previous", "post"];
    let lines = rows.iter().enumerate().map(|(at, row)| {
        let previous =
            if at == 0 { String::new() } else { format!("{:.1} %", row.against_previous * 100.0) };
        [
            row.nbuf.to_string(),
            digits(row.seconds),
            digits(row.range_seconds[0]),
            digits(row.range_seconds[1]),
            format!("{:.2}x", row.speedup),
            previous,
            row.post_seconds.map(|post| format!("{post:.3}")).unwrap_or_default(),
        ]
    });
    (header, lines.collect())
}

/// A number, or a dash where nothing was counted.
fn counted(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), grouped)
}

/// What the post could not see.
fn counts(rows: &[SweepRow]) -> ([&'static str; 10], Vec<[String; 10]>) {
    let header = [
        "nbuf",
        "requests",
        "hits",
        "misses",
        "read hits",
        "write hits",
        "lost",
        "waits",
        "drum r/w",
        "pack r/w",
    ];
    let lines = rows.iter().map(|row| {
        let disc = &row.disc;
        [
            row.nbuf.to_string(),
            counted(row.requests),
            counted(row.hits),
            counted(row.misses),
            counted(row.read_hits),
            counted(row.write_hits),
            counted(row.lost_wakeups),
            counted(row.buffer_waits),
            format!("{}/{}", disc.drum_reads, disc.drum_writes),
            format!("{}/{}", disc.pack_reads, disc.pack_writes),
        ]
    });
    (header, lines.collect())
}

/// Where the time went.
fn split(rows: &[SweepRow]) -> ([&'static str; 8], Vec<[String; 8]>) {
    let header = ["nbuf", "cpu", "latency", "seek", "rotation", "transfer", "overlap", "idle"];
    let lines = rows.iter().map(|row| {
        let time = &row.time;
        [
            row.nbuf.to_string(),
            digits(time.cpu),
            digits(time.drum_latency),
            digits(time.seek),
            digits(time.rotation),
            digits(time.transfer),
            digits(time.overlap),
            digits(time.idle),
        ]
    });
    (header, lines.collect())
}

fn block<const N: usize>(title: &str, (header, lines): ([&str; N], Vec<[String; N]>)) -> String {
    let mut table = plain();
    table.set_header(header);
    for line in lines {
        table.add_row(line);
    }
    right(&mut table, &(0..N).collect::<Vec<_>>());
    format!("{title}\n{}", indent(&table.to_string()))
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
    if !document.rows.is_empty() {
        let _ = write!(
            out,
            "\n{}\n{}\n{}",
            block("Time to as u*.s", times(&document.rows)),
            block("Buffers and discs", counts(&document.rows)),
            block("Where the time went, in seconds", split(&document.rows))
        );
    }
    for refused in &document.refused {
        out.push('\n');
        wrap(&mut out, &format!("nbuf {}: {}", refused.nbuf, refused.why), width);
        out.push_str(&indent(&refused.machine));
    }
    for caution in &document.cautions {
        wrap(&mut out, caution, width);
    }
    out
}

/// The window of the lost wakeup.
pub(crate) fn scan(nbuf: u16, rows: &[ScanRow]) -> String {
    let lines = rows
        .iter()
        .map(|row| [grouped(row.rk_units), digits(row.seconds), counted(row.lost_wakeups)]);
    let buffers = count(u64::from(nbuf), "buffer", "buffers");
    let title = format!("as u*.s with {buffers} under simh, by the time of the pack's controller");
    let table = block(&title, (["rk-time", "seconds", "lost wakeups"], lines.collect()));
    let is_known = rows.iter().all(|row| row.lost_wakeups.is_some());
    table
        + if is_known {
            ""
        } else {
            "  the kernel is not the one that is known: lost wakeups are not counted\n"
        }
}

/// The rows for a spreadsheet.
pub(crate) fn csv(document: &SweepDocument) -> String {
    let mut out = "nbuf,seconds,speedup,against_previous,post_seconds,requests,hits,misses,read_hits,\
                   write_hits,lost_wakeups,buffer_waits,drum_reads,drum_writes,pack_reads,pack_writes,\
                   cpu,drum_latency,seek,rotation,transfer,overlap,idle\n"
        .to_owned();
    for row in &document.rows {
        let (disc, time) = (&row.disc, &row.time);
        let post = row.post_seconds.map(|post| post.to_string()).unwrap_or_default();
        let _ = write!(
            out,
            "{},{},{},{},{post}",
            row.nbuf, row.seconds, row.speedup, row.against_previous
        );
        let counted = [
            row.requests,
            row.hits,
            row.misses,
            row.read_hits,
            row.write_hits,
            row.lost_wakeups,
            row.buffer_waits,
        ];
        let discs = [disc.drum_reads, disc.drum_writes, disc.pack_reads, disc.pack_writes];
        let parts = [
            time.cpu,
            time.drum_latency,
            time.seek,
            time.rotation,
            time.transfer,
            time.overlap,
            time.idle,
        ];
        for number in counted {
            let _ = write!(out, ",{}", number.map(|number| number.to_string()).unwrap_or_default());
        }
        for number in discs {
            let _ = write!(out, ",{number}");
        }
        for part in parts {
            let _ = write!(out, ",{part}");
        }
        out.push('\n');
    }
    out
}

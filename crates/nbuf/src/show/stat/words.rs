//! Numbers of a shape in words.

use nbuf::experiment::result::{ShapeSeries, TraceShape};
use nbuf::units::{Bytes, Nanos};

use super::super::text::{count, digits, grouped};

/// `12,000 keys`
pub(super) fn keys(shape: &TraceShape, number: u64) -> String {
    count(number, &shape.unit, &format!("{}s", shape.unit))
}

/// `12.3 %` of a whole.
pub(super) fn percent(part: u64, whole: u64) -> String {
    share(part as f64 / whole.max(1) as f64)
}

/// A share from 0 to 1 as `12.3 %`; three digits.
pub(super) fn share(share: f64) -> String {
    format!("{} %", digits(100.0 * share, 2))
}

/// Ticks of a clock.
pub(super) fn ticks(clock: &str, ticks: u64) -> String {
    if clock == "ns" { Nanos(ticks).to_string() } else { round(ticks) }
}

/// The end of a series, by its clock.
pub(super) fn end(series: &ShapeSeries) -> String {
    let end = series.column_width.saturating_mul(series.values.len() as u64);
    ends(&series.clock, end)
}

/// A moment, by its clock.
pub(super) fn ends(clock: &str, moment: u64) -> String {
    match (clock, moment) {
        ("ns", _) => ticks(clock, moment),
        (_, 1) => "1 access".to_owned(),
        _ => format!("{} accesses", ticks(clock, moment)),
    }
}

/// A number with a prefix where it is long: `16.8 M`.
pub(super) fn round(number: u64) -> String {
    let scaled = |by: f64, prefix: &str| {
        let scaled = number as f64 / by;
        let digits = usize::from(scaled < 99.95);
        format!("{scaled:.digits$} {prefix}")
    };
    match number {
        n if n < 10_000 => grouped(n),
        n if n < 1_000_000 => scaled(1e3, "k"),
        n if n < 1_000_000_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

/// Bytes from one number to below another.
pub(super) fn bytes_between(from: u64, below: u64) -> String {
    if below - from == 1 {
        Bytes(from).to_string()
    } else {
        format!("{} to {}", Bytes(from), Bytes(below))
    }
}

//! Rates, times and sizes as the reports of `nbuf bench` have them.

use nbuf::experiment::result::{BenchRow, Trust};
use nbuf::units::whole;

use super::super::text::grouped;

/// Bytes a second in the unit that leaves the fewest digits, two of them significant: `3.3 MB/s`.
pub(crate) fn rate(bytes_per_second: f64) -> String {
    rate_by(bytes_per_second, two_digits)
}

/// From one rate to another: with a third digit if two would make them equal.
pub(super) fn range(low: f64, high: f64) -> String {
    let digits = if rate(low) == rate(high) { three_digits } else { two_digits };
    format!("{} to {}", rate_by(low, digits), rate_by(high, digits))
}

fn rate_by(bytes_per_second: f64, digits: fn(f64) -> String) -> String {
    const UNITS: [(f64, &str); 4] = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")];
    if !bytes_per_second.is_finite() || bytes_per_second <= 0.0 {
        return "-".to_owned();
    }
    let (unit, name) = UNITS
        .into_iter()
        .find(|(unit, _)| bytes_per_second >= 0.995 * unit)
        .unwrap_or(UNITS[UNITS.len() - 1]);
    format!("{} {name}", digits(bytes_per_second / unit))
}

/// Two significant digits with separators: `3,300`.
fn two_digits(number: f64) -> String {
    if number < 9.95 {
        return format!("{number:.1}");
    }
    let mut unit = 1_u64;
    while number / unit as f64 >= 99.5 {
        unit = unit.saturating_mul(10);
    }
    grouped(whole(number / unit as f64).saturating_mul(unit))
}

/// Three significant digits below a thousand.
fn three_digits(number: f64) -> String {
    match number {
        number if number < 9.995 => format!("{number:.2}"),
        number if number < 99.95 => format!("{number:.1}"),
        number => grouped(whole(number)),
    }
}

/// A ratio of two significant digits.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        ratio if !ratio.is_finite() || ratio <= 0.0 => "-".to_owned(),
        ratio if ratio < 0.095 => format!("{ratio:.3}"),
        ratio if ratio < 0.995 => format!("{ratio:.2}"),
        ratio if ratio < 9.95 => format!("{ratio:.1}"),
        ratio => two_digits(ratio),
    }
}

/// A measured ratio: three digits behind the point where it is near 1, fewer where it is large.
pub(crate) fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 9.9995 => format!("{ratio:.3}"),
        ratio if ratio < 99.95 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0}"),
    }
}

/// Percent to a tenth below ten, to a whole above.
pub(crate) fn percent(percent: f64) -> String {
    if percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Nanoseconds in the unit that reads best.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 0.995 => format!("{ns:.3} ns"),
        ns if ns < 9.95 => format!("{ns:.1} ns"),
        ns if ns < 9_950.0 => format!("{ns:.0} ns"),
        ns if ns < 9_950_000.0 => format!("{:.0} us", ns / 1e3),
        ns => format!("{:.0} ms", ns / 1e6),
    }
}

/// How far a row is to be trusted.
pub(super) fn mark(row: &BenchRow) -> &'static str {
    match row.trust {
        Trust::Clean => "",
        Trust::Few => "?",
        Trust::Contended => "!",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_two_digits_and_a_unit() {
        let cases = [
            (0.0, "-"),
            (f64::NAN, "-"),
            (0.2, "0.2 B/s"),
            (2.64, "2.6 B/s"),
            (9.97, "10 B/s"),
            (99.4, "99 B/s"),
            (99.6, "100 B/s"),
            (994.0, "990 B/s"),
            (996.0, "1.0 kB/s"),
            (2_649.0, "2.6 kB/s"),
            (3_349_999.0, "3.3 MB/s"),
            (1.96e10, "20 GB/s"),
            (1.96e12, "2,000 GB/s"),
        ];
        for (number, want) in cases {
            assert_eq!(rate(number), want, "{number}");
        }
    }

    #[test]
    fn a_range_has_two_ends() {
        let cases = [
            (1.2e6, 1.5e6, "1.2 MB/s to 1.5 MB/s"),
            (1.38e6, 1.42e6, "1.38 MB/s to 1.42 MB/s"),
            (48.2e6, 48.4e6, "48.2 MB/s to 48.4 MB/s"),
            (481e6, 484e6, "481 MB/s to 484 MB/s"),
            (9.6e8, 1.1e9, "960 MB/s to 1.1 GB/s"),
        ];
        for (low, high, want) in cases {
            assert_eq!(range(low, high), want);
        }
    }

    #[test]
    fn times_and_ratios_keep_what_is_known() {
        let ratios = [0.0123, 0.5, 0.99, 1.02, 9.94, 12.3, 285.0].map(times);
        assert_eq!(ratios, ["0.012", "0.50", "0.99", "1.0", "9.9", "12", "290"]);
        let shown = [0.047, 3.21, 302.0, 45_000.0, 12e6].map(time);
        assert_eq!(shown, ["0.047 ns", "3.2 ns", "302 ns", "45 us", "12 ms"]);
        assert_eq!([0.99, 15.25, 815.2].map(ratio), ["0.990", "15.2", "815"]);
        assert_eq!([1.23, -14.6].map(percent), ["1.2 %", "-15 %"]);
    }
}

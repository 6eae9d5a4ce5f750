//! Rates, times and sizes as the reports of `nbuf bench` have them.

use nbuf::units::whole;

use super::super::text::grouped;

/// Two significant digits with separators, as the course has them: `3,300,000`.
pub(crate) fn rate(number: f64) -> String {
    if !number.is_finite() || number <= 0.0 {
        return "-".to_owned();
    }
    if number < 10.0 {
        return format!("{number:.1}");
    }
    let mut unit = 1_u64;
    while number / unit as f64 >= 99.5 {
        unit = unit.saturating_mul(10);
    }
    grouped(whole(number / unit as f64).saturating_mul(unit))
}

/// How many times: two digits, as rates.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        ratio if !ratio.is_finite() || ratio <= 0.0 => "-".to_owned(),
        ratio if ratio < 0.095 => format!("{ratio:.3}"),
        ratio if ratio < 0.995 => format!("{ratio:.2}"),
        ratio if ratio < 9.95 => format!("{ratio:.1}"),
        ratio => rate(ratio),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_and_separators() {
        let cases = [
            (0.0, "-"),
            (f64::NAN, "-"),
            (2.64, "2.6"),
            (27.4, "27"),
            (99.4, "99"),
            (99.6, "100"),
            (2_649.0, "2,600"),
            (3_349_999.0, "3,300,000"),
            (1.96e10, "20,000,000,000"),
        ];
        for (number, want) in cases {
            assert_eq!(rate(number), want, "{number}");
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

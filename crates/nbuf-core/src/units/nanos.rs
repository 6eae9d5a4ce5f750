//! Time in whole nanoseconds: a moment since a start, or a duration.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Nanoseconds. Arithmetic saturates at 584 years.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Zero: no duration, or the start.
    pub const ZERO: Self = Self(0);
    /// The largest time, which also stands for never.
    pub const MAX: Self = Self(u64::MAX);

    /// Converts whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// Converts milliseconds, to the nearest nanosecond. Negative numbers and NaN become zero.
    pub fn from_millis(millis: f64) -> Self {
        Self::from_seconds(millis / 1e3)
    }

    /// Converts seconds, to the nearest nanosecond. Negative numbers and NaN become zero.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a conversion of floating point saturates"
    )]
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as u64)
    }

    /// Converts to seconds, for output and for ratios.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Converts to milliseconds, for output only.
    pub fn millis(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Subtracts `other`; the result is never negative.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl std::iter::Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Nanos {
    /// Three significant digits with a unit: `36.3 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 4] = ["ns", "us", "ms", "s"];
        if self.0 < 1_000 {
            return f.pad(&format!("{} ns", self.0));
        }
        let mut amount = self.0 as f64;
        let mut unit = 0;
        // 999.5 would take four digits; the next unit takes three.
        while amount >= 999.5 && unit + 1 < UNITS.len() {
            amount /= 1_000.0;
            unit += 1;
        }
        let digits = match amount {
            a if a < 9.995 => 2,
            a if a < 99.95 => 1,
            _ => 0,
        };
        f.pad(&format!("{amount:.digits$} {}", UNITS[unit]))
    }
}

/// Reports a text that is not a time; the message repeats the text and shows the grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time: write 0, 500ns, 10us, 1.5ms, 30s, 10m or 1h")]
pub struct NanosError {
    /// The rejected text.
    pub text: String,
}

impl FromStr for Nanos {
    type Err = NanosError;

    fn from_str(text: &str) -> Result<Self, NanosError> {
        let wrong = || NanosError { text: text.to_owned() };
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (digits, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
        let amount: f64 = digits.parse().map_err(|_| wrong())?;
        let nanos_each = match unit.trim() {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            // Zero is the one number without a unit.
            "" if amount == 0.0 => 0.0,
            _ => return Err(wrong()),
        };
        let nanos = amount * nanos_each;
        if nanos < u64::MAX as f64 { Ok(Self(super::whole(nanos))) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_three_digits() {
        let check = |nanos, want| assert_eq!(Nanos(nanos).to_string(), want);
        check(0, "0 ns");
        check(999, "999 ns");
        check(36_300_000, "36.3 ms");
        check(9_999_999, "10.0 ms");
        check(999_600_000, "1.00 s");
        check(3_600_000_000_000, "3600 s");
    }

    #[test]
    fn times_are_read_with_their_unit() {
        let check = |text: &str, want: Option<u64>| {
            assert_eq!(text.parse::<Nanos>().ok().map(|time| time.0), want, "{text:?}");
        };
        check("0", Some(0));
        check("1.5 ms", Some(1_500_000));
        check("10us", Some(10_000));
        check("10µs", Some(10_000));
        check("2m", Some(120_000_000_000));
        check("1h", Some(3_600_000_000_000));
        check("7", None);
        check("-1s", None);
        check("1.2.3s", None);
        check("99999999999h", None);
        check("", None);
        check("1 parsec", None);
    }

    #[test]
    fn what_is_no_time_is_none() {
        assert_eq!(Nanos::from_seconds(-1.0), Nanos::ZERO);
        assert_eq!(Nanos::from_seconds(f64::NAN), Nanos::ZERO);
        assert_eq!(Nanos::from_seconds(f64::INFINITY), Nanos::MAX);
        assert_eq!(Nanos::MAX + Nanos(1), Nanos::MAX);
        assert_eq!(Nanos(1) - Nanos(2), Nanos::ZERO);
        assert_eq!(Nanos::from_millis(0.0004), Nanos(400));
    }
}

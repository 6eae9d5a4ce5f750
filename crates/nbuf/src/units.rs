//! Quantities that must not be confused, and the one grammar for sizes.
//!
//! [`Bytes`] and [`Pages`] are newtypes: adding one to the other does not compile. A page is
//! [`PAGE_BYTES`] bytes, the unit in which the kernel's page cache counts on the machines nbuf
//! runs on (x86-64; 4 KiB base pages elsewhere).

mod bound;
mod nanos;
mod size_list;

pub use bound::{Bound, TooLarge, table_bytes};
pub use nanos::{Nanos, NanosError};
pub use size_list::{CacheSize, SizeList, SizeListError, even};

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Bytes in a page of the page cache.
pub const PAGE_BYTES: u64 = 4096;

/// An amount of memory or of data, in bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// An amount of memory or of data, in pages of [`PAGE_BYTES`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Pages(pub u64);

impl Bytes {
    /// Whole pages that fit, rounding down.
    pub const fn pages_down(self) -> Pages {
        Pages(self.0 / PAGE_BYTES)
    }

    /// Pages that hold this many bytes, rounding up.
    pub const fn pages_up(self) -> Pages {
        Pages(self.0.div_ceil(PAGE_BYTES))
    }

    /// This amount less `other`, or nothing.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// A share of this amount, rounded down.
    #[must_use]
    pub fn percent(self, percent: f64) -> Self {
        Self(whole(self.0 as f64 * (percent / 100.0)))
    }

    /// In mebibytes, for showing.
    pub fn mebibytes(self) -> f64 {
        self.0 as f64 / f64::from(1 << 20)
    }
}

impl Pages {
    /// The same amount in bytes; saturates at the largest `u64`.
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0.saturating_mul(PAGE_BYTES))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl fmt::Display for Bytes {
    /// Three significant digits with an IEC unit: `66.1 MiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut amount = self.0 as f64 / 1024.0;
        let mut unit = 0;
        // 999.5 would be shown with four digits; the next unit says it in three.
        while amount >= 999.5 && unit + 1 < UNITS.len() {
            amount /= 1024.0;
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

/// A size as a person writes it: absolute, or relative to something the verb names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// `64MiB`, `16384p`, `1.5G`, `1048576`
    Absolute(Bytes),
    /// `10%`
    Percent(f64),
}

/// Why a text is not a size; the message repeats the text and shows the grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a size: write 64MiB, 1.5G, 16384p (pages), 1048576 (bytes) or 10%")]
pub struct SizeError {
    /// What was given.
    pub text: String,
}

impl std::str::FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let wrong = || SizeError { text: text.to_owned() };
        let trimmed = text.trim();
        let split =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (digits, unit) = trimmed.split_at(split);
        let number: f64 = digits.parse().map_err(|_| wrong())?;
        if !number.is_finite() {
            return Err(wrong());
        }
        let unit = unit.trim().to_ascii_lowercase();
        if unit == "%" {
            return Ok(Self::Percent(number));
        }
        let factor = unit_bytes(&unit).ok_or_else(wrong)?;
        let bytes = number * factor as f64;
        if bytes >= u64::MAX as f64 {
            return Err(wrong());
        }
        Ok(Self::Absolute(Bytes(whole(bytes))))
    }
}

/// The nearest whole number; negative ones become 0, those too large the largest.
pub fn whole(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast from floating point saturates, which is what is meant"
    )]
    let whole = number.round() as u64;
    whole
}

/// Bytes in one unit. `K`, `M`, `G`, `T` without `iB` are binary, as container tools read them;
/// `kB`, `MB`, `GB`, `TB` are decimal.
fn unit_bytes(unit: &str) -> Option<u64> {
    Some(match unit {
        "" | "b" => 1,
        "p" => PAGE_BYTES,
        "k" | "ki" | "kib" => 1 << 10,
        "m" | "mi" | "mib" => 1 << 20,
        "g" | "gi" | "gib" => 1 << 30,
        "t" | "ti" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_one_grammar() {
        let cases = [
            ("64MiB", Some(Size::Absolute(Bytes(64 << 20)))),
            ("64m", Some(Size::Absolute(Bytes(64 << 20)))),
            ("1.5G", Some(Size::Absolute(Bytes(3 << 29)))),
            ("16384p", Some(Size::Absolute(Bytes(64 << 20)))),
            ("1MB", Some(Size::Absolute(Bytes(1_000_000)))),
            ("4096", Some(Size::Absolute(Bytes(4096)))),
            ("10%", Some(Size::Percent(10.0))),
            (" 2 GiB ", Some(Size::Absolute(Bytes(2 << 30)))),
            ("", None),
            ("MiB", None),
            ("-1M", None),
            ("1e9", None),
            ("1.2.3", None),
            ("64 parsecs", None),
            ("99999999999999999999T", None),
        ];
        for (text, want) in cases {
            assert_eq!(text.parse::<Size>().ok(), want, "{text:?}");
        }
    }

    #[test]
    fn bytes_show_three_digits_and_a_unit() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (66 << 20, "66.0 MiB"),
            (275 << 20, "275 MiB"),
            (1000 << 20, "0.98 GiB"),
            (1 << 40, "1.00 TiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (bytes, want) in cases {
            assert_eq!(Bytes(bytes).to_string(), want);
        }
    }

    #[test]
    fn pages_round_the_way_their_names_say() {
        assert_eq!(Bytes(4097).pages_down(), Pages(1));
        assert_eq!(Bytes(4097).pages_up(), Pages(2));
        assert_eq!(Pages(3).bytes(), Bytes(12288));
        assert_eq!((whole(2.5), whole(-1.0), whole(f64::NAN)), (3, 0, 0));
    }
}

//! Amounts of bytes, pages and time, and the one grammar for sizes.
//!
//! [`Bytes`] and [`Pages`] are newtypes: adding one to the other does not compile. A page is
//! [`PAGE_BYTES`] bytes. The kernel's page cache counts in this unit on the machines nbuf supports
//! (x86-64; elsewhere those with 4 KiB base pages).
//!
//! ```
//! use nbuf::units::{Bytes, Size};
//!
//! let size: Size = "1.5 GiB".parse()?;
//! assert_eq!(size, Size::Absolute(Bytes(3 << 29)));
//! assert_eq!(Bytes(1 << 20).to_string(), "1.00 MiB");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod date;
mod nanos;
mod size_list;
mod text;
mod words;

pub use bound::{Bound, TooLarge, table_bytes};
pub use date::date;
pub use nanos::{Nanos, NanosError};
pub use size_list::{CacheSize, SizeList, SizeListError, even};
pub(crate) use text::as_text;
pub use words::{count, grouped, listed};

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Bytes in a page of the page cache.
pub const PAGE_BYTES: u64 = 4096;

/// An amount of memory or of data, in bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// An amount of memory or of data, in pages of [`PAGE_BYTES`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Pages(pub u64);

impl Bytes {
    /// The whole pages that fit into these bytes, rounded down.
    pub const fn pages_down(self) -> Pages {
        Pages(self.0 / PAGE_BYTES)
    }

    /// The pages that hold these bytes, rounded up.
    pub const fn pages_up(self) -> Pages {
        Pages(self.0.div_ceil(PAGE_BYTES))
    }

    /// Subtracts `other`; the result is never negative.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// A share of this amount, rounded down.
    #[must_use]
    pub fn percent(self, percent: f64) -> Self {
        Self(whole(self.0 as f64 * (percent / 100.0)))
    }

    /// Converts to mebibytes, for output only.
    pub fn mebibytes(self) -> f64 {
        self.0 as f64 / f64::from(1 << 20)
    }
}

impl Pages {
    /// Converts to bytes; saturates at the largest `u64`.
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
        // 999.5 would take four digits; the next unit takes three.
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

/// A size as a user writes it: absolute, or a share of an amount that the verb names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Bytes or pages: `64MiB`, `16384p`, `1.5G`, `1048576`.
    Absolute(Bytes),
    /// A share: `10%`.
    Percent(f64),
}

/// Reports a text that is not a size; the message repeats the text and shows the grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a size: write 64MiB, 1.5G, 16384p (pages), 1048576 (bytes) or 10%")]
pub struct SizeError {
    /// The rejected text.
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

impl fmt::Display for Size {
    /// The exact amount, in the grammar.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(bytes) => bytes.0.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

as_text!(Size);

/// Rounds to the nearest whole number. Negative numbers become 0; too large ones the largest `u64`.
pub fn whole(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast from floating point saturates, which is what is meant"
    )]
    let whole = number.round() as u64;
    whole
}

/// The bytes in one unit. `K`, `M`, `G`, `T` without `iB` are binary, as in container tools; `kB`,
/// `MB`, `GB`, `TB` are decimal.
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

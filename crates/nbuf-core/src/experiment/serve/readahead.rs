//! How much is read ahead of sequential reads, as `--readahead` gives it.

use std::fmt;
use std::str::FromStr;

use crate::units::{Bytes, Size, as_text};

/// The most.
const BYTES_MAX: u64 = 64 << 20;

/// How much is read ahead of a stream at once, at the most; nothing if it is off. A window is never more than a 32nd
/// of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readahead(u32);

impl Readahead {
    /// Nothing is read ahead.
    pub const OFF: Self = Self(0);

    pub(super) fn of(bytes: u32) -> Self {
        Self(bytes)
    }

    /// In bytes.
    pub fn bytes(self) -> u32 {
        self.0
    }
}

impl Default for Readahead {
    /// 1 MiB.
    fn default() -> Self {
        Self(1 << 20)
    }
}

/// No readahead is written so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write `off`, or a size of 64 MiB at most, such as 1MiB")]
pub struct ReadaheadError;

impl FromStr for Readahead {
    type Err = ReadaheadError;

    fn from_str(text: &str) -> Result<Self, ReadaheadError> {
        if text == "off" {
            return Ok(Self::OFF);
        }
        match text.parse() {
            Ok(Size::Absolute(Bytes(bytes))) if (1..=BYTES_MAX).contains(&bytes) => {
                u32::try_from(bytes).map(Self).map_err(|_| ReadaheadError)
            }
            _ => Err(ReadaheadError),
        }
    }
}

impl fmt::Display for Readahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::OFF { f.write_str("off") } else { Bytes(self.0.into()).fmt(f) }
    }
}

as_text!(Readahead);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_is_written() {
        for (text, bytes) in [("off", 0), ("1MiB", 1 << 20), ("512KiB", 512 << 10)] {
            let readahead: Readahead = text.parse().unwrap();
            assert_eq!(readahead.bytes(), bytes);
            assert_eq!(readahead.to_string().parse(), Ok(readahead));
        }
        for text in ["", "on", "0", "-1", "10%", "65MiB"] {
            assert_eq!(text.parse::<Readahead>(), Err(ReadaheadError), "{text}");
        }
    }
}

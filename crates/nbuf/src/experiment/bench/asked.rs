//! A pattern as a person writes it: `512 B, stride 1 MiB, hot`. What a trace shows is in
//! [`super::observed`].

use std::str::FromStr;

use super::table::{Layout, Test, modern};
use crate::experiment::result::State;
use crate::units::{Bytes, Size};

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Which blocks.
    pub layout: Layout,
    /// Whether they are written.
    pub is_write: bool,
    /// What the file is like.
    pub state: State,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` is no part of a pattern: write a size of block, `stride SIZE` or `random` or \
     `sequential`, `read` or `write` or `append`, `hot` or `cold`, with commas: 512 B, stride 1 MiB, hot"
)]
pub struct PatternError {
    /// What was not understood.
    pub part: String,
}

impl FromStr for Asked {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let wrong = |part: &str| PatternError { part: part.to_owned() };
        let (mut block, mut layout, mut way, mut is_cold) =
            (None, Layout::Sequential, "read", false);
        for part in text.split(',').map(str::trim) {
            let lower = part.to_ascii_lowercase();
            match lower.as_str() {
                "sequential" => layout = Layout::Sequential,
                "random" => layout = Layout::Random,
                "read" | "write" | "append" => {
                    way = if lower == "read" {
                        "read"
                    } else if lower == "write" {
                        "write"
                    } else {
                        "append"
                    };
                }
                "hot" => is_cold = false,
                "cold" => is_cold = true,
                other => match other.strip_prefix("stride ") {
                    Some(stride) => {
                        layout = Layout::Strided(bytes(stride).ok_or_else(|| wrong(part))?);
                    }
                    None => block = Some(bytes(other).ok_or_else(|| wrong(part))?),
                },
            }
        }
        let state = match way {
            "read" if is_cold => State::Cold,
            "read" => State::Hot,
            // There is nothing to find before it is written.
            _ if is_cold => return Err(wrong("cold")),
            "append" => State::Append,
            _ => State::Overwrite,
        };
        let block_bytes = block.ok_or_else(|| wrong(text))?;
        Ok(Self { block_bytes, layout, is_write: way != "read", state })
    }
}

/// An amount above 0.
fn bytes(text: &str) -> Option<u64> {
    match text.parse() {
        Ok(Size::Absolute(Bytes(bytes))) if bytes > 0 => Some(bytes),
        _ => None,
    }
}

impl Asked {
    /// The test that does it by this path.
    pub fn test(&self, path: &'static str, block_bytes: u64, size_bytes: u64) -> Test {
        let device = super::table::is_direct(path);
        let state = if device { State::Device } else { self.state };
        let test = modern(path, self.is_write, (self.layout, block_bytes), state, 1);
        Test { size_bytes, ..test }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_as_people_write_them() {
        let check = |text: &str, want: (u64, Layout, State)| {
            let asked: Asked = text.parse().unwrap();
            assert_eq!((asked.block_bytes, asked.layout, asked.state), want, "{text}");
            assert_eq!(asked.is_write, matches!(want.2, State::Append | State::Overwrite));
        };
        let far = Layout::Strided(1 << 20);
        check("512 B, stride 1 MiB, hot", (512, far, State::Hot));
        check("4096, random, cold", (4096, Layout::Random, State::Cold));
        check("1", (1, Layout::Sequential, State::Hot));
        check("append, 4KiB", (4096, Layout::Sequential, State::Append));
        check("64KiB, write", (65536, Layout::Sequential, State::Overwrite));
        for (text, part) in [
            ("", "``"),
            ("hot", "`hot`"),
            ("0, hot", "`0`"),
            ("10 %", "`10 %`"),
            ("1, stride 0", "`stride 0`"),
            ("1, sideways", "`sideways`"),
            ("1, write, cold", "`cold`"),
        ] {
            let error = text.parse::<Asked>().unwrap_err().to_string();
            assert!(error.starts_with(part), "{text}: {error}");
        }
    }
}

//! The parts of a pattern, each said once at the most.

use super::super::table::{COURSE_BYTES, Layout};
use crate::units::{Bytes, Size};

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Way {
    #[default]
    Read,
    Write,
    Append,
}

/// What was said so far.
pub(super) struct Parts {
    pub(super) block: Option<u64>,
    pub(super) layout: Layout,
    pub(super) way: Way,
    pub(super) is_cold: bool,
    pub(super) file_bytes: u64,
    pub(super) touched: Option<Size>,
    pub(super) depth: u32,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            block: None,
            layout: Layout::Sequential,
            way: Way::Read,
            is_cold: false,
            file_bytes: COURSE_BYTES,
            touched: None,
            depth: 1,
        }
    }
}

impl Parts {
    /// Takes a part and returns what it is about; nothing where it is no part.
    pub(super) fn take(&mut self, part: &str) -> Option<&'static str> {
        let lower = part.to_ascii_lowercase();
        let subject = match lower.split_once(' ').unwrap_or((&lower, "")) {
            ("sequential", "") => self.goes(Layout::Sequential),
            ("random", "") => self.goes(Layout::Random),
            ("stride", size) => self.goes(Layout::Strided(bytes(size)?)),
            ("read", "") => self.asks(Way::Read),
            ("write", "") => self.asks(Way::Write),
            ("append", "") => self.asks(Way::Append),
            ("hot", "") => "temperature",
            ("cold", "") => {
                self.is_cold = true;
                "temperature"
            }
            ("file", size) => {
                self.file_bytes = bytes(size)?;
                "file"
            }
            ("touches", size) => {
                self.touched = Some(size.parse().ok()?);
                "share touched"
            }
            ("depth", number) => {
                self.depth = number.trim().parse().ok()?;
                "depth"
            }
            _ => {
                self.block = Some(bytes(part)?);
                "block"
            }
        };
        Some(subject)
    }

    fn goes(&mut self, layout: Layout) -> &'static str {
        self.layout = layout;
        "order"
    }

    fn asks(&mut self, way: Way) -> &'static str {
        self.way = way;
        "operation"
    }
}

/// An amount above 0.
fn bytes(text: &str) -> Option<u64> {
    match text.parse() {
        Ok(Size::Absolute(Bytes(bytes))) if bytes > 0 => Some(bytes),
        _ => None,
    }
}

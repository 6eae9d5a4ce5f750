//! What a program of the course does: made by hand, from a command line, or read from a file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::path::option_driven::Means;
use crate::path::{Direction, Order, Pattern};

/// More is not moved at once.
const BLOCK_BYTES_MAX: u64 = 1 << 30;

/// The spec of one program, with the defaults of the course.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Which one.
    pub program: Program,
    /// The file to write or to read.
    pub file: PathBuf,
    /// Bytes to move.
    pub size_bytes: u64,
    /// Bytes in a block.
    pub block_bytes: u64,
    /// From one block to the next; 0 is in sequence, as much as a block is in sequence with seeks.
    pub stride_bytes: u64,
    /// How often the observer gets what was moved so far; 0 is never.
    pub print_bytes: u64,
    /// Whether C's standard I/O is used instead of system calls.
    pub uses_stdio: bool,
    /// Whether the file is written with `O_SYNC`.
    pub is_synced: bool,
    /// Whether a file with other data is overwritten.
    pub force: bool,
}

/// A program of the course.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// Writes a file.
    #[default]
    Writer,
    /// Reads a file.
    Reader,
    /// Reads a file through a mapping.
    Memreader,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            program: Program::default(),
            file: "data".into(),
            size_bytes: 10 << 20,
            block_bytes: 1,
            stride_bytes: 0,
            print_bytes: 0,
            uses_stdio: false,
            is_synced: false,
            force: false,
        }
    }
}

impl Spec {
    /// The operations.
    pub(super) fn pattern(&self) -> Result<Pattern, Error> {
        let Self { size_bytes, block_bytes, .. } = *self;
        let direction = match self.program {
            Program::Writer => Direction::Write,
            Program::Reader | Program::Memreader => Direction::Read,
        };
        let order = match self.stride_bytes {
            0 => Order::Sequential,
            stride_bytes => Order::Strided { stride_bytes },
        };
        let pattern = Pattern { direction, order, block_bytes, size_bytes };
        pattern.check()?;
        if block_bytes.min(size_bytes) > BLOCK_BYTES_MAX {
            return Err(Error::Block { block_bytes, most: BLOCK_BYTES_MAX });
        }
        Ok(pattern)
    }

    /// The interface that moves the bytes.
    pub(super) fn means(&self) -> Means {
        match (self.program, self.uses_stdio) {
            (Program::Memreader, _) => Means::Mapping,
            (_, true) => Means::Streams,
            (_, false) => Means::Calls,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_from_a_file_and_written_again() {
        let text = "program = \"memreader\"\nblock_bytes = 512\nstride_bytes = 1048576\n";
        let spec: Spec = toml::from_str(text).unwrap();
        assert_eq!((spec.means(), spec.size_bytes), (Means::Mapping, 10 << 20));
        assert_eq!(spec.pattern().unwrap().direction, Direction::Read);
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
    }
}

//! The ways to read and write a file: calls, standard I/O, mappings, threads, rings.
//!
//! To add one, write a file and a line in [`PATHS`]; help, reports and tests use the table. A path
//! runs a whole slice of a pattern in one call and has the loop inside. A virtual call for each
//! byte would cost as much as `getc`.
//!
//! A **pass** is the whole pattern once, in consecutive slices from operation 0 on.

pub(crate) mod aligned;
mod buffered;
pub mod cached_file;
mod call;
pub(crate) mod data;
mod direct;
mod flagged;
mod mapped;
pub(crate) mod nbd;
mod null;
pub mod option_driven;
mod over_direct;
pub mod overwrite_guard;
mod pass;
pub mod pattern;
mod pool;
mod raw;
mod ring;
mod several;
mod standard;
mod steps;
mod table;
pub(crate) mod wake;

pub use pattern::{Direction, Order, Pattern};
pub use table::{PATHS, Row, row};

use std::io;
use std::ops::Range;

/// The result of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The number of completed operations.
    pub operations: u64,
    /// The number of moved bytes.
    pub bytes: u64,
    /// The sum of the first byte of each operation. It forces the path to read the data.
    pub sum: u64,
}

/// A path that is open on one file.
pub trait Path {
    /// Runs the operations with these numbers of its pattern, and ignores numbers past the last.
    ///
    /// A slice that starts at operation 0 starts a pass. It renews mappings, and truncates a
    /// growing file if [`Path::rewind`] did not. A slice that ends with the last operation flushes
    /// standard I/O. A slice that does not start at the end of the previous one costs a seek.
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved>;

    /// Prepares a pass outside the timed part: truncates a growing file.
    fn rewind(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Finishes open work outside the timed part: flushes, joins, unmaps.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// The completions that the kernel has put into the ring; `None` without a ring.
    fn rung(&self) -> Option<u64> {
        None
    }
}

/// The arguments for opening a path.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The file. It exists and has the pattern's size, unless it grows. `/proc/self/fd/N` names a
    /// file without a name.
    pub file: &'a std::path::Path,
    /// The operations to run.
    pub pattern: Pattern,
    /// Whether writes extend an empty file instead of overwriting.
    pub grows: bool,
    /// The operations in flight at a time; 1 for paths that cannot have more.
    pub depth: u32,
}

/// The reason why a path cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The pattern is invalid.
    #[error(transparent)]
    Pattern(#[from] pattern::Error),
    /// The path does not support reading, or writing.
    #[error("`{path}` cannot {}; give a path that can", verb(*.direction))]
    Direction {
        /// The path's name in the table.
        path: &'static str,
        /// The unsupported direction.
        direction: Direction,
    },
    /// The path does not support this order.
    #[error("`{path}` has no such order: {wants}")]
    Order {
        /// The path's name in the table.
        path: &'static str,
        /// The orders that it supports.
        wants: &'static str,
    },
    /// The depth is zero or exceeds the path's limit.
    #[error("`{path}` has 1 to {depth_max} operations under way, not {depth}; give another depth")]
    Depth {
        /// The path's name in the table.
        path: &'static str,
        /// The path's limit.
        depth_max: u32,
        /// The requested depth.
        depth: u32,
    },
    /// The block exceeds the limit of one call.
    #[error("a block of {0} bytes is too large for one call; give at most 1073741824")]
    Block(usize),
    /// The file is shorter than the pattern.
    #[error(
        "the file has {has_bytes} bytes, and {wanted_bytes} are needed; make it longer, or give less"
    )]
    Short {
        /// The size of the file.
        has_bytes: u64,
        /// The size of the pattern.
        wanted_bytes: u64,
    },
    /// The name is a directory, a device or a pipe.
    #[error("it is not a regular file; name one")]
    NotAFile,
    /// The pattern is not aligned for `O_DIRECT`.
    #[error(
        "O_DIRECT moves multiples of {unit_bytes} bytes here, and the {what} is {bytes}; give \
         another, or a path through the cache"
    )]
    Unaligned {
        /// The required alignment.
        unit_bytes: u64,
        /// The unaligned value: size, block or stride.
        what: &'static str,
        /// The unaligned number of bytes.
        bytes: u64,
    },
    /// The machine, the file system or a filter refuses the path.
    #[error("{what} is refused here ({cause}); {instead}")]
    Refused {
        /// The refused call.
        what: &'static str,
        /// The kernel's error.
        cause: io::Error,
        /// Advice for the user.
        instead: &'static str,
    },
    /// The file cannot be opened or examined.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    }
}

//! The ways to ask for bytes of a file: calls, standard I/O, mappings, threads, rings.
//!
//! Adding one is a file and a line in [`PATHS`]; help, reports and tests go through the table. A
//! path runs a whole slice of a pattern in one call, with the loop inside: a virtual call for each
//! byte would cost as much as `getc`.
//!
//! A **pass** is the whole pattern once, in slices that follow one another from operation 0 on.

mod aligned;
mod buffered;
mod call;
pub mod data;
mod direct;
mod flagged;
mod mapped;
mod null;
pub mod option_driven;
pub mod ours;
mod over_direct;
mod pass;
pub mod pattern;
mod pool;
mod raw;
mod ring;
mod several;
mod standard;
mod steps;
mod table;
pub mod wake;

pub use pattern::{Direction, Order, Pattern};
pub use table::{PATHS, Row, row};

use std::io;
use std::ops::Range;

/// What came of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Operations that were done.
    pub operations: u64,
    /// Bytes that were moved.
    pub bytes: u64,
    /// The first bytes of all operations, added up: what was read has been looked at.
    pub sum: u64,
}

/// A way to ask, ready to be used on one file.
pub trait Path {
    /// Does the operations with these numbers of the pattern it was opened for; numbers past its
    /// last are left out.
    ///
    /// A slice that begins at operation 0 begins a pass: mappings are made anew, and what grows is
    /// emptied if [`Path::rewind`] did not. One that ends with the last operation writes out what
    /// standard I/O still holds. A slice that does not begin where the last one ended costs a seek.
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved>;

    /// Before a pass, outside of what is timed: empties a file that is to grow.
    fn rewind(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Ends what the slices left open, outside of what is timed: flushes, joins, unmaps.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Completions that the kernel has put into a ring, where the path has one.
    fn rung(&self) -> Option<u64> {
        None
    }
}

/// What a path is opened for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The file. It exists and has the pattern's size, unless it grows; `/proc/self/fd/N` serves for
    /// one without a name.
    pub file: &'a std::path::Path,
    /// What will be asked of it.
    pub pattern: Pattern,
    /// Written from nothing, instead of over what is there.
    pub grows: bool,
    /// Operations under way at a time; 1 where a path knows no other.
    pub depth: u32,
}

/// Why a path cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such pattern.
    #[error(transparent)]
    Pattern(#[from] pattern::Error),
    /// Not in this row.
    #[error("`{path}` does not {}; ask for one that does", verb(*.direction))]
    Direction {
        /// The row.
        path: &'static str,
        /// What it does not.
        direction: Direction,
    },
    /// Not with this row.
    #[error("`{path}` knows no such order: {wants}")]
    Order {
        /// The row.
        path: &'static str,
        /// What it does.
        wants: &'static str,
    },
    /// More under way than the path can have, or nothing.
    #[error("`{path}` has 1 to {depth_max} operations under way, not {depth}; give another depth")]
    Depth {
        /// The row.
        path: &'static str,
        /// Its most.
        depth_max: u32,
        /// What was asked for.
        depth: u32,
    },
    /// More than one call moves.
    #[error("a block of {0} bytes is more than a call is given here; give at most 1073741824")]
    Block(usize),
    /// There is not as much to read or to write over.
    #[error("the file has {has_bytes} bytes of {wanted_bytes}; make it longer or ask for less")]
    Short {
        /// What there is.
        has_bytes: u64,
        /// What was asked for.
        wanted_bytes: u64,
    },
    /// A directory, a device, a pipe.
    #[error("it is not a regular file; name one")]
    NotAFile,
    /// Only whole sectors go past the cache.
    #[error(
        "O_DIRECT moves multiples of {unit_bytes} bytes here, and the {what} is {bytes}; give \
         another, or a path through the cache"
    )]
    Unaligned {
        /// Of this.
        unit_bytes: u64,
        /// Size, block or stride.
        what: &'static str,
        /// How large it is.
        bytes: u64,
    },
    /// The machine, the file system or a filter does not let it.
    #[error("{what} is refused here ({cause}); {instead}")]
    Refused {
        /// What was asked of the kernel.
        what: &'static str,
        /// What it said.
        cause: io::Error,
        /// What to do.
        instead: &'static str,
    },
    /// The file cannot be opened or looked at.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    }
}

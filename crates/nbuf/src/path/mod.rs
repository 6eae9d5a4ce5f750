//! The ways to ask for bytes of a file: calls, standard I/O, mappings, threads, rings.
//!
//! Adding one is a file and a line in [`PATHS`]; help, reports and tests go through the table. A
//! path runs a whole slice of a pattern in one call, with the loop inside: a virtual call for each
//! byte would cost as much as `getc`.

pub mod pattern;
pub mod wake;

pub use pattern::{Direction, Order, Pattern};

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
    /// Does the operations with these numbers of the pattern it was opened for, in order.
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved>;

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
    /// The file. It exists and has the pattern's size, unless it grows.
    pub file: &'a std::path::Path,
    /// What will be asked of it.
    pub pattern: Pattern,
    /// Written from nothing, instead of over what is there.
    pub grows: bool,
    /// Operations under way at a time; 1 where a path knows no other.
    pub depth: u32,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it is called everywhere.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// What it can do.
    pub directions: &'static [Direction],
    /// The most operations it has under way.
    pub depth_max: u32,
    /// Opens it. The error says what the machine refuses.
    pub open: fn(&Request<'_>) -> io::Result<Box<dyn Path>>,
}

/// All of them.
pub const PATHS: &[Row] = &[];

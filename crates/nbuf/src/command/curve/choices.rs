//! Options of `nbuf curve` that name one of a few things.

use nbuf::experiment::curve::{Whole, Writes};
use nbuf::experiment::grid::By;

/// What one access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AccessUnit {
    /// A page that a request touches
    Page,
    /// A whole request, known by where it starts
    Request,
    /// A key or a whole request with its size; caches are in bytes, as with --size 64MiB for keys
    Object,
}

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum WritesDo {
    /// It is an access like a read
    Allocate,
    /// It bypasses the cache, and evicts its pages
    Around,
    /// It is ignored
    Ignore,
    /// It brings its object in and is not counted: logs of a cache whose users store what they did not find
    Store,
}

/// What a curve is split by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Part {
    /// File, volume or name space
    File,
    /// Process or thread
    Task,
    /// Reads and writes
    Op,
}

impl From<AccessUnit> for Whole {
    fn from(unit: AccessUnit) -> Self {
        match unit {
            AccessUnit::Page => Self::No,
            AccessUnit::Request | AccessUnit::Object => Self::Yes,
        }
    }
}

impl From<WritesDo> for Writes {
    fn from(writes: WritesDo) -> Self {
        match writes {
            WritesDo::Allocate => Self::Allocate,
            WritesDo::Around => Self::Around,
            WritesDo::Ignore => Self::Ignore,
            WritesDo::Store => Self::Store,
        }
    }
}

impl From<Part> for By {
    fn from(part: Part) -> Self {
        match part {
            Part::File => Self::File,
            Part::Task => Self::Task,
            Part::Op => Self::Op,
        }
    }
}

//! A request: in a trace, from a process to a cache, from a cache to a disc.
//!
//! Every format of the field comes down to this one shape, and what is replayed keeps it all the way
//! to the disc, so that what is done with requests is written once. Forty-eight bytes a request: they are
//! handled in batches and never kept.
//!
//! ```
//! use nbuf::trace::request::{Op, Request};
//!
//! let read = Request::new(Op::Read, 4096, 512);
//! assert_eq!(read.span().end(), 4608);
//! ```

use super::{Cost, Lifetime};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Data are wanted.
    Read,
    /// Data are given.
    Write,
    /// The data are not needed any more: trim, unmap, delete, truncate.
    Discard,
    /// What was written shall be safe; touches no page.
    Flush,
}

/// What the offsets of a format count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of an object (a volume, a file): a request becomes the pages that it touches.
    Bytes,
    /// Nothing: the offset is a key, the length the size of what it names; one access a request.
    Keys,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Nanoseconds since some moment that the format chooses; 0 throughout where it has no times.
    pub time_ns: i64,
    /// Where it starts in its object or on its disc, in bytes; or the key.
    pub offset: u64,
    /// How many bytes it covers; size of the value of a key. In a trace, 0 touches nothing. To a cache
    /// or a disc, 0 touches the sector there: a read looks at it, a write marks the end of a file.
    pub length_bytes: u64,
    /// The volume, file or name space that it goes to: numbered from 0 as they appear.
    pub object: u32,
    /// The process or thread that asks; 0 where the format does not say.
    pub task: u32,
    /// Which sector of its file that is, counted from 0; 0 where that is not known. For caches that
    /// admit by it.
    pub position: u32,
    /// How long what it names may be served from a cache, where the trace says so.
    pub lifetime: Lifetime,
    /// What a miss costs, where a column of the trace gives it; else 0.
    pub cost: Cost,
    /// What it asks for.
    pub op: Op,
    /// Whether what is written shall be safe before the request is complete.
    pub durable: bool,
    /// Whether what is discarded shall be zeros. No trace has it.
    pub zeros: bool,
    /// Whether a log that states sizes states none of this key so far: the length is then of the key alone, or 0.
    pub is_unsized: bool,
}

const _: () = assert!(size_of::<Request>() == 48, "batches of requests fit into the second level");

impl Request {
    /// Creates a request for the only object, without a time and without a task.
    #[inline]
    pub const fn new(op: Op, offset: u64, length_bytes: u64) -> Self {
        Self {
            time_ns: 0,
            offset,
            length_bytes,
            object: 0,
            task: 0,
            position: 0,
            lifetime: Lifetime::NONE,
            cost: Cost::NONE,
            op,
            durable: false,
            zeros: false,
            is_unsized: false,
        }
    }

    /// The bytes of a disc that are touched: at least one.
    pub fn span(&self) -> Span {
        Span { offset_bytes: self.offset, length_bytes: self.length_bytes.max(1) }
    }
}

/// Some bytes of a disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub offset_bytes: u64,
    /// How many, at least one.
    pub length_bytes: u64,
}

impl Span {
    /// The byte behind the last.
    pub fn end(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }

    /// Returns the span extended to whole units of `unit_bytes`, at both ends.
    #[must_use]
    pub fn aligned(&self, unit_bytes: u64) -> Self {
        let unit = unit_bytes.max(1);
        let offset_bytes = self.offset_bytes / unit * unit;
        let end = self.end().div_ceil(unit).saturating_mul(unit);
        Self { offset_bytes, length_bytes: end - offset_bytes }
    }
}

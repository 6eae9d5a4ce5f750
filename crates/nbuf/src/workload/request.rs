//! A request of somebody's trace, as its format tells it: before pages are made of it.
//!
//! Every format of the field comes down to this one shape, so that what is done with requests is
//! written once. Forty bytes a request: they are handled in batches and never kept.

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ask {
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
    /// Where it starts in its object, in bytes; or the key.
    pub offset: u64,
    /// How many bytes it covers; may be 0, which touches nothing. Size of the value of a key.
    pub length_bytes: u64,
    /// The volume, file or name space that it goes to: numbered from 0 as they appear.
    pub object: u32,
    /// The process or thread that asks; 0 where the format does not say.
    pub task: u32,
    /// What it asks for.
    pub ask: Ask,
}

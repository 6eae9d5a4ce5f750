//! What a client can choose: a disc by its name, and parts of it to ask about.

use crate::disc::nbd::wire::export;

/// Parts of the disc that a client may ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// What is allocated.
    Allocation,
    /// What is in the cache.
    Cached,
    /// What the disc does not have yet.
    Dirty,
}

impl Context {
    pub(super) const ALL: [Self; 3] = [Self::Allocation, Self::Cached, Self::Dirty];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Allocation => "base:allocation",
            Self::Cached => "nbuf:cached",
            Self::Dirty => "nbuf:dirty",
        }
    }

    /// Its number on the wire.
    pub(super) fn id(self) -> u32 {
        match self {
            Self::Allocation => 1,
            Self::Cached => 2,
            Self::Dirty => 3,
        }
    }
}

/// A disc that is served.
#[derive(Clone, Debug)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// Whether the empty name leads to it too.
    pub is_default: bool,
    /// Its size.
    pub size_bytes: u64,
    /// Whether writes are refused.
    pub is_read_only: bool,
    /// The unit in which requests are best.
    pub page_bytes: u32,
    /// The longest request.
    pub request_bytes_max: u32,
}

impl Export {
    /// What a client may do with it.
    pub(super) fn flags(&self) -> u16 {
        let writes = if self.is_read_only {
            export::READ_ONLY
        } else {
            export::SEND_FUA | export::SEND_TRIM | export::SEND_WRITE_ZEROES
        };
        writes
            | export::HAS_FLAGS
            | export::SEND_FLUSH
            | export::SEND_DF
            | export::CAN_MULTI_CONN
            | export::SEND_CACHE
    }
}

/// The number of the export with this name.
pub(super) fn named(exports: &[Export], name: &[u8]) -> Option<usize> {
    exports
        .iter()
        .position(|export| name == export.name.as_bytes() || name.is_empty() && export.is_default)
}

//! Where the bytes of an object come from.

use std::error::Error;
use std::ops::Range;

use super::{Chunks, Http, ObjectDiscError, Stored};

/// The longest text of a cause.
const CAUSE_BYTES: usize = 300;

/// The source of the bytes.
pub(crate) enum Origin {
    /// A web server.
    Web(Http),
    /// An object of a store.
    Store(Stored),
    /// Many objects of a store, which may be written.
    Chunks(Chunks),
}

/// What tells a version of an object from others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    /// The entity tag, as the server writes it.
    pub(crate) tag: Option<String>,
    /// The time of the last change, as the server writes it.
    pub(crate) modified: Option<String>,
}

/// What is known of an object since it was opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Its address without a query, which may hold a signature.
    pub(super) address: String,
    pub(super) size_bytes: u64,
    pub(super) version: Version,
}

/// Why bytes did not come.
#[derive(Debug)]
pub(super) enum Failed {
    /// Another try gives the same.
    Final(ObjectDiscError),
    /// Another try may succeed.
    Again(ObjectDiscError),
}

impl Origin {
    /// What is known of the object.
    pub(super) fn facts(&self) -> &Facts {
        match self {
            Self::Web(web) => &web.facts,
            Self::Store(store) => &store.facts,
            Self::Chunks(chunks) => &chunks.facts,
        }
    }

    /// What takes writes.
    pub(super) fn writable(&self) -> Option<&Chunks> {
        match self {
            Self::Chunks(chunks) if !chunks.is_read_only() => Some(chunks),
            _ => None,
        }
    }

    /// Ends what other servers wait for.
    pub(super) async fn close(&self) {
        if let Self::Chunks(chunks) = self {
            chunks.close().await;
        }
    }

    /// Fills the room with the bytes from `offset`.
    pub(super) async fn read(&self, offset: u64, room: &mut [u8]) -> Result<(), Failed> {
        let range = offset..offset + room.len() as u64;
        match self {
            Self::Web(web) => web.read(range, room).await,
            Self::Store(store) => store.read(range, room).await.map_err(Failed::Final),
            Self::Chunks(chunks) => chunks.read(offset, room).await.map_err(Failed::Final),
        }
    }
}

impl Version {
    /// A tag that differs whenever a byte differs.
    pub(super) fn strong_tag(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }

    /// Numbers that differ for different versions, for files that keep them. The times are zero without a strong tag:
    /// then two versions of one second look the same.
    pub(super) fn numbers(&self) -> (u64, [i64; 4]) {
        let sum = |text: Option<&str>| crc32fast::hash(text.unwrap_or_default().as_bytes());
        let modified = sum(self.modified.as_deref());
        match self.strong_tag() {
            Some(tag) => {
                let length = i64::try_from(tag.len()).unwrap_or(i64::MAX);
                (0, [sum(Some(tag)).into(), length, modified.into(), 1])
            }
            None => (u64::from(modified) << 32 | u64::from(sum(self.tag.as_deref())), [0; 4]),
        }
    }
}

/// The last cause of an error, in a line that is not too long.
pub(super) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let words = last.to_string();
    let mut text = words.split_whitespace().collect::<Vec<_>>().join(" ");
    text.truncate(text.floor_char_boundary(CAUSE_BYTES));
    text
}

/// The words for a range, in errors.
pub(super) fn words(range: &Range<u64>) -> String {
    format!("bytes {} to {}", range.start, range.end)
}

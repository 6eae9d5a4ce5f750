//! A disc to serve, and its cache.

use std::fmt;
use std::str::FromStr;

use super::{BackendSpec, Error, Readahead, TierSpec};
use crate::cache::cached::{Bypass, PAGE_BYTES_MAX, PAGE_BYTES_MIN, Settings, Writes};
use crate::cache::policy::Choice;
use crate::units::Bytes;

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// What happens to bytes that a journal owes, where it is not certain that they belong to the disc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dirty {
    /// The server does not start.
    #[default]
    Refuse,
    /// They are written to the disc.
    Write,
    /// All bytes that the journal owes are lost.
    Discard,
}

/// A disc to serve, and its cache.
#[derive(Clone, Debug)]
pub struct ExportSpec {
    /// Its name.
    pub name: String,
    /// Whether the empty name leads to it too.
    pub is_default: bool,
    /// The disc.
    pub disc: BackendSpec,
    /// The size of its cache.
    pub size: Bytes,
    /// When a write is on the disc.
    pub writes: Writes,
    /// What is evicted.
    pub policy: Choice,
    /// Whether writes are refused.
    pub is_read_only: bool,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// What is read ahead.
    pub readahead: Readahead,
    /// Whether the cache steps aside where it costs more than it saves.
    pub bypass: Bypass,
    /// A second tier between the cache and the disc, in a file that no other export has.
    pub tier: Option<TierSpec>,
    /// What happens to bytes that a journal owes, perhaps to another disc.
    pub dirty: Dirty,
}

impl ExportSpec {
    /// A disc behind a cache of this size, without a name: written through, pages of 4 KiB, S3-FIFO, and up to 1 MiB
    /// is read ahead.
    pub fn new(disc: BackendSpec, size: Bytes) -> Self {
        Self {
            name: String::new(),
            is_default: true,
            disc,
            size,
            writes: Writes::Through,
            policy: "s3-fifo".parse().expect("a row of the table"),
            is_read_only: false,
            page_bytes: 4096,
            readahead: Readahead::default(),
            bypass: Bypass::Off,
            tier: None,
            dirty: Dirty::Refuse,
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let page = self.page_bytes;
        if !page.is_power_of_two() || !(PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&page) {
            return Err(Error::Page(page));
        }
        if self.policy.to_string().starts_with("opt") {
            return Err(Error::Future);
        }
        let is_clean = !self.name.contains(char::is_control);
        if self.name.len() > NAME_BYTES_MAX || !is_clean || !self.is_default && self.name.is_empty()
        {
            return Err(Error::Name(self.name.escape_default().to_string()));
        }
        self.settings().map(drop)
    }

    pub(super) fn settings(&self) -> Result<Settings, Error> {
        let (bytes, page_bytes) = (self.size.0, self.page_bytes);
        let pages = u32::try_from(bytes / u64::from(page_bytes)).ok().filter(|&pages| pages > 0);
        let pages = pages.ok_or(Error::Size { bytes, page_bytes })?;
        let readahead_bytes = self.readahead.bytes();
        let bypass = self.bypass;
        let settings = Settings::new(pages, self.writes);
        Ok(Settings { page_bytes, readahead_bytes, bypass, ..settings })
    }
}

/// A disc by its name, as `NAME=DISC` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDisc {
    /// The name of the export.
    pub name: String,
    /// The disc.
    pub disc: BackendSpec,
}

/// No named disc is written so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "write NAME=file:PATH, NAME=direct:PATH, NAME=nbd:unix:PATH, NAME=nbds://HOST/EXPORT or NAME=https://HOST/PATH"
)]
pub struct NamedDiscError;

impl FromStr for NamedDisc {
    type Err = NamedDiscError;

    fn from_str(text: &str) -> Result<Self, NamedDiscError> {
        let (name, disc) = text.split_once('=').ok_or(NamedDiscError)?;
        let disc = disc.parse().map_err(|_| NamedDiscError)?;
        if name.is_empty() { Err(NamedDiscError) } else { Ok(Self { name: name.to_owned(), disc }) }
    }
}

impl fmt::Display for NamedDisc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.disc)
    }
}

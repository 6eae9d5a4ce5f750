//! How a running cache is set, and the states of its pages.

use std::fmt;
use std::str::FromStr;

/// When a write is on the disc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// Before it completes; the cache keeps it.
    #[default]
    Through,
    /// Later: it completes when the cache has it. A flush waits until the disc has it.
    Back,
    /// Before it completes; the cache does not keep it.
    Around,
}

/// No way to write has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write `back`, `through` or `around`")]
pub struct UnknownWrites;

impl FromStr for Writes {
    type Err = UnknownWrites;

    fn from_str(text: &str) -> Result<Self, UnknownWrites> {
        match text {
            "through" => Ok(Self::Through),
            "back" => Ok(Self::Back),
            "around" => Ok(Self::Around),
            _ => Err(UnknownWrites),
        }
    }
}

impl fmt::Display for Writes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Through => "through",
            Self::Back => "back",
            Self::Around => "around",
        })
    }
}

/// Whether the cache steps aside where it costs more than it saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bypass {
    /// It never does.
    #[default]
    Off,
    /// It does, as long as small caches that follow all reads do not show that it would save.
    Auto,
}

/// No bypass has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write `auto` or `off`")]
pub struct UnknownBypass;

impl FromStr for Bypass {
    type Err = UnknownBypass;

    fn from_str(text: &str) -> Result<Self, UnknownBypass> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            _ => Err(UnknownBypass),
        }
    }
}

impl fmt::Display for Bypass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Off => "off",
        })
    }
}

/// The state of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The cache has nothing of it.
    Empty,
    /// A read of it is under way.
    Reading,
    /// What the cache has is on the disc.
    Clean,
    /// The disc lacks some of it.
    Dirty,
    /// The disc lacks some of it, and a write is under way.
    Writing,
    /// The disc lacks some of it, and refused it.
    Failed,
}

/// The smallest page.
pub const PAGE_BYTES_MIN: u32 = 512;
/// The largest page.
pub const PAGE_BYTES_MAX: u32 = 32 << 10;

/// How a cache is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Pages, at least one.
    pub pages: u32,
    /// Bytes of a page: a power of two from 512 to 32 KiB.
    pub page_bytes: u32,
    /// When a write is on the disc.
    pub writes: Writes,
    /// Write-back begins when more pages are dirty.
    pub dirty_low_pages: u32,
    /// Writes wait when as many pages are dirty.
    pub dirty_high_pages: u32,
    /// The most write-backs at once; while a flush waits, four times as many.
    pub backs_max: u32,
    /// The longest request to the disc that the cache makes of adjacent pages.
    pub request_bytes_max: u32,
    /// Numbers of pages that are kept at least, however few pages there are.
    pub ids_min: u32,
    /// The most that is read ahead of a stream of reads at once, in bytes; 0 is no readahead.
    pub readahead_bytes: u32,
    /// The part of the cache that this may be, as its divisor.
    pub readahead_part: u32,
    /// Requests that the disc serves at once. Readahead leaves half of them to others.
    pub disc_requests: u32,
    /// Whether the cache steps aside where it costs more than it saves.
    pub bypass: Bypass,
}

impl Settings {
    /// This many pages of 4 KiB: write-back begins at a tenth, and writes wait at half. Nothing is read ahead.
    pub fn new(pages: u32, writes: Writes) -> Self {
        Self {
            pages,
            page_bytes: 4096,
            writes,
            dirty_low_pages: pages / 10,
            dirty_high_pages: pages / 2,
            backs_max: 8,
            request_bytes_max: 1 << 20,
            ids_min: 1 << 16,
            readahead_bytes: 0,
            readahead_part: 32,
            disc_requests: 16,
            bypass: Bypass::Off,
        }
    }

    /// The most pages that are read ahead of a stream at once.
    pub(super) fn ahead_pages(&self) -> u64 {
        if self.readahead_bytes == 0 {
            return 0;
        }
        let most = (self.readahead_bytes / self.page_bytes).min(self.pages / self.readahead_part);
        u64::from(most.max(1))
    }

    /// The nearest settings that can work.
    pub(super) fn sound(self) -> Self {
        let page_bytes = self.page_bytes.clamp(PAGE_BYTES_MIN, PAGE_BYTES_MAX).next_power_of_two();
        let pages = self.pages.max(1);
        let longest = self.request_bytes_max.max(page_bytes) / page_bytes;
        let high = self.dirty_high_pages.clamp(1, pages);
        Self {
            pages,
            page_bytes,
            dirty_low_pages: self.dirty_low_pages.min(high - 1),
            dirty_high_pages: high,
            backs_max: self.backs_max.max(1),
            request_bytes_max: self.request_bytes_max.max(page_bytes),
            // So that the pages of one request to the disc do not take each other's numbers.
            ids_min: self.ids_min.max(2 * longest),
            writes: self.writes,
            readahead_bytes: self.readahead_bytes,
            readahead_part: self.readahead_part.max(2),
            disc_requests: self.disc_requests.max(1),
            bypass: self.bypass,
        }
    }
}

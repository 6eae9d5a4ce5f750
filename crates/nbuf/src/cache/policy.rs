//! What a replacement policy is, and the table of all of them.
//!
//! A policy works on dense page numbers (see [`Interner`](super::interner::Interner)). It decides
//! and *says what happened*; who counts is a meter. A lookup and a fill are apart, because a disc
//! lies between them: a fill may come late, fail, or come unasked by readahead, and the page that
//! it wants to evict may not be free to go.
//!
//! Invariant: a policy never holds more pages than its capacity, and an evicted page was there.

mod any;
mod arc;
mod car;
mod choice;
mod clock;
mod clock_pro;
mod fifo;
mod lfu;
mod lirs;
mod lru;
mod lru_k;
mod mru;
mod opt;
mod random;
mod s3_fifo;
mod sieve;
mod sketch;
mod slru;
mod two_lists;
mod two_queue;
mod v1;
mod w_tiny_lfu;

pub use any::AnyPolicy;
pub use arc::Arc;
pub use car::Car;
pub use choice::{Choice, ChoiceError, Parameter};
pub use clock::Clock;
pub use clock_pro::ClockPro;
pub use fifo::Fifo;
pub use lfu::{Frequency, Lfu, LfuDa};
pub use lirs::Lirs;
pub use lru::Lru;
pub use lru_k::LruK;
pub use mru::Mru;
pub use opt::Opt;
pub use random::Random;
pub use s3_fifo::S3Fifo;
pub use sieve::Sieve;
pub use slru::{S4lru, Segmented, Slru};
pub use two_lists::TwoLists;
pub use two_queue::TwoQueue;
pub use v1::V1;
pub use w_tiny_lfu::WTinyLfu;

use super::engine::{self, Engine};

/// A demand for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its dense number.
    pub page: u32,
    /// When it is wanted again, as the number of that access; [`NEVER`] also where nobody knows.
    pub next_use: u64,
}

/// Not again, or nobody knows.
pub const NEVER: u64 = u64::MAX;

impl Access {
    /// To a page whose future is unknown.
    pub fn to(page: u32) -> Self {
        Self { page, next_use: NEVER }
    }
}

/// Why a page is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked for it: a lookup missed.
    Demand,
    /// Readahead brought it: nobody has used it so far.
    Ahead,
}

/// What came of an access or a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page was there already.
    Hit,
    /// The page is there now, and the named one is not any more.
    Filled {
        /// The page that left for it; none where a frame was free.
        evicted: Option<u32>,
    },
    /// The page was not taken in.
    Bypassed,
}

/// Decides which pages stay.
pub trait Policy {
    /// An empty cache of `capacity` pages, at least one. Chance, where it plays, comes of the seed.
    fn new(capacity: u32, seed: u64) -> Self
    where
        Self: Sized;

    /// Looks a page up for somebody who wants it, and records the use. Whether it was there; where
    /// not, a fill may or may not follow, at any time.
    fn touch(&mut self, access: Access) -> bool;

    /// Takes a page in. Where a page must go for it, one that `may_go`; the predicate is asked in
    /// the order in which the policy would choose. Where none may, the fill is bypassed. A page
    /// that is there already is a hit, without a use being recorded.
    fn fill(&mut self, access: Access, cause: Cause, may_go: impl FnMut(u32) -> bool) -> Outcome
    where
        Self: Sized;

    /// The page exists no more: it leaves, and nothing is remembered of it. Whether it was there.
    fn remove(&mut self, page: u32) -> bool;

    /// Whether a page is there.
    fn contains(&self, page: u32) -> bool;

    /// Pages that are there.
    fn len(&self) -> u32;

    /// Whether no page is there.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Verifies what always holds, slowly; for tests and fuzzing.
    fn check(&self) -> Result<(), String>;

    /// Starts to load what a touch of this page will look at; changes nothing.
    fn bring_close(&self, _page: u32) {}

    /// A lookup and, if it misses, a fill at once: a cache in front of a disc that takes no time.
    #[inline]
    fn access(&mut self, access: Access) -> Outcome
    where
        Self: Sized,
    {
        if self.touch(access) { Outcome::Hit } else { self.fill(access, Cause::Demand, |_| true) }
    }
}

/// A row of the table of policies.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// As it is written on a command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// Memory a distinct page costs at each size, beside that of the interner.
    pub page_bytes: u64,
    /// Memory that it costs once, whatever the sizes.
    pub once_bytes: u64,
    /// What can be set of it, if anything.
    pub parameter: Option<&'static Parameter>,
    /// One cache of so many pages, at least one.
    pub build: fn(capacity: u32, seed: u64) -> Box<dyn AnyPolicy>,
    /// Caches of several sizes, fed in one pass; see [`engine::engine`].
    pub(super) engine: fn(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine>,
}

/// Every policy. Help, documents and tests go through this table.
pub const POLICIES: &[Row] = &[
    Row {
        engine: engine::stack,
        once_bytes: 16,
        ..row::<Lru>("lru", "the page used longest ago goes", "Mattson et al. 1970", 0)
    },
    Row {
        engine: engine::fifo,
        ..row::<Fifo>("fifo", "the page filled longest ago goes", "Belady 1966", 9)
    },
    Row {
        engine: engine::clock,
        ..row::<Clock>("clock", "FIFO that spares pages used since", "Corbató 1968", 9)
    },
    Row {
        engine: engine::sieve,
        ..row::<Sieve>("sieve", "a hand over a FIFO; what it spares stays", "Zhang et al. 2024", 9)
    },
    row::<Random>("random", "any page goes", "Belady 1966", 4),
    row::<Mru>("mru", "the page used last goes", "Chou and DeWitt 1985", 8),
    row::<Lfu>("lfu", "the page used least goes", "folklore; Arlitt et al. 2000", 8),
    row::<LfuDa>("lfu-da", "the same with dynamic ageing", "Arlitt et al. 2000", 8),
    row::<Slru>("slru", "a second use protects", "Karedla et al. 1994", 9),
    row::<S4lru>("s4lru", "each use lifts by one of four segments", "Huang et al. 2013", 9),
    row::<TwoQueue>("2q", "wanted again after leaving a FIFO", "Johnson and Shasha 1994", 9),
    row::<LruK>("lru-2", "the second last use longest ago goes", "O'Neil et al. 1993", 20),
    row::<Arc>("arc", "recency and frequency, adapting", "Megiddo and Modha 2003", 9),
    row::<Car>("car", "ARC on clocks", "Bansal and Modha 2004", 10),
    row::<Lirs>("lirs", "short distances between uses stay", "Jiang and Zhang 2002", 17),
    row::<ClockPro>("clock-pro", "LIRS on a clock", "Jiang et al. 2005", 9),
    row::<S3Fifo>("s3-fifo", "a small FIFO filters a larger", "Yang et al. 2023", 9),
    row::<WTinyLfu>("w-tinylfu", "frequency admits", "Einziger et al. 2017", 9),
    row::<TwoLists>("two-lists", "the kernel's, a page at a time", "Weiner 2014", 13),
    Row {
        parameter: Some(&V1::BUSY),
        ..row::<V1>("v1", "LRU; a buffer just filled is busy", "Thompson and Ritchie 1971", 16)
    },
    Row {
        engine: engine::optimum,
        once_bytes: 7,
        parameter: Some(&Opt::BYPASS),
        ..row::<Opt>("opt", "the page wanted last goes", "Belady 1966", 1)
    },
];

/// What else some policies are called, without hyphens, beside their names in the table.
pub const ALIASES: &[(&str, &str)] = &[
    ("belady", "opt"),
    ("min", "opt"),
    ("rand", "random"),
    ("secondchance", "clock"),
    ("tinylfu", "w-tinylfu"),
    ("twoqueue", "2q"),
];

/// The row of this name or alias: in any case, and with or without hyphens and underscores.
pub fn find(name: &str) -> Option<&'static Row> {
    let bare = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    let wanted = bare(name);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == wanted);
    let wanted = alias.map_or(wanted, |(_, name)| bare(name));
    POLICIES.iter().find(|row| bare(row.name) == wanted)
}

const fn row<P: Policy + Send + 'static>(
    name: &'static str,
    summary: &'static str,
    citation: &'static str,
    page_bytes: u64,
) -> Row {
    Row {
        name,
        summary,
        citation,
        page_bytes,
        once_bytes: 0,
        parameter: None,
        build: |capacity, seed| Box::new(P::new(capacity, seed)),
        engine: engine::plain::<P>,
    }
}

/// A capacity as the policies take it.
fn at_least_one(capacity: u32) -> u32 {
    assert!(capacity > 0, "a cache holds at least one page");
    capacity
}

/// An invariant for [`Policy::check`]: an error with this text unless it holds.
fn holds(condition: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(otherwise()) }
}

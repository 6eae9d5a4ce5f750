//! Caches of several sizes, fed by one pass over the accesses: what a miss-ratio curve is made of.
//!
//! Accesses come in batches; a few sizes take a whole batch, or several, before the next ones do, so that
//! what they look at stays close to the processor. A request counts as missed at a size when any of
//! its pages missed there.
//!
//! Invariant: an engine counts the same as the plain file of its policy, whatever way it takes.
//! Cost: the cost of the policy, times the sizes; [`bytes()`] returns the memory beforehand.

mod arc;
mod clock;
mod fifo;
mod grid;
mod marked;
mod moments;
mod optimum;
mod plain;
mod recency;
mod s3_fifo;
mod sieve;
mod stack;
mod states;

pub(super) use optimum::{optimum, optimum_of};
pub(crate) use plain::WAITING_BYTES;
pub(super) use plain::{plain, plain_of};
pub(super) use stack::stack;

use super::policy::Row;

/// A batch of accesses, in the order of time.
#[derive(Clone, Copy, Debug)]
pub struct Accesses<'a> {
    /// The dense numbers of the pages.
    pub pages: &'a [u32],
    /// For each request of the batch, how many of its pages lie before its end. Ascending; the last
    /// is the number of pages: no request is split over two batches. `None`: each access is a
    /// request of its own.
    pub request_ends: Option<&'a [u32]>,
}

impl Accesses<'_> {
    /// Where each request ends.
    pub(super) fn ends(&self) -> impl Iterator<Item = usize> + '_ {
        let known = self.request_ends.unwrap_or_default().iter().map(|&end| end as usize);
        let each = if self.request_ends.is_some() { 0 } else { self.pages.len() };
        known.chain(1..=each)
    }
}

/// What was counted at a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The size of the cache in pages.
    pub pages: u64,
    /// Accesses to pages.
    pub accesses: u64,
    /// Those that did not find their page.
    pub misses: u64,
    /// Requests, of one page or several.
    pub requests: u64,
    /// Those that did not find all of their pages.
    pub request_misses: u64,
}

/// What came of the pages that were prefetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefetches {
    /// Pages that were fetched before they were asked for.
    pub fetched: u64,
    /// Those that were used before they left.
    pub useful: u64,
    /// Those that left unused.
    pub useless: u64,
    /// Those that were there at the end, unused so far.
    pub unused: u64,
}

/// Counts hits and misses of one policy at several sizes.
pub trait Engine: Send {
    /// Takes the next batch.
    fn access(&mut self, accesses: &Accesses);

    /// The same with the keys of the pages, for engines that add pages of their own.
    fn access_keys(&mut self, accesses: &Accesses, _keys: &[u64]) {
        self.access(accesses);
    }

    /// How many sizes cost about as much as one. Processors that share fewer gain nothing.
    fn sizes_at_once(&self) -> usize {
        1
    }

    /// These pages exist no more; their next accesses miss.
    fn remove(&mut self, pages: &[u32]);

    /// The same by the keys of the pages, ends included, for engines that add pages of their own.
    fn remove_keys(&mut self, _first: u64, _last: u64) {}

    /// Memory of the pages beyond the `distinct` ones of the trace, after this many more accesses in this many requests,
    /// at the most.
    fn bytes_beyond(&self, _distinct: u64, _accesses: u64, _requests: u64) -> u64 {
        0
    }

    /// What came of prefetching at each size, in the order of the sizes; empty where nothing is prefetched.
    fn prefetches(&self) -> Vec<Prefetches> {
        Vec::new()
    }

    /// Forgets what was counted, and nothing of what the caches hold: they are warm now.
    fn start_counting(&mut self);

    /// The counts, in the order of the sizes asked for.
    fn finish(self: Box<Self>) -> Vec<Count>;
}

/// FIFO, many sizes at once.
pub(super) fn fifo(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    grid::grid::<fifo::FifoLanes>(sizes_pages, seed)
}

/// CLOCK, many sizes at once.
pub(super) fn clock(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    grid::grid::<clock::ClockLanes>(sizes_pages, seed)
}

/// SIEVE, many sizes at once.
pub(super) fn sieve(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    grid::grid::<sieve::SieveLanes>(sizes_pages, seed)
}

/// S3-FIFO, many sizes at once.
pub(super) fn s3_fifo(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    grid::grid::<s3_fifo::S3FifoLanes>(sizes_pages, seed)
}

/// ARC, many sizes at once.
pub(super) fn arc(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    grid::grid::<arc::ArcLanes>(sizes_pages, seed)
}

/// The engine of a policy for these sizes: any order, repetitions and zero allowed.
pub fn engine(row: &Row, sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    (row.engine)(sizes_pages, seed)
}

/// About how much memory an engine takes for a trace of `distinct_pages` distinct pages.
pub fn bytes(row: &Row, sizes_pages: &[u64], distinct_pages: u64) -> u64 {
    let sizes = u64::try_from(sizes_pages.len()).expect("64 bits hold a length");
    let page_bytes = row.page_bytes.saturating_mul(sizes).saturating_add(row.once_bytes);
    page_bytes.saturating_mul(distinct_pages)
}

//! Prefetching: pages that a cache fetches before they are asked for, a layer in front of any policy.
//!
//! A prefetcher sees every access and names pages that it wants. The layer fetches those that are absent and marks
//! them as unused. The first hit of a marked page is a *useful* prefetch; a marked page that leaves is a
//! *useless* one. The disc takes no time here, so a prefetched page is there at once.
//!
//! Pages are known by their keys, because a prefetcher adds to them: 23 bits of object over 40 bits of page.
//!
//! Invariant: a prefetcher never leaves the object of the page that was accessed. Cost: see [`layer`].

mod amp;
mod choice;
mod layer;
mod memory;
mod mithril;
mod next_block;
mod stride;

use amp::Amp;
pub use choice::{On, PREFETCHERS, PrefetchError, PrefetcherRow, Prefetching};
pub(crate) use layer::{engine, number_bytes};
use mithril::{Limits, Mithril};
use next_block::NextBlock;
use stride::Strides;

/// Bits of a key that number a page within its object.
pub(crate) const PAGE_BITS: u32 = 40;

/// What an access found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// The page was absent.
    Miss,
    /// A page that was prefetched, and is used for the first time.
    FirstUse,
    /// Any other page that was there.
    Hit,
}

/// An access, as a prefetcher sees it: the page is there now.
struct Seen<'a> {
    /// The key of the page.
    page: u64,
    how: How,
    /// Whether the page of a key is in the cache.
    is_cached: &'a dyn Fn(u64) -> bool,
}

/// Chooses what to prefetch.
trait Prefetcher: Send {
    /// An access. Appends the keys of the pages to fetch, in their order; those that are there are left out later.
    fn access(&mut self, seen: &Seen<'_>, wanted: &mut Vec<u64>);

    /// A page left the cache; whether it was prefetched and never used.
    fn left(&mut self, _page: u64, _is_unused: bool) {}
}

impl Prefetching {
    fn build(&self) -> Box<dyn Prefetcher> {
        match *self {
            Self::Next { pages, on } => Box::new(NextBlock { pages, on }),
            Self::Stride { pages, streams, reach } => Box::new(Strides::new(pages, streams, reach)),
            Self::Amp { pages, most, trigger } => Box::new(Amp::new(pages, most, trigger)),
            Self::Mithril { lookahead, support, most, list, mine, rows } => {
                let limits = Limits { lookahead, support, most, list, mined: mine, rows };
                Box::new(Mithril::new(limits))
            }
        }
    }
}

/// The key that is `by` pages further in the same object, if there is one.
fn further(page: u64, by: i64) -> Option<u64> {
    let key = page.checked_add_signed(by)?;
    (key >> PAGE_BITS == page >> PAGE_BITS).then_some(key)
}

#[cfg(test)]
mod tests;

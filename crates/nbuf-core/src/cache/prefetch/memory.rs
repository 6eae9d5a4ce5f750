//! Memory that prefetchers take, and the pages that they add, at the most.

use super::Prefetching;

impl Prefetching {
    /// Pages that have no number before accesses in this many requests, at the most, with those of the accesses.
    /// Sequential pages overlap within a request. What Mithril names was accessed before.
    pub(super) fn pages_beyond(&self, accesses: u64, requests: u64) -> u64 {
        let ahead = |pages: u32| {
            let most = u64::from(pages);
            let of_requests = requests.saturating_mul(2 * most);
            accesses.saturating_add(accesses.saturating_mul(most).min(of_requests))
        };
        match *self {
            Self::Next { pages, .. } => ahead(pages),
            Self::Amp { most, .. } => ahead(most),
            Self::Stride { pages, .. } => {
                accesses.saturating_mul(u64::from(pages).saturating_add(1))
            }
            Self::Mithril { .. } => accesses,
        }
    }

    /// What it keeps of a page at each size, in bytes.
    pub(super) fn page_bytes(&self) -> u64 {
        if matches!(self, Self::Amp { .. }) { 80 } else { 0 }
    }

    /// What it keeps at each size in any case, in bytes.
    pub(crate) fn least_bytes(&self) -> u64 {
        match *self {
            Self::Next { .. } | Self::Amp { .. } => 0,
            Self::Stride { streams, .. } => 64 * u64::from(streams),
            Self::Mithril { most, mine, rows, list, .. } => {
                let row = 256 + 16 * u64::from(list);
                row * u64::from(rows) + (128 + 16 * u64::from(most)) * u64::from(mine)
            }
        }
    }
}

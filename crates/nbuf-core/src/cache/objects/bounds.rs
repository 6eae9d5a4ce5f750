//! The optimum over objects with sizes, between two bounds: what some schedule reaches, and what none can exceed.
//!
//! Between two accesses to an object a cache keeps it or does not. An access hits if the object was kept since the one
//! before. So a schedule is a choice of such [`Interval`]s, whose bytes fit into the cache at each moment. The best choice
//! takes exponential time in general; with one size for all it is Belady's.
//!
//! - Misses that are *attained* are those of a schedule: the better of two, in [`packing`]. Objects may bypass the cache.
//! - Misses *below which none goes* relax the choice: kept bytes may exceed the cache at a moment, not over all time. This
//!   is PFOO-L, with one restriction more: no moment counts more bytes than could be kept there ([`relaxed`]).
//!
//! Invariant: no policy over objects has fewer misses, or fewer bytes that miss, than the lower bound, if it takes for each
//! object what the bound takes. Memcached's slabs take other bytes, and are not bound. Cost: some 130 bytes
//! an access, and O(n log n) at each size when the trace ends. D. Berger, N. Beckmann, M. Harchol-Balter, *Practical Bounds
//! on Optimal Caching with Variable Object Sizes*, 2018.

mod packing;
mod relaxed;

use super::{Layers, Object, ObjectCount, ObjectEngine};
use crate::cache::table::Table;

/// The time between two accesses to an object, in which a cache may keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    /// The number of the access at its beginning, and at its end.
    start: u64,
    end: u64,
    /// Bytes that it takes meanwhile.
    charge: u64,
    /// Bytes that the access at its end asks for.
    bytes: u64,
}

impl Interval {
    /// Bytes times accesses.
    fn volume(&self) -> u128 {
        u128::from(self.charge) * u128::from(self.end - self.start)
    }
}

/// Hits, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hits {
    requests: u64,
    bytes: u64,
}

impl Hits {
    fn add(&mut self, interval: &Interval) {
        self.requests += 1;
        self.bytes += interval.bytes;
    }
}

/// The last access to an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Last {
    /// Its number, from 1; 0 is none.
    at: u64,
    charge: u64,
}

/// The intervals of a trace.
#[derive(Debug, Default)]
struct Bounds {
    sizes: Vec<u64>,
    last: Table<Last>,
    intervals: Vec<Interval>,
    time: u64,
    requested: Hits,
}

/// Bounds at these sizes. What is around other policies does not bind the optimum.
pub(in crate::cache) fn bounds(sizes_bytes: &[u64], _layers: &Layers) -> Box<dyn ObjectEngine> {
    Box::new(Bounds { sizes: sizes_bytes.to_vec(), ..Bounds::default() })
}

impl ObjectEngine for Bounds {
    fn access(&mut self, objects: &[Object]) {
        for &Object { number, bytes, charge, .. } in objects {
            self.time += 1;
            self.requested.requests += 1;
            self.requested.bytes += bytes;
            let now = Last { at: self.time, charge };
            let last = std::mem::replace(self.last.at(number), now);
            if last.at > 0 {
                let (start, end, charge) = (last.at, self.time, last.charge);
                self.intervals.push(Interval { start, end, charge, bytes });
            }
        }
    }

    fn remove(&mut self, numbers: &[u32]) {
        for &number in numbers {
            *self.last.at(number) = Last::default();
        }
    }

    /// Hits so far do not count. What they would have taken may only make room for others.
    fn start_counting(&mut self) {
        self.intervals.clear();
        self.requested = Hits::default();
    }

    fn finish(mut self: Box<Self>) -> Vec<ObjectCount> {
        let (intervals, moments) = (&mut self.intervals, self.time);
        intervals.sort_unstable_by_key(|interval| interval.start);
        let each = |hits: &dyn Fn(u64) -> Hits| -> Vec<Hits> {
            self.sizes.iter().map(|&size| hits(size)).collect()
        };
        let swept = each(&|size| packing::swept(intervals, size));
        intervals.sort_unstable_by_key(Interval::volume);
        let packed = each(&|size| packing::packed(intervals, size, moments));
        let most =
            each(&|size| Hits { requests: relaxed::requests(intervals, size, moments), bytes: 0 });
        intervals.sort_unstable_by(relaxed::by_density);
        let most_bytes =
            each(&|size| Hits { requests: 0, bytes: relaxed::bytes(intervals, size, moments) });
        let attained = swept.into_iter().zip(packed).map(|(swept, packed)| {
            if (swept.requests, swept.bytes) >= (packed.requests, packed.bytes) {
                swept
            } else {
                packed
            }
        });
        let most = most.iter().zip(&most_bytes);
        let Hits { requests, bytes } = self.requested;
        let count = |((&cache_bytes, hits), (most, most_bytes)): ((&u64, Hits), (&Hits, &Hits))| {
            ObjectCount {
                cache_bytes,
                requests,
                misses: requests - hits.requests,
                bytes,
                miss_bytes: bytes - hits.bytes,
                cost: 0.0,
                miss_cost: 0.0,
                least: Some(Least {
                    misses: requests - most.requests,
                    miss_bytes: bytes - most_bytes.bytes,
                }),
            }
        };
        self.sizes.iter().zip(attained).zip(most).map(count).collect()
    }
}

/// Bounds below which no policy goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Least {
    /// Requests that miss in any case.
    pub(crate) misses: u64,
    /// Bytes that miss in any case.
    pub(crate) miss_bytes: u64,
}

#[cfg(test)]
mod tests;

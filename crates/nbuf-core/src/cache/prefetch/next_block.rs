//! The next pages: one-block lookahead, or several blocks.
//!
//! A. J. Smith, *Sequential Program Prefetching in Memory Hierarchies*, 1978, has three kinds. They differ in the access
//! that fetches: a miss, a miss or the first use of a prefetched page (tagged), or any access (always). On a scan
//! that starts in an empty cache, with one page, the first kind misses every second page and the others only the first.
//! Cost: nothing is kept. Not for random accesses: almost every prefetch is then useless.

use super::{How, On, Prefetcher, Seen, further};

/// Wants the pages behind the one that is accessed.
pub(super) struct NextBlock {
    pub(super) pages: u32,
    pub(super) on: On,
}

impl Prefetcher for NextBlock {
    fn access(&mut self, seen: &Seen<'_>, wanted: &mut Vec<u64>) {
        let fetches = match self.on {
            On::Miss => seen.how == How::Miss,
            On::Tagged => seen.how != How::Hit,
            On::Always => true,
        };
        if fetches {
            let next = (1..=i64::from(self.pages)).map_while(|by| further(seen.page, by));
            wanted.extend(next);
        }
    }
}

//! AMP: sequential streams, each with a degree of its own.
//!
//! A miss behind a cached page fetches a *set*: the next pages, as many as the degree of its stream. The first use of the
//! last page of a set adds one to that degree. A page of a set that leaves unused takes one off. The first use of the
//! trigger, `trigger` pages before the last one, fetches the next set. The degree is kept with the last page of the newest
//! set. If that leaves unused, the page before it takes its place; if it leaves used, the degree is lost.
//! B. Gill and L. Bathen, *AMP: Adaptive Multi-stream Prefetching in a Shared Cache*, FAST 2007.
//!
//! Three rules differ. The paper adapts the trigger to the time that clients wait, and this cache has no time. The paper
//! evicts an unused page only at the second attempt, and here the policy evicts. It adds the pages of a read to the
//! degree, and here each page is an access.
//!
//! Invariant: what is kept of a page leaves with it. Cost: about 80 bytes a page of the cache. Not for random accesses.

use std::collections::HashMap;

use super::{How, Prefetcher, Seen, further};

/// What is kept of a page of a set.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// The last page of its set.
    last: u64,
    is_used: bool,
    is_trigger: bool,
    /// The degree of the stream; it counts with the last page of a set.
    degree: u32,
}

/// Sets of pages that were fetched together.
pub(super) struct Amp {
    /// The degree of a new stream.
    pages: u32,
    most: u32,
    trigger: u32,
    sets: HashMap<u64, Page>,
}

impl Amp {
    pub(super) fn new(pages: u32, most: u32, trigger: u32) -> Self {
        Self { pages: pages.min(most), most, trigger, sets: HashMap::new() }
    }

    /// The last page of the newest set of the stream of a set that ends at `last`.
    fn newest(&self, last: u64) -> Option<u64> {
        let degree = self.sets.get(&last)?.degree;
        let next = further(last, degree.into()).filter(|next| {
            let begins = further(last, 1).is_some_and(|first| self.sets.contains_key(&first));
            begins && self.sets.get(next).is_some_and(|page| page.last == *next)
        });
        Some(next.unwrap_or(last))
    }

    /// The degree of the stream whose set ends at this page.
    fn degree(&self, page: u64) -> Option<u32> {
        self.sets.get(&page).filter(|found| found.last == page).map(|found| found.degree)
    }

    /// Fetches the set behind a page.
    fn fetch(&mut self, behind: u64, degree: u32, wanted: &mut Vec<u64>) {
        let from = wanted.len();
        wanted.extend((1..=i64::from(degree)).map_while(|by| further(behind, by)));
        let set = &wanted[from..];
        let Some(&last) = set.last() else { return };
        let before = usize::try_from(self.trigger).unwrap_or(usize::MAX).min(set.len() - 1);
        let trigger = set[set.len() - 1 - before];
        for &page in set {
            let is_trigger = page == trigger;
            self.sets.insert(page, Page { last, is_used: false, is_trigger, degree });
        }
    }

    /// The last page of the newest set of a stream has left unused: the page before it is the last one now.
    fn shorten(&mut self, last: u64, degree: u32) {
        let mut page = last;
        while let Some(before) = further(page, -1)
            && let Some(kept) = self.sets.get_mut(&before).filter(|kept| kept.last == last)
        {
            (kept.last, kept.degree) = (last - 1, degree);
            page = before;
        }
    }

    /// The first use of a page of a set.
    fn first_use(&mut self, page: u64, wanted: &mut Vec<u64>) {
        let Some(Page { last, is_trigger, .. }) = self.sets.get(&page).copied() else { return };
        if page == last
            && let Some(newest) = self.newest(last)
            && let Some(newest) = self.sets.get_mut(&newest)
        {
            newest.degree = (newest.degree + 1).min(self.most);
        }
        if is_trigger {
            self.fetch(last, self.degree(last).unwrap_or(self.pages), wanted);
        }
    }
}

impl Prefetcher for Amp {
    fn access(&mut self, seen: &Seen<'_>, wanted: &mut Vec<u64>) {
        let page = seen.page;
        if seen.how != How::Miss {
            let found = self.sets.get_mut(&page);
            if found.is_some_and(|found| !std::mem::replace(&mut found.is_used, true)) {
                self.first_use(page, wanted);
            }
            return;
        }
        let before = further(page, -1).filter(|&before| (seen.is_cached)(before));
        if let Some(before) = before {
            self.fetch(page, self.degree(before).unwrap_or(self.pages), wanted);
        }
    }

    fn left(&mut self, page: u64, _is_unused: bool) {
        let Some(gone) = self.sets.get(&page).copied() else { return };
        let newest = if gone.is_used { None } else { self.newest(gone.last) };
        if let Some(newest) = newest
            && let Some(newest) = self.sets.get_mut(&newest)
        {
            newest.degree = (newest.degree - 1).max(1);
        }
        let left = self.sets.remove(&page);
        if let Some(Page { degree, .. }) = left.filter(|_| newest == Some(page)) {
            self.shorten(page, degree);
        }
    }
}

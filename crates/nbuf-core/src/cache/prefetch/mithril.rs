//! Mithril: pages that were missed one soon after the other, again and again.
//!
//! A miss records its time, in accesses. A page with `support` times moves from the recording table to the mining table,
//! and leaves that with more than `most` times. When the mining table is full, it is mined and emptied. Two of its pages
//! are associated if their first times are at most `lookahead` apart, their numbers of times differ by at most 1, and
//! at most one of the times in pairs is further apart than `lookahead`. One pair of times must be neighbours, unless the
//! page has no association in this mining yet. An access then fetches the associated pages, `list` at most.
//! J. Yang and others, *MITHRIL: Mining Sporadic Associations for Cache Prefetching*, 2017.
//!
//! Every table replaces its oldest row. Not here: the paper gives an unused page a second chance before it
//! is evicted. Works on keys of any kind. Cost: 256 bytes a row and 16 bytes for each time of the mining table.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{How, Prefetcher, Seen};

/// Pairs of times that may be too far apart, and by how much the numbers of times may differ.
const ERRORS: usize = 1;

/// What is set of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) lookahead: u32,
    pub(super) support: u32,
    pub(super) most: u32,
    pub(super) list: u32,
    /// Pages that are mined together.
    pub(super) mined: u32,
    /// Rows of the recording table, and of the table of associations.
    pub(super) rows: u32,
}

/// The three tables.
pub(super) struct Mithril {
    limits: Limits,
    now: u64,
    recorded: HashMap<u64, Vec<u64>>,
    /// The recorded pages by their first times.
    oldest: BTreeMap<u64, u64>,
    mined: HashMap<u64, Vec<u64>>,
    associated: HashMap<u64, VecDeque<u64>>,
    /// The pages that have associations, the oldest first.
    order: VecDeque<u64>,
}

impl Mithril {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            now: 0,
            recorded: HashMap::new(),
            oldest: BTreeMap::new(),
            mined: HashMap::new(),
            associated: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    /// A miss.
    fn record(&mut self, page: u64) {
        if let Some(times) = self.mined.get_mut(&page) {
            times.push(self.now);
            if times.len() > length(self.limits.most) {
                self.mined.remove(&page);
            }
            return;
        }
        let times = self.recorded.entry(page).or_default();
        times.push(self.now);
        if times.len() >= length(self.limits.support) {
            let times = self.recorded.remove(&page).unwrap_or_default();
            self.oldest.remove(&times[0]);
            self.mined.insert(page, times);
            if self.mined.len() >= length(self.limits.mined) {
                self.mine();
            }
        } else if times.len() == 1 {
            self.oldest.insert(self.now, page);
            if self.oldest.len() > length(self.limits.rows)
                && let Some((_, page)) = self.oldest.pop_first()
            {
                self.recorded.remove(&page);
            }
        }
    }

    /// Finds the associated pages of the mining table, and empties it.
    fn mine(&mut self) {
        let mut rows: Vec<(u64, Vec<u64>)> = self.mined.drain().collect();
        // No two pages are missed at one time.
        rows.sort_unstable_by_key(|(_, times)| times[0]);
        for (at, (page, times)) in rows.iter().enumerate() {
            let mut has_none = true;
            for (other, others) in &rows[at + 1..] {
                if others[0] - times[0] > u64::from(self.limits.lookahead) {
                    break;
                }
                if let Some(has_neighbours) = self.pairs(times, others)
                    && (has_neighbours || has_none)
                {
                    self.associate(*page, *other);
                    has_none = false;
                }
            }
        }
    }

    /// Whether two pages go together: nothing if they do not, else whether a pair of their times are neighbours.
    fn pairs(&self, times: &[u64], others: &[u64]) -> Option<bool> {
        if times.len().abs_diff(others.len()) > ERRORS {
            return None;
        }
        let apart = || times.iter().zip(others).map(|(one, other)| one.abs_diff(*other));
        let lookahead = u64::from(self.limits.lookahead);
        let errors = apart().filter(|&apart| apart > lookahead).count();
        (errors <= ERRORS).then(|| apart().any(|apart| apart == 1))
    }

    fn associate(&mut self, page: u64, other: u64) {
        if !self.associated.contains_key(&page) {
            if self.order.len() >= length(self.limits.rows)
                && let Some(oldest) = self.order.pop_front()
            {
                self.associated.remove(&oldest);
            }
            self.order.push_back(page);
        }
        let list = self.associated.entry(page).or_default();
        if list.contains(&other) {
            return;
        }
        if list.len() >= length(self.limits.list) {
            list.pop_front();
        }
        list.push_back(other);
    }
}

fn length(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

impl Prefetcher for Mithril {
    fn access(&mut self, seen: &Seen<'_>, wanted: &mut Vec<u64>) {
        if seen.how == How::Miss {
            self.record(seen.page);
        }
        wanted.extend(self.associated.get(&seen.page).into_iter().flatten());
        self.now += 1;
    }
}

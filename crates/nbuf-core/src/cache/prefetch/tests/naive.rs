//! The rules of the prefetchers once more, over lists that are searched from end to end, in front of LRU.

use super::super::{How, PAGE_BITS};
use crate::cache::engine::Prefetches;

/// A prefetcher of a twin: what it wants after an access, and what it is to learn of a page that left.
pub(super) trait Twin {
    fn access(&mut self, page: u64, how: How, cached: &[u64]) -> Vec<u64>;
    fn left(&mut self, _page: u64) {}
}

/// LRU over a list, the page used last in front.
pub(super) struct Lru<T> {
    capacity: usize,
    cached: Vec<u64>,
    unused: Vec<u64>,
    twin: T,
    pub(super) misses: u64,
    pub(super) counts: Prefetches,
}

impl<T: Twin> Lru<T> {
    pub(super) fn new(capacity: usize, twin: T) -> Self {
        let (cached, unused) = (Vec::new(), Vec::new());
        Self { capacity, cached, unused, twin, misses: 0, counts: Prefetches::default() }
    }

    pub(super) fn access(&mut self, page: u64) {
        let was_unused = drop_page(&mut self.unused, page);
        let how = if drop_page(&mut self.cached, page) {
            if was_unused { How::FirstUse } else { How::Hit }
        } else {
            self.misses += 1;
            How::Miss
        };
        self.counts.useful += u64::from(how == How::FirstUse);
        self.insert(page);
        for wanted in self.twin.access(page, how, &self.cached) {
            if !self.cached.contains(&wanted) {
                self.counts.fetched += 1;
                self.unused.push(wanted);
                self.insert(wanted);
            }
        }
        self.counts.unused = self.unused.len() as u64;
    }

    pub(super) fn remove(&mut self, page: u64) {
        if drop_page(&mut self.cached, page) {
            self.gone(page);
        }
        self.counts.unused = self.unused.len() as u64;
    }

    fn insert(&mut self, page: u64) {
        let victim = if self.cached.len() == self.capacity { self.cached.pop() } else { None };
        self.cached.insert(0, page);
        if let Some(victim) = victim {
            self.gone(victim);
        }
    }

    fn gone(&mut self, page: u64) {
        self.counts.useless += u64::from(drop_page(&mut self.unused, page));
        self.twin.left(page);
    }
}

fn drop_page(pages: &mut Vec<u64>, page: u64) -> bool {
    let before = pages.len();
    pages.retain(|&other| other != page);
    pages.len() < before
}

fn object(page: u64) -> u64 {
    page >> PAGE_BITS
}

/// The `count` pages behind one, in its object.
fn behind(page: u64, count: u32) -> Vec<u64> {
    let next = (1..=u64::from(count)).map(|by| page + by);
    next.take_while(|&next| object(next) == object(page)).collect()
}

/// Next pages, on some of miss, first use and hit.
pub(super) struct Next {
    pub(super) pages: u32,
    pub(super) on: Vec<How>,
}

impl Twin for Next {
    fn access(&mut self, page: u64, how: How, _cached: &[u64]) -> Vec<u64> {
        if self.on.contains(&how) { behind(page, self.pages) } else { Vec::new() }
    }
}

/// The streams of strides, the one used last in front: last page, stride, state.
pub(super) struct Stride {
    pub(super) pages: u32,
    pub(super) most: usize,
    pub(super) reach: i128,
    pub(super) streams: Vec<(u64, i128, &'static str)>,
}

/// The automaton: state, whether the step was the stride, the next state, and whether the step becomes the stride.
const AUTOMATON: [(&str, bool, &str, bool); 8] = [
    ("initial", true, "steady", false),
    ("initial", false, "transient", true),
    ("transient", true, "steady", false),
    ("transient", false, "none", true),
    ("steady", true, "steady", false),
    ("steady", false, "initial", false),
    ("none", true, "transient", false),
    ("none", false, "none", true),
];

impl Twin for Stride {
    fn access(&mut self, page: u64, _how: How, _cached: &[u64]) -> Vec<u64> {
        let to = i128::from(page);
        let step = |last: u64| to - i128::from(last);
        let mine = |&&(last, ..): &&(u64, i128, &str)| object(last) == object(page);
        let predicted = self
            .streams
            .iter()
            .filter(mine)
            .find(|&&(last, stride, _)| stride != 0 && step(last) == stride);
        let shortest = self.streams.iter().filter(mine).map(|&(last, ..)| step(last).abs()).min();
        let near = || {
            let shortest = shortest.filter(|&shortest| shortest <= self.reach)?;
            self.streams.iter().filter(mine).find(|&&(last, ..)| step(last).abs() == shortest)
        };
        let Some(found) = predicted.or_else(near).copied() else {
            self.streams.insert(0, (page, 0, "initial"));
            self.streams.truncate(self.most);
            return Vec::new();
        };
        let at = self.streams.iter().position(|&other| other == found).unwrap();
        self.streams.remove(at);
        let (last, stride, state) = found;
        if last == page {
            self.streams.insert(0, found);
            return Vec::new();
        }
        let is_right = step(last) == stride;
        let row = AUTOMATON.iter().find(|row| row.0 == state && row.1 == is_right).unwrap();
        let stride = if row.3 { step(last) } else { stride };
        self.streams.insert(0, (page, stride, row.2));
        if row.2 != "steady" {
            return Vec::new();
        }
        let next = (1..=i128::from(self.pages)).map(|by| u64::try_from(to + stride * by));
        next.map_while(Result::ok).take_while(|&next| object(next) == object(page)).collect()
    }
}

/// A page of a set of AMP.
pub(super) struct Set {
    page: u64,
    last: u64,
    is_used: bool,
    is_trigger: bool,
    degree: u32,
}

/// AMP, with what it keeps of the pages in a list.
pub(super) struct Amp {
    pub(super) pages: u32,
    pub(super) most: u32,
    pub(super) trigger: u64,
    pub(super) kept: Vec<Set>,
}

impl Amp {
    fn find(&mut self, page: u64) -> Option<&mut Set> {
        self.kept.iter_mut().find(|set| set.page == page)
    }

    /// The degree of the newest set of a stream, which the paper finds by its arithmetic.
    fn newest(&mut self, last: u64) -> Option<&mut Set> {
        let degree = u64::from(self.find(last)?.degree);
        let is_next = self.find(last + 1).is_some()
            && self.find(last + degree).is_some_and(|set| set.last == set.page);
        let newest = if is_next { last + degree } else { last };
        self.find(newest)
    }

    fn fetch(&mut self, page: u64, degree: u32) -> Vec<u64> {
        let set = behind(page, degree);
        for (at, &page) in set.iter().enumerate() {
            let left = (set.len() - 1 - at) as u64;
            let is_trigger = left == self.trigger || at == 0 && left < self.trigger;
            let last = *set.last().unwrap();
            self.kept.retain(|other| other.page != page);
            self.kept.push(Set { page, last, is_used: false, is_trigger, degree });
        }
        set
    }
}

impl Twin for Amp {
    fn access(&mut self, page: u64, how: How, cached: &[u64]) -> Vec<u64> {
        let first = self.pages;
        if how == How::Miss {
            if object(page.wrapping_sub(1)) != object(page) || !cached.contains(&(page - 1)) {
                return Vec::new();
            }
            let of_stream = self.find(page - 1).filter(|set| set.last == set.page);
            let degree = of_stream.map_or(first, |set| set.degree);
            return self.fetch(page, degree);
        }
        let most = self.most;
        let Some(&mut Set { last, is_trigger, ref mut is_used, .. }) = self.find(page) else {
            return Vec::new();
        };
        if std::mem::replace(is_used, true) {
            return Vec::new();
        }
        if page == last
            && let Some(newest) = self.newest(last)
        {
            newest.degree = most.min(newest.degree + 1);
        }
        if !is_trigger {
            return Vec::new();
        }
        let degree =
            self.find(last).filter(|set| set.last == set.page).map_or(first, |set| set.degree);
        self.fetch(last, degree)
    }

    fn left(&mut self, page: u64) {
        let Some(&mut Set { last, is_used, .. }) = self.find(page) else { return };
        let mut degree = None;
        if !is_used && let Some(newest) = self.newest(last) {
            newest.degree = 1.max(newest.degree - 1);
            degree = (newest.page == page).then_some(newest.degree);
        }
        self.kept.retain(|set| set.page != page);
        let Some(degree) = degree else { return };
        let mut before = page;
        while before > 0
            && let Some(set) = self.find(before - 1)
            && set.last == page
        {
            (set.last, set.degree) = (page - 1, degree);
            before -= 1;
        }
    }
}

/// Mithril: the misses of each page in one list, by their states.
pub(super) struct Mithril {
    pub(super) lookahead: u64,
    pub(super) support: usize,
    pub(super) most: usize,
    pub(super) list: usize,
    pub(super) mine: usize,
    pub(super) rows: usize,
    pub(super) now: u64,
    /// Pages and their times, in the order of their first times; those with fewer times than the support.
    pub(super) recorded: Vec<(u64, Vec<u64>)>,
    pub(super) mined: Vec<(u64, Vec<u64>)>,
    pub(super) associated: Vec<(u64, Vec<u64>)>,
}

impl Mithril {
    fn record(&mut self, page: u64) {
        if let Some(at) = self.mined.iter().position(|row| row.0 == page) {
            self.mined[at].1.push(self.now);
            if self.mined[at].1.len() > self.most {
                self.mined.remove(at);
            }
            return;
        }
        let at = self.recorded.iter().position(|row| row.0 == page);
        let mut row = at.map_or((page, Vec::new()), |at| self.recorded.remove(at));
        row.1.push(self.now);
        if row.1.len() == self.support {
            self.mined.push(row);
            if self.mined.len() == self.mine {
                self.mine();
            }
            return;
        }
        self.recorded.push(row);
        self.recorded.sort_by_key(|row| row.1[0]);
        if self.recorded.len() > self.rows {
            self.recorded.remove(0);
        }
    }

    fn mine(&mut self) {
        let mut rows = std::mem::take(&mut self.mined);
        rows.sort_by_key(|row| row.1[0]);
        for first in 0..rows.len() {
            let mut found = 0;
            for second in first + 1..rows.len() {
                let (one, other) = (&rows[first].1, &rows[second].1);
                let apart: Vec<u64> =
                    one.iter().zip(other).map(|(a, b)| a.max(b) - a.min(b)).collect();
                let far = apart.iter().filter(|&&apart| apart > self.lookahead).count();
                let lengths = one.len().max(other.len()) - one.len().min(other.len());
                if apart[0] > self.lookahead || far > 1 || lengths > 1 {
                    continue;
                }
                if found == 0 || apart.contains(&1) {
                    found += 1;
                    self.associate(rows[first].0, rows[second].0);
                }
            }
        }
    }

    fn associate(&mut self, page: u64, other: u64) {
        if !self.associated.iter().any(|row| row.0 == page) {
            self.associated.push((page, Vec::new()));
            if self.associated.len() > self.rows {
                self.associated.remove(0);
            }
        }
        let list = &mut self.associated.iter_mut().find(|row| row.0 == page).unwrap().1;
        if !list.contains(&other) {
            list.push(other);
        }
        if list.len() > self.list {
            list.remove(0);
        }
    }
}

impl Twin for Mithril {
    fn access(&mut self, page: u64, how: How, _cached: &[u64]) -> Vec<u64> {
        if how == How::Miss {
            self.record(page);
        }
        self.now += 1;
        let row = self.associated.iter().find(|row| row.0 == page);
        row.map_or(Vec::new(), |row| row.1.clone())
    }
}

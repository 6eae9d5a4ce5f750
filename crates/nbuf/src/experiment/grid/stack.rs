//! Exact LRU at every size, for all accesses and for parts of them.
//!
//! One stack is shared; what is counted apart is the depths that the accesses of a window of time,
//! a file, a task or an operation found their pages at. A request hits when its deepest page does.

use crate::meter::bins::Histogram;
use crate::meter::distance::{Distances, Misses};
use crate::workload::pages::Step;
use crate::workload::request::{Ask, Request};

/// Groups that are counted apart; what comes later is one more group, of the others.
pub const GROUPS_MAX: usize = 4096;

/// How long a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// So many nanoseconds of the trace's own time.
    Nanoseconds(u64),
    /// So many requests.
    Requests(u64),
}

/// What accesses are counted apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The object: file, volume, name space.
    File,
    /// The process or thread.
    Task,
    /// What was asked for.
    Op,
}

/// A window that is over.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) from_ns: i64,
    pub(super) requests: u64,
    pub(super) depths: Histogram,
}

/// What was counted for a group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Number of the object or task, or of the operation as [`ASKS`] has them; the others last.
    pub(super) which: Option<u32>,
    pub(super) depths: Histogram,
}

/// Operations in the order of their numbers.
pub(super) const ASKS: [(Ask, &str); 4] =
    [(Ask::Read, "read"), (Ask::Write, "write"), (Ask::Discard, "discard"), (Ask::Flush, "flush")];

/// The stack and all its counts.
#[derive(Debug)]
pub(super) struct Stack {
    distances: Distances,
    /// Of the accesses of a step.
    depths: Vec<Option<u32>>,
    requests: Option<RequestDepths>,
    every: Option<Every>,
    windows: Vec<Window>,
    by: Option<By>,
    groups: Groups,
}

/// Requests by the depth of their deepest page.
#[derive(Debug, Default)]
struct RequestDepths {
    hits: Vec<u64>,
    requests: u64,
}

#[derive(Debug, Default)]
struct Groups {
    index: std::collections::HashMap<u32, usize>,
    all: Vec<Group>,
}

impl Stack {
    /// `several`: requests may have more than one page.
    pub(super) fn new(several: bool, every: Option<Every>, by: Option<By>) -> Self {
        Self {
            distances: Distances::new(),
            depths: Vec::new(),
            requests: several.then(RequestDepths::default),
            every,
            windows: Vec::new(),
            by,
            groups: Groups::default(),
        }
    }

    /// The accesses of a step, whose keys have these numbers; `requests` is what it was made of.
    pub(super) fn access(&mut self, pages: &[u32], step: &Step, requests: &[Request]) {
        if self.requests.is_none() && self.every.is_none() && self.by.is_none() {
            self.distances.access_all(pages, |_| ());
            return;
        }
        let mut depths = std::mem::take(&mut self.depths);
        depths.clear();
        self.distances.access_all(pages, |depth| depths.push(depth));
        let mut from = 0;
        for (at, &request) in step.from.iter().enumerate() {
            let end = step.ends.get(at).map_or(at + 1, |&end| end as usize);
            let request = &requests[request as usize];
            if let Some(every) = self.every {
                turn(&mut self.windows, every, request.time_ns);
            }
            let group = self.by.map(|by| self.groups.find(by, request));
            let mut deepest = Some(0);
            for &depth in &depths[from..end] {
                deepest = deepest.zip(depth).map(|(a, b)| a.max(b));
                if let Some(window) = self.windows.last_mut() {
                    window.depths.add(depth);
                }
                if let Some(group) = group {
                    self.groups.all[group].depths.add(depth);
                }
            }
            if let Some(depths) = &mut self.requests {
                depths.add(deepest);
            }
            from = end;
        }
        self.depths = depths;
    }

    pub(super) fn remove(&mut self, pages: &[u32]) {
        for &page in pages {
            self.distances.remove(page);
        }
    }

    pub(super) fn finish(self) -> Stacked {
        Stacked {
            misses: self.distances.finish(),
            requests: self.requests.map(RequestDepths::finish),
            windows: self.windows,
            groups: self.groups.all,
        }
    }
}

/// Begins a new window where `time_ns` or the number of requests asks for one.
fn turn(windows: &mut Vec<Window>, every: Every, time_ns: i64) {
    let over = windows.last().is_none_or(|window| match every {
        Every::Requests(most) => window.requests >= most,
        Every::Nanoseconds(most) => {
            let since = time_ns.saturating_sub(window.from_ns);
            u64::try_from(since).is_ok_and(|since| since >= most)
        }
    });
    if over {
        let from_ns = match (every, windows.last()) {
            // Windows stand on a grid, and those in which nothing happened are left out.
            (Every::Nanoseconds(length), Some(last)) => {
                let length = i64::try_from(length).unwrap_or(i64::MAX).max(1);
                let whole = time_ns.saturating_sub(last.from_ns) / length;
                last.from_ns.saturating_add(whole.saturating_mul(length))
            }
            _ => time_ns,
        };
        windows.push(Window { from_ns, requests: 0, depths: Histogram::default() });
    }
    if let Some(window) = windows.last_mut() {
        window.requests += 1;
    }
}

impl Groups {
    fn find(&mut self, by: By, request: &Request) -> usize {
        let which = match by {
            By::File => request.object,
            By::Task => request.task,
            By::Op => {
                let number = ASKS.iter().position(|&(ask, _)| ask == request.ask);
                u32::try_from(number.unwrap_or(0)).unwrap_or(0)
            }
        };
        if let Some(&at) = self.index.get(&which) {
            return at;
        }
        let which_one = (self.all.len() < GROUPS_MAX).then_some(which);
        if which_one.is_some() || self.all.len() == GROUPS_MAX {
            self.all.push(Group { which: which_one, depths: Histogram::default() });
        }
        let at = self.all.len() - 1;
        if which_one.is_some() {
            self.index.insert(which, at);
        }
        at
    }
}

impl RequestDepths {
    fn add(&mut self, deepest: Option<u32>) {
        self.requests += 1;
        if let Some(depth) = deepest {
            let depth = depth as usize;
            if depth >= self.hits.len() {
                self.hits.resize(depth + 1, 0);
            }
            self.hits[depth] += 1;
        }
    }

    fn finish(mut self) -> RequestMisses {
        let mut misses = self.requests;
        for hits in &mut self.hits {
            misses -= *hits;
            *hits = misses;
        }
        RequestMisses { at: self.hits, requests: self.requests }
    }
}

/// Requests that miss at every size.
#[derive(Debug)]
pub(super) struct RequestMisses {
    at: Vec<u64>,
    pub(super) requests: u64,
}

impl RequestMisses {
    pub(super) fn at(&self, size: u64) -> u64 {
        let last = self.at.len().saturating_sub(1);
        let size = usize::try_from(size).unwrap_or(last).min(last);
        self.at.get(size).copied().unwrap_or(self.requests)
    }
}

/// All that a stack has counted.
#[derive(Debug)]
pub(super) struct Stacked {
    pub(super) misses: Misses,
    pub(super) requests: Option<RequestMisses>,
    pub(super) windows: Vec<Window>,
    pub(super) groups: Vec<Group>,
}

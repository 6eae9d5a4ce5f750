//! Exact LRU at every size, for all accesses and for parts of them.
//!
//! One stack is shared; what is counted apart is the depths that the accesses of a window of time,
//! a file, a task or an operation found their pages at. A request hits when its deepest page does.

use serde::{Deserialize, Serialize};

use super::part::{Part, first_size};
use crate::cache::engine::Accesses;
use crate::meter::bins::BINS;
use crate::meter::distance::{COLD, DepthCounts, Distances, Misses};
use crate::trace::request::{Op, Request};

/// Groups that are counted apart; what comes later is one more group, of the others.
pub const GROUPS_MAX: usize = 4096;

/// The same, and the others.
const MOST: u64 = GROUPS_MAX as u64 + 1;
/// Sizes that are drawn where none are given.
const SIZES_DRAWN: usize = 32;

/// How long a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Every {
    /// A number of nanoseconds of the trace's own time.
    Nanoseconds(u64),
    /// A number of requests.
    Requests(u64),
}

/// What accesses are counted apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The object: file, volume, name space.
    File,
    /// The process or thread.
    Task,
    /// What was asked for.
    Op,
}

/// The requests that accesses come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessSource<'a> {
    /// For each request that has accesses, its place in `requests`.
    pub(super) from: &'a [u32],
    pub(super) requests: &'a [Request],
}

/// A window that is over.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) from_ns: i64,
    pub(super) requests: u64,
    pub(super) part: Part,
}

/// What was counted for a group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Number of the object or task, or of the operation as [`OPS`] has them; the others last.
    pub(super) which: Option<u32>,
    pub(super) part: Part,
}

/// Operations in the order of their numbers.
pub(super) const OPS: [(Op, &str); 4] =
    [(Op::Read, "read"), (Op::Write, "write"), (Op::Discard, "discard"), (Op::Flush, "flush")];

/// The stack and all its counts.
#[derive(Debug)]
pub(super) struct Stack {
    distances: Distances,
    /// The pages of a step, then their depths.
    depths: Vec<u32>,
    counts: DepthCounts,
    /// Whether requests may have more than one page.
    several: bool,
    /// The sizes at which parts are counted exactly, ascending.
    sizes: Vec<u64>,
    every: Option<Every>,
    windows: Vec<Window>,
    by: Option<By>,
    groups: Groups,
}

#[derive(Debug, Default)]
struct Groups {
    index: std::collections::HashMap<u32, usize>,
    all: Vec<Group>,
}

impl Stack {
    /// `several`: requests may have more than one page. `sizes`: what is known to be asked for.
    pub(super) fn new(several: bool, sizes: &[u64], every: Option<Every>, by: Option<By>) -> Self {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        Self {
            sizes,
            distances: Distances::new(),
            depths: Vec::new(),
            counts: DepthCounts::new(several),
            several,
            every,
            windows: Vec::new(),
            by,
            groups: Groups::default(),
        }
    }

    /// The accesses of a step. Parts are counted by their `source`, which is needed for them.
    pub(super) fn access(&mut self, accesses: &Accesses, source: Option<AccessSource>) {
        let mut depths = std::mem::take(&mut self.depths);
        depths.clear();
        depths.extend_from_slice(accesses.pages);
        self.distances.replace_by_depths(&mut depths);
        self.counts.add(&depths, accesses.request_ends);
        if let Some(source) = source {
            self.count_parts(&depths, accesses.request_ends.unwrap_or_default(), source);
        }
        self.depths = depths;
    }

    /// Puts depths in the place of these pages, and counts nothing.
    pub(super) fn replace_by_depths(&mut self, pages: &mut [u32]) {
        self.distances.replace_by_depths(pages);
    }

    /// The counts, for a caller that counts depths itself.
    pub(super) fn lend_counts(&mut self) -> DepthCounts {
        std::mem::take(&mut self.counts)
    }

    /// The counts that were lent.
    pub(super) fn take_counts(&mut self, counts: DepthCounts) {
        self.counts = counts;
    }

    fn count_parts(&mut self, depths: &[u32], ends: &[u32], source: AccessSource) {
        let mut from = 0;
        for (at, &request) in source.from.iter().enumerate() {
            let end = ends.get(at).map_or(at + 1, |&end| end as usize);
            let request = &source.requests[request as usize];
            if let Some(every) = self.every {
                turn(&mut self.windows, &self.sizes, every, request.time_ns);
            }
            let group = self.by.map(|by| self.groups.find(by, request, &self.sizes));
            for &depth in &depths[from..end] {
                let depth = (depth != COLD).then_some(depth);
                let first = depth.map(|depth| first_size(&self.sizes, depth));
                if let Some(window) = self.windows.last_mut() {
                    window.part.add(depth, first);
                }
                if let Some(group) = group {
                    self.groups.all[group].part.add(depth, first);
                }
            }
            from = end;
        }
    }

    /// How many things are counted at every depth: accesses, and requests where they are others.
    pub(super) fn counts(&self) -> u64 {
        1 + u64::from(self.several)
    }

    /// Returns the bytes of windows and groups after `requests` more requests, and of what is drawn
    /// of them.
    pub(super) fn part_bytes(&self, requests: u64) -> u64 {
        let part = (BINS + 16 * self.sizes.len().max(SIZES_DRAWN)) as u64 * 8;
        let windows = self.every.map_or(0, |_| self.windows.len() as u64 + requests);
        let groups = self.by.map_or(0, |_| (self.groups.all.len() as u64 + requests).min(MOST));
        part.saturating_mul(windows + groups)
    }

    pub(super) fn remove(&mut self, pages: &[u32]) {
        for &page in pages {
            self.distances.remove(page);
        }
    }

    /// Forgets what was counted, and nothing of the stack.
    pub(super) fn start_counting(&mut self) {
        self.counts.start_counting();
        self.windows.clear();
        self.groups = Groups::default();
    }

    pub(super) fn finish(self) -> Stacked {
        let (misses, requests) = self.counts.finish(self.distances.peak().into());
        Stacked {
            misses,
            requests,
            sizes: self.sizes,
            windows: self.windows,
            groups: self.groups.all,
        }
    }
}

/// Begins a new window where `time_ns` or the number of requests asks for one.
fn turn(windows: &mut Vec<Window>, sizes: &[u64], every: Every, time_ns: i64) {
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
        windows.push(Window { from_ns, requests: 0, part: Part::new(sizes) });
    }
    if let Some(window) = windows.last_mut() {
        window.requests += 1;
    }
}

impl Groups {
    fn find(&mut self, by: By, request: &Request, sizes: &[u64]) -> usize {
        let which = match by {
            By::File => request.object,
            By::Task => request.task,
            By::Op => {
                let number = OPS.iter().position(|&(op, _)| op == request.op);
                u32::try_from(number.unwrap_or(0)).unwrap_or(0)
            }
        };
        if let Some(&at) = self.index.get(&which) {
            return at;
        }
        let which_one = (self.all.len() < GROUPS_MAX).then_some(which);
        if which_one.is_some() || self.all.len() == GROUPS_MAX {
            self.all.push(Group { which: which_one, part: Part::new(sizes) });
        }
        let at = self.all.len() - 1;
        if which_one.is_some() {
            self.index.insert(which, at);
        }
        at
    }
}

/// All that a stack has counted.
#[derive(Debug)]
pub(super) struct Stacked {
    pub(super) misses: Misses,
    pub(super) requests: Option<Misses>,
    /// The sizes at which parts are exact.
    pub(super) sizes: Vec<u64>,
    pub(super) windows: Vec<Window>,
    pub(super) groups: Vec<Group>,
}

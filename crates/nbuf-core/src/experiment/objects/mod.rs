//! Hits of policies over objects with sizes, in caches of bytes: every policy is fed by one reading of a
//! trace, and some by a second.
//!
//! An access is to a key, or to a whole request by its start; it takes its length and an overhead. The
//! byte distances give exact LRU at all sizes from the largest object up, while no object becomes
//! smaller or is removed. Smaller sizes, LRU in other traces and all other policies run at each size. Sizes
//! that follow from the trace, and the largest object, are known at its end, so these wait for a second
//! reading. A pipe has none: there every policy runs at sizes that are known beforehand.
//!
//! Invariant: no count is an estimate. Cost: at most 72 bytes a distinct object for LRU at all sizes and
//! what is known of the object, and what each policy takes at each size.

mod curves;
mod feed;
mod known;
mod lifetimes;
mod memory;
mod plan;

use crate::cache::interner::Interner;
use crate::cache::objects::{Object, ObjectCount, ObjectEngine};
use crate::cache::policy::Choice;
use crate::meter::byte_distance::{ByteDistances, ByteMisses};
use crate::units::{SizeList, SizeListError};
use crate::workload::pages::{Pages, Step, Tally, Whole};
pub(super) use feed::OBJECT_BYTES_MAX;
use known::Known;
use lifetimes::Lifetimes;
pub use lifetimes::{Ttl, TtlError};
pub use plan::CannotWeigh;
pub(super) use plan::{Costs, Plan, can_weigh, must_weigh};

/// The policy that is exact at every size.
const LRU: &str = "lru";
/// The policy that keeps each access.
const OPT: &str = "opt";
/// Sizes at which running LRU one by one costs less than its distances.
const FEW_SIZES: usize = 2;

/// One policy and what it needs.
struct Cell {
    choice: Choice,
    engine: Option<Box<dyn ObjectEngine>>,
    counts: Vec<ObjectCount>,
}

impl Cell {
    fn is_lru(&self) -> bool {
        self.choice.row().name == LRU
    }
}

/// The policies while they are fed.
pub(super) struct Objects {
    plan: Plan,
    pages: Pages,
    interner: Interner,
    known: Known,
    lifetimes: Lifetimes,
    /// Whether LRU is counted by distances, or was before they ceased to hold.
    has_distances: bool,
    distances: Option<ByteDistances>,
    misses: Option<ByteMisses>,
    cells: Vec<Cell>,
    accesses: u64,
    /// Accesses of the first reading, when there is a second.
    first: Option<u64>,
    /// Requests that were left out, because they are too large for objects.
    oversized: u64,
    tally: Option<Tally>,
    span: Option<(i64, i64)>,
    counted_span: Option<(i64, i64)>,
    /// Requests of the warm-up that are still to come.
    warming: u64,
    step: Step,
    numbers: Vec<u32>,
    batch: Vec<Object>,
    object_bytes: u64,
    /// What all caches take before anything comes.
    least_bytes: u64,
}

/// Why nothing can be counted.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error(transparent)]
    Policy(#[from] CannotWeigh),
    #[error(transparent)]
    Sizes(#[from] SizeListError),
}

impl Objects {
    /// Ready for the first reading.
    pub(super) fn new(plan: Plan) -> Result<Self, Refused> {
        plan.policies.iter().try_for_each(|choice| must_weigh(choice, &[]))?;
        let relative = plan.sizes.as_ref().is_some_and(SizeList::is_relative);
        if relative && !plan.again {
            return Err(SizeListError::Once.into());
        }
        let given = match &plan.sizes {
            // What is wrong with a list is known before the trace is read.
            Some(list) if relative => list.bytes(u64::MAX >> 1).map(|_| None)?,
            Some(list) => Some(list.bytes(0)?),
            None if !plan.again => Some(curves::blind_sizes()),
            None => None,
        };
        let cell = |&choice| Cell { choice, engine: None, counts: Vec::new() };
        let mut objects = Self {
            pages: Pages::new(plan.unit, 1, plan.writes, Whole::Yes),
            interner: Interner::new(),
            known: Known::default(),
            lifetimes: Lifetimes::default(),
            has_distances: false,
            distances: None,
            misses: None,
            cells: plan.policies.iter().map(cell).collect(),
            accesses: 0,
            first: None,
            oversized: 0,
            tally: None,
            span: None,
            counted_span: None,
            warming: plan.warmup_requests,
            step: Step::default(),
            numbers: Vec::new(),
            batch: Vec::new(),
            object_bytes: 0,
            least_bytes: 0,
            plan,
        };
        let few = given.as_ref().is_some_and(|sizes| sizes.len() <= FEW_SIZES);
        let has_lru = objects.cells.iter().any(Cell::is_lru);
        if has_lru
            && objects.plan.is_plain()
            && objects.plan.again
            && (objects.plan.all_sizes || !few)
        {
            objects.has_distances = true;
            objects.distances = Some(ByteDistances::new(given.as_deref().unwrap_or_default()));
        }
        if let Some(sizes) = given {
            let has_distances = objects.has_distances;
            objects.start(&sizes, |cell| !(has_distances && cell.is_lru()));
        }
        objects.object_bytes = objects.expected();
        objects.least_bytes = objects.least_expected();
        Ok(objects)
    }

    /// After the first reading: whether a second is wanted, from the beginning.
    pub(super) fn again(&mut self) -> Result<bool, SizeListError> {
        if self.tally.is_some() {
            return Ok(false);
        }
        self.tally = Some(self.pages.tally());
        // What is removed last of all ends them too.
        let distances = self.distances.take().filter(|_| self.known.only_grows());
        self.misses = distances.map(ByteDistances::finish);
        let had_distances = self.has_distances;
        if self.accesses == 0 || !self.plan.again {
            return Ok(false);
        }
        let sizes = self.sizes()?;
        let below = sizes.partition_point(|&size| size < self.known.largest_bytes);
        let of_lru = if self.misses.is_some() { &sizes[..below] } else { &sizes[..] };
        let waiting: Vec<bool> = self.cells.iter().map(|cell| cell.engine.is_none()).collect();
        self.finish_engines();
        if had_distances && !of_lru.is_empty() {
            self.start(of_lru, Cell::is_lru);
        }
        let mut waiting = waiting.into_iter();
        self.start(&sizes, |cell| {
            waiting.next() == Some(true) && !(had_distances && cell.is_lru())
        });
        let wanted = self.cells.iter().any(|cell| cell.engine.is_some());
        if wanted {
            self.warming = self.plan.warmup_requests;
            self.lifetimes.begin_again();
            self.first = Some(self.accesses);
            self.accesses = 0;
        }
        Ok(wanted)
    }

    /// After the second reading: if it differed from the first, drops what needed it, and returns the
    /// names of these policies.
    pub(super) fn drop_unequal(&mut self) -> Vec<String> {
        if self.first.is_none_or(|accesses| accesses == self.accesses) {
            return Vec::new();
        }
        let has_misses = self.misses.is_some();
        let mut dropped = Vec::new();
        self.cells.retain_mut(|cell| {
            if cell.engine.take().is_none() {
                return true;
            }
            dropped.push(cell.choice.to_string());
            has_misses && cell.is_lru()
        });
        dropped
    }

    /// Distinct objects so far.
    pub(super) fn distinct(&self) -> u64 {
        self.known.charges.len() as u64
    }

    /// Bytes that were asked for on the first reading: none where the trace has no sizes.
    pub(super) fn tally(&self) -> Tally {
        let tally = self.tally.unwrap_or_else(|| self.pages.tally());
        Tally { unplaced: tally.unplaced + self.oversized, ..tally }
    }

    /// Nanoseconds from the first request to the last.
    pub(super) fn span_ns(&self) -> u64 {
        self.span.map_or(0, |(from, to)| to.abs_diff(from))
    }

    /// Whether a request of the trace has a time to live.
    pub(super) fn has_lifetimes(&self) -> bool {
        self.lifetimes.are_in_trace
    }

    /// The sizes asked for, or some of equal ratios, in bytes.
    fn sizes(&self) -> Result<Vec<u64>, SizeListError> {
        if let Some(list) = &self.plan.sizes {
            return list.bytes(self.known.distinct_bytes);
        }
        let mut sizes = curves::sizes(self.known.distinct_bytes);
        // The knee is what people ask for: every policy is shown there.
        sizes.extend(self.lru_corners().map(|corners| corners.knee_pages));
        sizes.sort_unstable();
        sizes.dedup();
        Ok(sizes)
    }

    /// Gives an engine to these policies.
    fn start(&mut self, sizes: &[u64], mut which: impl FnMut(&Cell) -> bool) {
        let layers = self.plan.layers();
        for cell in &mut self.cells {
            if which(cell)
                && cell.engine.is_none()
                && let Some(engine) = cell.choice.objects(sizes, &layers)
            {
                cell.engine = Some(engine);
            }
        }
    }

    /// Takes the counts of the policies that have an engine.
    fn finish_engines(&mut self) {
        for cell in &mut self.cells {
            if let Some(engine) = cell.engine.take() {
                cell.counts = engine.finish();
            }
        }
    }
}

#[cfg(test)]
mod tests;

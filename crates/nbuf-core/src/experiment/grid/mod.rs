//! Hits of policies at sizes: every cell of the grid is fed by one reading of a trace.
//!
//! Requests become pages, pages become dense numbers, each key is hashed once; then the LRU stack
//! and every policy take the same batch. Sizes that are shares of the distinct pages, or are not
//! given at all, need the pages to be counted first: the trace is read twice, if it can be.
//!
//! Invariant: nothing an access is kept. Cost: at most 34 bytes a distinct page for exact LRU at all
//! sizes, and what [`Grid::page_bytes`] says with the rest.
//!
//! ```
//! use nbuf::experiment::grid::{Grid, Names, Plan};
//! use nbuf::trace::request::{Op, Request};
//!
//! // Twelve pages, over and over.
//! let requests: Vec<_> = (0..1200).map(|n| Request::new(Op::Read, n % 12 * 4096, 4096)).collect();
//! let policies = vec!["lru".parse()?, "sieve".parse()?];
//! let mut grid = Grid::new(Plan { policies, sizes: Some("10,12".parse()?), ..Plan::default() })?;
//! grid.take(&requests);
//! let curves = grid.finish(&Names::default())?;
//! assert_eq!(curves[0].points[0].hit_ratio(), 0.0, "LRU never hits on a longer loop");
//! assert_eq!(curves[0].points[1].hit_ratio(), 0.99);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod between;
mod counter;
mod counting;
mod curves;
mod feed;
mod memory;
mod miniature;
mod numbered;
mod part;
mod sampled;
mod stack;
mod target;

use crate::cache::interner::Interner;
use crate::cache::policy::Choice;
use crate::cache::prefetch::{self, Prefetching};
use crate::trace::request::Unit;
use crate::units::{PAGE_BYTES, SizeList, SizeListError};
use crate::workload::pages::{self, Pages, Step, Tally, Whole, Writes};
use counter::Counter;
use counting::Cell;

pub use curves::Names;
pub(in crate::experiment) use curves::{corners_of_steps, counted, even_sizes};
pub(in crate::experiment) use feed::widen;
pub(in crate::experiment) use miniature::Miniature;
pub use sampled::{sampled_curve, sampled_sizes};
pub use stack::{By, Every, GROUPS_MAX};
use stack::{Stack, Stacked};
pub(in crate::experiment) use target::target;

/// A prefetcher adds to the numbers of pages within the keys of the traces.
const _: () = assert!(prefetch::PAGE_BITS == pages::PAGE_BITS);

/// The policy that is exact at every size.
const LRU: &str = "lru";
/// Sizes of one policy at which running them one by one costs less than a stack.
const FEW_SIZES: usize = 2;

/// What is to be counted.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The policies, in the order of the report.
    pub policies: Vec<Choice>,
    /// The sizes; some sixteen of equal ratios where there are none.
    pub sizes: Option<SizeList>,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// What the offsets of the trace are.
    pub unit: Unit,
    /// Whether requests are kept whole.
    pub whole: Whole,
    /// What writes do.
    pub writes: Writes,
    /// What the caches prefetch, if anything. Every policy then runs at each size.
    pub prefetching: Option<Prefetching>,
    /// Whether LRU is wanted at all sizes, however few are shown.
    pub all_sizes: bool,
    /// Windows of time to be counted apart.
    pub every: Option<Every>,
    /// Parts to be counted apart.
    pub by: Option<By>,
    /// Requests at the beginning that fill the caches and are not counted.
    pub warmup_requests: u64,
    /// For policies that play with chance.
    pub seed: u64,
    /// Whether the trace can be read a second time.
    pub again: bool,
    /// Whether several processors may be used.
    pub parallel: bool,
}

/// No policy yet, over pages of 4 KiB that are read once.
impl Default for Plan {
    fn default() -> Self {
        Self {
            policies: Vec::new(),
            sizes: None,
            page_bytes: PAGE_BYTES,
            unit: Unit::Bytes,
            whole: Whole::default(),
            writes: Writes::default(),
            prefetching: None,
            all_sizes: false,
            every: None,
            by: None,
            warmup_requests: 0,
            seed: 0,
            again: false,
            parallel: false,
        }
    }
}

/// The grid while it is fed.
pub struct Grid {
    plan: Plan,
    pages: Pages,
    interner: Interner,
    counter: Counter,
    stacked: Option<Stacked>,
    accesses: u64,
    /// Accesses of the first reading, when there is a second.
    first: Option<u64>,
    /// Distinct pages of the first reading, when it is over.
    distinct: Option<u64>,
    tally: Option<Tally>,
    span: Option<(i64, i64)>,
    /// The same of what is counted.
    counted_span: Option<(i64, i64)>,
    /// Requests of the warm-up that are still to come.
    warming: u64,
    step: Step,
    numbers: Vec<u32>,
    /// What a distinct page takes.
    page_bytes: u64,
    /// What all caches take before anything comes.
    least_bytes: u64,
    /// Pages of the longest request so far.
    longest: u64,
}

impl Grid {
    /// Ready for the first reading. Fails where sizes are asked for that only a second reading
    /// could tell, and there is none.
    pub fn new(plan: Plan) -> Result<Self, SizeListError> {
        let relative = plan.sizes.as_ref().is_some_and(SizeList::is_relative);
        let prefetching = plan.prefetching;
        let cell = |&choice| Cell::new(choice, prefetching);
        let cells = plan.policies.iter().map(cell).collect();
        let mut grid = Self {
            pages: Pages::new(plan.unit, plan.page_bytes, plan.writes, plan.whole),
            interner: Interner::new(),
            counter: Counter::new(cells, plan.parallel),
            stacked: None,
            accesses: 0,
            first: None,
            distinct: None,
            tally: None,
            span: None,
            counted_span: None,
            warming: plan.warmup_requests,
            step: Step::default(),
            numbers: Vec::new(),
            page_bytes: 0,
            least_bytes: 0,
            longest: 0,
            plan,
        };
        let is_stacked = |choice: &Choice| choice.row().name == LRU && prefetching.is_none();
        let others = !grid.plan.policies.iter().all(is_stacked);
        if relative && others && !grid.plan.again {
            return Err(SizeListError::Once);
        }
        let split = grid.plan.every.is_some() || grid.plan.by.is_some() || grid.plan.all_sizes;
        let given = match (&grid.plan.sizes, relative) {
            (Some(list), false) => Some(list.pages(grid.plan.page_bytes, 0)?),
            _ => None,
        };
        let few = given.as_ref().is_some_and(|sizes| sizes.len() <= FEW_SIZES);
        if grid.plan.policies.iter().any(is_stacked) && (split || !few) {
            let several = grid.plan.unit == Unit::Bytes && grid.plan.whole == Whole::No;
            let known = given.as_deref().unwrap_or_default();
            let stack = Stack::new(several, known, grid.plan.every, grid.plan.by);
            grid.counter.settle().stack = Some(stack);
        }
        match given {
            Some(sizes) => grid.start(&sizes),
            None if !grid.plan.again => grid.start(&curves::blind_sizes()),
            None => {}
        }
        grid.page_bytes = grid.expected();
        grid.least_bytes = grid.least_expected();
        Ok(grid)
    }

    /// After the first reading: whether a second is wanted, from the beginning.
    pub fn again(&mut self) -> Result<bool, SizeListError> {
        if self.tally.is_some() {
            return Ok(false);
        }
        self.tally = Some(self.pages.tally());
        self.distinct = Some(self.interner.pages().into());
        let counting = self.counter.settle();
        let wanted = self.accesses > 0 && counting.waits();
        if !wanted {
            // No caller needs the numbers any more, and the work on the counts needs the memory.
            self.interner = Interner::new();
        }
        self.stacked = counting.stack.take().map(Stack::finish);
        if !wanted {
            return Ok(false);
        }
        let sizes = self.sizes()?;
        self.start(&sizes);
        self.warming = self.plan.warmup_requests;
        self.first = Some(self.accesses);
        self.accesses = 0;
        Ok(true)
    }

    /// After the second reading: if it differed from the first, drops the policies that needed it
    /// and returns their names. It differs if it was ended early or the trace has changed. The
    /// counts of these policies would then belong to another trace than the other counts.
    pub fn drop_unequal(&mut self) -> Vec<String> {
        if self.first.is_none_or(|accesses| accesses == self.accesses) {
            return Vec::new();
        }
        let cells = &mut self.counter.settle().cells;
        let dropped = cells.extract_if(.., |cell| !cell.engines.is_empty());
        dropped.map(|cell| cell.choice.to_string()).collect()
    }

    /// Distinct pages so far, in the first reading.
    pub fn distinct_pages(&self) -> u64 {
        self.distinct.unwrap_or(self.interner.pages().into())
    }

    /// What was seen on the first reading.
    pub fn tally(&self) -> Tally {
        self.tally.unwrap_or_else(|| self.pages.tally())
    }

    /// Nanoseconds from the first request to the last.
    pub fn span_ns(&self) -> u64 {
        self.span.map_or(0, |(from, to)| to.abs_diff(from))
    }

    /// The same of the requests that are counted.
    fn counted_span_ns(&self) -> u64 {
        self.counted_span.map_or(0, |(from, to)| to.abs_diff(from))
    }

    /// The sizes asked for, or some of equal ratios, in pages.
    fn sizes(&self) -> Result<Vec<u64>, SizeListError> {
        let distinct = self.distinct_pages();
        if let Some(list) = &self.plan.sizes {
            return list.pages(self.plan.page_bytes, distinct);
        }
        let mut sizes = even_sizes(distinct);
        // The knee is what people ask for: every policy is shown there. Parts are exact a little
        // above it, and what they are parts of is shown where they are.
        let corners = self.stacked.as_ref().and_then(curves::lru_corners);
        sizes.extend(corners.map(|corners| match corners.knee_pages {
            knee if self.has_parts() => curves::edge_from(knee, distinct),
            knee => knee,
        }));
        sizes.sort_unstable();
        sizes.dedup();
        Ok(sizes)
    }

    /// Whether parts of the accesses are counted apart.
    fn has_parts(&self) -> bool {
        self.plan.every.is_some() || self.plan.by.is_some()
    }

    /// Gives engines to every policy that the stack does not count.
    fn start(&mut self, sizes: &[u64]) {
        let stacked = self.stacked.is_some();
        let seed = self.plan.seed;
        self.counter.settle().start(sizes, stacked, seed);
    }

    /// The counts of every cell.
    fn count(&mut self) {
        let counting = self.counter.settle();
        if self.stacked.is_none() {
            self.stacked = counting.stack.take().map(Stack::finish);
        }
        counting.cells.iter_mut().for_each(Cell::finish);
    }
}

#[cfg(test)]
mod tests;

//! A row of the table of policies: ours, or one of a user of the library.

use super::{AnyPolicy, Policy, Settable};
use crate::cache::engine::{self, Engine};
use crate::cache::objects::MakeObjectEngine;

/// A row of the table of policies.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// As it is written on a command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// Memory a distinct page costs at each size, besides the memory of the interner.
    pub page_bytes: u64,
    /// Memory that it costs once, whatever the sizes.
    pub once_bytes: u64,
    /// What can be set of it, if anything.
    pub settable: Option<&'static Settable>,
    /// One cache of this many pages, at least one.
    pub build: fn(capacity: u32, seed: u64) -> Box<dyn AnyPolicy>,
    /// Caches of several sizes, fed in one pass; see [`engine::engine`].
    pub(in crate::cache) engine: fn(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine>,
    /// The same over objects with sizes. None where the policy divides its cache by a number of pages,
    /// so that no rule says what its parts are in bytes.
    pub(crate) objects: Option<MakeObjectEngine>,
}

impl Row {
    /// Whether it also works over objects with sizes.
    pub fn takes_objects(&self) -> bool {
        self.objects.is_some()
    }

    /// The row of a policy, which need not be one of ours: [`Choice::from`](super::Choice) of a static row goes wherever
    /// a name of [`POLICIES`](super::POLICIES) goes. `page_bytes` is the memory of a distinct page at each size.
    ///
    /// A policy that evicts the page that came last, next to LRU, in a grid of curves and behind a replay:
    ///
    /// ```
    /// use nbuf::cache::policy::{Access, Cause, Choice, Row, Simple};
    ///
    /// struct Lifo(u32, Vec<u32>);
    /// impl Simple for Lifo {
    ///     fn new(capacity: u32, _seed: u64) -> Self { Self(capacity, Vec::new()) }
    ///     fn capacity(&self) -> u32 { self.0 }
    ///     fn pages(&self) -> u32 { self.1.len() as u32 }
    ///     fn contains(&self, page: u32) -> bool { self.1.contains(&page) }
    ///     fn touch(&mut self, access: Access) -> bool { self.1.contains(&access.page) }
    ///     fn evict(&mut self, is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
    ///         self.1.iter().copied().rev().find({ let mut may = is_evictable; move |&page| may(page) })
    ///             .inspect(|&page| self.1.retain(|&other| other != page))
    ///     }
    ///     fn insert(&mut self, access: Access, _cause: Cause) { self.1.push(access.page) }
    ///     fn leave(&mut self, page: u32) { self.1.retain(|&other| other != page) }
    /// }
    /// static LIFO: Row = Row::of::<Lifo>("lifo", "evicts the page that came last", "folklore", 4);
    ///
    /// # use nbuf::experiment::grid::{Grid, Names, Plan};
    /// # use nbuf::trace::request::{Op, Request};
    /// // Twelve pages, over and over.
    /// let requests: Vec<_> = (0..1200).map(|n| Request::new(Op::Read, n % 12 * 4096, 4096)).collect();
    /// let policies = vec!["lru".parse()?, Choice::from(&LIFO)];
    /// let sizes = Some("10".parse()?);
    /// let mut grid = Grid::new(Plan { policies, sizes, ..Plan::default() })?;
    /// grid.take(&requests);
    /// let curves = grid.finish(&Names::default())?;
    /// let hits: Vec<f64> = curves.iter().map(|curve| curve.points[0].hit_ratio()).collect();
    /// assert!(hits[0] == 0.0 && hits[1] > 0.7, "LRU never hits on a loop: {hits:?}");
    ///
    /// # use nbuf::cache::layer::{Units, Writes};
    /// # use nbuf::experiment::replay::{Cpu, Dispatcher, Layout, Machine, Pace, replay};
    /// # use nbuf::trace::request::Unit;
    /// # use nbuf::units::Nanos;
    /// // The same requests by one process, in front of a disc of 1970.
    /// let disc = nbuf::disc::named("rk05")?;
    /// let machine = Machine { cpu: Cpu::named("modern").unwrap(), sector_bytes: 512, moves_bytes: false };
    /// let replayed = |policy: Choice| {
    ///     let mut cache = Units::new(policy.build(10, 0), 4096, disc.size_bytes(), Writes::Fill);
    ///     let layout = Layout::blind(Unit::Bytes, 4096);
    ///     let pace = Pace::Closed { think: Nanos::ZERO };
    ///     let mut clients = Dispatcher::new(requests.chunks(100), layout, pace, 1, false);
    ///     replay(&machine, &mut cache, &mut disc.build(0), &mut clients, &mut ())
    /// };
    /// assert!(replayed(Choice::from(&LIFO))?.hits() > replayed("lru".parse()?)?.hits());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn of<P: Policy + Send + 'static>(
        name: &'static str,
        summary: &'static str,
        citation: &'static str,
        page_bytes: u64,
    ) -> Self {
        Self {
            name,
            summary,
            citation,
            page_bytes,
            once_bytes: 0,
            settable: None,
            build: |capacity, seed| Box::new(P::new(capacity, seed)),
            engine: engine::plain::<P>,
            objects: None,
        }
    }
}

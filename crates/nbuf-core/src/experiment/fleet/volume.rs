//! One volume, as a task sees it: requests become pages, pages become distances.
//!
//! Invariant: a batch of requests and another give what both in one give. Cost: as [`Distances`] and
//! [`Interner`], about 30 bytes a page.

use crate::cache::interner::Interner;
use crate::experiment::result::{FleetPiece, FleetTask};
use crate::meter::distance::Distances;
use crate::meter::hashed::part_of;
use crate::meter::segment::{NO_LIMIT, Segment};
use crate::meter::steps::Hits;
use crate::trace::request::{Request, Unit};
use crate::workload::pages::{Pages, Step, Whole, Writes};

/// Accesses after which a head is cut off and merged: more than any of its limits.
const HEAD_ACCESSES: u64 = 1 << 17;
/// What the stack takes a page, besides the interner.
const STACK_BYTES: u64 = 14;

/// The meter of one volume.
pub(super) struct Volume {
    pages: Pages,
    step: Step,
    ids: Vec<u32>,
    interner: Interner,
    distances: Distances,
    piece: FleetPiece,
    /// What was cut off before, of a head.
    head: Segment,
    since_cut: u64,
    /// Requests from this time on belong to the second part; nothing when that has begun, or there is none.
    until_ns: Option<i64>,
    /// The time at which the first part ended, and whether an earlier request came later.
    cut_ns: Option<i64>,
    is_disordered: bool,
    /// Whether nothing is merged with it.
    is_alone: bool,
    /// The first part, when it is over: without its pages where nothing is merged.
    early: Option<Segment>,
    /// Whether pages left the caches, which no segment can say.
    pub(super) has_holes: bool,
    /// Times of its first and last request.
    pub(super) times_ns: Option<(i64, i64)>,
}

impl Volume {
    /// A volume without accesses.
    pub(super) fn new(unit: Unit, task: &FleetTask) -> Self {
        let piece = task.piece;
        // Parts by hash are estimates, which say too little of a part of the time.
        let is_exact = matches!(piece, FleetPiece::Whole | FleetPiece::Time { .. });
        Self {
            pages: Pages::new(unit, task.page_bytes, Writes::Allocate, Whole::No),
            step: Step::default(),
            ids: Vec::new(),
            interner: Interner::new(),
            distances: Distances::new(),
            piece,
            head: Segment::empty(limit(piece)),
            since_cut: 0,
            until_ns: task.until_us.filter(|_| is_exact).map(|until| until.saturating_mul(1000)),
            cut_ns: None,
            is_disordered: false,
            is_alone: task.is_alone,
            early: None,
            has_holes: false,
            times_ns: None,
        }
    }

    /// Takes the next requests.
    pub(super) fn take(&mut self, requests: &[Request]) {
        let mut rest = requests;
        if let Some(until) = self.until_ns
            && let Some(at) = requests.iter().position(|request| request.time_ns >= until)
        {
            let (before, after) = requests.split_at(at);
            self.add(before);
            self.end_first_part();
            self.cut_ns = Some(until);
            rest = after;
        }
        if let Some(cut) = self.cut_ns {
            self.is_disordered |= rest.iter().any(|request| request.time_ns < cut);
        }
        self.add(rest);
    }

    /// Keeps what the first part of the time gives.
    fn end_first_part(&mut self) {
        self.until_ns = None;
        self.early = Some(if self.is_alone {
            let misses = self.distances.so_far();
            let (accesses, hits) = (misses.accesses, Hits::of(&misses));
            Segment { accesses, hits, ..Segment::empty(NO_LIMIT) }
        } else {
            self.segment()
        });
    }

    /// What came since the last segment; the next one begins here.
    fn segment(&mut self) -> Segment {
        let distances = std::mem::take(&mut self.distances);
        let keys = std::mem::take(&mut self.interner).into_keys();
        Segment::of(distances, keys, limit(self.piece))
    }

    fn add(&mut self, mut requests: &[Request]) {
        if let [first, .., last] | [first @ last] = requests {
            let since = self.times_ns.map_or(first.time_ns, |times| times.0);
            self.times_ns = Some((since, last.time_ns));
        }
        while !requests.is_empty() {
            let taken = self.pages.step(requests, &mut self.step);
            requests = &requests[taken..];
            if let FleetPiece::Hash { part, parts } = self.piece {
                self.step.keys.retain(|&page| part_of(page, parts) == part);
            }
            self.ids.clear();
            self.interner.intern(&self.step.keys, &mut self.ids);
            self.distances.access_all(&self.ids, |_| {});
            self.since_cut += self.ids.len() as u64;
            for range in &self.step.gone {
                self.has_holes = true;
                for page in self.interner.known(range.first, range.last) {
                    self.distances.remove(page);
                }
            }
            if matches!(self.piece, FleetPiece::Head { .. }) && self.since_cut >= HEAD_ACCESSES {
                self.cut();
            }
        }
    }

    /// Whether the first part of the time is over.
    pub(super) fn is_cut(&self) -> bool {
        self.early.is_some()
    }

    /// Memory in use.
    pub(super) fn bytes(&self) -> u64 {
        let kept = self.early.as_ref().map_or(0, |early| early.first.len() + early.last.len());
        let kept = (kept * size_of::<u64>()) as u64;
        self.interner.bytes() as u64 + STACK_BYTES * u64::from(self.interner.pages()) + kept
    }

    /// Distinct pages: of a head those since it was cut.
    pub(super) fn distinct(&self) -> u64 {
        self.interner.pages().into()
    }

    /// Merges what came since the last cut into the head.
    fn cut(&mut self) {
        let later = self.segment();
        self.head = Segment::merge(&self.head, &later);
        self.since_cut = 0;
    }

    /// What is left to be merged, and the first part of the time before it. Where pages left, or nothing is to be
    /// merged, only the hits of it are right.
    pub(super) fn finish(mut self) -> (Segment, Option<Segment>) {
        if matches!(self.piece, FleetPiece::Head { .. }) {
            self.cut();
            return (self.head, None);
        }
        // All of it came before the time.
        if self.until_ns.is_some() {
            self.end_first_part();
        }
        // What is alone can go without its first part; what is merged shows its disorder in its pieces.
        let early = self.early.take().filter(|_| !(self.is_alone && self.is_disordered));
        (self.segment(), early)
    }
}

fn limit(piece: FleetPiece) -> u32 {
    match piece {
        FleetPiece::Head { pages, .. } => pages,
        _ => NO_LIMIT,
    }
}

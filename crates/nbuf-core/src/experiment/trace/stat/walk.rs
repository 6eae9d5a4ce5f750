//! Requests become accesses to numbered keys, each with what is known of it at once: its stack distance, and
//! whether it is part of a loop or a scan.
//!
//! Both readings of a trace go through here, so that they agree. Cost: about 30 bytes a key.

use crate::cache::interner::Interner;
use crate::clock::Random;
use crate::experiment::objects::OBJECT_BYTES_MAX;
use crate::meter::distance::Distances;
use crate::meter::shape::{FirstUses, Loop, Loops, Runs, Scans};
use crate::trace::request::{Op, Request, Unit};
use crate::units::{Bytes, whole};
use crate::workload::pages::{Pages, Step, Tally, Whole, Writes};

/// What an access is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// The first use of a key, or the first after a discard: every cache misses.
    First,
    Loop,
    Scan,
    Other,
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// The number of its key.
    pub(super) key: u32,
    /// The number of the access, over all keys.
    pub(super) at: u64,
    /// Nanoseconds since the first access; they never fall.
    pub(super) ns: u64,
    /// The smallest LRU cache that hits; none for a first use.
    pub(super) distance: Option<u64>,
    /// The bytes that it asks for.
    pub(super) bytes: u64,
    pub(super) is_write: bool,
    pub(super) pattern: Pattern,
}

/// Takes accesses in their order.
pub(super) trait Sink {
    fn access(&mut self, seen: &Seen);

    /// A key exists no more.
    fn remove(&mut self, _key: u32) {}
}

/// Loops and scans that were found.
pub(super) struct Patterns {
    pub(super) loops: Vec<Loop>,
    pub(super) scans: Runs,
    pub(super) first_uses: Runs,
}

/// Turns requests into accesses.
pub(super) struct Walk {
    pages: Pages,
    /// Bytes of an access where it is to a page.
    page_bytes: Option<u64>,
    interner: Interner,
    distances: Distances,
    loops: Loops,
    scans: Scans,
    first_uses: FirstUses,
    rate: f64,
    /// The length of the longest request.
    pub(super) longest: u64,
    /// Requests that were left out, because they are too large for objects.
    oversized: u64,
    at: u64,
    /// Bytes that all accesses ask for.
    bytes: u64,
    from_ns: Option<i64>,
    ns: u64,
    step: Step,
    /// The keys of a step that are looked at, and the access and the request of each.
    keys: Vec<u64>,
    places: Vec<(u64, u32)>,
    numbers: Vec<u32>,
    depths: Vec<Option<u32>>,
}

impl Walk {
    /// Looks at this share of the keys.
    pub(super) fn new(unit: Unit, page_bytes: Bytes, sample: Option<f64>) -> Self {
        let bytes = page_bytes.0.max(1);
        Self {
            pages: Pages::new(unit, bytes, Writes::Allocate, Whole::No),
            page_bytes: (unit == Unit::Bytes).then_some(bytes),
            interner: Interner::new(),
            distances: Distances::new(),
            loops: Loops::default(),
            scans: Scans::default(),
            first_uses: FirstUses::default(),
            rate: sample.unwrap_or(1.0),
            longest: 0,
            oversized: 0,
            at: 0,
            bytes: 0,
            from_ns: None,
            ns: 0,
            step: Step::default(),
            keys: Vec::new(),
            places: Vec::new(),
            numbers: Vec::new(),
            depths: Vec::new(),
        }
    }

    /// Takes requests, in order. Leaves out and counts what is too large to be an object: that is damage.
    pub(super) fn take(&mut self, requests: &[Request], sink: &mut dyn Sink) {
        let fits = |request: &Request| request.length_bytes <= OBJECT_BYTES_MAX;
        if self.page_bytes.is_some() || requests.iter().all(fits) {
            return self.take_fitting(requests, sink);
        }
        let fitting: Vec<Request> = requests.iter().copied().filter(fits).collect();
        self.oversized += (requests.len() - fitting.len()) as u64;
        self.take_fitting(&fitting, sink);
    }

    fn take_fitting(&mut self, requests: &[Request], sink: &mut dyn Sink) {
        self.longest = self.longest.max(self.pages.ahead(requests).longest);
        let mut rest = requests;
        while !rest.is_empty() {
            let mut step = std::mem::take(&mut self.step);
            let taken = self.pages.step(rest, &mut step);
            self.accesses(&step, rest, sink);
            for range in &step.gone {
                for key in self.interner.known(range.first, range.last) {
                    self.distances.remove(key);
                    sink.remove(key);
                }
            }
            self.step = step;
            rest = &rest[taken..];
        }
    }

    /// Keys that were looked at.
    pub(super) fn distinct(&self) -> u64 {
        self.interner.pages().into()
    }

    /// Accesses to all keys.
    pub(super) fn accesses_of_all(&self) -> u64 {
        self.at
    }

    /// Bytes that accesses to all keys ask for.
    pub(super) fn bytes_of_all(&self) -> u64 {
        self.bytes
    }

    /// Nanoseconds from the first access to the last.
    pub(super) fn span_ns(&self) -> u64 {
        self.ns
    }

    pub(super) fn tally(&self) -> Tally {
        let tally = self.pages.tally();
        Tally { unplaced: tally.unplaced + self.oversized, ..tally }
    }

    /// Keys that requests may add at the most, and the length of the longest.
    pub(super) fn ahead(&self, requests: &[Request]) -> (u64, u64) {
        let ahead = self.pages.ahead(requests);
        (ahead.keys, ahead.longest)
    }

    /// Keys that a request does add.
    pub(super) fn adds(&self, request: &Request) -> u64 {
        let Some(range) = self.pages.reach(request) else { return 0 };
        let known = self.interner.count(range.first, range.last);
        (range.last - range.first + 1).saturating_sub(known)
    }

    pub(super) fn patterns(self) -> Patterns {
        Patterns {
            loops: self.loops.finish(),
            scans: self.scans.finish(),
            first_uses: self.first_uses.finish(),
        }
    }

    fn accesses(&mut self, step: &Step, requests: &[Request], sink: &mut dyn Sink) {
        self.choose(step, requests);
        self.numbers.clear();
        self.depths.clear();
        self.interner.intern(&self.keys, &mut self.numbers);
        let Self { distances, depths, .. } = self;
        distances.access_all(&self.numbers, |depth| depths.push(depth));
        for index in 0..self.numbers.len() {
            let (at, from) = self.places[index];
            let request = &requests[from as usize];
            let from_ns = *self.from_ns.get_or_insert(request.time_ns);
            let ns = u64::try_from(i128::from(request.time_ns) - i128::from(from_ns));
            self.ns = self.ns.max(ns.unwrap_or(0));
            let distance = self.depths[index].map(u64::from);
            let seen = Seen {
                key: self.numbers[index],
                at,
                ns: self.ns,
                distance: distance.map(|distance| self.scaled(distance)),
                bytes: self.page_bytes.unwrap_or(request.length_bytes),
                is_write: request.op == Op::Write,
                pattern: self.pattern(self.keys[index], distance),
            };
            sink.access(&seen);
        }
    }

    /// Finds the keys of a step that are looked at.
    fn choose(&mut self, step: &Step, requests: &[Request]) {
        self.keys.clear();
        self.places.clear();
        let mut begin = 0;
        for (index, &from) in step.from.iter().enumerate() {
            let end = step.ends.get(index).map_or(index + 1, |&end| end as usize);
            let each = self.page_bytes.unwrap_or(requests[from as usize].length_bytes);
            self.bytes = self.bytes.saturating_add(each.saturating_mul((end - begin) as u64));
            for &key in &step.keys[begin..end] {
                if self.rate >= 1.0 || Random::new(key).unit() < self.rate {
                    self.keys.push(key);
                    self.places.push((self.at, from));
                }
                self.at += 1;
            }
            begin = end;
        }
    }

    fn pattern(&mut self, key: u64, distance: Option<u64>) -> Pattern {
        if self.rate < 1.0 {
            return if distance.is_none() { Pattern::First } else { Pattern::Other };
        }
        self.first_uses.push(distance.is_none());
        let (is_loop, is_scan) =
            (self.loops.push(distance), self.scans.push(key, distance.is_none()));
        match distance {
            None => Pattern::First,
            Some(_) if is_loop => Pattern::Loop,
            Some(_) if is_scan => Pattern::Scan,
            Some(_) => Pattern::Other,
        }
    }

    /// A number that goes with the keys that are looked at, for all keys.
    pub(super) fn scaled(&self, number: u64) -> u64 {
        if self.rate >= 1.0 { number } else { whole(number as f64 / self.rate) }
    }
}

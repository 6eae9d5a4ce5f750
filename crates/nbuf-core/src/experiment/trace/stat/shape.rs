//! The shape of a trace, in one reading.
//!
//! Invariant: all counts are exact, unless a share of the keys is looked at. Memory: some 200 bytes a key,
//! which are asked for before they are taken, and none an access.

use super::walk::{Pattern, Seen, Sink, Walk};
use crate::clock::Random;
use crate::meter::shape::{Columns, Powers, ROWS, WorkingSet, row};
use crate::trace::request::{Request, Unit};
use crate::units::Bytes;
use crate::workload::within::Growing;

/// What a key takes at the most: here while its table grows, its number, and its place in the stack. While
/// the exponent is fitted, a copy of its counts.
const KEY_BYTES: u64 = 3 * size_of::<Key>() as u64 + 20 + 10 + 16;
/// What an access of a step takes.
const ACCESS_BYTES: u64 = 48;
/// The row of first uses.
pub(super) const FIRST: usize = ROWS;

/// What is known of a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key {
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) first_at: u64,
    pub(super) last_at: u64,
    /// Its size at the last access.
    pub(super) bytes: u64,
    pub(super) uses: u32,
    /// The uses among half of the accesses, which chance chooses.
    pub(super) half: u32,
}

/// What happens when, by one clock.
pub(super) struct Over {
    pub(super) distances: Columns,
    pub(super) times: Columns,
    pub(super) mix: Columns,
    pub(super) working_set: WorkingSet,
}

impl Over {
    fn new() -> Self {
        Self {
            distances: Columns::new(FIRST + 1),
            times: Columns::new(FIRST + 1),
            mix: Columns::new(2),
            working_set: WorkingSet::default(),
        }
    }

    /// An access at a tick, to a key that was used `before`.
    fn add(&mut self, seen: &Seen, tick: u64, before: Option<u64>) {
        self.distances.add(tick, seen.distance.map_or(FIRST, row));
        // After a discard a key is used for the first time again.
        let since = before.filter(|_| seen.distance.is_some());
        self.times.add(tick, since.map_or(FIRST, |before| row(tick - before)));
        self.mix.add(tick, usize::from(seen.is_write));
        self.working_set.add(tick, before);
    }
}

/// What was seen.
pub(super) struct Found {
    pub(super) keys: Vec<Key>,
    pub(super) by_ns: Over,
    pub(super) by_access: Over,
    pub(super) accesses: u64,
    pub(super) bytes: u64,
    pub(super) compulsory: u64,
    pub(super) compulsory_bytes: u64,
}

impl Sink for Found {
    fn access(&mut self, seen: &Seen) {
        let index = seen.key as usize;
        if index >= self.keys.len() {
            self.keys.resize(index + 1, Key::default());
        }
        let key = &mut self.keys[index];
        let before = (key.uses > 0).then_some(*key);
        if before.is_none() {
            (key.first_ns, key.first_at) = (seen.ns, seen.at);
        }
        (key.last_ns, key.last_at, key.bytes) = (seen.ns, seen.at, seen.bytes);
        key.uses = key.uses.saturating_add(1);
        key.half = key.half.saturating_add(u32::from(Random::new(seen.at).next() & 1 == 1));
        self.by_ns.add(seen, seen.ns, before.map(|key| key.last_ns));
        self.by_access.add(seen, seen.at, before.map(|key| key.last_at));
        self.accesses += 1;
        self.bytes = self.bytes.saturating_add(seen.bytes);
        if seen.pattern == Pattern::First {
            self.compulsory += 1;
            self.compulsory_bytes = self.compulsory_bytes.saturating_add(seen.bytes);
        }
    }
}

/// Reads a trace once.
pub(super) struct Shape {
    pub(super) walk: Walk,
    pub(super) found: Found,
    /// Lengths of the requests, where offsets count bytes.
    pub(super) lengths: Powers,
    pub(super) unit: Unit,
}

impl Shape {
    /// Nothing was read. Looks at this share of the keys.
    pub(super) fn new(unit: Unit, page_bytes: Bytes, sample: Option<f64>) -> Self {
        let found = Found {
            keys: Vec::new(),
            by_ns: Over::new(),
            by_access: Over::new(),
            accesses: 0,
            bytes: 0,
            compulsory: 0,
            compulsory_bytes: 0,
        };
        let walk = Walk::new(unit, page_bytes, sample);
        Self { walk, found, lengths: Powers::default(), unit }
    }

    fn bytes(&self, more: u64, longest: u64) -> u64 {
        let keys = self.walk.distinct().saturating_add(more);
        let longest = longest.max(self.walk.longest);
        (KEY_BYTES.saturating_mul(keys)).saturating_add(ACCESS_BYTES.saturating_mul(longest))
    }
}

impl Growing for Shape {
    fn most(&self, requests: &[Request]) -> u64 {
        let (keys, longest) = self.walk.ahead(requests);
        self.bytes(keys, longest)
    }

    fn exactly(&self, request: &Request) -> u64 {
        self.bytes(self.walk.adds(request), self.walk.ahead(std::slice::from_ref(request)).1)
    }

    fn take(&mut self, requests: &[Request]) {
        if self.unit == Unit::Bytes {
            let lengths = requests.iter().map(|request| request.length_bytes);
            lengths.filter(|&length| length > 0).for_each(|length| self.lengths.add(length));
        }
        self.walk.take(requests, &mut self.found);
    }
}

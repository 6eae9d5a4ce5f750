//! Requests become page accesses: the first page `offset / P`, the last `(offset + length - 1) / P`.
//!
//! Pages of all objects share one space of 64-bit keys, 23 bits of object over 40 bits of page. A page without a place
//! there is counted in [`Tally::unplaced`], never folded onto another page. A request keeps its boundary: "all its pages
//! were there" is not "this page was there".
//!
//! Cost: nothing but the keys of one batch. Simulators that key a block request by its start are wrong by up to thirty
//! points for a page cache; [`Whole::Yes`] gives that reading for traces whose records are objects.

mod step;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::ranges::Ranges;
use crate::trace::request::{Op, Request, Unit};
use crate::units::table_bytes;
pub use step::Step;
use step::number;

/// Bits of a key that number the page.
pub(crate) const PAGE_BITS: u32 = 40;
/// Objects that have a place in a key; the highest bit is for whole requests of odd offsets.
const OBJECTS_MAX: u32 = 1 << 23;
/// Longer requests are damage, not requests: this many pages do not come from one call.
const REQUEST_PAGES_MAX: u64 = 1 << 22;
/// A step with this number of keys is long enough. Only a single request makes a longer one.
pub const STEP_KEYS: usize = 1 << 16;
/// Marks the key of a whole request that has no place of its own.
const ODD: u64 = 1 << 63;

/// What a write does to the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// It is an access like a read: the page comes in.
    #[default]
    Allocate,
    /// It bypasses the cache, and evicts its pages, as with `O_DIRECT`.
    Around,
    /// It is removed from the trace.
    Ignore,
    /// It brings its object in and is not counted, as of what an application did not find. Over objects alone.
    Store,
}

/// Whether a request is kept whole, as one access to the key that is its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whole {
    /// A request becomes its pages.
    #[default]
    No,
    /// A request is one access.
    Yes,
}

/// What was seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Requests that discard.
    pub discards: u64,
    /// Requests that flush; they touch nothing.
    pub flushes: u64,
    /// Reads and writes of no bytes; they touch nothing.
    pub empty: u64,
    /// Requests that were left out: past the end of the space of keys, or absurdly long.
    pub unplaced: u64,
    /// Bytes of the reads, or of the values of keys read.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
}

/// A range of keys that leave every cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key.
    pub first: u64,
    /// The last key.
    pub last: u64,
}

/// What requests will add to a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// Accesses of keys.
    pub keys: u64,
    /// Those of the longest request.
    pub longest: u64,
}

/// Makes steps of requests.
#[derive(Clone, Debug)]
pub struct Pages {
    unit: Unit,
    page_bytes: u64,
    /// The logarithm of `page_bytes`, where it is a power of two: a division takes ten times as long.
    shift: Option<u32>,
    writes: Writes,
    whole: Whole,
    odd: HashMap<(u32, u64), u64>,
    tally: Tally,
}

impl Pages {
    /// For a trace of this unit. A page of no bytes is taken as one of a byte.
    pub fn new(unit: Unit, page_bytes: u64, writes: Writes, whole: Whole) -> Self {
        let page_bytes = page_bytes.max(1);
        let shift = page_bytes.is_power_of_two().then(|| page_bytes.trailing_zeros());
        let (odd, tally) = (HashMap::new(), Tally::default());
        Self { unit, page_bytes, shift, writes, whole, odd, tally }
    }

    /// What was seen so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Takes requests from the front of `requests` and makes one step of them; says how many were
    /// taken. Stops before the first access that comes after something left.
    pub fn step(&mut self, requests: &[Request], step: &mut Step) -> usize {
        step.clear();
        let mut taken = 0;
        let mut several = false;
        while taken < requests.len() {
            if step.gone.is_empty() {
                taken += self.reads(&requests[taken..], taken, step);
            }
            let Some(request) = requests.get(taken) else { break };
            let enters = self.enters(request.op);
            if enters && (!step.gone.is_empty() || step.keys.len() >= STEP_KEYS) {
                break;
            }
            let at = number(taken);
            taken += 1;
            self.count(request);
            let Some(range) = self.keys(request) else { continue };
            if !enters {
                if self.leaves(request.op) {
                    step.gone.push(range);
                }
                continue;
            }
            step.keys.extend(range.first..=range.last);
            several |= range.first != range.last;
            step.from.push(at);
            step.ends.push(number(step.keys.len()));
        }
        if !several {
            step.ends.clear();
        }
        taken
    }

    /// What the pages of these requests take at the least and what they may add at the most: what of
    /// them a cache is asked for, by arithmetic. Damage and what leaves caches adds nothing.
    pub fn ahead(&self, requests: &[Request]) -> Ahead {
        let mut ahead = Ahead::default();
        for range in requests.iter().filter_map(|request| self.reach(request)) {
            let pages = range.last - range.first + 1;
            ahead.keys += pages;
            ahead.longest = ahead.longest.max(pages);
        }
        ahead
    }

    /// Distinct keys of these requests; never more than there are, even where a key is not known before
    /// it is numbered.
    pub fn distinct(&self, requests: &[Request]) -> u64 {
        if self.whole == Whole::Yes && self.unit == Unit::Bytes {
            return 0;
        }
        let mut ranges = Ranges::default();
        let reached = requests.iter().filter_map(|request| self.reach(request));
        reached.for_each(|range| ranges.add(0, range.first, range.last));
        ranges.count()
    }

    /// The keys that a request will touch. Those of whole requests are not numbered yet: one of them
    /// stands for any.
    pub fn reach(&self, request: &Request) -> Option<KeyRange> {
        let &Request { offset, length_bytes, object, op, .. } = request;
        if !self.enters(op) {
            return None;
        }
        if self.unit == Unit::Keys || self.whole == Whole::Yes {
            return Some(KeyRange { first: offset, last: offset });
        }
        let last = offset.checked_add(length_bytes.checked_sub(1)?)?;
        self.pages(object, offset, last, op)
    }

    /// Returns the memory after `more` further requests, without the steps.
    pub fn bytes(&self, more: u64) -> u64 {
        if self.whole == Whole::No {
            return 0;
        }
        table_bytes(self.odd.len() as u64 + more, size_of::<((u32, u64), u64)>() as u64)
    }

    fn enters(&self, op: Op) -> bool {
        match op {
            Op::Read => true,
            Op::Write => matches!(self.writes, Writes::Allocate | Writes::Store),
            Op::Discard | Op::Flush => false,
        }
    }

    fn leaves(&self, op: Op) -> bool {
        op == Op::Discard || op == Op::Write && self.writes == Writes::Around
    }

    fn count(&mut self, request: &Request) {
        let Tally { reads, writes, discards, flushes, empty, read_bytes, written_bytes, .. } =
            &mut self.tally;
        let length = request.length_bytes;
        match request.op {
            Op::Read => {
                *reads += 1;
                *read_bytes = read_bytes.saturating_add(length);
            }
            Op::Write => {
                *writes += 1;
                *written_bytes = written_bytes.saturating_add(length);
            }
            Op::Discard => *discards += 1,
            Op::Flush => *flushes += 1,
        }
        let data = matches!(request.op, Op::Read | Op::Write);
        *empty += u64::from(data && length == 0 && self.unit == Unit::Bytes);
    }

    /// The keys of a request; nothing when it touches none, or has no place.
    fn keys(&mut self, request: &Request) -> Option<KeyRange> {
        let &Request { offset, length_bytes, object, op, .. } = request;
        if op == Op::Flush {
            return None;
        }
        if self.unit == Unit::Keys {
            return Some(KeyRange { first: offset, last: offset });
        }
        let last_byte = offset.checked_add(length_bytes.checked_sub(1)?);
        let place = last_byte.and_then(|last| self.place(object, offset, last, op));
        self.tally.unplaced += u64::from(place.is_none());
        place
    }

    fn place(&mut self, object: u32, offset: u64, last: u64, op: Op) -> Option<KeyRange> {
        if self.whole == Whole::Yes {
            let key = self.whole_key(object, offset);
            return Some(KeyRange { first: key, last: key });
        }
        self.pages(object, offset, last, op)
    }

    fn pages(&self, object: u32, offset: u64, last: u64, op: Op) -> Option<KeyRange> {
        if object >= OBJECTS_MAX {
            return None;
        }
        let (first, last) = (self.page(offset), self.page(last));
        let absurd = op != Op::Discard && last - first >= REQUEST_PAGES_MAX;
        if absurd || first >> PAGE_BITS != 0 {
            return None;
        }
        // A discard to the end of everything is common, and means what it can reach.
        let last = if op == Op::Discard { last.min((1 << PAGE_BITS) - 1) } else { last };
        let base = u64::from(object) << PAGE_BITS;
        (last >> PAGE_BITS == 0).then_some(KeyRange { first: base | first, last: base | last })
    }

    /// The page that a byte is in.
    fn page(&self, byte: u64) -> u64 {
        match self.shift {
            Some(shift) => byte >> shift,
            None => byte / self.page_bytes,
        }
    }

    /// Sectors have a place of their own; other starts are numbered as they come.
    fn whole_key(&mut self, object: u32, offset: u64) -> u64 {
        const SECTOR_BYTES: u64 = 512;
        let sector = offset / SECTOR_BYTES;
        if offset.is_multiple_of(SECTOR_BYTES) && sector >> PAGE_BITS == 0 && object < OBJECTS_MAX {
            return u64::from(object) << PAGE_BITS | sector;
        }
        let next = ODD | self.odd.len() as u64;
        *self.odd.entry((object, offset)).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    pub(super) fn request(op: Op, object: u32, offset: u64, length_bytes: u64) -> Request {
        Request { object, ..Request::new(op, offset, length_bytes) }
    }

    pub(super) fn read(offset: u64, length: u64) -> Request {
        request(Op::Read, 0, offset, length)
    }

    /// Keys of each request, `-` before a range that leaves, a line a step.
    pub(super) fn steps(mut pages: Pages, requests: &[Request]) -> (String, Tally) {
        let (mut rest, mut step, mut text) = (requests, Step::default(), String::new());
        while !rest.is_empty() {
            let taken = pages.step(rest, &mut step);
            assert!(taken > 0, "goes on");
            rest = &rest[taken..];
            let mut from = 0;
            if step.ends.is_empty() {
                step.ends = (1..=u32::try_from(step.keys.len()).unwrap()).collect();
            }
            assert_eq!(step.ends.len(), step.from.len());
            for &end in &step.ends {
                write!(text, "{:?} ", &step.keys[from..end as usize]).unwrap();
                from = end as usize;
            }
            for gone in &step.gone {
                write!(text, "-{}..{} ", gone.first, gone.last).unwrap();
            }
            text += "/ ";
        }
        (text, pages.tally())
    }

    pub(super) fn pages(writes: Writes, whole: Whole) -> Pages {
        Pages::new(Unit::Bytes, 4096, writes, whole)
    }

    #[test]
    fn a_request_touches_the_pages_from_its_first_byte_to_its_last() {
        let cases = [
            (read(0, 1), "[0] / "),
            (read(4095, 1), "[0] / "),
            (read(4095, 2), "[0, 1] / "),
            (read(4096, 4096), "[1] / "),
            (read(4096, 4097), "[1, 2] / "),
            (read(7, 0), "/ "),
            (request(Op::Read, 2, 4096, 1), "[2199023255553] / "),
            (request(Op::Flush, 0, 4096, 1), "/ "),
            (request(Op::Discard, 0, 4096, 9000), "-1..3 / "),
            (request(Op::Write, 0, 0, 1), "[0] / "),
        ];
        for (request, want) in cases {
            assert_eq!(
                steps(pages(Writes::Allocate, Whole::No), &[request]).0,
                want,
                "{request:?}"
            );
        }
    }

    #[test]
    fn what_leaves_comes_after_what_was_touched_before_it() {
        let requests = [
            read(0, 1),
            request(Op::Write, 0, 4096, 1),
            request(Op::Discard, 0, 0, 4096),
            read(0, 1),
        ];
        let check = |writes, want: &str| {
            let (text, tally) = steps(pages(writes, Whole::No), &requests);
            assert_eq!(text, want);
            assert_eq!((tally.reads, tally.writes, tally.discards), (2, 1, 1));
        };
        check(Writes::Allocate, "[0] [1] -0..0 / [0] / ");
        check(Writes::Around, "[0] -1..1 -0..0 / [0] / ");
        check(Writes::Ignore, "[0] -0..0 / [0] / ");
    }

    #[test]
    fn a_whole_request_is_one_access_wherever_it_starts() {
        let requests =
            [read(512, 1 << 20), read(1024, 1), read(3, 9), read(3, 1), read(u64::MAX, 1)];
        let (text, tally) = steps(pages(Writes::Allocate, Whole::Yes), &requests);
        let odd = 1u64 << 63;
        let want = format!("[1] [2] [{odd}] [{odd}] [{}] / ", odd + 1);
        assert_eq!((text.as_str(), tally.unplaced), (want.as_str(), 0));
    }

    #[test]
    fn what_has_no_place_is_counted() {
        let requests = [
            read(u64::MAX, 2),
            read(1 << 60, 1),
            read(0, 1 << 60),
            request(Op::Read, 1 << 23, 0, 1),
            request(Op::Discard, 0, 0, 1 << 60),
        ];
        let (text, tally) = steps(pages(Writes::Allocate, Whole::No), &requests);
        assert_eq!((text.as_str(), tally.unplaced), ("-0..1099511627775 / ", 4));
    }

    #[test]
    fn keys_stay_as_they_are() {
        let keys = Pages::new(Unit::Keys, 4096, Writes::Allocate, Whole::No);
        let requests = [read(u64::MAX, 0), read(5, 1 << 40)];
        let (text, tally) = steps(keys, &requests);
        assert_eq!((text.as_str(), tally.empty), (&*format!("[{}] [5] / ", u64::MAX), 0));
    }
}

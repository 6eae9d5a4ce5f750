//! What is in a trace of requests: how many of each kind, how much, over what, for how long.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::result::Census;
use crate::trace::request::{Op, Request, Unit};
use crate::units::{Bound, Bytes, table_bytes};
use crate::workload::convert::pages;
use crate::workload::ranges::Ranges;

/// Requests of as many pages are kept as ranges, and smaller ones page by page.
const WIDE_PAGES: u64 = 256;
/// What a range more takes.
const WIDE_BYTES: u64 = 64;
/// What a page or key is kept as.
const PAGE_BYTES: u64 = size_of::<(u32, u64)>() as u64;

/// Counts requests as they come. Memory: some 20 bytes a distinct page or key, and up to three times as
/// much while the table grows; where that is not allowed, what came before is what is distinguished.
#[derive(Debug)]
pub struct Counting {
    unit: Unit,
    page_bytes: u64,
    census: Census,
    seen: HashSet<(u32, u64), BuildHasherDefault<Mixed>>,
    wide: Ranges,
    bound: Bound,
    times_ns: Option<(i64, i64)>,
}

impl Counting {
    /// Nothing yet; pages of this many bytes where the trace counts bytes.
    pub fn new(unit: Unit, page_bytes: Bytes) -> Self {
        let page_bytes = page_bytes.0.max(1);
        Self {
            unit,
            page_bytes,
            census: Census::default(),
            seen: HashSet::default(),
            wide: Ranges::default(),
            bound: Bound::NONE,
            times_ns: None,
        }
    }

    /// The same, with no more than this much memory for what is distinguished.
    #[must_use]
    pub fn within(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// Takes requests.
    pub fn push(&mut self, requests: &[Request]) {
        for request in requests {
            self.one(request);
        }
    }

    fn one(&mut self, request: &Request) {
        let census = &mut self.census;
        let (count, bytes) = match request.op {
            Op::Read => (&mut census.reads, Some(&mut census.read_bytes)),
            Op::Write => (&mut census.writes, Some(&mut census.written_bytes)),
            Op::Discard => (&mut census.discards, Some(&mut census.discarded_bytes)),
            Op::Flush => (&mut census.flushes, None),
        };
        *count += 1;
        if let Some(bytes) = bytes {
            *bytes += Bytes(request.length_bytes);
        }
        census.requests += 1;
        let (first, last) = self.times_ns.unwrap_or((request.time_ns, request.time_ns));
        self.times_ns = Some((first.min(request.time_ns), last.max(request.time_ns)));
        if !matches!(request.op, Op::Read | Op::Write) {
            return;
        }
        if self.unit == Unit::Keys {
            census.accesses += 1;
            // A key is one, whatever database or host it was asked of, as for a curve.
            self.tell_apart(0, request.offset, request.offset);
            return;
        }
        let Some((first, last)) = pages(request, self.page_bytes) else {
            return;
        };
        census.accesses = census.accesses.saturating_add((last - first).saturating_add(1));
        self.tell_apart(request.object, first, last);
    }

    /// Remembers the pages of a request, ends included.
    fn tell_apart(&mut self, object: u32, first: u64, last: u64) {
        let pages = (last - first).saturating_add(1);
        if pages >= WIDE_PAGES {
            if self.bound.holds(self.bytes(self.seen.len() as u64) + WIDE_BYTES) {
                self.wide.add(object, first, last);
            } else {
                self.census.is_cut = true;
            }
            return;
        }
        let most = self.seen.len() as u64 + pages;
        let grows = most > self.seen.capacity() as u64;
        if grows && !self.bound.holds(self.bytes(most)) {
            self.census.is_cut |= (first..=last).any(|page| !self.seen.contains(&(object, page)));
            return;
        }
        self.seen.extend((first..=last).map(|page| (object, page)));
    }

    /// Memory with this many pages that are kept one by one.
    fn bytes(&self, pages: u64) -> u64 {
        table_bytes(pages, PAGE_BYTES) + self.wide.bytes()
    }

    /// Distinct pages: each once, whichever way it is kept.
    fn distinct(&self) -> u64 {
        let both = |&&(object, page): &&(u32, u64)| self.wide.contains(object, page);
        let both = if self.wide.is_empty() { 0 } else { self.seen.iter().filter(both).count() };
        self.wide.count().saturating_add((self.seen.len() - both) as u64)
    }

    /// The counts. `objects` is how many names the trace has.
    pub fn finish(self, objects: usize) -> Census {
        let (first, last) = self.times_ns.unwrap_or_default();
        Census {
            objects: objects as u64,
            distinct: self.distinct(),
            page_bytes: (self.unit == Unit::Bytes).then_some(Bytes(self.page_bytes)),
            span_seconds: (i128::from(last) - i128::from(first)) as f64 / 1e9,
            ..self.census
        }
    }
}

/// A hash of two numbers: the keys come from a file, not from an enemy, and there are many.
#[derive(Debug, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(time_ns: i64, offset: u64, length_bytes: u64, object: u32, op: Op) -> Request {
        Request { time_ns, object, ..Request::new(op, offset, length_bytes) }
    }

    /// A curve counts a key once, whatever database or host it was asked of.
    #[test]
    fn keys_are_told_apart_as_by_a_curve() {
        let mut counting = Counting::new(Unit::Keys, Bytes(4096));
        let asked = [(7, 0), (7, 1), (8, 1), (7, 2)];
        counting.push(&asked.map(|(key, object)| request(0, key, 9, object, Op::Read)));
        let census = counting.finish(3);
        assert_eq!((census.objects, census.accesses, census.distinct), (3, 4, 2));
    }

    #[test]
    fn pages_are_counted_once_and_accesses_each_time() {
        let mut counting = Counting::new(Unit::Bytes, Bytes(4096));
        counting.push(&[
            request(7, 4095, 2, 0, Op::Read),
            request(1_500_000_007, 0, 4096, 0, Op::Write),
            request(9, 0, 1, 1, Op::Read),
            request(9, 0, 0, 1, Op::Read),
            request(9, 0, 8192, 1, Op::Discard),
            request(9, 0, 0, 1, Op::Flush),
        ]);
        let want = Census {
            requests: 6,
            reads: 3,
            writes: 1,
            discards: 1,
            flushes: 1,
            read_bytes: Bytes(3),
            written_bytes: Bytes(4096),
            discarded_bytes: Bytes(8192),
            objects: 2,
            accesses: 4,
            distinct: 3,
            page_bytes: Some(Bytes(4096)),
            is_cut: false,
            span_seconds: 1.5,
        };
        assert_eq!(counting.finish(2), want);
    }

    #[test]
    fn a_request_of_everything_comes_to_an_end() {
        let mut counting = Counting::new(Unit::Bytes, Bytes(1));
        counting.push(&[request(0, 0, u64::MAX, 0, Op::Write)]);
        let census = counting.finish(0);
        assert_eq!((census.distinct, census.is_cut), (u64::MAX, false));
        assert_eq!(census.accesses, u64::MAX);
    }

    #[test]
    fn pages_of_small_and_of_large_requests_are_the_same_pages() {
        let mut counting = Counting::new(Unit::Bytes, Bytes(4096));
        let megabyte = 1 << 20;
        counting.push(&[
            request(0, 5 * 4096, 4096, 0, Op::Read),
            request(0, 0, megabyte, 0, Op::Read),
            request(0, megabyte / 2, megabyte, 0, Op::Read),
            request(0, 0, megabyte, 1, Op::Read),
            request(0, megabyte, 8192, 0, Op::Read),
            request(0, 9 * megabyte, 8192, 0, Op::Read),
        ]);
        assert_eq!(counting.finish(0).distinct, 384 + 256 + 2);
    }

    #[test]
    fn where_memory_ends_so_does_telling_apart() {
        let bound = Bound { allowed: Bytes(1 << 20), ..Bound::NONE };
        let mut counting = Counting::new(Unit::Bytes, Bytes(4096)).within(bound);
        let reads: Vec<_> =
            (0..1 << 16).map(|at| request(0, at * 4096, 4096, 0, Op::Read)).collect();
        counting.push(&reads);
        assert!(counting.seen.capacity() as u64 * (PAGE_BYTES + 1) < 1 << 20);
        counting.push(&reads[..5]);
        let census = counting.finish(0);
        assert!((10_000..60_000).contains(&census.distinct) && census.is_cut, "{census:?}");
        assert_eq!(census.accesses, (1 << 16) + 5);
    }

    #[test]
    fn keys_are_keys() {
        let mut counting = Counting::new(Unit::Keys, Bytes(4096));
        counting.push(&[request(0, 5, 9999, 0, Op::Read), request(0, 5, 1, 0, Op::Write)]);
        let census = counting.finish(0);
        assert_eq!((census.accesses, census.distinct, census.page_bytes), (2, 1, None));
    }
}

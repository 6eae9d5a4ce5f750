//! What is in a trace of requests: how many of each kind, how much, over what, for how long.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::result::Census;
use crate::units::Bytes;
use crate::workload::convert::pages;
use crate::workload::request::{Ask, Request, Unit};

/// Pages of one request that are told apart; a trace with larger ones has more distinct pages.
const PAGES_MAX: u64 = 1 << 20;

/// Counts requests as they come. Memory: some 20 bytes a distinct page or key.
#[derive(Debug)]
pub struct Counting {
    unit: Unit,
    page_bytes: u64,
    census: Census,
    seen: HashSet<(u32, u64), BuildHasherDefault<Mixed>>,
    times_ns: Option<(i64, i64)>,
}

impl Counting {
    /// Nothing yet; pages of so many bytes where the trace counts bytes.
    pub fn new(unit: Unit, page_bytes: Bytes) -> Self {
        let page_bytes = page_bytes.0.max(1);
        let census = Census::default();
        Self { unit, page_bytes, census, seen: HashSet::default(), times_ns: None }
    }

    /// Takes requests.
    pub fn push(&mut self, requests: &[Request]) {
        for request in requests {
            self.one(request);
        }
    }

    fn one(&mut self, request: &Request) {
        let census = &mut self.census;
        let (count, bytes) = match request.ask {
            Ask::Read => (&mut census.reads, Some(&mut census.read_bytes)),
            Ask::Write => (&mut census.writes, Some(&mut census.written_bytes)),
            Ask::Discard => (&mut census.discards, Some(&mut census.discarded_bytes)),
            Ask::Flush => (&mut census.flushes, None),
        };
        *count += 1;
        if let Some(bytes) = bytes {
            *bytes += Bytes(request.length_bytes);
        }
        census.requests += 1;
        let (first, last) = self.times_ns.unwrap_or((request.time_ns, request.time_ns));
        self.times_ns = Some((first.min(request.time_ns), last.max(request.time_ns)));
        if !matches!(request.ask, Ask::Read | Ask::Write) {
            return;
        }
        if self.unit == Unit::Keys {
            census.accesses += 1;
            self.seen.insert((request.object, request.offset));
            return;
        }
        let Some((first, last)) = pages(request, self.page_bytes) else {
            return;
        };
        census.accesses = census.accesses.saturating_add((last - first).saturating_add(1));
        let cut = last.min(first.saturating_add(PAGES_MAX - 1));
        census.is_cut |= cut < last;
        self.seen.extend((first..=cut).map(|page| (request.object, page)));
    }

    /// The counts. `objects` is how many names the trace has.
    pub fn finish(self, objects: usize) -> Census {
        let (first, last) = self.times_ns.unwrap_or_default();
        Census {
            objects: objects as u64,
            distinct: self.seen.len() as u64,
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

    fn request(time_ns: i64, offset: u64, length_bytes: u64, object: u32, ask: Ask) -> Request {
        Request { time_ns, offset, length_bytes, object, task: 0, ask }
    }

    #[test]
    fn pages_are_counted_once_and_accesses_each_time() {
        let mut counting = Counting::new(Unit::Bytes, Bytes(4096));
        counting.push(&[
            request(7, 4095, 2, 0, Ask::Read),
            request(1_500_000_007, 0, 4096, 0, Ask::Write),
            request(9, 0, 1, 1, Ask::Read),
            request(9, 0, 0, 1, Ask::Read),
            request(9, 0, 8192, 1, Ask::Discard),
            request(9, 0, 0, 1, Ask::Flush),
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
        counting.push(&[request(0, 0, u64::MAX, 0, Ask::Write)]);
        let census = counting.finish(0);
        assert_eq!((census.distinct, census.is_cut), (PAGES_MAX, true));
        assert_eq!(census.accesses, u64::MAX);
    }

    #[test]
    fn keys_are_keys() {
        let mut counting = Counting::new(Unit::Keys, Bytes(4096));
        counting.push(&[request(0, 5, 9999, 0, Ask::Read), request(0, 5, 1, 0, Ask::Write)]);
        let census = counting.finish(0);
        assert_eq!((census.accesses, census.distinct, census.page_bytes), (2, 1, None));
    }
}

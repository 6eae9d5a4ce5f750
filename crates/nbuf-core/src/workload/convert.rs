//! Requests of any format, made into the two forms that are written: native and oracleGeneral.
//!
//! What a form cannot say is left out and counted. Cost: the whole trace in memory, 4 to 7 bytes a
//! request for native, 24 a page access and some 20 a page for oracleGeneral.

use std::collections::HashSet;

use super::format::OracleGeneral;
use super::within::Growing;
use crate::trace::request::{Op, Request, Unit};
use crate::trace::{CacheEvent, Capture, Facts, FileId, Record, Records, Trace};
use crate::units::{Bytes, table_bytes};

/// Accesses that one request may become; a larger one is cut off, and counted.
const ACCESSES_MAX: u64 = 1 << 24;

/// What could not be said in the new form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Requests of no bytes, which touch nothing.
    pub empty: u64,
    /// Requests too large to be taken whole.
    pub cut: u64,
    /// Objects beyond what the keys of oracleGeneral can tell apart.
    pub objects: u64,
    /// Requests with a time to live, which neither form has.
    pub lifetimes: u64,
}

impl Dropped {
    /// These and others.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            flushes: self.flushes + other.flushes,
            discards: self.discards + other.discards,
            empty: self.empty + other.empty,
            cut: self.cut + other.cut,
            objects: self.objects + other.objects,
            lifetimes: self.lifetimes + other.lifetimes,
        }
    }

    /// Whether nothing was lost.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// Makes oracleGeneral: one record an access of a page, or of a key.
#[derive(Debug)]
pub(crate) struct ToOracleGeneral {
    page_bytes: u64,
    unit: Unit,
    first_ns: Option<i64>,
    /// What was made.
    pub oracle: OracleGeneral,
    /// What was not.
    pub dropped: Dropped,
}

/// Bits of a key that number the page; those above number the object.
const PAGE_BITS: u32 = 44;

impl ToOracleGeneral {
    /// Creates a converter with pages of `page_bytes`, for traces that count bytes.
    pub(crate) fn new(unit: Unit, page_bytes: Bytes) -> Self {
        let page_bytes = page_bytes.0.max(1);
        let (oracle, dropped) = (OracleGeneral::default(), Dropped::default());
        Self { page_bytes, unit, first_ns: None, oracle, dropped }
    }

    /// Takes requests. Times are counted from the first.
    pub(crate) fn push(&mut self, requests: &[Request]) {
        for request in requests {
            match request.op {
                Op::Read | Op::Write => self.access(request),
                Op::Discard => self.dropped.discards += 1,
                Op::Flush => self.dropped.flushes += 1,
            }
        }
    }

    fn access(&mut self, request: &Request) {
        let first_ns = *self.first_ns.get_or_insert(request.time_ns);
        let seconds = request.time_ns.saturating_sub(first_ns) / 1_000_000_000;
        let seconds = u32::try_from(seconds.max(0)).unwrap_or(u32::MAX);
        self.dropped.lifetimes += u64::from(request.lifetime.ns().is_some());
        if self.unit == Unit::Keys {
            let size_bytes = u32::try_from(request.length_bytes).unwrap_or(u32::MAX);
            // A key is one, whatever database or host it was asked of.
            self.oracle.push(seconds, request.offset, size_bytes);
            return;
        }
        let Some(pages) = pages(request, self.page_bytes) else {
            self.dropped.empty += 1;
            return;
        };
        let object = u64::from(request.object);
        let (first, last) = pages;
        if object >> (64 - PAGE_BITS) > 0 || last >> PAGE_BITS > 0 {
            self.dropped.objects += 1;
            return;
        }
        self.dropped.cut += u64::from(last - first >= ACCESSES_MAX);
        let size_bytes = u32::try_from(self.page_bytes).unwrap_or(u32::MAX);
        for page in first..=last.min(first + (ACCESSES_MAX - 1)) {
            self.oracle.push(seconds, object << PAGE_BITS | page, size_bytes);
        }
    }
}

/// What an access takes in a vector that has grown, and what a page takes in the table of the last ones.
const ACCESS_BYTES: u64 = 36;
const LAST_BYTES: u64 = 16;

impl Growing for ToOracleGeneral {
    fn most(&self, requests: &[Request]) -> u64 {
        let (accesses, more) = (self.oracle.len() as u64, self.accesses(requests));
        let pages = self.oracle.keys().saturating_add(more);
        let waiting = ACCESS_BYTES.saturating_mul(accesses.saturating_add(more));
        waiting.saturating_add(table_bytes(pages, LAST_BYTES))
    }

    fn least(&self, requests: &[Request]) -> u64 {
        let accesses = (self.oracle.len() as u64).saturating_add(self.accesses(requests));
        accesses.saturating_mul(ACCESS_BYTES * 2 / 3)
    }

    fn take(&mut self, requests: &[Request]) {
        self.push(requests);
    }
}

impl ToOracleGeneral {
    /// What these become, by arithmetic.
    fn accesses(&self, requests: &[Request]) -> u64 {
        let data = requests.iter().filter(|r| matches!(r.op, Op::Read | Op::Write));
        let accesses = data.map(|request| match (self.unit, pages(request, self.page_bytes)) {
            (Unit::Keys, _) => 1,
            (Unit::Bytes, None) => 0,
            (_, Some((_, last))) if last >> PAGE_BITS > 0 => 0,
            (_, Some((first, last))) => (last - first + 1).min(ACCESSES_MAX),
        });
        accesses.fold(0, u64::saturating_add)
    }
}

/// The first and the last page of a request; none if it touches nothing.
pub(crate) fn pages(request: &Request, page_bytes: u64) -> Option<(u64, u64)> {
    let last_byte = request.offset.saturating_add(request.length_bytes.checked_sub(1)?);
    Some((request.offset / page_bytes, last_byte / page_bytes))
}

/// Bytes of a record at the most.
const PIECE_BYTES: u64 = 1 << 31;
/// What a record takes at the most, coded, and at the least.
const RECORD_BYTES: (u64, u64) = (64, 2);
/// What it takes where all have to be sorted: unpacked, and half of them once more.
const SORTED_BYTES: u64 = 3 * size_of::<Record>() as u64 / 2;

impl Growing for ToNative {
    fn most(&self, requests: &[Request]) -> u64 {
        let pieces = Self::pieces(requests);
        let records = self.records.len() as u64 + pieces;
        // Whether these come in order is known when they have come.
        let in_order = requests.is_sorted_by_key(|request| request.time_ns);
        let sorted = if self.is_unordered || !in_order { SORTED_BYTES } else { 0 };
        let packed = self.records.bytes().saturating_add(RECORD_BYTES.0.saturating_mul(pieces));
        packed.saturating_add(sorted.saturating_mul(records))
    }

    fn least(&self, requests: &[Request]) -> u64 {
        RECORD_BYTES.1.saturating_mul(self.records.len() as u64 + Self::pieces(requests))
    }

    fn take(&mut self, requests: &[Request]) {
        self.push(requests);
    }
}

/// Makes a native trace.
#[derive(Debug, Default)]
pub(crate) struct ToNative {
    records: Records,
    first_ns: Option<i64>,
    last_ns: i64,
    is_unordered: bool,
    request: u32,
    /// What was not made.
    pub dropped: Dropped,
}

impl ToNative {
    /// Counts times from this one.
    pub(super) fn since(first_ns: i64) -> Self {
        Self { first_ns: Some(first_ns), ..Self::default() }
    }

    /// Takes requests. Times are counted from the first.
    pub(crate) fn push(&mut self, requests: &[Request]) {
        for request in requests {
            self.first_ns.get_or_insert(request.time_ns);
            let op = match request.op {
                Op::Read => CacheEvent::Read,
                Op::Write => CacheEvent::Write,
                Op::Discard => CacheEvent::Evict,
                Op::Flush => {
                    self.dropped.flushes += 1;
                    continue;
                }
            };
            if request.length_bytes == 0 {
                self.dropped.empty += 1;
                continue;
            }
            self.dropped.lifetimes += u64::from(request.lifetime.ns().is_some());
            self.record(request, op);
        }
    }

    /// Records that these become, by arithmetic.
    fn pieces(requests: &[Request]) -> u64 {
        let pieces =
            |request: &Request| request.length_bytes.div_ceil(PIECE_BYTES).min(ACCESSES_MAX);
        requests.iter().map(pieces).fold(0, u64::saturating_add)
    }

    /// A range of more than 32 bits becomes several records of one request.
    fn record(&mut self, request: &Request, op: CacheEvent) {
        let time_ns = request.time_ns.saturating_sub(self.first_ns.unwrap_or(request.time_ns));
        self.is_unordered |= time_ns < self.last_ns;
        self.last_ns = time_ns;
        let pieces = request.length_bytes.div_ceil(PIECE_BYTES);
        self.dropped.cut += u64::from(pieces > ACCESSES_MAX);
        for piece in 0..pieces.min(ACCESSES_MAX) {
            let left = request.length_bytes - piece * PIECE_BYTES;
            self.records.push(Record {
                time_ns,
                offset_bytes: request.offset + piece * PIECE_BYTES,
                file_bytes: 0,
                length_bytes: u32::try_from(left.min(PIECE_BYTES)).unwrap_or(u32::MAX),
                file: FileId(request.object),
                task: request.task,
                request: self.request,
                op,
            });
        }
        if op.is_demand() {
            self.request = self.request.saturating_add(1);
        }
    }

    /// Returns the trace. `objects` are its names; `format` and `warnings` describe its origin.
    pub(crate) fn finish(self, objects: &[String], format: &str, warnings: &[String]) -> Trace {
        let mut records = self.records;
        let mut warnings = warnings.to_vec();
        warnings.push(format!("converted from {format}: sizes of files and memory are unknown"));
        if self.is_unordered {
            let mut unpacked: Vec<Record> = records.into_iter().collect();
            unpacked.sort_by_key(|record| record.time_ns);
            records = unpacked.into();
            warnings.push("the requests were not in time order and have been put so".to_owned());
        }
        let capture = Capture { backend: format!("converted from {format}"), ..Capture::default() };
        let facts =
            Facts { schema: Facts::SCHEMA.to_owned(), capture, warnings, ..Facts::default() };
        Trace { records, files: names(objects), facts }
    }
}

/// Names that are not empty and not alike, as a trace wants them.
pub(crate) fn names(objects: &[String]) -> Vec<String> {
    let objects = if objects.is_empty() { &[String::new()][..] } else { objects };
    let mut taken = HashSet::new();
    let named = objects.iter().map(|name| if name.is_empty() { "volume" } else { name });
    named
        .map(|name| {
            let mut own = name.to_owned();
            let mut number = 2;
            while !taken.insert(own.clone()) {
                own = format!("{name} ({number})");
                number += 1;
            }
            own
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(offset: u64, length_bytes: u64, object: u32, op: Op) -> Request {
        let (time_ns, task) = (5_000_000_000, 3);
        Request { time_ns, object, task, ..Request::new(op, offset, length_bytes) }
    }

    #[test]
    fn a_request_of_bytes_becomes_the_pages_that_it_touches() {
        let mut to = ToOracleGeneral::new(Unit::Bytes, Bytes(4096));
        to.push(&[
            request(4095, 2, 0, Op::Read),
            request(0, 0, 0, Op::Read),
            request(8192, 4096, 1, Op::Write),
            request(0, 9, 0, Op::Discard),
            request(0, 0, 0, Op::Flush),
            request(u64::MAX - 1, 1, 0, Op::Read),
        ]);
        let mut bytes = Vec::new();
        to.oracle.write(&mut bytes).unwrap();
        let (records, _) = bytes.as_chunks::<24>();
        let key = |record: &[u8; 24]| u64::from_le_bytes(*record[4..].first_chunk().unwrap());
        assert_eq!(records.iter().map(key).collect::<Vec<_>>(), [0, 1, 1 << 44 | 2]);
        let want = Dropped { flushes: 1, discards: 1, empty: 1, cut: 0, objects: 1, lifetimes: 0 };
        assert_eq!(to.dropped, want);
    }

    #[test]
    fn a_key_is_one_whatever_it_was_asked_of() {
        let mut to = ToOracleGeneral::new(Unit::Keys, Bytes(4096));
        to.push(&[request(7, 100, 0, Op::Read), request(7, 100, 1, Op::Read)]);
        assert!(to.dropped.is_nothing() && to.oracle.len() == 2);
    }

    #[test]
    fn times_to_live_that_no_form_has_are_counted() {
        let lifetime = crate::trace::Lifetime::from_ns(5_000_000_000);
        let limited = |op| Request { lifetime, ..request(7, 100, 0, op) };
        let all = [limited(Op::Write), request(8, 1, 0, Op::Write), limited(Op::Read)];
        let mut to = ToOracleGeneral::new(Unit::Keys, Bytes(4096));
        to.push(&all);
        assert_eq!(to.dropped, Dropped { lifetimes: 2, ..Dropped::default() });
        let mut to = ToNative::default();
        to.push(&all);
        assert_eq!(to.dropped, Dropped { lifetimes: 2, ..Dropped::default() });
    }

    #[test]
    fn a_native_trace_is_in_order_and_has_names() {
        let mut to = ToNative::default();
        let early = Request { time_ns: 4_000_000_000, ..request(0, 1, 1, Op::Discard) };
        to.push(&[request(7, (1 << 31) + 5, 0, Op::Write), early, request(0, 0, 0, Op::Flush)]);
        assert_eq!(to.dropped, Dropped { flushes: 1, ..Dropped::default() });
        let names = [String::new(), "volume".to_owned()];
        let trace = to.finish(&names, "msr", &[]);
        assert_eq!(trace.files, ["volume", "volume (2)"]);
        let records: Vec<Record> = trace.records.iter().collect();
        let shown = records.iter().map(|r| (r.time_ns, r.offset_bytes, r.length_bytes, r.op));
        let want = [
            (-1_000_000_000, 0, 1, CacheEvent::Evict),
            (0, 7, 1 << 31, CacheEvent::Write),
            (0, 7 + (1 << 31), 5, CacheEvent::Write),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), want);
        assert_eq!(trace.facts.warnings.len(), 2);
    }
}

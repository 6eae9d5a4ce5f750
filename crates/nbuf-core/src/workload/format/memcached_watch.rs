//! memcached's log of its items: what `watch fetchers mutations deletions` prints.
//!
//! `ts=1795638601.5 gid=7 type=item_get key=user%3A1 status=found clsid=5 cfd=30 size=120`: words `NAME=VALUE`. The part of
//! `ts` behind the point is a number of microseconds without zeros before it: `.5` is 5 us. The key has escapes of addresses
//! (`%3A`). Used are `item_get` (a read), `item_store` (a write, if it was stored or had no memory) and `deleted` (a discard;
//! 1.6.18 has none). Right before a store or a deletion memcached logs a lookup of its own, which is left out. The length is key
//! and value, or with `size=value` the value alone. A lookup that missed, or a line without a size, has the last size of its key. `ttl`
//! states a lifetime; a store without one takes it away. Other lines are left out. `skipped=N`, for lines that
//! are missing, is N bad lines. Lines of several threads may be out of order; `gid` is their order.
//! Unit: keys; the task is the connection. Source: memcached 1.6 (logger.c).

use super::batch::{Batch, Fault};
use super::fields::{each_line, number};
use super::hash::key;
use super::known::Known;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "memcachedWatch",
    summary: "items of memcached as `watch fetchers mutations deletions` prints them",
    unit: Unit::Keys,
    source: "memcached 1.6 (doc/protocol.txt, logger.c)",
    suffixes: &[".watch"],
    parameters: "size=both|value",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

const SECOND_NS: u64 = 1_000_000_000;

struct Memcached {
    known: Known,
    values_alone: bool,
    text: Vec<u8>,
    /// A lookup that may be the beginning of a store, and whether no size is known for it.
    lookup: Option<(Request, bool)>,
}

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&["size"])?;
    let values_alone = super::redis_monitor::values_alone(parameters)?;
    let (known, text, lookup) = (Known::default(), Vec::new(), None);
    Ok(Made::keys(Memcached { known, values_alone, text, lookup }))
}

/// The words of a line that are used.
#[derive(Default)]
struct Line<'a> {
    time: Option<&'a [u8]>,
    kind: &'a [u8],
    key: Option<&'a [u8]>,
    status: &'a [u8],
    lifetime: Option<&'a [u8]>,
    connection: &'a [u8],
    size: Option<&'a [u8]>,
}

impl<'a> Line<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut line = Self::default();
        for word in text.split(|byte| *byte == b' ') {
            let Some(at) = memchr::memchr(b'=', word) else { continue };
            let value = &word[at + 1..];
            match &word[..at] {
                b"ts" => line.time = line.time.or(Some(value)),
                b"type" => line.kind = value,
                b"key" => line.key = Some(value),
                b"status" => line.status = value,
                b"ttl" => line.lifetime = Some(value),
                b"cfd" => line.connection = value,
                b"size" => line.size = Some(value),
                _ => {}
            }
        }
        line
    }

    fn time_ns(&self) -> Option<i64> {
        let time = self.time?;
        let at = memchr::memchr(b'.', time)?;
        let (seconds, microseconds) = (number(&time[..at])?, number(&time[at + 1..])?);
        let ns = seconds.checked_mul(SECOND_NS)?.checked_add(microseconds.checked_mul(1000)?)?;
        i64::try_from(ns).ok()
    }
}

/// A key without its escapes, to the end of `out`.
pub(super) fn decode(text: &[u8], out: &mut Vec<u8>) {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        let escaped = match rest[at..] {
            [_, high, low, ..] => digit(high).zip(digit(low)),
            _ => None,
        };
        let byte = escaped.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        out.push(byte.unwrap_or(b'%'));
        rest = &rest[at + if byte.is_some() { 3 } else { 1 }..];
    }
    out.extend_from_slice(rest);
}

impl Memcached {
    fn line(&mut self, text: &[u8], out: &mut Batch) -> Result<(), Fault> {
        if text == b"OK" {
            return Ok(());
        }
        if let Some(count) = text.strip_prefix(b"skipped=") {
            // Each of them is a record that cannot be read, and the line itself counts as one.
            let more = number(count).unwrap_or(1).max(1) - 1;
            out.problems.count = out.problems.count.saturating_add(more);
            return Err(Fault::malformed("each line, and the watcher was too slow for some"));
        }
        let line = Line::new(text);
        let beginning = Fault::malformed("ts=SECONDS.MICROSECONDS and words NAME=VALUE");
        let time_ns = line.time_ns().ok_or(beginning)?;
        let (op, is_stored) = match op(&line)? {
            Some(op) => (op, true),
            None if line.kind == b"item_store" => (Op::Write, false),
            // A line of raw commands has no type, and `<` before the command.
            None if line.kind.is_empty() && memchr::memmem::find(text, b" <").is_none() => {
                return Err(Fault::malformed("type=TYPE"));
            }
            None => {
                out.problems.unused += 1;
                return Ok(());
            }
        };
        let name = line.key.filter(|name| !name.is_empty()).ok_or(Fault::malformed("key=KEY"))?;
        self.text.clear();
        decode(name, &mut self.text);
        let key = key(&self.text);
        let stated = line.size.map(|size| number(size).ok_or(Fault::malformed("size=BYTES")));
        // What found no memory is logged without its size and time.
        let is_failed = line.status == b"no_memory";
        let stated = stated.transpose()?.filter(|_| !is_failed);
        let task = number(line.connection).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        let mut request = Request { time_ns, task, ..Request::new(op, key, 0) };
        if !is_failed {
            self.leave_out_lookup(&request, out);
        }
        if !is_stored {
            out.problems.unused += 1;
            return Ok(());
        }
        if op == Op::Write && !is_failed {
            let seconds = line.lifetime.and_then(number).ok_or(Fault::malformed("ttl=SECONDS"))?;
            // A time that is over is printed as a number of 32 bits without a sign.
            let is_over = (1 << 31..1 << 32).contains(&seconds);
            let seconds = if is_over { 0 } else { seconds };
            let ns = i64::try_from(seconds.saturating_mul(SECOND_NS)).unwrap_or(i64::MAX);
            let ns = if is_over { 1 } else { ns };
            request.lifetime = self.known.entry(key, 0).live(time_ns, (ns > 0).then_some(ns));
        }
        let size = match op {
            Op::Discard => stated.or(Some(0)),
            // A lookup that missed says 0.
            Op::Read => self.known.size(key, stated.filter(|&n| n > 0 || line.status == b"found")),
            Op::Write | Op::Flush => self.known.size(key, stated),
        };
        let name_bytes = if self.values_alone { 0 } else { self.text.len() as u64 };
        request.length_bytes = name_bytes.saturating_add(size.unwrap_or(0));
        request.is_unsized = size.is_none();
        self.push(request, size.is_none(), out);
        Ok(())
    }

    /// memcached looks up a key itself before it stores or deletes it.
    fn leave_out_lookup(&mut self, request: &Request, out: &mut Batch) {
        let &Request { offset, task, op, .. } = request;
        let is_own = |(lookup, _): &mut (Request, bool)| {
            lookup.offset == offset && (lookup.task == task || op == Op::Discard)
        };
        if op != Op::Read && self.lookup.take_if(is_own).is_some() {
            out.problems.unused += 1;
        }
    }

    /// Keeps a lookup until the next request shows whether it belongs to a store.
    fn push(&mut self, request: Request, is_unsized: bool, out: &mut Batch) {
        self.let_go(out);
        self.lookup = Some((request, is_unsized));
        if request.op != Op::Read {
            self.let_go(out);
        }
    }

    fn let_go(&mut self, out: &mut Batch) {
        if let Some((request, is_unsized)) = self.lookup.take() {
            out.problems.unsized_requests += u64::from(is_unsized);
            out.requests.push(request);
        }
    }
}

/// What a line asks for; nothing if it is of another kind, or its item was not stored.
fn op(line: &Line) -> Result<Option<Op>, Fault> {
    match (line.kind, line.status) {
        (b"item_get", b"found" | b"not_found" | b"flushed" | b"expired") => Ok(Some(Op::Read)),
        // What found no memory would be stored in a larger cache.
        (b"item_store", b"stored" | b"no_memory") => Ok(Some(Op::Write)),
        (b"item_store", b"not_stored" | b"exists" | b"not_found" | b"too_large") => Ok(None),
        (b"item_get" | b"item_store", _) => Err(Fault::malformed("a status of memcached")),
        (b"deleted", _) => Ok(Some(Op::Discard)),
        _ => Ok(None),
    }
}

impl Parser for Memcached {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        let taken = each_line(bytes, end, out, |line, out| self.line(line, out));
        if end && taken == bytes.len() && !out.is_full() {
            self.let_go(out);
        }
        out.held_bytes = self.known.held_bytes();
        taken
    }

    fn goes_on(&self) -> Option<&'static str> {
        Some("memcachedWatch")
    }
}

fn looks(head: Head) -> Likeness {
    trial::shapes(head, |text| {
        let line = Line::new(text);
        let is_entry = line.time_ns().is_some() && memchr::memmem::find(text, b" gid=").is_some();
        is_entry || text == b"OK" || text.starts_with(b"skipped=")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_with_its_escapes_is_the_key(name in proptest::collection::vec(any::<u8>(), 0..60)) {
            // As memcached writes it (`uriencode`).
            let mut text = Vec::new();
            for &byte in &name {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                    text.push(byte);
                } else {
                    text.extend(format!("%{byte:02X}").bytes());
                }
            }
            let mut out = Vec::new();
            decode(&text, &mut out);
            prop_assert_eq!(out, name);
        }

        #[test]
        fn any_text_is_decoded(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut out = Vec::new();
            decode(&text, &mut out);
            prop_assert!(out.len() <= text.len());
        }
    }

    #[test]
    fn microseconds_have_no_zeros_before_them() {
        let time = |text: &str| Line::new(format!("ts={text} gid=1").as_bytes()).time_ns();
        assert_eq!(time("7.5"), Some(7_000_005_000));
        assert_eq!(time("7.000005"), Some(7_000_005_000));
        assert_eq!(time("7.999999"), Some(7_999_999_000));
        for wrong in ["7", "7.", ".5", "7.x", "9223372037.0", "-1.0"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}

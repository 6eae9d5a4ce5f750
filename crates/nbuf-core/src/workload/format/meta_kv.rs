//! Meta KV: requests to Meta's key-value caches, of 2022 and of 2024.
//!
//! CSV, also what `CacheLib`'s `CacheBench` replays. Its first line names the columns. 2022: key, op, size, `op_count`,
//! `key_size`; 2024: `op_time`, key, `key_size`, op, `op_count`, size and more. The columns may have any order. Without
//! such a line they are key, op, size, `op_count`, `key_size` and `ttl`. The last `ttl` of a line may be missing or empty. A
//! line stands for `op_count` requests, which are repeated; one of 0 is left out. The beginning of its name determines an
//! operation: GET, SET, DELETE. The length is key and value together. A GET of 0 bytes missed when it was recorded, and has the
//! last size of its key. It is unconfirmed that `op_time` and `ttl` are in seconds.
//! Unit: keys. Source: README of cacheMon's collection; `CacheLib` (`KVReplayGenerator.h`).

use super::batch::{BATCH_REQUESTS, Batch, Fault};
use super::fields::{Fields, each_line, number};
use super::hash::key;
use super::known::{Entry, Known};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::Lifetime;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "metaKV",
    summary: "Meta's key-value traces of 2022 and 2024, CSV; CacheLib's CacheBench",
    unit: Unit::Keys,
    source: "README of github.com/cacheMon/cache_dataset",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

/// A column that is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Time,
    Key,
    KeyBytes,
    ValueBytes,
    Operation,
    Count,
    Lifetime,
    Other,
}

struct MetaKv {
    header: Vec<u8>,
    columns: Vec<Column>,
    /// What is repeated, and how often yet.
    repeated: Option<(Request, u64)>,
    known: Known,
}

/// The columns of `CacheBench`, which needs no line that names them.
const UNNAMED: [Column; 6] = [
    Column::Key,
    Column::Operation,
    Column::ValueBytes,
    Column::Count,
    Column::KeyBytes,
    Column::Lifetime,
];

/// The columns that the first line names, or those of `CacheBench` if it is a request.
fn columns(first: &[u8]) -> Option<Vec<Column>> {
    named(first).or_else(|| {
        let unnamed = MetaKv::new(Vec::new(), UNNAMED.to_vec());
        unnamed.line(first).is_ok().then_some(unnamed.columns)
    })
}

fn named(header: &[u8]) -> Option<Vec<Column>> {
    let mut fields = Fields::new(header, b',');
    let mut columns = Vec::new();
    while let Ok(name) = fields.text("") {
        columns.push(match name {
            b"op_time" => Column::Time,
            b"key" => Column::Key,
            b"key_size" => Column::KeyBytes,
            b"size" => Column::ValueBytes,
            b"op" => Column::Operation,
            b"op_count" => Column::Count,
            b"ttl" => Column::Lifetime,
            _ => Column::Other,
        });
    }
    let needed = [Column::Key, Column::Operation, Column::Count, Column::ValueBytes];
    needed.iter().all(|column| columns.contains(column)).then_some(columns)
}

fn make(parameters: &Parameters, head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    let header = trial::first_line(head).unwrap_or_default();
    let wanted = "a line that names the columns key, op, op_count and size";
    let columns = columns(header).ok_or(ParameterError::Beginning { format: "metaKV", wanted })?;
    let header = named(header).map_or_else(Vec::new, |_| header.to_owned());
    Ok(Made::keys(MetaKv::new(header, columns)))
}

impl MetaKv {
    fn new(header: Vec<u8>, columns: Vec<Column>) -> Self {
        Self { header, columns, repeated: None, known: Known::default() }
    }

    /// A request with the bytes of its value, and how often it is made.
    fn line(&self, line: &[u8]) -> Result<(Request, u64, u64), Fault> {
        let mut fields = Fields::new(line, b',');
        let (mut request, mut value_bytes, mut count) = (Request::new(Op::Read, 0, 0), 0, 1);
        for (at, column) in self.columns.iter().enumerate() {
            let is_last = at + 1 == self.columns.len();
            let text = match fields.text("as many fields as the first line names") {
                Err(_) if is_last && *column == Column::Lifetime => break,
                text => text?,
            };
            let value = |wanted| number(text).ok_or(Fault::malformed(wanted));
            match column {
                Column::Time => {
                    let time = super::fields::seconds_ns(text);
                    request.time_ns = time.ok_or(Fault::malformed("a time in seconds"))?;
                }
                Column::Key => request.offset = key(text),
                Column::KeyBytes | Column::ValueBytes => {
                    let bytes = value("a size")?;
                    let sum = request.length_bytes.checked_add(bytes);
                    request.length_bytes = sum.ok_or(Fault::RANGE)?;
                    if *column == Column::ValueBytes {
                        value_bytes = bytes;
                    }
                }
                Column::Operation => request.op = op(text)?,
                Column::Count => count = value("a number of requests")?,
                Column::Lifetime if text.is_empty() => {}
                Column::Lifetime => {
                    request.lifetime = Lifetime::from_seconds(value("a time to live")?);
                }
                Column::Other => {}
            }
        }
        Ok((request, value_bytes, count))
    }

    /// Remembers the size of a value, or gives it to a GET that states none.
    fn size(&mut self, request: &mut Request, value_bytes: u64, count: u64, out: &mut Batch) {
        if value_bytes > 0 || request.op == Op::Write {
            self.known.entry(request.offset, 0).set_bytes(value_bytes);
        } else if request.op == Op::Read {
            let last = self.known.get(request.offset).and_then(Entry::bytes);
            out.problems.unsized_requests += if last.is_none() { count } else { 0 };
            request.length_bytes = request.length_bytes.saturating_add(last.unwrap_or(0));
            request.is_unsized = last.is_none();
        }
    }
}

fn op(text: &[u8]) -> Result<Op, Fault> {
    match &text[..text.len().min(3)] {
        b"GET" | b"get" | b"Get" => Ok(Op::Read),
        b"SET" | b"set" | b"Set" => Ok(Op::Write),
        b"DEL" | b"del" | b"Del" => Ok(Op::Discard),
        _ => Err(Fault::operation("GET, SET or DELETE")),
    }
}

/// Repeats while there is room, and says how often is left.
fn repeat((request, count): (Request, u64), out: &mut Batch) -> Option<(Request, u64)> {
    let room = BATCH_REQUESTS.saturating_sub(out.requests.len()) as u64;
    let now = count.min(room);
    out.requests.extend((0..now).map(|_| request));
    (now < count).then_some((request, count - now))
}

impl Parser for MetaKv {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        self.repeated = self.repeated.take().and_then(|repeated| repeat(repeated, out));
        let taken = each_line(bytes, end, out, |line, out| {
            if line.trim_ascii() == self.header {
                return Ok(());
            }
            // What is left only arises when the batch is full, and then no line follows.
            let (mut request, value_bytes, count) = self.line(line)?;
            self.size(&mut request, value_bytes, count, out);
            out.problems.unused += u64::from(count == 0);
            self.repeated = repeat((request, count), out);
            Ok(())
        });
        out.held_bytes = self.known.held_bytes();
        taken
    }
}

fn looks(head: Head) -> Likeness {
    let first = trial::first_line(head).unwrap_or_default();
    if named(first).is_some() {
        return Likeness::Certain;
    }
    match columns(first) {
        Some(columns) => trial::lines(head, MetaKv::new(Vec::new(), columns), Likeness::Likely),
        None => Likeness::No,
    }
}

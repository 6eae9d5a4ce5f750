//! Meta KV: requests to Meta's key-value caches, of 2022 and of 2024.
//!
//! CSV whose first line names the columns. 2022: key, op, size, `op_count`, `key_size`; 2024:
//! `op_time`, key, `key_size`, op, `op_count`, size and more. The columns may have any order. A
//! line stands for `op_count` requests, which are repeated. The beginning of its name determines an
//! operation: GET, SET, DELETE. The length is key and value together. It is unconfirmed that
//! `op_time` and `ttl` are in seconds.
//! Unit: keys. Source: README of cacheMon's collection.

use super::batch::{BATCH_REQUESTS, Batch, Fault};
use super::fields::{Fields, each_line, number};
use super::hash::key;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::Lifetime;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "metaKV",
    summary: "Meta's key-value traces of 2022 and 2024, CSV",
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
}

fn columns(header: &[u8]) -> Option<Vec<Column>> {
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
    Ok(Made::keys(MetaKv { header: header.to_owned(), columns, repeated: None }))
}

impl MetaKv {
    fn line(&self, line: &[u8]) -> Result<(Request, u64), Fault> {
        let mut fields = Fields::new(line, b',');
        let (mut request, mut count) = (Request::new(Op::Read, 0, 0), 1);
        for column in &self.columns {
            let text = fields.text("as many fields as the first line names")?;
            let value = |wanted| number(text).ok_or(Fault::malformed(wanted));
            match column {
                Column::Time => {
                    let time = super::fields::seconds_ns(text);
                    request.time_ns = time.ok_or(Fault::malformed("a time in seconds"))?;
                }
                Column::Key => request.offset = key(text),
                Column::KeyBytes | Column::ValueBytes => {
                    let sum = request.length_bytes.checked_add(value("a size")?);
                    request.length_bytes = sum.ok_or(Fault::RANGE)?;
                }
                Column::Operation => request.op = op(text)?,
                Column::Count => count = value("a number of requests")?,
                Column::Lifetime => {
                    request.lifetime = Lifetime::from_seconds(value("a time to live")?);
                }
                Column::Other => {}
            }
        }
        Ok((request, count))
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
        each_line(bytes, end, out, |line, out| {
            if line.trim_ascii() == self.header {
                return Ok(());
            }
            // What is left only arises when the batch is full, and then no line follows.
            self.repeated = repeat(self.line(line)?, out);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    match trial::first_line(head).and_then(columns) {
        Some(_) => Likeness::Certain,
        None => Likeness::No,
    }
}

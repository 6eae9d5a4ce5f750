//! `RocksDB`: accesses to a block cache, as `block_cache_trace_analyzer` writes them with `-human_readable_trace_file_path`.
//!
//! CSV without a header, 21 columns: time in microseconds, number of the block, its type (7 index, 8 filter, 9 data, 10
//! dictionary, 11 range deletions), its size, number and name of the column family, level, number of the file, caller, whether a
//! miss is not inserted, 3 of a Get, whether it hit, and 8 of Gets and the block. The name of a column family may contain commas.
//! Every access is a read. One that inserts nothing when it misses bypasses the cache and is left out; with `no-insert=read` it
//! is a read too. A block of 0 bytes was not read (an error, or no filter), and is left out.
//! Unit: keys; the object is the column family. Source: `RocksDB` 6 to 10 (`block_cache_tracer.cc`). Its wiki has the meaning of
//! the columns `no_insert` and `is_cache_hit` the wrong way round.

use super::batch::{Batch, Fault};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "rocksdb",
    summary: "RocksDB's block cache traces, as block_cache_trace_analyzer prints them",
    unit: Unit::Keys,
    source: "RocksDB (trace_replay/block_cache_tracer.cc)",
    suffixes: &[],
    parameters: "no-insert=skip|read",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

/// Fields behind the name of the column family.
const LAST_FIELDS: usize = 15;

struct RocksDb {
    reads_without_insert: bool,
}

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&["no-insert"])?;
    let reads_without_insert = match parameters.get("no-insert") {
        None | Some("skip") => false,
        Some("read") => true,
        Some(other) => {
            let (name, value) = ("no-insert".to_owned(), other.to_owned());
            return Err(ParameterError::Value { name, value, takes: "skip or read".to_owned() });
        }
    };
    Ok(Made::keys(RocksDb { reads_without_insert }))
}

/// The name of a column family, and the fields behind it.
fn name_and_rest(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr_iter(b',', text).nth(LAST_FIELDS - 1)?;
    Some((&text[..at], &text[at + 1..]))
}

impl RocksDb {
    fn line(&self, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
        let mut fields = Fields::new(line, b',');
        let time_ns = fields.time_ns(1000, "a time in microseconds")?;
        let block = fields.number("the number of a block")?;
        let kind = fields.number("the type of a block")?;
        if !(7..=11).contains(&kind) {
            return Err(Fault::malformed("the type of a block from 7 to 11"));
        }
        let length_bytes = fields.number("the size of a block")?;
        fields.number("the number of a column family")?;
        let names = name_and_rest(fields.rest());
        let (family, rest) = names.ok_or(Fault::malformed("21 fields with commas between"))?;
        let mut fields = Fields::new(rest, b',');
        fields.number("a level")?;
        fields.number("the number of a file")?;
        fields.number("the number of a caller")?;
        let is_bypass = flag(&mut fields)?;
        for _ in 0..3 {
            fields.number("a number of a Get")?;
        }
        flag(&mut fields)?;
        for _ in 0..LAST_FIELDS - 8 {
            fields.number("a number in each of the last columns")?;
        }
        fields.end()?;
        if length_bytes == 0 || is_bypass && !self.reads_without_insert {
            out.problems.unused += 1;
            return Ok(());
        }
        let object = out.objects.number(family);
        out.requests.push(Request {
            time_ns,
            object,
            ..Request::new(Op::Read, block, length_bytes)
        });
        Ok(())
    }
}

fn flag(fields: &mut Fields) -> Result<bool, Fault> {
    match fields.number("0 or 1")? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Fault::malformed("0 or 1")),
    }
}

impl Parser for RocksDb {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| self.line(line, out))
    }
}

fn looks(head: Head) -> Likeness {
    trial::shapes(head, |line| {
        RocksDb { reads_without_insert: true }.line(line, &mut Batch::default()).is_ok()
    })
}

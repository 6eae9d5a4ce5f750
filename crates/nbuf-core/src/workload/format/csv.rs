//! CSV: any table whose columns are named or numbered: `csv:key=lbn,size=size,time=time,op=op`.
//!
//! Parameters: `key=` or `offset=` (one of them), `size=`, `time=`, `op=`, `object=`, `task=`, `ttl=` and
//! `cost=` each name a column of the first line, or give its number from 1; `separator=comma|tab|semicolon|blank|bar`;
//! `time-unit=s|ms|us|ns` for times and `ttl`; `offset-unit=bytes|sectors` for offsets and their sizes. Without
//! parameters the usual names are looked for in the first line, which may begin with `#`. Blanks
//! around fields are none of them, quotes are not understood. A key that is no number becomes its hash.
//! Operations are words (read, get, write, set, delete, trim, flush and the like) or SCSI commands.
//! Unit: keys with `key=`, bytes with `offset=`. Source: the samples of libCacheSim.

mod columns;

use self::columns::{Column, Layout};
use super::batch::{Batch, Fault, range, sectors};
use super::fields::{Fields, each_line, seconds_ns};
use super::hash::key;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};
use crate::trace::{Cost, Lifetime};

pub(super) const ROW: Format = Format {
    name: "csv",
    summary: "any table with named or numbered columns",
    unit: Unit::Keys,
    source: "RFC 4180, without quotes",
    suffixes: &[".csv", ".tsv"],
    parameters: "key|offset=COLUMN,size=,time=,op=,object=,task=,ttl=,cost=,separator=comma,time-unit=s,offset-unit=bytes",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Csv(Layout);

fn make(parameters: &Parameters, head: Head) -> Result<Made, ParameterError> {
    let layout = Layout::new(parameters, trial::first_line(head).unwrap_or_default())?;
    let unit = if layout.is_keys { Unit::Keys } else { Unit::Bytes };
    let has_sizes = layout.columns.contains(&Column::Size);
    Ok(Made { parser: Box::new(Csv(layout)), unit, has_sizes })
}

impl Csv {
    #[inline]
    fn line(&self, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
        let layout = &self.0;
        let mut fields = Fields::new(line, layout.separator);
        let mut request = Request::new(Op::Read, 0, 0);
        for column in &layout.columns {
            match column {
                Column::Other => fields.skip("as many fields as columns are used")?,
                Column::Key => {
                    request.offset = match fields.plain_number() {
                        Some(number) => number,
                        None => key(fields.text("a key")?),
                    }
                }
                Column::Offset => request.offset = fields.number("an offset")?,
                Column::Size => request.length_bytes = fields.number("a size")?,
                Column::Time => request.time_ns = self.time_ns(&mut fields)?,
                Column::Op => request.op = op(fields.text("an operation")?)?,
                Column::Object => request.object = out.objects.number(fields.text("an object")?),
                Column::Task => {
                    let task = u32::try_from(fields.number("the number of a task")?);
                    request.task = task.unwrap_or(u32::MAX);
                }
                Column::Lifetime => request.lifetime = self.lifetime(&mut fields)?,
                Column::Cost => request.cost = cost(fields.text("a cost")?)?,
            }
        }
        if layout.is_sectors {
            (request.offset, request.length_bytes) = sectors(request.offset, request.length_bytes)?;
        }
        if !layout.is_keys {
            range(request.offset, request.length_bytes)?;
        }
        out.requests.push(request);
        Ok(())
    }

    /// A time to live; an empty field or one below 0 is none.
    fn lifetime(&self, fields: &mut Fields) -> Result<Lifetime, Fault> {
        if let Some(whole) = fields.plain_number() {
            return Ok(Lifetime::from_ns(whole.saturating_mul(self.0.time_unit_ns)));
        }
        let text = fields.text("a time to live")?;
        if text.is_empty() || text.starts_with(b"-") {
            return Ok(Lifetime::NONE);
        }
        let seconds = seconds_ns(text).ok_or(Fault::malformed("a time to live"))?;
        let ns = i128::from(seconds) * i128::from(self.0.time_unit_ns) / 1_000_000_000;
        Ok(Lifetime::from_ns(u64::try_from(ns).unwrap_or(u64::MAX)))
    }

    /// A time with or without decimals.
    #[inline]
    fn time_ns(&self, fields: &mut Fields) -> Result<i64, Fault> {
        const WRONG: Fault = Fault::malformed("a time");
        let unit_ns = self.0.time_unit_ns;
        if let Some(whole) = fields.plain_number() {
            let time = whole.checked_mul(unit_ns).and_then(|time| i64::try_from(time).ok());
            return time.ok_or(WRONG);
        }
        // As if it were seconds, and then in the unit that it is.
        let seconds = seconds_ns(fields.text("a time")?).ok_or(WRONG)?;
        let time = i128::from(seconds) * i128::from(unit_ns) / 1_000_000_000;
        i64::try_from(time).map_err(|_| WRONG)
    }
}

/// A cost with or without decimals.
fn cost(text: &[u8]) -> Result<Cost, Fault> {
    let value = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
    value.and_then(Cost::new).ok_or(Fault::malformed("a cost of 0 or more"))
}

/// What a word or a SCSI command asks for.
fn op(text: &[u8]) -> Result<Op, Fault> {
    match text {
        b"R" | b"r" | b"read" | b"Read" | b"get" | b"28" => return Ok(Op::Read),
        b"W" | b"w" | b"write" | b"Write" | b"set" | b"2a" => return Ok(Op::Write),
        _ => {}
    }
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix(b"0x").unwrap_or(&lower) {
        b"r" | b"rs" | b"ra" | b"read" | b"get" | b"gets" | b"load" | b"08" | b"28" | b"88"
        | b"a8" => Ok(Op::Read),
        b"w" | b"ws" | b"write" | b"set" | b"add" | b"cas" | b"replace" | b"append"
        | b"prepend" | b"incr" | b"decr" | b"update" | b"put" | b"store" | b"0a" | b"2a"
        | b"8a" | b"aa" => Ok(Op::Write),
        b"d" | b"ds" | b"discard" | b"trim" | b"delete" | b"del" | b"unmap" => Ok(Op::Discard),
        b"f" | b"flush" | b"sync" | b"fsync" | b"datasync" => Ok(Op::Flush),
        _ => Err(Fault::operation("read, write, delete, flush or the like")),
    }
}

impl Parser for Csv {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            if line.trim_ascii() == self.0.header {
                return Ok(());
            }
            self.line(line, out)
        })
    }
}

fn looks(head: Head) -> Likeness {
    let first = trial::first_line(head).unwrap_or_default();
    match Layout::new(&Parameters::default(), first) {
        Ok(layout) => trial::lines(head, Csv(layout), Likeness::Likely),
        Err(_) => Likeness::No,
    }
}

//! ARC: the traces of the ARC paper (Megiddo and Modha, FAST 2003), `.lis`.
//!
//! A text of four numbers a line: first block, number of blocks, one that is ignored, number of the
//! request. A block has 512 bytes. No times or operations: all are reads.
//! Unit: bytes of one volume. Source: README of the copy by the authors of moka; the expanded blocks
//! come to the paper's Table III.

use super::batch::{Batch, sectors};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "arc",
    summary: "four numbers a line: start, count, ignored, request (`.lis`)",
    unit: Unit::Bytes,
    source: "README of github.com/moka-rs/cache-trace",
    suffixes: &[".lis"],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Arc;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Arc))
}

impl Parser for Arc {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::blank(line);
            let start = fields.number("a first block")?;
            let count = fields.number("a number of blocks")?;
            fields.number("a number that is ignored")?;
            fields.number("the number of the request")?;
            fields.end()?;
            let (offset, length_bytes) = sectors(start, count)?;
            out.push(0, 0, offset, length_bytes, Op::Read);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Arc, Likeness::Likely)
}

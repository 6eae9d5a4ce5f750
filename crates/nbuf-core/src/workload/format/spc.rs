//! SPC: the form of the Storage Performance Council, in which the `UMass` repository has its traces.
//!
//! CSV without a header: number of the application storage unit, address in blocks, size in bytes,
//! `r` or `w` in either case, seconds since the start with decimals; more fields may follow. Blanks
//! may follow commas. A block has 512 bytes in the `UMass` traces. The object is the unit.
//! Unit: bytes. Source: SPC trace file format specification 1.0.1.

use super::batch::{Batch, Fault, range, sectors};
use super::fields::{Fields, each_line, number};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "spc",
    summary: "SPC and UMass block traces, CSV",
    unit: Unit::Bytes,
    source: "SPC trace file format specification 1.0.1",
    suffixes: &[".spc"],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Spc;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Spc))
}

impl Parser for Spc {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::new(line, b',');
            let unit = fields.text("the number of a unit")?;
            number(unit).ok_or(Fault::malformed("the number of a unit"))?;
            let start = fields.number("an address in blocks")?;
            let (offset, _) = sectors(start, 0)?;
            let (offset, length_bytes) = range(offset, fields.number("a size in bytes")?)?;
            let op = match fields.text("r or w")? {
                b"r" | b"R" => Op::Read,
                b"w" | b"W" => Op::Write,
                _ => return Err(Fault::operation("r or w")),
            };
            let time_ns = fields.seconds_ns("a time in seconds")?;
            let object = out.objects.number(unit);
            out.push(time_ns, object, offset, length_bytes, op);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Spc, Likeness::Certain)
}

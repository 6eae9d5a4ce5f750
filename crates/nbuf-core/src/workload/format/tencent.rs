//! Tencent CBS: block requests of a cloud's volumes (Zhang et al., ATC 2020).
//!
//! CSV without a header: Unix time in seconds, offset in sectors, size in sectors, 0 for a read or 1
//! for a write, number of the volume. A sector has 512 bytes. A copy of these traces as text has
//! offsets in bytes; it is not this format. The object is the volume.
//! Unit: bytes. Source: the README of the data set at SNIA.

use super::batch::{Batch, Fault, sectors};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "tencent",
    summary: "Tencent CBS block traces, CSV",
    unit: Unit::Bytes,
    source: "SNIA IOTTA; Zhang et al., ATC 2020",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Tencent;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Tencent))
}

impl Parser for Tencent {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::new(line, b',');
            let time_ns = fields.time_ns(1_000_000_000, "a time in seconds")?;
            let start = fields.number("an offset in sectors")?;
            let (offset, length_bytes) = sectors(start, fields.number("a size in sectors")?)?;
            let op = match fields.number("0 or 1")? {
                0 => Op::Read,
                1 => Op::Write,
                _ => return Err(Fault::operation("0 (read) or 1 (write)")),
            };
            let object = out.objects.number(fields.text("the number of a volume")?);
            fields.end()?;
            out.push(time_ns, object, offset, length_bytes, op);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Tencent, Likeness::Likely)
}

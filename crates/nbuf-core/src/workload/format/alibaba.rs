//! Alibaba 2020: block requests of a thousand volumes of a cloud (Li et al., IISWC 2020).
//!
//! CSV without a header: number of the volume, `R` or `W`, offset in bytes, length in bytes, time in
//! microseconds. The object is the volume.
//! Unit: bytes. Source: README of the repository.

use super::batch::{Batch, Fault, range};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "alibaba",
    summary: "Alibaba block traces of 2020, CSV",
    unit: Unit::Bytes,
    source: "README of github.com/alibaba/block-traces",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Alibaba;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Alibaba))
}

impl Parser for Alibaba {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::new(line, b',');
            let volume = fields.text("the number of a volume")?;
            let op = match fields.text("R or W")? {
                b"R" => Op::Read,
                b"W" => Op::Write,
                _ => return Err(Fault::operation("R or W")),
            };
            let offset = fields.number("an offset in bytes")?;
            let (offset, length_bytes) = range(offset, fields.number("a length in bytes")?)?;
            let time_ns = fields.time_ns(1000, "a time in microseconds")?;
            fields.end()?;
            let object = out.objects.number(volume);
            out.push(time_ns, object, offset, length_bytes, op);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Alibaba, Likeness::Likely)
}

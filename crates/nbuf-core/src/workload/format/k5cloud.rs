//! K5cloud: block requests of volumes of Fujitsu's cloud, at SNIA.
//!
//! CSV without a header: volume, time, `R` or `W`, offset in bytes, size in bytes. What the time
//! counts is unconfirmed (one reader, which ignores it), so all times are 0. The object is the volume.
//! Unit: bytes. Source: the reader of Caffeine's simulator.

use super::batch::{Batch, Fault, range};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "k5cloud",
    summary: "SNIA K5cloud block traces, CSV",
    unit: Unit::Bytes,
    source: "iotta.snia.org (parallel); github.com/ben-manes/caffeine (simulator)",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct K5cloud;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(K5cloud))
}

impl Parser for K5cloud {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::new(line, b',');
            let volume = fields.text("a volume")?;
            fields.skip("a time")?;
            let op = match fields.text("R or W")? {
                b"R" => Op::Read,
                b"W" => Op::Write,
                _ => return Err(Fault::operation("R or W")),
            };
            let offset = fields.number("an offset in bytes")?;
            let (offset, length_bytes) = range(offset, fields.number("a size in bytes")?)?;
            fields.end()?;
            let object = out.objects.number(volume);
            out.push(0, object, offset, length_bytes, op);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, K5cloud, Likeness::Likely)
}

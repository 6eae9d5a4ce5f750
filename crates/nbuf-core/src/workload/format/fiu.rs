//! FIU: block requests of a university's servers, with hashes of contents (Koller and Rangaswami,
//! FAST 2010).
//!
//! A text of blank-separated fields: time in nanoseconds, process id, process, address in blocks of
//! 512 bytes, number of blocks, `R` or `W`, major and minor number of the device, MD5 of the
//! contents. The object is the device: `8,1`. That the count is in blocks of 512 bytes is
//! unconfirmed: two readers say so, the data set does not.
//! Unit: bytes. Source: comments of two readers.

use super::batch::{Batch, Fault, sectors};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "fiu",
    summary: "FIU block traces with hashes of contents",
    unit: Unit::Bytes,
    source: "SNIA IOTTA; Koller and Rangaswami, FAST 2010",
    suffixes: &[".blkparse"],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Fiu;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Fiu))
}

impl Parser for Fiu {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::blank(line);
            let time_ns = fields.time_ns(1, "a time in nanoseconds")?;
            let process = fields.number("a process id")?;
            fields.skip("a process")?;
            let start = fields.number("an address in blocks")?;
            let (offset, length_bytes) = sectors(start, fields.number("a number of blocks")?)?;
            let op = match fields.text("R or W")? {
                b"R" | b"r" => Op::Read,
                b"W" | b"w" => Op::Write,
                _ => return Err(Fault::operation("R or W")),
            };
            let major = fields.number("a major number")?;
            let minor = fields.number("a minor number")?;
            fields.skip("a hash")?;
            let object = out.objects.pair(major, minor);
            let task = u32::try_from(process).unwrap_or(u32::MAX);
            out.requests.push(Request {
                time_ns,
                object,
                task,
                ..Request::new(op, offset, length_bytes)
            });
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Fiu, Likeness::Certain)
}

//! `MQSim`: what the simulator of solid-state discs takes (Tavakkol et al., FAST 2018).
//!
//! A text of five numbers a line: time in nanoseconds, number of the device, first sector, number of
//! sectors, 0 for a write or 1 for a read. A sector has 512 bytes. The object is the device.
//! Unit: bytes. Source: README of the simulator.

use super::batch::{Batch, Fault, sectors};
use super::fields::{Fields, each_line, number};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "mqsim",
    summary: "MQSim block traces: time, device, start, sectors, type",
    unit: Unit::Bytes,
    source: "README of github.com/CMU-SAFARI/MQSim",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Mqsim;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Mqsim))
}

impl Parser for Mqsim {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::blank(line);
            let time_ns = fields.time_ns(1, "a time in nanoseconds")?;
            let device = fields.text("the number of a device")?;
            number(device).ok_or(Fault::malformed("the number of a device"))?;
            let start = fields.number("a first sector")?;
            let (offset, length_bytes) = sectors(start, fields.number("a number of sectors")?)?;
            let op = match fields.number("0 or 1")? {
                0 => Op::Write,
                1 => Op::Read,
                _ => return Err(Fault::operation("0 (write) or 1 (read)")),
            };
            fields.end()?;
            let object = out.objects.number(device);
            out.push(time_ns, object, offset, length_bytes, op);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Mqsim, Likeness::Likely)
}

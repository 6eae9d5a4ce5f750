//! SYSTOR '17: block requests of a company's virtual desktops (Lee et al., SYSTOR 2017).
//!
//! CSV, with or without a header: Unix time in seconds with decimals, response time, `R` or `W` or
//! nothing, number of the LUN, offset in bytes, size in bytes. A row without an operation is counted
//! as unused. The object is the LUN. Several LUNs are several files: read them merged by time.
//! Unit: bytes. Source: the README of the data set at SNIA.

use super::batch::{Batch, Fault, range};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "systor",
    summary: "SYSTOR '17 block traces, CSV",
    unit: Unit::Bytes,
    source: "SNIA IOTTA; Lee et al., SYSTOR 2017",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Systor;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Systor))
}

impl Parser for Systor {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            if line.starts_with(b"Timestamp") {
                return Ok(());
            }
            let mut fields = Fields::new(line, b',');
            let time_ns = fields.seconds_ns("a time in seconds")?;
            fields.skip("a response time")?;
            let op = match fields.text("R or W")? {
                b"R" => Some(Op::Read),
                b"W" => Some(Op::Write),
                b"" => None,
                _ => return Err(Fault::operation("R, W or nothing")),
            };
            let unit = fields.text("the number of a LUN")?;
            let offset = fields.number("an offset in bytes")?;
            let (offset, length_bytes) = range(offset, fields.number("a size in bytes")?)?;
            fields.end()?;
            let Some(op) = op else {
                out.problems.unused += 1;
                return Ok(());
            };
            let object = out.objects.number(unit);
            out.push(time_ns, object, offset, length_bytes, op);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Systor, Likeness::Likely)
}

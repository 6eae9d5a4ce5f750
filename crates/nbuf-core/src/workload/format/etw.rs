//! ETW: Windows' event tracing as text, in which SNIA has Microsoft's enterprise and production traces.
//!
//! Lines between `BeginHeader` and `EndHeader` describe the events. Other lines are used if they
//! begin with `DiskRead` or `DiskWrite`: comma-separated and padded, with the time in field 1, the
//! thread in 3, the offset in bytes in 5 and the size in 6 (both hexadecimal), the number of the disc
//! in 8, counted from 0. That the time is in microseconds is unconfirmed. All other events are left
//! out. The object is the disc.
//! Unit: bytes. Source: the reader of Caffeine's simulator.

use super::batch::{Batch, Fault, range};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "etw",
    summary: "Windows' events of its discs as text (SNIA, Microsoft)",
    unit: Unit::Bytes,
    source: "iotta.snia.org/traces/block-io/130; github.com/ben-manes/caffeine (simulator)",
    suffixes: &[".csv"],
    parameters: "",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

#[derive(Default)]
struct Etw {
    is_header: bool,
}

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Etw::default()))
}

impl Etw {
    fn line(&mut self, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
        match line.trim_ascii() {
            b"BeginHeader" => self.is_header = true,
            b"EndHeader" => self.is_header = false,
            _ => {}
        }
        let mut fields = Fields::new(line, b',');
        let op = match fields.text("an event")? {
            _ if self.is_header => return Ok(()),
            b"DiskRead" => Op::Read,
            b"DiskWrite" => Op::Write,
            _ => return Ok(()),
        };
        let time_ns = fields.time_ns(1000, "a time in microseconds")?;
        fields.skip("a process")?;
        let thread = fields.text("a thread")?;
        fields.skip("the address of a request")?;
        let offset = fields.hexadecimal("an offset in bytes, hexadecimal")?;
        let length = fields.hexadecimal("a size in bytes, hexadecimal")?;
        let (offset, length_bytes) = range(offset, length)?;
        fields.skip("an elapsed time")?;
        let object = out.objects.number(fields.text("the number of a disc")?);
        let task = super::fields::number(thread).and_then(|thread| u32::try_from(thread).ok());
        let task = task.unwrap_or(0);
        out.requests.push(Request {
            time_ns,
            object,
            task,
            ..Request::new(op, offset, length_bytes)
        });
        Ok(())
    }
}

impl Parser for Etw {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| self.line(line, out))
    }
}

fn looks(head: Head) -> Likeness {
    match trial::first_line(head) {
        Some(b"BeginHeader") => Likeness::Certain,
        Some(line) if line.starts_with(b"DiskRead") || line.starts_with(b"DiskWrite") => {
            trial::lines(head, Etw::default(), Likeness::Likely)
        }
        _ => Likeness::No,
    }
}

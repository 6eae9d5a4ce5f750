//! Tectonic: requests to Meta's storage (Wong et al., FAST 2024, Baleen).
//!
//! A text of blank-separated fields; a line that begins with `#` names them: block, offset in bytes,
//! size in bytes, time in seconds, operation (1, 2, 5 read; 3, 4, 6 write), name space, user, shard.
//! More fields may follow; a count of operations among them is unconfirmed and not used. The object
//! is the block.
//! Unit: bytes. Source: the readers of Caffeine's simulator and of the authors.

use super::batch::{Batch, Fault, range};
use super::fields::{Fields, each_line, number};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "tectonic",
    summary: "Meta Tectonic storage traces (Baleen)",
    unit: Unit::Bytes,
    source: "ftp.pdl.cmu.edu/pub/datasets/Baleen24; Wong et al., FAST 2024",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Tectonic;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Tectonic))
}

impl Parser for Tectonic {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            if line.starts_with(b"#") {
                return Ok(());
            }
            let mut fields = Fields::blank(line);
            let block = fields.text("a block")?;
            number(block).ok_or(Fault::malformed("the number of a block"))?;
            let offset = fields.number("an offset in bytes")?;
            let (offset, length_bytes) = range(offset, fields.number("a size in bytes")?)?;
            let time_ns = fields.seconds_ns("a time in seconds")?;
            let op = match fields.number("an operation")? {
                1 | 2 | 5 => Op::Read,
                3 | 4 | 6 => Op::Write,
                _ => return Err(Fault::operation("an operation from 1 to 6")),
            };
            for _ in 0..3 {
                fields.skip("a name space, a user and a shard")?;
            }
            let object = out.objects.number(block);
            out.push(time_ns, object, offset, length_bytes, op);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Tectonic, Likeness::Certain)
}

//! MSR Cambridge: block requests of 36 volumes of a data centre (Narayanan et al., FAST 2008).
//!
//! CSV without a header: time as Windows counts it (100 ns since 1601), host, number of the disc,
//! `Read` or `Write`, offset in bytes, size in bytes, response time in 100 ns.
//! Times become nanoseconds since 1970. The object is the volume: `usr.0`.
//! Unit: bytes. Source: the README of the data set at SNIA.

use super::batch::{Batch, Fault, range};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "msr",
    summary: "MSR Cambridge block traces, CSV",
    unit: Unit::Bytes,
    source: "SNIA IOTTA; Narayanan et al., FAST 2008",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

/// Ticks from 1601, where Windows begins to count, to 1970.
const TICKS_TO_1970: u64 = 116_444_736_000_000_000;

struct Msr;

/// Nanoseconds since 1970 of a time in ticks.
fn unix_ns(ticks: u64) -> Option<i64> {
    i64::try_from(ticks.checked_sub(TICKS_TO_1970)?.checked_mul(100)?).ok()
}

/// The number of a volume, which is given as `host,disc`.
fn volume_number(volume: &[u8], out: &mut Batch) -> u32 {
    const LONGEST: usize = 64;
    let mut name = [0; LONGEST];
    let Some(name) = name.get_mut(..volume.len()) else {
        return out.objects.number(volume);
    };
    name.copy_from_slice(volume);
    if let Some(comma) = memchr::memchr(b',', name) {
        name[comma] = b'.';
    }
    out.objects.number(name)
}

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Msr))
}

impl Parser for Msr {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::new(line, b',');
            let time = fields.number("a time in 100 ns since 1601")?;
            let host = fields.rest();
            fields.skip("a host")?;
            fields.number("the number of a disc")?;
            let volume = &host[..host.len() - fields.rest().len() - 1];
            let op = match fields.text("Read or Write")? {
                b"Read" => Op::Read,
                b"Write" => Op::Write,
                _ => return Err(Fault::operation("Read or Write")),
            };
            let offset = fields.number("an offset in bytes")?;
            let (offset, length_bytes) = range(offset, fields.number("a size in bytes")?)?;
            let time_ns = unix_ns(time).ok_or(Fault::malformed("a time after 1970"))?;
            let object = volume_number(volume, out);
            out.push(time_ns, object, offset, length_bytes, op);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Msr, Likeness::Certain)
}

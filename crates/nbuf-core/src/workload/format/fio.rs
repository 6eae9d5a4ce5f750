//! fio iolog: what fio writes with `--write_iolog` and replays with `--read_iolog`, versions 2 and 3.
//!
//! A text. The first line is `fio version 2 iolog` or 3. Each further line is
//! `file action [offset length]`, in version 3 with a time before it. Actions: read, write, trim,
//! sync, datasync. Add, open and close make no request. In version 2, `wait` gives a pause in
//! microseconds. Offsets and lengths are in bytes. fio 3.33 writes the times of version 3 in
//! microseconds; the manual does not define their unit.
//! Unit: bytes; the object is the file. Source: fio's HOWTO and a log of fio 3.33.

use super::batch::{Batch, Fault, range};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "fio",
    summary: "fio's iolog, versions 2 and 3",
    unit: Unit::Bytes,
    source: "fio's HOWTO, and a log of fio 3.33",
    suffixes: &[".iolog"],
    parameters: "",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

struct Fio {
    has_times: bool,
    /// How long the log said to wait so far.
    waited_ns: i64,
}

fn has_times(head: Head) -> Option<bool> {
    match trial::first_line(head)? {
        b"fio version 2 iolog" => Some(false),
        b"fio version 3 iolog" => Some(true),
        _ => None,
    }
}

fn make(parameters: &Parameters, head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    let wanted = "`fio version 2 iolog` or `fio version 3 iolog`";
    let has_times = has_times(head).ok_or(ParameterError::Beginning { format: "fio", wanted })?;
    Ok(Made::bytes(Fio { has_times, waited_ns: 0 }))
}

impl Fio {
    fn line(&mut self, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
        if line.starts_with(b"fio version ") {
            return Ok(());
        }
        let mut fields = Fields::blank(line);
        let mut time_ns = self.waited_ns;
        if self.has_times {
            time_ns = fields.time_ns(1000, "a time in microseconds")?;
        }
        let file = fields.text("a file")?;
        let op = match fields.text("an action")? {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Discard,
            b"sync" | b"datasync" => Op::Flush,
            b"add" | b"open" | b"close" => return Ok(()),
            b"wait" => {
                let waited = fields.time_ns(1000, "a time in microseconds")?;
                self.waited_ns = self.waited_ns.saturating_add(waited);
                return Ok(());
            }
            _ => {
                return Err(Fault::operation(
                    "read, write, trim, sync, datasync, wait or the like",
                ));
            }
        };
        let object = out.objects.number(file);
        if op == Op::Flush {
            out.push(time_ns, object, 0, 0, op);
            return Ok(());
        }
        let offset = fields.number("an offset in bytes")?;
        let (offset, length_bytes) = range(offset, fields.number("a length in bytes")?)?;
        out.push(time_ns, object, offset, length_bytes, op);
        Ok(())
    }
}

impl Parser for Fio {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| self.line(line, out))
    }
}

fn looks(head: Head) -> Likeness {
    if has_times(head).is_some() { Likeness::Certain } else { Likeness::No }
}

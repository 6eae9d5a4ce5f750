//! blkparse: the text that Linux' block layer tracing is shown as.
//!
//! The default form, "%D %2c %8s %5T.%9t %5p %2a %3d": device `8,0`, processor, sequence, seconds,
//! process, action, kind; then `sector + count` of 512 bytes for requests. One action is used:
//! Q, what was asked for; or with `action=D` what reached the device, or with `action=C` what was
//! completed. Kind: R, W, D (discard), F (flush; before W it goes ahead of a write, behind it means
//! "write through"), N (neither). A request without sectors is a flush or unused. The totals at the
//! end are left out. The object is the device. Also for several devices and processors at once.
//! Unit: bytes. Source: the manual pages of blktrace 1.2 and 1.3.

use super::batch::{Batch, Fault, sectors};
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "blkparse",
    summary: "blkparse's text: what was asked for (Q), or with action=D what reached the device",
    unit: Unit::Bytes,
    source: "manual page of blkparse 1.2 and 1.3",
    suffixes: &[".blkparse"],
    parameters: "action=Q|D|C",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

struct Blkparse {
    action: u8,
    /// Whether the totals have begun.
    is_over: bool,
}

/// The action that is used, by its letter.
pub(super) fn action(parameters: &Parameters) -> Result<u8, ParameterError> {
    parameters.only(&["action"])?;
    match parameters.get("action") {
        None | Some("Q") => Ok(b'Q'),
        Some("D") => Ok(b'D'),
        Some("C") => Ok(b'C'),
        Some(value) => Err(ParameterError::Value {
            name: "action".to_owned(),
            value: value.to_owned(),
            takes: "Q (asked for), D (given to the device) or C (completed)".to_owned(),
        }),
    }
}

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    Ok(Made::bytes(Blkparse { action: action(parameters)?, is_over: false }))
}

impl Blkparse {
    fn line(&mut self, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
        self.is_over |= line.starts_with(b"CPU") || line.starts_with(b"Total");
        if self.is_over {
            return Ok(());
        }
        let mut fields = Fields::blank(line);
        let device = fields.text("a device")?;
        if !device.first().is_some_and(u8::is_ascii_digit) || !device.contains(&b',') {
            return Err(Fault::malformed("a device such as 8,0"));
        }
        fields.number("a processor")?;
        fields.number("a sequence number")?;
        let time_ns = fields.seconds_ns("a time in seconds")?;
        let process = fields.number("a process id")?;
        let action = fields.text("an action")?;
        // Messages have any text behind their action.
        if action != [self.action] {
            return Ok(());
        }
        let kind = fields.text("a kind such as R or WS")?;
        let (mut offset, mut length_bytes) = (0, 0);
        if fields.rest().first().is_some_and(u8::is_ascii_digit) {
            let start = fields.number("a sector")?;
            // A completed flush has a sector and no count.
            if fields.rest().first() == Some(&b'+') {
                fields.skip("+")?;
                (offset, length_bytes) = sectors(start, fields.number("a number of sectors")?)?;
            }
        }
        let Some(op) = op(kind, length_bytes) else {
            out.problems.unused += 1;
            return Ok(());
        };
        let object = out.objects.number(device);
        let task = u32::try_from(process).unwrap_or(0);
        out.requests.push(Request {
            time_ns,
            object,
            task,
            ..Request::new(op, offset, length_bytes)
        });
        Ok(())
    }
}

/// What a kind asks for, if that is known.
fn op(kind: &[u8], length_bytes: u64) -> Option<Op> {
    let is_flush = kind.first() == Some(&b'F');
    if length_bytes == 0 {
        return is_flush.then_some(Op::Flush);
    }
    match kind.get(usize::from(is_flush))? {
        b'R' => Some(Op::Read),
        b'W' => Some(Op::Write),
        b'D' => Some(Op::Discard),
        _ => None,
    }
}

impl Parser for Blkparse {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| self.line(line, out))
    }
}

fn looks(head: Head) -> Likeness {
    let tried = [b'Q', b'D', b'C']
        .map(|action| trial::lines(head, Blkparse { action, is_over: false }, Likeness::Certain));
    tried.into_iter().max().unwrap_or(Likeness::No)
}

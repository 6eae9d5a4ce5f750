//! blkparse: the text that Linux' block layer tracing is shown as.
//!
//! The default form, "%D %2c %8s %5T.%9t %5p %2a %3d": device `8,0`, processor, sequence, seconds,
//! process, action, kind; then `sector + count` of 512 bytes for requests. One action is used:
//! Q, what was asked for; or with `action=D` what reached the device, or with `action=C` what was
//! completed. Kind: R, W, D (discard), F (flush; before W it goes ahead of a write, behind it means
//! "write through"), N (neither). A request without sectors is a flush or unused. The totals at the
//! end are left out. The object is the device. Also for several devices and processors at once.
//! Unit: bytes. Source: the manual pages of blktrace 1.2 and 1.3.

mod columns;

use self::columns::{Asked, Columns};
use super::batch::{Batch, Fault, sectors};
use super::fields::{Fields, each_line_or};
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
    devices: Devices,
}

/// Devices by their columns, and their numbers: the last few.
#[derive(Default)]
struct Devices([Option<([u8; 8], u32)>; 8]);

impl Devices {
    fn slot(column: [u8; 8]) -> usize {
        (u64::from_le_bytes(column).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize
    }

    fn has(&self, column: [u8; 8]) -> bool {
        self.0[Self::slot(column)].is_some_and(|(known, _)| known == column)
    }

    /// The number of the device, if it is one.
    fn number(&mut self, column: [u8; 8], out: &mut Batch) -> Option<u32> {
        let slot = &mut self.0[Self::slot(column)];
        if let Some((known, number)) = *slot
            && known == column
        {
            return Some(number);
        }
        let number = out.objects.number(columns::device(&column)?);
        *slot = Some((column, number));
        Some(number)
    }
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
    Ok(Made::bytes(Blkparse::new(action(parameters)?)))
}

impl Blkparse {
    fn new(action: u8) -> Self {
        Self { action, is_over: false, devices: Devices::default() }
    }

    /// Takes a line in the columns of the default form, and returns its length. Changes nothing if the line is another.
    #[inline]
    fn quick(&mut self, bytes: &[u8], out: &mut Batch) -> Option<usize> {
        let parsed = Columns::parse(bytes).filter(|_| !self.is_over);
        let Columns { device, time_ns, task, action, rest } = parsed?;
        let length =
            |rest: &[u8]| Some(bytes.len() - rest.len() + memchr::memchr(b'\n', rest)? + 1);
        if action != self.action {
            // Messages have any text behind their action.
            let is_device = self.devices.has(device) || columns::device(&device).is_some();
            return length(rest).filter(|_| is_device);
        }
        let asked = Asked::parse(rest)?;
        let (offset, length_bytes) = sectors(asked.sector, asked.sectors).ok()?;
        let op = op(asked.kind, length_bytes)?;
        let taken = length(asked.rest)?;
        let object = self.devices.number(device, out)?;
        out.requests.push(Request {
            time_ns,
            object,
            task,
            ..Request::new(op, offset, length_bytes)
        });
        Some(taken)
    }

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
        each_line_or(bytes, end, out, self, Self::quick, Self::line)
    }
}

fn looks(head: Head) -> Likeness {
    let tried = [b'Q', b'D', b'C']
        .map(|action| trial::lines(head, Blkparse::new(action), Likeness::Certain));
    tried.into_iter().max().unwrap_or(Likeness::No)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::super::fields::each_line;
    use super::super::tests::lines::{changed, read};
    use super::*;

    /// A line in the default form, with numbers that fit into their columns and numbers that do not.
    fn line() -> impl Strategy<Value = String> {
        let device = select(vec!["  8,0", "259,1", "253,16", "  8,00", "x,0", "8", " 1234,567"]);
        let before = (device, 0..200_u32, 0..200_000_000_u32, 0..200_000_u32);
        let time_and_task = (0..1_000_000_000_u32, 0..5_000_000_u32);
        let action = select(vec!["Q", "Q", "Q", "D", "C", "UT", "m"]);
        let kind = select(vec!["R", "W", "WS", "RA", "FWS", "FWFS", "DS", "N", "F", ""]);
        let place =
            (prop_oneof![0..1_000_000_u64, any::<u64>()], prop_oneof![0..64_u64, any::<u64>()]);
        let form =
            select(vec!["SECTOR + COUNT [cp]\n", "[cp]\n", "SECTOR [0]\r\n", "SECTOR + COUNT\n"]);
        (before, time_and_task, action, kind, place, form).prop_map(
            |((device, processor, sequence, seconds), (decimals, task), action, kind, place, form)| {
                let form = form.replace("SECTOR", &place.0.to_string());
                let form = form.replace("COUNT", &place.1.to_string());
                let time = format!("{seconds:5}.{decimals:09}");
                format!("{device:7} {processor:2} {sequence:8} {time} {task:5} {action:>2} {kind:>3} {form}")
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_quick_way_changes_nothing(input in changed(line()), cut in any::<Index>()) {
            let (mut quick, mut general) = (Blkparse::new(b'Q'), Blkparse::new(b'Q'));
            let found = read(&input, cut, |bytes, end, out| quick.parse(bytes, end, out));
            let want = read(&input, cut, |bytes, end, out| {
                each_line(bytes, end, out, |line, out| general.line(line, out))
            });
            prop_assert_eq!(found, want);
        }
    }

    #[test]
    fn the_default_form_is_taken_the_quick_way() {
        let lines = [
            "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n",
            "259,12  127 12345678 99999.999999999 4194303  Q FWS 18446744073709551 + 1024\n",
            "  8,0    1       22     4.500000000  1203  C   FN [0]\n",
        ];
        let (mut parser, mut out) = (Blkparse::new(b'Q'), Batch::default());
        for line in lines {
            let input = format!("{line}  8,0    1");
            assert_eq!(parser.quick(input.as_bytes(), &mut out), Some(line.len()), "{line}");
        }
        assert_eq!(out.requests.len(), 2);
        assert_eq!((out.requests[1].task, out.requests[1].length_bytes), (4_194_303, 524_288));
        assert_eq!(out.objects.names(), ["8,0", "259,12"]);
    }
}

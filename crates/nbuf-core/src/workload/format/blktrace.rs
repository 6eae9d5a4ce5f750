//! blktrace: what Linux' block layer tracing writes, a file for each processor.
//!
//! Records of 48 bytes and what follows them, in the byte order of the machine: u32 magic
//! 0x65617407 (version 7), u32 sequence, u64 nanoseconds, u64 sector, u32 bytes, u32 action, u32
//! process, u32 device (major << 20 | minor), u32 processor, u16 error, u16 bytes that follow (a
//! message, a command, a cgroup). The low 8 bits of the action are 1 queue, 7 issue, 8 complete; its
//! high 16 bits are marks: 0 read, 1 write, 2 flush, 9 a command past the block layer, 10 a notice, 13
//! discard. As with `blkparse`, one action is used: Q unless `action=D` or `action=C`.
//! Files given together are merged by time. The object is the device, `8,0`.
//! Unit: bytes. Source: `linux/blktrace_api.h`.

use memchr::memmem;

use super::batch::{Batch, Fault, Place, ProblemKind, range, sectors};
use super::blkparse::action;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use crate::trace::request::{Op, Request, Unit};

const MAGIC: u32 = 0x6561_7407;
const RECORD_BYTES: usize = 48;

pub(super) const ROW: Format = Format {
    name: "blktrace",
    summary: "blktrace's files of each processor, merged by time",
    unit: Unit::Bytes,
    source: "the kernel, include/uapi/linux/blktrace_api.h",
    suffixes: &[".blktrace.0"],
    parameters: "action=Q|D|C",
    looks,
    reading: Reading::Stream(make),
    is_merged: true,
};

const WRITE: u32 = 1 << 17;
const READ: u32 = 1 << 16;
const FLUSH: u32 = 1 << 18;
const COMMAND: u32 = 1 << 25;
const NOTICE: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

struct Blktrace {
    is_big: bool,
    action: u32,
    /// The last device, and its number.
    device: Option<(u32, u32)>,
    /// Whether the missing magic number was reported; false again at the next whole record.
    is_lost: bool,
}

fn is_big(bytes: &[u8]) -> Option<bool> {
    let first = *bytes.first_chunk()?;
    match (u32::from_le_bytes(first), u32::from_be_bytes(first)) {
        (MAGIC, _) => Some(false),
        (_, MAGIC) => Some(true),
        _ => None,
    }
}

fn make(parameters: &Parameters, head: Head) -> Result<Made, ParameterError> {
    let action = match action(parameters)? {
        b'D' => 7,
        b'C' => 8,
        _ => 1,
    };
    let wanted = "the magic number 0x65617407";
    let is_big =
        is_big(head.bytes).ok_or(ParameterError::Beginning { format: "blktrace", wanted })?;
    Ok(Made::bytes(Blktrace { is_big, action, device: None, is_lost: false }))
}

impl Blktrace {
    fn word(&self, bytes: &[u8], at: usize) -> u32 {
        let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self.is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    }

    fn long(&self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (self.word(bytes, at).into(), self.word(bytes, at + 4).into());
        let (low, high): (u64, u64) = if self.is_big { (second, first) } else { (first, second) };
        high << 32 | low
    }

    /// Bytes behind the record.
    fn follow_bytes(&self, record: &[u8]) -> usize {
        let half = [record[46], record[47]];
        let bytes = if self.is_big { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) };
        usize::from(bytes)
    }

    fn record(&mut self, record: &[u8], out: &mut Batch) -> Result<(), Fault> {
        let action = self.word(record, 28);
        if action & 0xff != self.action || action & NOTICE != 0 {
            return Ok(());
        }
        let bytes = u64::from(self.word(record, 24));
        let (offset, length_bytes) = if bytes == 0 {
            (0, 0)
        } else {
            let (offset, _) = sectors(self.long(record, 16), 0)?;
            range(offset, bytes)?
        };
        let op = match action {
            _ if action & COMMAND != 0 => None,
            _ if bytes == 0 => (action & FLUSH != 0).then_some(Op::Flush),
            _ if action & DISCARD != 0 => Some(Op::Discard),
            _ if action & WRITE != 0 => Some(Op::Write),
            _ if action & READ != 0 => Some(Op::Read),
            _ => None,
        };
        let Some(op) = op else {
            out.problems.unused += 1;
            return Ok(());
        };
        let time_ns = i64::try_from(self.long(record, 8))
            .map_err(|_| Fault::malformed("a time in nanoseconds"))?;
        let device = self.word(record, 36);
        let object = match self.device {
            Some((last, number)) if last == device => number,
            _ => out.objects.pair((device >> 20).into(), (device & 0xf_ffff).into()),
        };
        self.device = Some((device, object));
        let task = self.word(record, 32);
        out.requests.push(Request {
            time_ns,
            object,
            task,
            ..Request::new(op, offset, length_bytes)
        });
        Ok(())
    }

    /// Bytes that are passed over until a record may begin again.
    fn pass_over(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        if !self.is_lost {
            let wanted = Fault::malformed("a record that begins with 0x65617407");
            wanted.tell(&mut out.problems, Place::Byte(out.bytes), &bytes[..4]);
        }
        self.is_lost = true;
        let magic = if self.is_big { MAGIC.to_be_bytes() } else { MAGIC.to_le_bytes() };
        match memmem::find(&bytes[1..], &magic) {
            Some(at) => at + 1,
            None if end => bytes.len(),
            None => bytes.len() - 3,
        }
    }
}

impl Parser for Blktrace {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        let mut at = 0;
        while !out.is_full() {
            let rest = &bytes[at..];
            let taken = if rest.len() >= 4 && is_big(rest) != Some(self.is_big) {
                self.pass_over(rest, end, out)
            } else if rest.len() >= RECORD_BYTES
                && rest.len() >= RECORD_BYTES + self.follow_bytes(rest)
            {
                self.is_lost = false;
                let (record, _) = rest.split_at(RECORD_BYTES);
                if let Err(fault) = self.record(record, out) {
                    fault.tell(&mut out.problems, Place::Byte(out.bytes), b"a record");
                }
                RECORD_BYTES + self.follow_bytes(rest)
            } else if end && !rest.is_empty() {
                out.problems.add(ProblemKind::CutOff, Place::Byte(out.bytes), || {
                    format!("the input ends {} bytes into a record; copy it again", rest.len())
                });
                rest.len()
            } else {
                break;
            };
            at += taken;
            out.bytes += taken as u64;
        }
        at
    }
}

fn looks(head: Head) -> Likeness {
    if is_big(head.bytes).is_some() { Likeness::Certain } else { Likeness::No }
}

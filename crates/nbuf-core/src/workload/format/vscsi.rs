//! VSCSI: SCSI commands of virtual machines, as `CloudPhysics` collected them (Waldspurger et al.,
//! FAST 2015), versions 1 and 2.
//!
//! Little-endian, no header. Version 1, 32 bytes: u32 serial, u32 length, u32 segments, u16 command,
//! u16 version, u64 block, u64 microseconds. Version 2, 40 bytes: u16 command, u16 version, u32
//! serial, u32 length, u32 segments, u64 block, u64 microseconds, u64 response time. The high byte of
//! the version tells which. Blocks have 512 bytes. The length is in bytes: the data set's README says
//! sectors, but the shipped sample has 512, 4096, 65536.
//! Unit: bytes of one volume. Source: libCacheSim's `vscsi.h`, and bytes of its sample.

use super::batch::{Batch, Fault, range, sectors};
use super::fixed::{each_checked, little};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "vscsi",
    summary: "CloudPhysics' SCSI traces, versions 1 and 2",
    unit: Unit::Bytes,
    source: "github.com/1a1a11a/libCacheSim (vscsi.h); Waldspurger et al., FAST 2015",
    suffixes: &[".vscsi", ".vscsitrace"],
    parameters: "",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

/// Which of the two layouts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

struct Vscsi(Version);

fn make(parameters: &Parameters, head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    let wanted = "records of version 1 or 2";
    let version =
        version(head.bytes).ok_or(ParameterError::Beginning { format: "vscsi", wanted })?;
    Ok(Made::bytes(Vscsi(version)))
}

fn op(command: u16) -> Result<Op, Fault> {
    match command {
        // READ of 6, 10, 16, 12 bytes; READ UPDATED BLOCK
        0x08 | 0x28 | 0x88 | 0xa8 | 0x2d => Ok(Op::Read),
        // WRITE of 6, 10, 16, 12 bytes; with verification, long, as a stream, atomic
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x3f | 0x8e | 0x9a | 0x9c | 0xae => Ok(Op::Write),
        // SYNCHRONIZE CACHE of 10 and 16 bytes
        0x35 | 0x91 => Ok(Op::Flush),
        _ => Err(Fault::operation("a SCSI command that reads, writes or flushes")),
    }
}

fn push(
    command: u16,
    block: u64,
    length: u32,
    microseconds: u64,
    out: &mut Batch,
) -> Result<(), Fault> {
    let op = op(command)?;
    let (offset, _) = sectors(block, 0)?;
    let (offset, length_bytes) = range(offset, u64::from(length))?;
    let time_ns = microseconds.checked_mul(1000).and_then(|time| i64::try_from(time).ok());
    let time_ns = time_ns.ok_or(Fault::malformed("a time in microseconds"))?;
    out.push(time_ns, 0, offset, length_bytes, op);
    Ok(())
}

impl Parser for Vscsi {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        match self.0 {
            Version::One => each_checked::<32>(bytes, end, out, |record, out| {
                let (block, time_us) = (little!(u64, record, 16), little!(u64, record, 24));
                push(little!(u16, record, 12), block, little!(u32, record, 4), time_us, out)
            }),
            Version::Two => each_checked::<40>(bytes, end, out, |record, out| {
                let (block, time_us) = (little!(u64, record, 16), little!(u64, record, 24));
                push(little!(u16, record, 0), block, little!(u32, record, 8), time_us, out)
            }),
        }
    }
}

/// The version that the first records (two where there are as many) agree on; the second is tried
/// first, because a command of the first looks like nothing of it.
fn version(bytes: &[u8]) -> Option<Version> {
    let is_two = |record: &[u8; 40]| {
        little!(u16, record, 2) >> 8 == 2 && op(little!(u16, record, 0)).is_ok()
    };
    let is_one = |record: &[u8; 32]| {
        little!(u16, record, 14) >> 8 == 1 && op(little!(u16, record, 12)).is_ok()
    };
    let (two, _) = bytes.as_chunks::<40>();
    if !two.is_empty() && two.iter().take(2).all(is_two) {
        return Some(Version::Two);
    }
    let (one, _) = bytes.as_chunks::<32>();
    (!one.is_empty() && one.iter().take(2).all(is_one)).then_some(Version::One)
}

fn looks(head: Head) -> Likeness {
    match version(head.bytes) {
        Some(_) if head.bytes.len() >= 80 => Likeness::Certain,
        Some(_) => Likeness::Likely,
        None => Likeness::No,
    }
}

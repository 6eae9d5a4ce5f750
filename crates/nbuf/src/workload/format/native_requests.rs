//! The native trace as requests: what was asked for, not what the kernel did for it.
//!
//! Reads, faults and mapped windows are reads, writes are writes, and what left the cache because it
//! was truncated, deleted or dropped is a discard. Fills and readahead are the kernel's and left out.
//! Unit: bytes of files. Source: `docs/trace.md`.

use super::table::{Format, Head, Likeness, Reading};
use crate::workload::request::{Ask, Request, Unit};
use crate::workload::trace::{Op, Record};

pub(super) const ROW: Format = Format {
    name: "native",
    summary: "what `nbuf record` writes: Parquet",
    unit: Unit::Bytes,
    source: "docs/trace.md",
    suffixes: &[".parquet"],
    parameters: "",
    looks,
    reading: Reading::Native,
    is_merged: false,
};

fn looks(head: Head) -> Likeness {
    if head.bytes.starts_with(b"PAR1") { Likeness::Certain } else { Likeness::No }
}

/// The request that a record is, unless it is of the kernel's own making.
pub fn request(record: &Record) -> Option<Request> {
    let ask = match record.op {
        Op::Read | Op::Fault | Op::Map => Ask::Read,
        Op::Write => Ask::Write,
        Op::Evict => Ask::Discard,
        Op::Fill | Op::Readahead | Op::Advise => return None,
    };
    Some(Request {
        time_ns: record.time_ns,
        offset: record.offset_bytes,
        length_bytes: u64::from(record.length_bytes),
        object: record.file.0,
        task: record.task,
        ask,
    })
}

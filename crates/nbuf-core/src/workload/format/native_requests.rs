//! The native trace as requests: what was asked for, not what the kernel did for it.
//!
//! Reads, faults and mapped windows are reads, writes are writes, and what left the cache because it
//! was truncated, deleted or dropped is a discard. Fills and readahead are the kernel's and left out.
//! Unit: bytes of files. Source: `docs/trace.md`.

use super::table::{Format, Head, Likeness, Reading};
use crate::trace::request::{Op, Request, Unit};
use crate::trace::{CacheEvent, Record};

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
    let op = match record.op {
        CacheEvent::Read
        | CacheEvent::Fault
        | CacheEvent::Map
        | CacheEvent::Touch
        | CacheEvent::Splice => Op::Read,
        CacheEvent::Write => Op::Write,
        CacheEvent::Evict => Op::Discard,
        CacheEvent::Fill | CacheEvent::Readahead | CacheEvent::Advise | CacheEvent::Prefetch => {
            return None;
        }
    };
    Some(Request {
        time_ns: record.time_ns,
        object: record.file.0,
        task: record.task,
        ..Request::new(op, record.offset_bytes, record.length_bytes.into())
    })
}

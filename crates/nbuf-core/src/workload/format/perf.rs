//! perf: `perf script` of the tracepoints of the kernel's page cache.
//!
//! A text; a line that names an event of `filemap:` has before it the command, the thread, the
//! processor and a time in seconds, and behind it `dev=254:0 ino=4f8cb ofs=0-4095` (older kernels and
//! other events: `dev 254:0 ino 4f8cb ... ofs=0 order=0`); the inode is hexadecimal, offsets are in
//! bytes and windows inclusive. Reads: `mm_filemap_get_pages`, `mm_filemap_fault`, and the blurred
//! `mm_filemap_map_pages`. `mm_filemap_delete_from_page_cache` is a discard. Adding is what the kernel
//! does, and asks nothing. Lines of other events, of call chains and comments are left out.
//! A page has 4096 bytes. The object is the inode: `254:0/325835`.
//! Unit: bytes. Source: the kernel's `trace/events/filemap.h`, and perf 6.1 on Linux 6.18.

use std::io::Write;

use memchr::memmem;

use super::batch::{Batch, Fault, range};
use super::fields::{each_line, hexadecimal, number, seconds_ns};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "perf",
    summary: "perf script of the filemap tracepoints",
    unit: Unit::Bytes,
    source: "the kernel, include/trace/events/filemap.h",
    suffixes: &[".perf"],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

const PAGE_BYTES: u64 = 4096;

/// What every event begins with.
const EVENT: &[u8] = b"filemap:mm_filemap_";

struct Perf {
    event: memmem::Finder<'static>,
    /// The name of an inode while it is written.
    name: Vec<u8>,
}

impl Perf {
    fn new() -> Self {
        Self { event: memmem::Finder::new(EVENT), name: Vec::new() }
    }
}

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Perf::new()))
}

/// The values of an event that are used. The first of a name counts.
#[derive(Default)]
struct Values<'a> {
    dev: Option<&'a [u8]>,
    ino: Option<&'a [u8]>,
    ofs: Option<&'a [u8]>,
    order: Option<&'a [u8]>,
}

impl<'a> Values<'a> {
    /// A value stands behind its name and `=` or a blank.
    fn of(text: &'a [u8]) -> Self {
        let mut values = Self::default();
        let mut words = text.split(|byte| *byte == b' ' || *byte == b'=');
        while let Some(word) = words.next() {
            let value = match word {
                b"dev" => &mut values.dev,
                b"ino" => &mut values.ino,
                b"ofs" => &mut values.ofs,
                b"order" => &mut values.order,
                _ => continue,
            };
            let next = words.next();
            *value = value.or(next);
        }
        values
    }
}

fn line(perf: &mut Perf, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
    let Some(at) = perf.event.find(line) else {
        return Ok(());
    };
    let (before, event) = (&line[..at], &line[at + EVENT.len()..]);
    let name_bytes = memchr::memchr(b':', event).ok_or(Fault::malformed("an event and a colon"))?;
    let (name, text) = (&event[..name_bytes], &event[name_bytes + 1..]);
    let (op, is_window) = match name {
        b"get_pages" | b"map_pages" => (Op::Read, true),
        b"fault" => (Op::Read, false),
        b"delete_from_page_cache" => (Op::Discard, false),
        _ => return Ok(()),
    };
    let (time_ns, task) = time_and_task(before)?;
    let values = Values::of(text);
    let inode = values.ino.and_then(hexadecimal);
    let inode = inode.ok_or(Fault::malformed("ino= and a hexadecimal number"))?;
    let device = values.dev.ok_or(Fault::malformed("dev= and a device"))?;
    let places = values.ofs.ok_or(Fault::malformed("ofs= and an offset"))?;
    let (offset, length) = if is_window {
        window(places).ok_or(Fault::malformed(OFFSETS))?
    } else {
        let order = values.order.and_then(number).unwrap_or(0);
        let pages = 1_u64.checked_shl(u32::try_from(order).unwrap_or(64)).filter(|_| order < 32);
        let pages = pages.ok_or(Fault::malformed("an order below 32"))?;
        (number(places).ok_or(Fault::malformed(OFFSETS))?, pages * PAGE_BYTES)
    };
    let (offset, length_bytes) = range(offset, length)?;
    perf.name.clear();
    perf.name.extend_from_slice(String::from_utf8_lossy(device).as_bytes());
    // Writing to a vector cannot fail.
    let _ = write!(perf.name, "/{inode}");
    let object = out.objects.number(&perf.name);
    out.requests.push(Request { time_ns, object, task, ..Request::new(op, offset, length_bytes) });
    Ok(())
}

/// What an offset has to be.
const OFFSETS: &str = "an offset, or two with - between";

/// The first byte of a window and its length, of the first byte and the last.
fn window(places: &[u8]) -> Option<(u64, u64)> {
    let dash = memchr::memchr(b'-', places)?;
    let (first, last) = (number(&places[..dash])?, number(&places[dash + 1..])?);
    Some((first, last.checked_sub(first)?.checked_add(1)?))
}

/// What stands before the event, from the right: `23916.729040:`, `[001]`, thread.
fn time_and_task(before: &[u8]) -> Result<(i64, u32), Fault> {
    let mut words = before.rsplit(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let time = words.next().and_then(|word| word.strip_suffix(b":")).and_then(seconds_ns);
    let time_ns = time.ok_or(Fault::malformed("a time and a colon before the event"))?;
    let mut thread = words.next().unwrap_or_default();
    if thread.starts_with(b"[") {
        thread = words.next().unwrap_or_default();
    }
    let thread = thread.rsplit(|byte| *byte == b'/').next().and_then(number);
    let thread = thread.ok_or(Fault::malformed("the number of a thread before the time"))?;
    Ok((time_ns, u32::try_from(thread).unwrap_or(u32::MAX)))
}

impl Parser for Perf {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |text, out| line(self, text, out))
    }
}

fn looks(head: Head) -> Likeness {
    if memmem::find(head.bytes, b" filemap:mm_filemap_").is_some() {
        trial::lines(head, Perf::new(), Likeness::Certain)
    } else {
        Likeness::No
    }
}

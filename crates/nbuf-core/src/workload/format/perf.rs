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

mod event_line;

use std::io::Write;

use memchr::memmem;

use self::event_line::{Event, Inode, places};
use super::batch::{Batch, Fault, range};
use super::fields::{each_line_or, hexadecimal, number, seconds_ns};
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
    /// How the last inode was written, from `dev=` to `ofs=`, and its number.
    last: Vec<u8>,
    last_number: u32,
}

impl Perf {
    fn new() -> Self {
        let event = memmem::Finder::new(EVENT);
        Self { event, name: Vec::new(), last: Vec::new(), last_number: 0 }
    }

    fn object(&mut self, device: &[u8], inode: u64, out: &mut Batch) -> u32 {
        self.name.clear();
        self.name.extend_from_slice(String::from_utf8_lossy(device).as_bytes());
        // Writing to a vector cannot fail.
        let _ = write!(self.name, "/{inode}");
        out.objects.number(&self.name)
    }

    /// Takes a common line and returns its length. Changes nothing if the line is another.
    #[inline]
    fn quick(&mut self, bytes: &[u8], out: &mut Batch) -> Option<usize> {
        let Event { before, is_window, values } = Event::parse(bytes)?;
        let (time_ns, task) = time_and_task(before).ok()?;
        let is_last = !self.last.is_empty() && values.starts_with(&self.last);
        let inode = if is_last { None } else { Some(Inode::parse(values)?) };
        let (named, rest) = values.split_at(inode.map_or(self.last.len(), |inode| inode.bytes));
        let (offset, length_bytes, taken) = places(rest, is_window)?;
        let (offset, length_bytes) = range(offset, length_bytes).ok()?;
        if let Some(Inode { device, number, .. }) = inode {
            self.last_number = self.object(device, number, out);
            self.last.clear();
            self.last.extend_from_slice(named);
        }
        let object = self.last_number;
        let read = Request::new(Op::Read, offset, length_bytes);
        out.requests.push(Request { time_ns, object, task, ..read });
        Some(bytes.len() - rest.len() + taken)
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
    let object = perf.object(device, inode, out);
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
    let (time, rest) = last_word(before);
    let time = time.strip_suffix(b":").and_then(seconds_ns);
    let time_ns = time.ok_or(Fault::malformed("a time and a colon before the event"))?;
    let (mut thread, rest) = last_word(rest);
    if thread.starts_with(b"[") {
        (thread, _) = last_word(rest);
    }
    let slash = thread.iter().rposition(|byte| *byte == b'/');
    let thread = number(slash.map_or(thread, |at| &thread[at + 1..]));
    let thread = thread.ok_or(Fault::malformed("the number of a thread before the time"))?;
    Ok((time_ns, u32::try_from(thread).unwrap_or(u32::MAX)))
}

/// The last word, and what stands before it.
#[inline]
fn last_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    let start = text[..end].iter().rposition(|byte| *byte == b' ').map_or(0, |blank| blank + 1);
    (&text[start..end], &text[..start])
}

impl Parser for Perf {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line_or(bytes, end, out, self, Self::quick, line)
    }
}

fn looks(head: Head) -> Likeness {
    if memmem::find(head.bytes, b" filemap:mm_filemap_").is_some() {
        trial::lines(head, Perf::new(), Likeness::Certain)
    } else {
        Likeness::No
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::super::fields::each_line;
    use super::super::tests::lines::{changed, read};
    use super::*;

    /// A line of the page cache's events, as old and new kernels write it.
    fn line() -> impl Strategy<Value = String> {
        let command = select(vec!["cat", "tokio w", "kworker/u8:1", "a: b", "", "filemap:m", "x/"]);
        let thread = select(vec!["9103", "9103/9104", " 7", "4294967296", "-1"]);
        let processor = select(vec!["[001] ", "", "[012]   "]);
        let time = select(vec!["23916.729040", "5", "1.", "9223372036.9", "0.0000000019", "x"]);
        let blanks = select(vec![" ", "", "                  "]);
        let event = select(vec![
            "get_pages",
            "map_pages",
            "fault",
            "delete_from_page_cache",
            "add_to_page_cache",
        ]);
        let device = select(vec!["dev=254:0", "dev=254:0", "dev 8:1", "dev=", "dev=sda"]);
        let inode = select(vec![
            "ino=4f8cb",
            "ino=4f8cb",
            "ino=0x1F",
            "ino 2ae pfn=0x1",
            "ino=10000000000000000",
        ]);
        let number = || prop_oneof![0..1_000_000_000_u64, any::<u64>()];
        let places = (
            number(),
            number(),
            select(vec!["FIRST-LAST", "FIRST-LAST", "FIRST", "FIRST order=4", "0-LAST"]),
        );
        let end = select(vec!["\n", "\n", "\n", "\r\n", " \n", "\n# comment\n\n", " dev=1:1\n"]);
        let before = (command, thread, processor, time, blanks);
        (before, event, device, inode, places, end).prop_map(
            |(
                (command, thread, processor, time, blanks),
                event,
                device,
                inode,
                (first, last, places),
                end,
            )| {
                let places = places.replace("FIRST", &first.to_string());
                let places = places.replace("LAST", &last.to_string());
                let before = format!("{command:>16} {thread} {processor}{time}:{blanks}");
                format!("{before}filemap:mm_filemap_{event}: {device} {inode} ofs={places}{end}")
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_quick_way_changes_nothing(input in changed(line()), cut in any::<Index>()) {
            let (mut quick, mut general) = (Perf::new(), Perf::new());
            let found = read(&input, cut, |bytes, end, out| quick.parse(bytes, end, out));
            let want = read(&input, cut, |bytes, end, out| {
                each_line(bytes, end, out, |text, out| super::line(&mut general, text, out))
            });
            prop_assert_eq!(found, want);
        }
    }

    #[test]
    fn common_lines_are_taken_the_quick_way() {
        let lines = [
            "cat  9103 [001] 23916.729040: filemap:mm_filemap_get_pages: dev=254:0 ino=4f8cb ofs=0-4095\n",
            " kworker/u8:1  9/10 [001] 5.1:    filemap:mm_filemap_map_pages: dev=254:0 ino=4f8cb ofs=61440-126975\n",
            "tokio w  9103 23916.729041: filemap:mm_filemap_fault: dev=254:0 ino=3c4f2 ofs=40960\n",
        ];
        let (mut parser, mut out) = (Perf::new(), Batch::default());
        for line in lines {
            let input = format!("{line}cat  9103");
            assert_eq!(parser.quick(input.as_bytes(), &mut out), Some(line.len()), "{line}");
        }
        assert_eq!(out.objects.names(), ["254:0/325835", "254:0/247026"]);
        assert_eq!((out.requests.len(), out.requests[1].object, out.requests[2].object), (3, 0, 1));
    }
}

//! How one record is kept after another: a tag, and only the numbers that could not be guessed.
//!
//! A record usually follows on where its file was accessed last, or is a page somewhere else; its
//! length and the size of its file are mostly those of before, and requests count up.
//!
//! Invariant: [`decode`] of what [`encode`] wrote gives the record back, from an equal [`State`],
//! whatever its values. Cost: 4 to 7 bytes a record.

use super::varint::{put, put_difference, take, take_difference};
use super::{CacheEvent, FileId, Record};

// The low three bits of the tag are the operation; each of the others saves a number.
const OP: u8 = 0x07;
/// The operation has this number or a higher one, in a byte of its own behind the tag.
const OTHER: u8 = 7;
const SAME_FILE_AND_TASK: u8 = 0x08;
const FOLLOWS_ON: u8 = 0x10;
const LENGTH_USUAL: u8 = 0x20;
const SIZE_USUAL: u8 = 0x40;
const REQUEST_USUAL: u8 = 0x80;

/// Files whose last access is remembered. Where two have to share a place, records get longer.
const SLOTS: usize = 256;

/// Bits of an offset within a page.
const PAGE_BITS: u32 = 12;

/// What both sides remember.
#[derive(Clone, Debug)]
pub(super) struct State {
    time_ns: i64,
    file: u32,
    task: u32,
    /// The request of the last demand.
    request: u32,
    slots: [Slot; SLOTS],
}

/// The last access to a file.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    end: u64,
    file_bytes: u64,
    length_bytes: u32,
}

impl Default for State {
    fn default() -> Self {
        Self { time_ns: 0, file: 0, task: 0, request: 0, slots: [Slot::default(); SLOTS] }
    }
}

impl State {
    fn slot(&mut self, file: u32) -> &mut Slot {
        &mut self.slots[file as usize % SLOTS]
    }

    /// What the kernel does ahead of a demand has the number of that demand.
    fn request_usual(&self, op: CacheEvent) -> u32 {
        match op {
            CacheEvent::Read
            | CacheEvent::Write
            | CacheEvent::Fault
            | CacheEvent::Map
            | CacheEvent::Touch
            | CacheEvent::Splice
            | CacheEvent::Fill => self.request.wrapping_add(1),
            CacheEvent::Readahead
            | CacheEvent::Evict
            | CacheEvent::Advise
            | CacheEvent::Prefetch => self.request,
        }
    }

    fn advance(&mut self, record: &Record) {
        self.time_ns = record.time_ns;
        (self.file, self.task) = (record.file.0, record.task);
        if record.op.is_demand() {
            self.request = record.request;
        }
        *self.slot(record.file.0) = Slot {
            end: record.offset_bytes.wrapping_add(record.length_bytes.into()),
            file_bytes: record.file_bytes,
            length_bytes: record.length_bytes,
        };
    }
}

/// Appends a record.
pub(super) fn encode(state: &mut State, record: &Record, out: &mut Vec<u8>) {
    let at = out.len();
    let number = record.op.number();
    let mut tag = number.min(OTHER);
    out.push(tag);
    if tag == OTHER {
        out.push(number);
    }
    // Time goes forward; what does not may cost ten bytes.
    put(out, record.time_ns.wrapping_sub(state.time_ns).cast_unsigned());
    let same_task = record.task == state.task;
    if record.file.0 == state.file && same_task {
        tag |= SAME_FILE_AND_TASK;
    } else {
        put(out, u64::from(record.file.0) << 1 | u64::from(same_task));
        if !same_task {
            put_difference(out, state.task.into(), record.task.into());
        }
    }
    let slot = *state.slot(record.file.0);
    if slot.end == record.offset_bytes {
        tag |= FOLLOWS_ON;
    } else {
        put_place(out, slot.end, record.offset_bytes);
    }
    if slot.length_bytes == record.length_bytes {
        tag |= LENGTH_USUAL;
    } else {
        put(out, record.length_bytes.into());
    }
    if slot.file_bytes == record.file_bytes {
        tag |= SIZE_USUAL;
    } else {
        put_difference(out, slot.file_bytes, record.file_bytes);
    }
    let usual = state.request_usual(record.op);
    if usual == record.request {
        tag |= REQUEST_USUAL;
    } else {
        put_difference(out, usual.into(), record.request.into());
    }
    out[at] = tag;
    state.advance(record);
}

/// Takes a record off the front.
pub(super) fn decode(state: &mut State, bytes: &mut &[u8]) -> Option<Record> {
    let (&tag, rest) = bytes.split_first()?;
    *bytes = rest;
    let op = match tag & OP {
        OTHER => {
            let (&number, rest) = bytes.split_first()?;
            *bytes = rest;
            CacheEvent::from_number(number)?
        }
        number => CacheEvent::from_number(number)?,
    };
    let time_ns = state.time_ns.wrapping_add(take(bytes)?.cast_signed());
    let (mut file, mut task) = (state.file, state.task);
    if tag & SAME_FILE_AND_TASK == 0 {
        let number = take(bytes)?;
        file = u32::try_from(number >> 1).ok()?;
        if number & 1 == 0 {
            task = u32::try_from(take_difference(bytes, task.into())?).ok()?;
        }
    }
    let slot = *state.slot(file);
    let offset_bytes = match tag & FOLLOWS_ON {
        0 => take_place(bytes, slot.end)?,
        _ => slot.end,
    };
    let length_bytes = match tag & LENGTH_USUAL {
        0 => u32::try_from(take(bytes)?).ok()?,
        _ => slot.length_bytes,
    };
    let file_bytes = match tag & SIZE_USUAL {
        0 => take_difference(bytes, slot.file_bytes)?,
        _ => slot.file_bytes,
    };
    let usual = state.request_usual(op);
    let request = match tag & REQUEST_USUAL {
        0 => u32::try_from(take_difference(bytes, usual.into())?).ok()?,
        _ => usual,
    };
    let file = FileId(file);
    let record =
        Record { time_ns, offset_bytes, file_bytes, length_bytes, file, task, request, op };
    state.advance(&record);
    Some(record)
}

/// Appends the way from one place to another: whole pages, and what is over if anything is.
fn put_place(out: &mut Vec<u8>, from: u64, to: u64) {
    let way = to.wrapping_sub(from).cast_signed();
    let pages = way >> PAGE_BITS;
    let over = way.cast_unsigned() & ((1 << PAGE_BITS) - 1);
    let folded = (pages << 1 ^ pages >> 63).cast_unsigned();
    put(out, folded << 1 | u64::from(over != 0));
    if over != 0 {
        put(out, over);
    }
}

fn take_place(bytes: &mut &[u8], from: u64) -> Option<u64> {
    let number = take(bytes)?;
    let folded = number >> 1;
    let pages = (folded >> 1) ^ (folded & 1).wrapping_neg();
    let over = if number & 1 == 0 { 0 } else { take(bytes)? };
    Some(from.wrapping_add(pages << PAGE_BITS | over))
}

//! How one entry is coded after another within a frame.
//!
//! An entry is a tag byte (kind, and four bits for what usually repeats), then only the numbers
//! that did not repeat: time since the entry before, the file and the task as numbers of a small
//! dictionary, the position as the distance from where the last access to that file ended.
//!
//! Invariant: [`decode`] of what [`encode`] wrote gives the entry back, from an equal [`State`]; on
//! other bytes it gives an entry or nothing. It allocates no more than it consumes.

use super::entry::{Entry, Event, FileSeen, Kind, MemorySeen};
use super::state::State;
use crate::trace::varint::{put, put_difference, take, take_difference};

const KINDS: [Kind; 8] = [
    Kind::GetPages,
    Kind::Fault,
    Kind::MapPages,
    Kind::Add,
    Kind::Delete,
    Kind::Write,
    Kind::Read,
    Kind::Advise,
];

// Low four bits of the tag for what is not an event; events have the number of
// their kind.
const START: u8 = 8;
const FILE: u8 = 9;
const MEMORY: u8 = 10;
const END: u8 = 11;
/// Events again, whose numbers came later.
const TOUCH: u8 = Kind::Touch as u8;
const PREFETCH: u8 = Kind::Prefetch as u8;
const SPLICE: u8 = Kind::Splice as u8;

// High four bits of the tag.
const FILE_REPEATS: u8 = 0x10;
const TASK_REPEATS: u8 = 0x20;
const EXTENT_USUAL: u8 = 0x40;
const FOLLOWS_ON: u8 = 0x80;
/// In a [`FILE`] entry: a name follows.
const HAS_PATH: u8 = 0x20;

/// Appends an entry to a frame's payload.
pub(super) fn encode(state: &mut State, entry: &Entry, out: &mut Vec<u8>) {
    match entry {
        Entry::Event(event) => encode_event(state, event, out),
        Entry::File(seen) => encode_file(state, seen, out),
        Entry::Memory(seen) => {
            out.push(MEMORY);
            state.put_time(out, seen.time_ns);
            put(out, seen.anonymous_bytes);
            put(out, seen.shmem_bytes);
            put(out, seen.kernel_bytes);
            put(out, seen.page_cache_bytes);
        }
        Entry::Start(json) => {
            out.push(START);
            put_bytes(out, json);
        }
        Entry::End(json) => {
            out.push(END);
            put_bytes(out, json);
        }
    }
}

/// Takes an entry off the front of what is left of a payload.
pub(super) fn decode(state: &mut State, bytes: &mut &[u8]) -> Option<Entry> {
    let (&tag, rest) = bytes.split_first()?;
    *bytes = rest;
    let repeats = tag & FILE_REPEATS != 0;
    Some(match tag & 0x0f {
        START => Entry::Start(take_bytes(bytes)?),
        END => Entry::End(take_bytes(bytes)?),
        MEMORY => Entry::Memory(MemorySeen {
            time_ns: state.take_time(bytes)?,
            anonymous_bytes: take(bytes)?,
            shmem_bytes: take(bytes)?,
            kernel_bytes: take(bytes)?,
            page_cache_bytes: take(bytes)?,
        }),
        FILE => {
            let time_ns = state.take_time(bytes)?;
            let (device, inode) = state.take_file(bytes, repeats)?;
            let file_bytes = take(bytes)?;
            let path = match tag & HAS_PATH {
                0 => None,
                _ => Some(take_bytes(bytes)?),
            };
            Entry::File(FileSeen { time_ns, device, inode, file_bytes, path })
        }
        number => {
            let kind = match number {
                TOUCH => Kind::Touch,
                PREFETCH => Kind::Prefetch,
                SPLICE => Kind::Splice,
                _ => *KINDS.get(usize::from(number))?,
            };
            Entry::Event(decode_event(state, kind, tag, bytes)?)
        }
    })
}

fn encode_event(state: &mut State, event: &Event, out: &mut Vec<u8>) {
    let at = out.len();
    let mut tag = event.kind as u8;
    out.push(tag);
    state.put_time(out, event.time_ns);
    if state.file_repeats(event.device, event.inode) {
        tag |= FILE_REPEATS;
    } else {
        state.put_file(out, event.device, event.inode);
    }
    if state.task_repeats(event.task) {
        tag |= TASK_REPEATS;
    } else {
        state.put_task(out, event.task);
    }
    let place = state.place(event.kind);
    if place == event.index {
        tag |= FOLLOWS_ON;
    } else {
        put_difference(out, place, event.index);
    }
    let usual = state.extent_usual(event.kind, event.index);
    if usual == event.extent {
        tag |= EXTENT_USUAL;
    } else {
        put_difference(out, usual, event.extent);
    }
    out[at] = tag;
    state.advance(event);
}

fn decode_event(state: &mut State, kind: Kind, tag: u8, bytes: &mut &[u8]) -> Option<Event> {
    let time_ns = state.take_time(bytes)?;
    let (device, inode) = state.take_file(bytes, tag & FILE_REPEATS != 0)?;
    let task = state.take_task(bytes, tag & TASK_REPEATS != 0)?;
    let place = state.place(kind);
    let index = match tag & FOLLOWS_ON {
        0 => take_difference(bytes, place)?,
        _ => place,
    };
    let usual = state.extent_usual(kind, index);
    let extent = match tag & EXTENT_USUAL {
        0 => take_difference(bytes, usual)?,
        _ => usual,
    };
    let event = Event { time_ns, task, kind, device, inode, index, extent };
    state.advance(&event);
    Some(event)
}

fn encode_file(state: &mut State, seen: &FileSeen, out: &mut Vec<u8>) {
    let at = out.len();
    let mut tag = FILE;
    out.push(tag);
    state.put_time(out, seen.time_ns);
    if state.file_repeats(seen.device, seen.inode) {
        tag |= FILE_REPEATS;
    } else {
        state.put_file(out, seen.device, seen.inode);
    }
    put(out, seen.file_bytes);
    if let Some(path) = &seen.path {
        tag |= HAS_PATH;
        put_bytes(out, path);
    }
    out[at] = tag;
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn take_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(take(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken.to_vec())
}

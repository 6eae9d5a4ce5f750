//! What is allocated on the disc of a backend server, and replies that come in chunks.

use std::mem::take;

use super::super::greet::NOTHING;
use super::super::wire::{Form, Header, Words, chunk, command, flag};
use super::{Client, Got, PendingRequest};
use crate::disc::holes::{DATA, Found, Look};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// The longest look: lengths have 32 bits, and a shorter answer is permitted.
const LOOK_BYTES: u64 = 1 << 30;
/// Bytes of the header of a chunk.
const HEAD_BYTES: usize = 20;
/// The most bytes of a chunk besides those of a read: extents, and texts of errors.
const CHUNK_BYTES_MAX: usize = 4 << 20;

/// Extents that are kept of an answer, besides those of its last chunk.
const EXTENTS_MAX: usize = 1 << 16;

/// A chunk that does not belong to what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stray;

/// The answer where nothing is known: all is data.
pub(super) fn unknown(look: Look) -> Found {
    Found { task: look.task, extents: vec![(look.to - look.from, DATA)] }
}

impl Client {
    /// Whether the server reports what is allocated.
    pub(crate) fn has_holes(&self) -> bool {
        self.allocation.is_some_and(|id| id != NOTHING) && !self.is_broken()
    }

    /// Asks for holes.
    pub(crate) fn look(&mut self, look: Look) {
        if !self.has_holes() || look.from >= look.to {
            return self.found.push_back(unknown(look));
        }
        let length = (look.to - look.from).min(LOOK_BYTES);
        let flags = if look.most == 1 { flag::REQ_ONE } else { 0 };
        let (command, cookie, offset) = (command::BLOCK_STATUS, self.cookie, look.from);
        Header { flags, command, cookie, offset, length }.write(Form::Simple, &mut self.out);
        let request = Request::new(Op::Flush, offset, length);
        let (data, came, left_bytes, flushes) = (Vec::new(), self.now(), 0, false);
        let (got, look) = (Got::default(), Some(look));
        self.await_reply(PendingRequest { request, data, came, left_bytes, flushes, got, look });
    }

    /// The next look that is done.
    pub(crate) fn found(&mut self) -> Option<Found> {
        self.found.pop_front()
    }

    pub(super) fn looked(&mut self, look: Look, extents: &[(u64, u32)], error: u32) {
        let mut left = look.to - look.from;
        let mut found = Vec::new();
        for &(length, flags) in extents {
            let length = length.min(left);
            if length > 0 {
                found.push((length, flags));
                left -= length;
            }
        }
        let is_known = error == 0 && !found.is_empty();
        let found = Found { task: look.task, extents: found };
        self.found.push_back(if is_known { found } else { unknown(look) });
    }

    /// Takes a chunk; where it ends.
    pub(super) fn parse_chunk(&mut self) -> Option<usize> {
        let mut words = Words(&self.input[self.taken..self.filled]);
        let (_, flags, kind) = (words.u32()?, words.u16()?, words.u16()?);
        let (cookie, length) = (words.u64()?, usize::try_from(words.u32()?).ok()?);
        let known = self.pending.get_mut(&cookie);
        let most = known.as_ref().map_or(0, |known| known.data.len() + 16).max(CHUNK_BYTES_MAX);
        if length > most {
            self.break_off("the backend server answers with a chunk that is too long");
            return None;
        }
        let payload = words.bytes(length)?;
        let taken = known.ok_or(Stray).and_then(|known| {
            let id = self.allocation.unwrap_or(NOTHING);
            take_chunk(kind, payload, id, known)
        });
        let is_last = flags & chunk::DONE != 0;
        let pending = if is_last { self.pending.remove(&cookie) } else { None };
        let lacks = |pending: &PendingRequest| {
            let is_read = pending.request.op == Op::Read && pending.got.error == 0;
            is_read && pending.got.bytes != pending.data.len() as u64
        };
        if taken.is_err() || pending.as_ref().is_some_and(lacks) {
            if let Some(pending) = pending {
                self.pending.insert(cookie, pending);
            }
            self.break_off("the backend server answers what was not asked");
            return None;
        }
        let end = self.taken + HEAD_BYTES + length;
        if let Some(mut pending) = pending {
            let error = take(&mut pending.got.error);
            self.answered(pending, error);
        }
        Some(end)
    }
}

/// Takes what a chunk has for a request.
fn take_chunk(
    kind: u16,
    payload: &[u8],
    id: u32,
    pending: &mut PendingRequest,
) -> Result<(), Stray> {
    let mut words = Words(payload);
    let is_read = pending.request.op == Op::Read && pending.look.is_none();
    match kind {
        chunk::NONE => {}
        chunk::OFFSET_DATA if is_read => {
            let offset = words.u64().ok_or(Stray)?;
            room(pending, offset, words.0.len() as u64)?.copy_from_slice(words.0);
        }
        chunk::OFFSET_HOLE if is_read => {
            let (offset, length) = words.u64().zip(words.u32()).ok_or(Stray)?;
            room(pending, offset, length.into())?.fill(0);
        }
        chunk::BLOCK_STATUS if pending.look.is_some() => {
            if pending.got.extents.len() > EXTENTS_MAX {
                return Err(Stray);
            }
            if words.u32() == Some(id) {
                while let Some((length, flags)) = words.u32().zip(words.u32()) {
                    pending.got.extents.push((length.into(), flags & 3));
                }
            }
        }
        kind if kind & (1 << 15) != 0 => {
            let error = words.u32().ok_or(Stray)?.max(1);
            if pending.got.error == 0 {
                pending.got.error = error;
            }
        }
        _ => return Err(Stray),
    }
    Ok(())
}

/// The room for some bytes of a read.
fn room(pending: &mut PendingRequest, offset: u64, length: u64) -> Result<&mut [u8], Stray> {
    let from = offset.checked_sub(pending.request.offset).ok_or(Stray)?;
    let to = from.checked_add(length).ok_or(Stray)?;
    pending.got.bytes += length;
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok()).ok_or(Stray)?;
    pending.data.get_mut(range.0..range.1).ok_or(Stray)
}

/// Takes a chunk of the reply to a read of this length from a byte on: the bytes of the read then, if the chunk is one of
/// them. For fuzzing.
pub fn chunk_of_read(kind: u16, payload: &[u8], offset: u64, length: u16) -> Option<Vec<u8>> {
    let request = Request::new(Op::Read, offset, length.into());
    let (data, came, left_bytes, flushes) = (vec![0; length.into()], Nanos::ZERO, 0, false);
    let (got, look) = (Got::default(), None);
    let mut pending = PendingRequest { request, data, came, left_bytes, flushes, got, look };
    take_chunk(kind, payload, 0, &mut pending).ok().map(|()| pending.data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    fn read(length: usize) -> PendingRequest {
        let request = Request::new(Op::Read, 1000, length as u64);
        let (left_bytes, flushes) = (0, false);
        let (data, came, got) = (vec![9; length], Nanos::ZERO, Got::default());
        PendingRequest { request, data, came, left_bytes, flushes, got, look: None }
    }

    #[test]
    fn chunks_fill_a_read_and_none_goes_beyond_it() {
        let mut pending = read(8);
        let chunk = |offset: u64, rest: &[u8]| [&offset.to_be_bytes()[..], rest].concat();
        let take = |kind, payload: &[u8], pending: &mut PendingRequest| {
            take_chunk(kind, payload, 5, pending)
        };
        assert_eq!(take(1, &chunk(1004, b"abcd"), &mut pending), Ok(()));
        assert_eq!(take(2, &chunk(1000, &4_u32.to_be_bytes()), &mut pending), Ok(()));
        assert_eq!((pending.data.as_slice(), pending.got.bytes), (&b"\0\0\0\0abcd"[..], 8));
        for (offset, length) in [(999, 1), (1008, 1), (1005, 4), (u64::MAX, 2), (0, 0)] {
            let data = vec![1; length];
            assert_eq!(take(1, &chunk(offset, &data), &mut pending), Err(Stray), "{offset}");
        }
        assert_eq!(take(0x8001, b"\0\0\0\x1c\0\0", &mut pending), Ok(()));
        assert_eq!(take(0x8002, b"\0\0\0\x05\0\0", &mut pending), Ok(()));
        assert_eq!(pending.got.error, 28, "the first one");
        assert_eq!(take(5, b"\0\0\0\x05\0\0\0\x09\0\0\0\x03", &mut pending), Err(Stray));
        assert_eq!(take(77, b"", &mut pending), Err(Stray));
        let look = Look { task: 1, from: 0, to: 99, most: 9 };
        let mut pending = PendingRequest { look: Some(look), ..read(0) };
        let status = b"\0\0\0\x05\0\0\0\x09\0\0\0\x03\0\0\0\x01\0\0\0\0";
        assert_eq!(take(5, status, &mut pending), Ok(()));
        // This context was not asked for.
        assert_eq!(take(5, b"\0\0\0\x06\0\0\0\x09\0\0\0\x03", &mut pending), Ok(()));
        assert_eq!(pending.got.extents, [(9, 3), (1, 0)]);
    }

    /// Any bytes are taken or refused, and what is taken is within the read.
    #[test]
    fn no_bytes_panic() {
        let mut random = Random::new(13);
        for _ in 0..20_000 {
            let length = usize::try_from(random.below(40)).unwrap();
            let mut payload: Vec<u8> =
                (0..length).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
            if random.below(2) == 0 && length >= 8 {
                let offset = 990 + random.below(40);
                payload[..8].copy_from_slice(&offset.to_be_bytes());
            }
            let kind = u16::try_from(random.below(8)).unwrap();
            let kind = if random.below(4) == 0 { 0x8000 | kind } else { kind };
            let mut pending = read(16);
            let _ = take_chunk(kind, &payload, 0, &mut pending);
            assert_eq!(pending.data.len(), 16);
        }
    }
}

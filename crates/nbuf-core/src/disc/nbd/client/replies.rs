//! Replies of a backend server: simple ones, and what follows each.

use super::super::wire::{self, Words};
use super::{Client, PendingRequest};
use crate::trace::request::Op;

impl Client {
    pub(super) fn parse(&mut self) {
        while let Some(end) = self.parse_one() {
            self.taken = end;
        }
    }

    /// Takes one reply, or a chunk of one; where it ends.
    fn parse_one(&mut self) -> Option<usize> {
        let mut words = Words(&self.input[self.taken..self.filled]);
        let magic = words.u32()?;
        if magic == wire::CHUNK && self.allocation.is_some() {
            return self.parse_chunk();
        }
        let (error, cookie) = (words.u32()?, words.u64()?);
        let known = self.pending.get(&cookie);
        if magic != wire::SIMPLE_REPLY || known.is_none() {
            self.break_off("the backend server answers what was not asked");
            return None;
        }
        let length = known.map_or(0, |known| {
            if known.request.op == Op::Read && error == 0 { known.data.len() } else { 0 }
        });
        let bytes = words.bytes(length)?;
        let mut pending = self.pending.remove(&cookie)?;
        if length > 0 {
            pending.data.copy_from_slice(bytes);
        }
        let end = self.taken + 16 + length;
        self.answered(pending, error);
        Some(end)
    }

    /// A part was answered: asks for the next one, or completes the request.
    pub(super) fn answered(&mut self, pending: PendingRequest, error: u32) {
        if let Some(look) = pending.look {
            self.looked(look, &pending.got.extents, error);
        } else if error == 0 && pending.left_bytes > 0 {
            self.ask(pending);
        } else if error == 0 && pending.flushes {
            self.ask_flush(pending);
        } else {
            let refusal = || format!("the backend server refuses with error {error}");
            self.answer(pending.request, pending.data, pending.came, (error != 0).then(refusal));
        }
    }
}

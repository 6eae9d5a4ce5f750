//! Replies to requests, as bytes.

use super::export::Context;
use crate::disc::nbd::wire::{self, chunk};

/// How a client wants its replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) is_structured: bool,
}

impl Form {
    /// The bytes before the data of a read.
    pub(super) fn data_header(self, out: &mut Vec<u8>, cookie: u64, offset: u64, length: usize) {
        if self.is_structured {
            let payload = u32::try_from(length + 8).unwrap_or(u32::MAX);
            header(out, chunk::OFFSET_DATA, cookie, payload);
            out.extend_from_slice(&offset.to_be_bytes());
        } else {
            simple(out, 0, cookie);
        }
    }

    /// How many bytes such a header has.
    pub(super) fn data_header_bytes(self) -> usize {
        if self.is_structured { 28 } else { 16 }
    }

    /// A reply without data: done, or an error.
    pub(super) fn plain(self, out: &mut Vec<u8>, cookie: u64, error: u32) {
        if !self.is_structured {
            return simple(out, error, cookie);
        }
        if error == 0 {
            return header(out, chunk::NONE, cookie, 0);
        }
        header(out, chunk::ERROR, cookie, 6);
        out.extend_from_slice(&error.to_be_bytes());
        out.extend_from_slice(&0_u16.to_be_bytes());
    }
}

fn simple(out: &mut Vec<u8>, error: u32, cookie: u64) {
    out.extend_from_slice(&wire::SIMPLE_REPLY.to_be_bytes());
    out.extend_from_slice(&error.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
}

fn header(out: &mut Vec<u8>, kind: u16, cookie: u64, payload_bytes: u32) {
    chunk_header(out, chunk::DONE, kind, cookie, payload_bytes);
}

fn chunk_header(out: &mut Vec<u8>, flags: u16, kind: u16, cookie: u64, payload_bytes: u32) {
    out.extend_from_slice(&wire::CHUNK.to_be_bytes());
    out.extend_from_slice(&flags.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&payload_bytes.to_be_bytes());
}

/// The status of some bytes in one context: extents of a length and a flag each.
pub(super) fn status(
    out: &mut Vec<u8>,
    cookie: u64,
    context: Context,
    extents: &[(u32, u32)],
    is_last: bool,
) {
    let payload = u32::try_from(4 + 8 * extents.len()).unwrap_or(u32::MAX);
    let flags = if is_last { chunk::DONE } else { 0 };
    chunk_header(out, flags, chunk::BLOCK_STATUS, cookie, payload);
    out.extend_from_slice(&context.id().to_be_bytes());
    for (length, flag) in extents {
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&flag.to_be_bytes());
    }
}

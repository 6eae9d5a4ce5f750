//! The handshake of a client.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use super::wire::{self, Words, option, reply};

/// What was agreed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    /// The size of the default export.
    pub(super) size_bytes: u64,
    /// Its flags.
    pub(super) flags: u16,
    /// The number of `base:allocation`, where replies come in chunks.
    pub(super) allocation: Option<u32>,
}

/// Asks for an option.
fn ask(stream: &mut UnixStream, option: u32, payload: &[u8]) -> io::Result<()> {
    let mut out = wire::OPTION.to_be_bytes().to_vec();
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(0).to_be_bytes());
    out.extend_from_slice(payload);
    stream.write_all(&out)
}

/// The next reply to an option: its kind, and what comes with it.
fn answer(stream: &mut UnixStream) -> io::Result<(u32, Vec<u8>)> {
    let mut head = [0; 20];
    stream.read_exact(&mut head)?;
    let mut words = Words(&head);
    let (magic, _, kind) = (words.u64(), words.u32(), words.u32());
    let length = words.u32().unwrap_or(u32::MAX);
    if magic != Some(wire::OPTION_REPLY) || length > 1 << 16 {
        return Err(strange());
    }
    let mut payload = vec![0; usize::try_from(length).unwrap_or(0)];
    stream.read_exact(&mut payload)?;
    Ok((kind.unwrap_or(0), payload))
}

fn strange() -> io::Error {
    io::Error::other("it is no NBD server, or an old one")
}

/// Agrees on replies in chunks, and on what is allocated. Where a server has only one of them it does without.
fn agree_on_allocation(stream: &mut UnixStream) -> io::Result<Option<u32>> {
    const NAME: &[u8] = b"base:allocation";
    ask(stream, option::STRUCTURED_REPLY, &[])?;
    if answer(stream)?.0 != reply::ACK {
        return Ok(None);
    }
    // Of the export without a name, one context.
    let mut payload = [0_u32, 1, 15].map(u32::to_be_bytes).concat();
    payload.extend_from_slice(NAME);
    ask(stream, option::SET_META_CONTEXT, &payload)?;
    let mut found = None;
    loop {
        let (kind, payload) = answer(stream)?;
        let mut words = Words(&payload);
        match kind {
            reply::META_CONTEXT => {
                let id = words.u32();
                found = id.filter(|_| words.0 == NAME).or(found);
            }
            // Chunks are agreed on all the same.
            _ => return Ok(Some(found.unwrap_or(NOTHING))),
        }
    }
}

/// The number of no context.
pub(super) const NOTHING: u32 = u32::MAX;

/// Agrees on the default export.
pub(super) fn handshake(stream: &mut UnixStream) -> io::Result<Agreed> {
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting)?;
    let mut words = Words(&greeting);
    let is_ours = (words.u64(), words.u64()) == (Some(wire::GREETING), Some(wire::OPTION));
    let flags = words.u16().unwrap_or(0);
    if !is_ours || flags & wire::FIXED_NEWSTYLE == 0 {
        return Err(strange());
    }
    let client = u32::from(flags & (wire::FIXED_NEWSTYLE | wire::NO_ZEROES));
    stream.write_all(&client.to_be_bytes())?;
    let allocation = agree_on_allocation(stream)?;
    // No name, and no further information.
    ask(stream, option::GO, &[0; 6])?;
    let mut found = None;
    loop {
        let (kind, payload) = answer(stream)?;
        let mut words = Words(&payload);
        match kind {
            reply::ACK => {
                let (size_bytes, flags) = found.ok_or_else(strange)?;
                return Ok(Agreed { size_bytes, flags, allocation });
            }
            reply::INFO if words.u16() == Some(wire::info::EXPORT) => {
                found = words.u64().zip(words.u16());
            }
            reply::INFO => {}
            _ => return Err(io::Error::other("the server has no default export")),
        }
    }
}

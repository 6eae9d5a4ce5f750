//! The handshake of a client.

use std::io::{self, Read as _, Write as _};

use super::address::Remote;
use super::line::Line;
use super::tls::Trust;
use super::wire::{self, Words, option, reply};

/// What was agreed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    /// The size of the export.
    pub(super) size_bytes: u64,
    /// Its flags.
    pub(super) flags: u16,
    /// The number of `base:allocation`, where replies come in chunks.
    pub(super) allocation: Option<u32>,
}

/// Asks for an option.
fn ask(line: &mut Line, option: u32, payload: &[u8]) -> io::Result<()> {
    let mut out = wire::OPTION.to_be_bytes().to_vec();
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(0).to_be_bytes());
    out.extend_from_slice(payload);
    line.write_all(&out).and_then(|()| line.flush())
}

/// The next reply to an option: its kind, and what comes with it.
fn answer(line: &mut Line) -> io::Result<(u32, Vec<u8>)> {
    let mut head = [0; 20];
    line.read_exact(&mut head)?;
    let mut words = Words(&head);
    let (magic, _, kind) = (words.u64(), words.u32(), words.u32());
    let length = words.u32().unwrap_or(u32::MAX);
    if magic != Some(wire::OPTION_REPLY) || length > 1 << 16 {
        return Err(strange());
    }
    let mut payload = vec![0; usize::try_from(length).unwrap_or(0)];
    line.read_exact(&mut payload)?;
    Ok((kind.unwrap_or(0), payload))
}

fn strange() -> io::Error {
    io::Error::other("it is no NBD server, or an old one")
}

/// Agrees on replies in chunks, and on what is allocated. Where a server has only one of them it does without.
fn agree_on_allocation(line: &mut Line, export: &[u8]) -> io::Result<Option<u32>> {
    const NAME: &[u8] = b"base:allocation";
    ask(line, option::STRUCTURED_REPLY, &[])?;
    if answer(line)?.0 != reply::ACK {
        return Ok(None);
    }
    let mut payload = name(export);
    // One context.
    payload.extend([1_u32, 15].map(u32::to_be_bytes).concat());
    payload.extend_from_slice(NAME);
    ask(line, option::SET_META_CONTEXT, &payload)?;
    let mut found = None;
    loop {
        let (kind, payload) = answer(line)?;
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

/// The name of an export after its length.
fn name(export: &[u8]) -> Vec<u8> {
    let length = u32::try_from(export.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], export].concat()
}

/// Has all that follows sealed. A server that refuses is left at once: nothing else is said in plain.
fn start_tls(line: &mut Line, trust: &Trust, name: &str) -> io::Result<()> {
    ask(line, option::STARTTLS, &[])?;
    let (kind, payload) = answer(line)?;
    if kind != reply::ACK || !payload.is_empty() {
        return Err(io::Error::other("the server has no TLS, and nbuf sends nothing without it"));
    }
    line.secure(trust, name)
}

/// Greets a server, seals the line where that is asked for, and agrees on an export.
pub(super) fn handshake(
    line: &mut Line,
    remote: &Remote,
    trust: Option<&Trust>,
) -> io::Result<Agreed> {
    let mut greeting = [0; 18];
    line.read_exact(&mut greeting)?;
    let mut words = Words(&greeting);
    let is_ours = (words.u64(), words.u64()) == (Some(wire::GREETING), Some(wire::OPTION));
    let flags = words.u16().unwrap_or(0);
    if !is_ours || flags & wire::FIXED_NEWSTYLE == 0 {
        return Err(strange());
    }
    let client = u32::from(flags & (wire::FIXED_NEWSTYLE | wire::NO_ZEROES));
    line.write_all(&client.to_be_bytes())?;
    if let Some(name) = &remote.tls_name {
        let missing = || io::Error::other("no certificates of trusted servers are given");
        start_tls(line, trust.ok_or_else(missing)?, name)?;
    }
    let export = remote.export.as_bytes();
    let allocation = agree_on_allocation(line, export)?;
    // No further information.
    ask(line, option::GO, &[&name(export)[..], &[0; 2]].concat())?;
    let mut found = None;
    loop {
        let (kind, payload) = answer(line)?;
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
            reply::TLS_REQUIRED => {
                return Err(io::Error::other(
                    "the server needs TLS, which an address with nbds has",
                ));
            }
            _ if export.is_empty() => {
                return Err(io::Error::other("the server has no default export"));
            }
            _ => {
                let name = remote.export.escape_default();
                return Err(io::Error::other(format!("the server has no export `{name}`")));
            }
        }
    }
}

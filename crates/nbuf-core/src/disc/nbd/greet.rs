//! The handshake of a client.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use super::wire::{self, Words, option, reply};

/// Agrees on the default export. Its size, and its flags.
pub(super) fn handshake(stream: &mut UnixStream) -> io::Result<(u64, u16)> {
    let strange = || io::Error::other("it is no NBD server, or an old one");
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting)?;
    let mut words = Words(&greeting);
    let is_ours = (words.u64(), words.u64()) == (Some(wire::GREETING), Some(wire::OPTION));
    let flags = words.u16().unwrap_or(0);
    if !is_ours || flags & wire::FIXED_NEWSTYLE == 0 {
        return Err(strange());
    }
    let client = u32::from(flags & (wire::FIXED_NEWSTYLE | wire::NO_ZEROES));
    let mut out = client.to_be_bytes().to_vec();
    out.extend_from_slice(&wire::OPTION.to_be_bytes());
    out.extend_from_slice(&option::GO.to_be_bytes());
    // No name, and no further information.
    out.extend_from_slice(&6_u32.to_be_bytes());
    out.extend_from_slice(&[0; 6]);
    stream.write_all(&out)?;
    let mut found = None;
    loop {
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
        let mut words = Words(&payload);
        match kind {
            Some(reply::ACK) => return found.ok_or_else(strange),
            Some(reply::INFO) if words.u16() == Some(wire::info::EXPORT) => {
                found = words.u64().zip(words.u16());
            }
            Some(reply::INFO) => {}
            _ => return Err(io::Error::other("the server has no default export")),
        }
    }
}

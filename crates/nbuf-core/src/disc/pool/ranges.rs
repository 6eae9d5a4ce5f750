//! Ranges of a file: read behind its end, made zeros, given back to its file system.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};

use crate::trace::request::Request;

/// Reads what the file has, and zeros behind its end.
pub(super) fn read_or_zeros(file: &File, mut data: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !data.is_empty() {
        match file.read_at(data, offset) {
            Ok(0) => {
                data.fill(0);
                return Ok(());
            }
            Ok(length) => {
                data = &mut data[length..];
                offset += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Lets bytes be zeros: by a call of the file system, or else by writing them.
pub(super) fn zero(file: &File, request: &Request) -> io::Result<()> {
    let flags = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
    match fallocate(file, flags, request.offset, request.length_bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => {}
        other => return Ok(other?),
    }
    let zeros = vec![0; 64 << 10];
    let mut at = request.offset;
    let end = request.offset + request.length_bytes;
    while at < end {
        let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(zeros.len());
        file.write_all_at(&zeros[..length], at)?;
        at += length as u64;
    }
    Ok(())
}

/// A hint; where the file system cannot take it, the bytes stay.
pub(super) fn punch(file: &File, request: &Request) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match fallocate(file, flags, request.offset, request.length_bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(()),
        other => Ok(other?),
    }
}

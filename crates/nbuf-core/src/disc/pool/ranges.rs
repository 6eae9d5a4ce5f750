//! Ranges of a file: read behind its end, made zeros, given back to its file system.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};

use crate::sys::block_device;
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

/// The logical block of a device; none for a file.
pub(super) fn block_of(file: &File) -> io::Result<Option<u64>> {
    if block_device::is_device(file)? {
        block_device::block_bytes(file).map(Some)
    } else {
        Ok(None)
    }
}

/// Lets bytes be zeros: by a call of the device or the file system, or else by writing them.
pub(super) fn zero(file: &File, block_bytes: Option<u64>, request: &Request) -> io::Result<()> {
    let (from, to) = (request.offset, request.offset + request.length_bytes);
    if let Some(block_bytes) = block_bytes {
        let Some((inner, outer)) = whole_blocks(from, to, block_bytes) else {
            return write_zeros(file, from, to);
        };
        block_device::zero(file, inner, outer - inner)?;
        write_zeros(file, from, inner)?;
        return write_zeros(file, outer, to);
    }
    let flags = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
    match fallocate(file, flags, request.offset, request.length_bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => write_zeros(file, from, to),
        other => Ok(other?),
    }
}

/// A hint; where the device or the file system cannot take it, the bytes stay.
pub(super) fn punch(file: &File, block_bytes: Option<u64>, request: &Request) -> io::Result<()> {
    let (from, to) = (request.offset, request.offset + request.length_bytes);
    let done = match block_bytes.map(|block_bytes| whole_blocks(from, to, block_bytes)) {
        Some(None) => return Ok(()),
        Some(Some((inner, outer))) => block_device::discard(file, inner, outer - inner),
        None => {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(file, flags, from, to - from).map_err(io::Error::from)
        }
    };
    match done {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(()),
        other => other,
    }
}

/// The whole blocks between two bytes, if there are any.
fn whole_blocks(from: u64, to: u64, block_bytes: u64) -> Option<(u64, u64)> {
    let inner = from.checked_next_multiple_of(block_bytes)?;
    let outer = to / block_bytes * block_bytes;
    (inner < outer).then_some((inner, outer))
}

fn write_zeros(file: &File, from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; 64 << 10];
    let mut at = from;
    while at < to {
        let length = usize::try_from(to - at).unwrap_or(usize::MAX).min(zeros.len());
        file.write_all_at(&zeros[..length], at)?;
        at += length as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks_are_within() {
        assert_eq!(whole_blocks(1, 4096, 4096), None);
        assert_eq!(whole_blocks(0, 4096, 4096), Some((0, 4096)));
        assert_eq!(whole_blocks(511, 2048, 512), Some((512, 2048)));
        assert_eq!(whole_blocks(513, 1535, 512), None);
        assert_eq!(whole_blocks(u64::MAX - 1, u64::MAX, 4096), None);
    }
}

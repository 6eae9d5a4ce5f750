//! A block device: its size, its block, and ranges that it discards or zeroes.
//!
//! Source: `include/uapi/linux/fs.h`, `block/ioctl.c`. Both calls about ranges drop their pages from the page cache.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;

use rustix::ioctl::opcode;

// The kernel numbers some of these without a direction or size.
const BLKROGET: libc::Ioctl = 0x125e;
const BLKSSZGET: libc::Ioctl = 0x1268;
const BLKDISCARD: libc::Ioctl = 0x1277;
const BLKZEROOUT: libc::Ioctl = 0x127f;
const BLKGETSIZE64: libc::Ioctl = opcode::read::<usize>(0x12, 114) as libc::Ioctl;

/// Whether a file is one.
pub(crate) fn is_device(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.file_type().is_block_device())
}

/// Its size now, which can change while it is open.
pub(crate) fn size_bytes(device: &File) -> io::Result<u64> {
    let mut bytes = 0_u64;
    // SAFETY: the kernel writes a `u64`, which outlives the call.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), BLKGETSIZE64, &raw mut bytes) };
    super::check(done.into())?;
    Ok(bytes)
}

/// Its logical block: what it reads and writes is a multiple.
pub(crate) fn block_bytes(device: &File) -> io::Result<u64> {
    Ok(u64::from(number(device, BLKSSZGET)?.unsigned_abs()).max(512))
}

/// Whether it refuses writes. It can be opened to be written all the same.
pub(crate) fn is_read_only(device: &File) -> io::Result<bool> {
    Ok(number(device, BLKROGET)? != 0)
}

fn number(device: &File, call: libc::Ioctl) -> io::Result<libc::c_int> {
    let mut number: libc::c_int = 0;
    // SAFETY: for both calls the kernel writes an `int`, which outlives the call.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), call, &raw mut number) };
    super::check(done.into())?;
    Ok(number)
}

/// Gives whole blocks back to the device, which may keep their bytes.
///
/// # Errors
/// `EOPNOTSUPP` where it takes nothing back; `EINVAL` for parts of blocks.
pub(crate) fn discard(device: &File, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
    range(device, BLKDISCARD, offset_bytes, length_bytes)
}

/// Lets whole blocks be zeros. A device without a command for that gets them written by the kernel.
pub(crate) fn zero(device: &File, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
    range(device, BLKZEROOUT, offset_bytes, length_bytes)
}

fn range(device: &File, call: libc::Ioctl, offset: u64, length: u64) -> io::Result<()> {
    let range = [offset, length];
    // SAFETY: the kernel reads two `u64`, which outlive the call.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), call, range.as_ptr()) };
    super::check(done.into())?;
    Ok(())
}

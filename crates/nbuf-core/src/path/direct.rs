//! Requests that bypass the page cache with `O_DIRECT`: whole sectors, from aligned memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::{AtFlags, OFlags, StatxFlags, fstatfs, statx};

use super::aligned::Aligned;
use super::call::ended;
use super::pattern::{Direction, Operation, Pattern};
use super::steps::{Step, Steps};
use super::{Error, Path, Request, call};
use crate::sys::block_device;
use crate::sys::calls::{pread, pwrite};

/// A file opened with `O_DIRECT`, and the alignment that it requires.
#[derive(Debug)]
pub(super) struct Direct {
    pub(super) file: File,
    /// Offsets and lengths are multiples of this.
    pub(super) unit_bytes: u64,
}

/// `tmpfs` accepts `O_DIRECT` and ignores it, because it has no device behind its cache.
const TMPFS: u64 = 0x0102_1994;
/// The alignment if the kernel reports none: every device accepts whole pages.
const UNIT_BYTES: u64 = 4096;
const WHAT: &str = "O_DIRECT";
const INSTEAD: &str = "put the file on a file system with a disc, or take a path through the cache";

impl Direct {
    /// Opens the file of a request. It also opens it for reading if writes cover only parts of
    /// blocks.
    pub(super) fn open(request: &Request<'_>, reads: bool, flags: OFlags) -> Result<Self, Error> {
        let writes = request.pattern.direction == Direction::Write;
        let flags = (OFlags::DIRECT | flags).bits().cast_signed();
        let mut options = File::options();
        let options = options.read(reads || !writes).write(writes).custom_flags(flags);
        let file = options.open(request.file).map_err(refused)?;
        let unit_bytes = unit_of(&file).map_err(refused)?;
        Ok(Self { file, unit_bytes })
    }

    /// Checks that all operations of a pattern are aligned. A read may end at the end of the file.
    pub(super) fn fits(&self, pattern: &Pattern) -> Result<(), Error> {
        let size = match pattern.direction {
            Direction::Read => 0,
            Direction::Write => pattern.size_bytes,
        };
        let lengths = [
            ("block size", pattern.block_bytes),
            ("stride", pattern.stride_bytes()),
            ("size", size),
        ];
        let unit_bytes = self.unit_bytes;
        match lengths.into_iter().find(|(_, bytes)| bytes % unit_bytes != 0) {
            Some((what, bytes)) => Err(Error::Unaligned { unit_bytes, what, bytes }),
            None => Ok(()),
        }
    }

    /// Rounds a read of `length` bytes up: the last block of a file is read whole, too.
    #[inline]
    pub(super) fn up(&self, length: usize) -> usize {
        length.next_multiple_of(super::pattern::whole(self.unit_bytes))
    }
}

/// The unit of a file that was opened with `O_DIRECT`: places, lengths and memory are multiples of it.
///
/// # Errors
/// `EINVAL` where the file system takes the flag, and goes through its cache.
pub(super) fn unit_of(file: &File) -> io::Result<u64> {
    let unsupported = || io::Error::from_raw_os_error(libc::EINVAL);
    if block_device::is_device(file)? {
        return block_device::block_bytes(file);
    }
    let kind = fstatfs(file)?.f_type;
    if u64::try_from(kind).is_ok_and(|kind| kind == TMPFS) {
        return Err(unsupported());
    }
    let status = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)?;
    let is_told = status.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    match (is_told, status.stx_dio_offset_align) {
        (false, _) => Ok(UNIT_BYTES),
        (true, 0) => Err(unsupported()),
        (true, unit) if status.stx_dio_mem_align <= 4096 => {
            Ok(unit.max(status.stx_dio_mem_align).into())
        }
        (true, _) => Err(unsupported()),
    }
}

fn refused(cause: io::Error) -> Error {
    match cause.raw_os_error() {
        Some(libc::EINVAL | libc::EOPNOTSUPP) => {
            Error::Refused { what: WHAT, cause, instead: INSTEAD }
        }
        _ => cause.into(),
    }
}

/// `pread` and `pwrite` of whole blocks.
pub(super) fn open(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open_with(request, OFlags::empty())
}

/// The same with `O_DSYNC`: a write returns once the device has stored the data.
pub(super) fn open_dsync(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open_with(request, OFlags::DSYNC)
}

fn open_with(request: &Request<'_>, flags: OFlags) -> Result<Box<dyn Path>, Error> {
    let direct = Direct::open(request, false, flags)?;
    direct.fits(&request.pattern)?;
    if request.pattern.direction == Direction::Write {
        return call::writing(request, direct.file, |file, data, at| pwrite(file, data, at));
    }
    let buffer = Aligned::new(direct.up(request.pattern.longest_bytes()));
    Steps::open(request, Reads { direct, buffer })
}

struct Reads {
    direct: Direct,
    buffer: Aligned,
}

impl Step for Reads {
    #[inline]
    fn step(&mut self, Operation { offset_bytes, length_bytes }: Operation) -> io::Result<u8> {
        let wanted = self.direct.up(length_bytes);
        let buffer = &mut self.buffer.bytes_mut()[..wanted];
        let mut done = pread(&self.direct.file, &mut *buffer, offset_bytes)?;
        while done < length_bytes {
            // Continues at an aligned offset, or not at all.
            let at = offset_bytes + done as u64;
            match pread(&self.direct.file, &mut buffer[done..], at)? {
                0 => return Err(ended()),
                more => done += more,
            }
        }
        Ok(buffer[0])
    }
}

//! `read`, `write`, `lseek`, `pread` and `pwrite`: one or two calls an operation. Other paths with
//! one call an operation are built from these parts.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::aligned::Aligned;
use super::data::Data;
use super::pattern::{Direction, Operation};
use super::steps::{Step, Steps};
use super::table::open_file;
use super::{Error, Path, Request};
use crate::sys::calls::{pread, pwrite, read, seek, write};

/// `read` and `write` at the position of the descriptor.
pub(super) fn open_read(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    at_position(request, open_file(request)?)
}

/// The same on a file that the caller has already opened.
pub(super) fn at_position(request: &Request<'_>, file: File) -> Result<Box<dyn Path>, Error> {
    match (request.pattern.direction, request.pattern.seeks()) {
        (Direction::Read, false) => reading(request, file, |file, buffer, _| read(file, buffer)),
        (Direction::Read, true) => reading(request, file, |file, buffer, at| {
            seek(file, at)?;
            read(file, buffer)
        }),
        (Direction::Write, false) => writing(request, file, |file, data, _| write(file, data)),
        (Direction::Write, true) => writing(request, file, |file, data, at| {
            seek(file, at)?;
            write(file, data)
        }),
    }
}

/// `pread` and `pwrite`, which take the offset as an argument.
pub(super) fn open_pread(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let file = open_file(request)?;
    match request.pattern.direction {
        Direction::Read => reading(request, file, |file, buffer, at| pread(file, buffer, at)),
        Direction::Write => writing(request, file, |file, data, at| pwrite(file, data, at)),
    }
}

/// A path around one reading call, which fills the buffer from an offset.
pub(super) fn reading<C>(request: &Request<'_>, file: File, call: C) -> Result<Box<dyn Path>, Error>
where
    C: FnMut(&OwnedFd, &mut [u8], u64) -> Result<usize, Errno> + 'static,
{
    let buffer = Aligned::new(request.pattern.longest_bytes());
    Steps::open(request, Reading { file: file.into(), buffer, call })
}

/// A path around one writing call, which writes the bytes at an offset.
pub(super) fn writing<C>(request: &Request<'_>, file: File, call: C) -> Result<Box<dyn Path>, Error>
where
    C: FnMut(&OwnedFd, &[u8], u64) -> Result<usize, Errno> + 'static,
{
    let data = Data::new(request.pattern.longest_bytes());
    Steps::open(request, Writing { file: file.into(), data, call })
}

struct Reading<C> {
    file: OwnedFd,
    buffer: Aligned,
    call: C,
}

struct Writing<C> {
    file: OwnedFd,
    data: Data,
    call: C,
}

impl<C: FnMut(&OwnedFd, &mut [u8], u64) -> Result<usize, Errno>> Step for Reading<C> {
    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        seek(&self.file, offset_bytes)?;
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "see `Pattern::visit`")]
    #[inline(always)]
    fn step(&mut self, Operation { offset_bytes, length_bytes }: Operation) -> io::Result<u8> {
        let buffer = &mut self.buffer.bytes_mut()[..length_bytes];
        let done = (self.call)(&self.file, buffer, offset_bytes)?;
        if done != length_bytes {
            let call = &mut self.call;
            let file = &self.file;
            rest(buffer, done, |part, done| call(file, part, offset_bytes + done))?;
        }
        Ok(buffer[0])
    }
}

impl<C: FnMut(&OwnedFd, &[u8], u64) -> Result<usize, Errno>> Step for Writing<C> {
    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        seek(&self.file, offset_bytes)?;
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "see `Pattern::visit`")]
    #[inline(always)]
    fn step(&mut self, Operation { offset_bytes, length_bytes }: Operation) -> io::Result<u8> {
        let data = self.data.at(offset_bytes, length_bytes);
        let done = (self.call)(&self.file, data, offset_bytes)?;
        if done != length_bytes {
            let call = &mut self.call;
            let file = &self.file;
            rest_of(data, done, |part, done| call(file, part, offset_bytes + done))?;
        }
        Ok(data[0])
    }
}

/// Reads what a short call left out. On regular files a short read happens only at the end of the
/// file.
#[cold]
pub(super) fn rest(
    buffer: &mut [u8],
    mut done: usize,
    mut read: impl FnMut(&mut [u8], u64) -> Result<usize, Errno>,
) -> io::Result<()> {
    while done < buffer.len() {
        match read(&mut buffer[done..], done as u64)? {
            0 => return Err(ended()),
            more => done += more,
        }
    }
    Ok(())
}

/// Writes what a short call left out, so that the next call returns the cause, such as a full disc.
#[cold]
pub(super) fn rest_of(
    data: &[u8],
    mut done: usize,
    mut write: impl FnMut(&[u8], u64) -> Result<usize, Errno>,
) -> io::Result<()> {
    while done < data.len() {
        match write(&data[done..], done as u64)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            more => done += more,
        }
    }
    Ok(())
}

/// The error if the file was shortened meanwhile.
pub(super) fn ended() -> io::Error {
    let said = "the file ended before its size; it became shorter meanwhile, so run it again";
    io::Error::new(io::ErrorKind::UnexpectedEof, said)
}

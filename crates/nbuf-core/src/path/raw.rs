//! The `syscall` instruction in place, without the C library. The cost of a library call is the
//! difference to `read` and `pread`. Ordinary programs do not reach these rates.

use rustix::fs::{SeekFrom, seek};
use rustix::io::{pread, read};

use super::call::reading;
use super::table::open_file;
use super::{Error, Path, Request};

/// `read` at the position of the descriptor.
pub(super) fn open_read(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let file = open_file(request)?;
    if !request.pattern.seeks() {
        return reading(request, file, |file, buffer, _| read(file, buffer));
    }
    reading(request, file, |file, buffer, at| {
        seek(file, SeekFrom::Start(at))?;
        read(file, buffer)
    })
}

/// `pread`, which takes the offset as an argument.
pub(super) fn open_pread(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    reading(request, open_file(request)?, |file, buffer, at| pread(file, buffer, at))
}

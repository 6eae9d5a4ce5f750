//! Calls with flags: files opened with `O_SYNC` or `O_DSYNC`, and `preadv2` and `pwritev2`.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::pattern::Direction;
use super::{Error, Path, Request, call};
use crate::sys::calls::{preadv2, pwritev2};

/// `O_SYNC`: every write waits until the device has the data and all metadata of the file.
pub(super) fn open_sync(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open_waiting(request, OFlags::SYNC)
}

/// `O_DSYNC`: every write waits until the device has all that a later read needs.
pub(super) fn open_dsync(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open_waiting(request, OFlags::DSYNC)
}

fn open_waiting(request: &Request<'_>, flags: OFlags) -> Result<Box<dyn Path>, Error> {
    let flags = flags.bits().cast_signed();
    let file = File::options().write(true).custom_flags(flags).open(request.file)?;
    call::at_position(request, file)
}

/// No flags: the cost of the longer call alone.
pub(super) fn open_plain(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open(request, 0, "preadv2")
}

/// Reads only pages in memory. It repeats a refused read without the flag, as programs do.
pub(super) fn open_nowait(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let file = usable(request, libc::RWF_NOWAIT, "RWF_NOWAIT")?;
    call::reading(request, file, |file, buffer, at| {
        match preadv2(file, buffer, at, libc::RWF_NOWAIT) {
            Err(Errno::AGAIN) => preadv2(file, buffer, at, 0),
            read => read,
        }
    })
}

/// Goes through the page cache and drops the pages at once.
pub(super) fn open_dontcache(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open(request, libc::RWF_DONTCACHE, "RWF_DONTCACHE")
}

fn open(request: &Request<'_>, flags: i32, what: &'static str) -> Result<Box<dyn Path>, Error> {
    let file = usable(request, flags, what)?;
    match request.pattern.direction {
        Direction::Read => {
            call::reading(request, file, move |file, buffer, at| preadv2(file, buffer, at, flags))
        }
        Direction::Write => {
            call::writing(request, file, move |file, data, at| pwritev2(file, data, at, flags))
        }
    }
}

/// Opens the file and checks that its file system accepts the flags. The check reads past the end,
/// which fills no page.
fn usable(request: &Request<'_>, flags: i32, what: &'static str) -> Result<File, Error> {
    let writes = request.pattern.direction == Direction::Write;
    let file = File::options().read(true).write(writes).open(request.file)?;
    let behind = file.metadata()?.len().next_multiple_of(1 << 20);
    match preadv2(&file, &mut [0], behind, flags) {
        Ok(_) | Err(Errno::AGAIN) => Ok(file),
        Err(cause) => {
            let instead = "take another path, another file system or a newer kernel";
            Err(Error::Refused { what, cause: cause.into(), instead })
        }
    }
}

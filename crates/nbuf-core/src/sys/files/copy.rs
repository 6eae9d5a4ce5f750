//! Copies a directory with everything below it, from descriptor to descriptor. It follows no link
//! and reaches nothing outside, even if another process renames files meanwhile.
//!
//! Times, permissions and `user.` attributes come along, and so do holes, links and hard links; owners
//! where the process may give files away. Set-id bits and file capabilities do not, nor do devices
//! and sockets. A file system of the kernel's that is mounted below is an error.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, SeekFrom, Stat, Timespec, Timestamps,
    Uid, XattrFlags, chownat, fchmod, fgetxattr, flistxattr, fsetxattr, fstat, ftruncate, futimens,
    linkat, mkdirat, mknodat, openat, openat2, readlinkat, seek, symlinkat, utimensat,
};
use rustix::io::{Errno, pread, pwrite};

use super::kind;
use super::perform::reopen;

const BUFFER_BYTES: usize = 1 << 20;
/// What the kernel allows names and values of attributes to have (`XATTR_LIST_MAX`).
const ATTRIBUTE_BYTES_MAX: usize = 64 << 10;
const SET_ID: u32 = 0o6000;

/// Copies everything below `from` to `to`, an empty directory that no other process reaches.
pub(super) fn below(from: impl AsFd, to: impl AsFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let (from, top) = (reopen(from, flags)?, reopen(to, flags)?);
    let mut copy = Copy { top: &top, copied: HashMap::new(), buffer: vec![0; BUFFER_BYTES] };
    copy.directory(from.as_fd(), top.as_fd(), c".")
}

/// A copy under way.
struct Copy<'a> {
    top: &'a OwnedFd,
    /// Where the first copy of a file with several names is, from the top.
    copied: HashMap<(u64, u64), CString>,
    buffer: Vec<u8>,
}

impl Copy<'_> {
    /// All that is in a directory, and what is to be said of itself; `path` leads to it from the top.
    fn directory(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        path: &CStr,
    ) -> io::Result<()> {
        let at = |error: Errno| named(path, &error.into());
        if let Some(name) = kind::made_up_by(from)? {
            let why = format!("a file system of the kernel's ({name}) is mounted there");
            return Err(named(path, &io::Error::other(why)));
        }
        let mut names: Vec<CString> = Vec::new();
        for entry in Dir::read_from(from).map_err(at)? {
            let entry = entry.map_err(at)?;
            let name = entry.file_name();
            if name != c"." && name != c".." {
                names.push(name.to_owned());
            }
        }
        for name in names {
            let path = joined(path, &name);
            self.entry(from, to, &name, &path).map_err(|error| named(&path, &error))?;
        }
        let stat = fstat(from).map_err(at)?;
        finish(from, to, &stat).map_err(|error| named(path, &error))
    }

    fn entry(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        name: &CStr,
        path: &CStr,
    ) -> io::Result<()> {
        let file = match looked_at(from, name) {
            // Gone meanwhile.
            Err(Errno::NOENT) => return Ok(()),
            file => file?,
        };
        let stat = fstat(&file)?;
        let private = Mode::RWXU;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                mkdirat(to, name, private)?;
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let below = openat(to, name, flags, Mode::empty())?;
                let file = reopen(file, OFlags::RDONLY | OFlags::DIRECTORY)?;
                self.directory(file.as_fd(), below.as_fd(), path)
            }
            FileType::RegularFile => self.regular(&file, &stat, to, name, path),
            FileType::Symlink => {
                symlinkat(readlinkat(&file, c"", Vec::new())?, to, name)?;
                // The owner and the times of a link are not important enough to fail for them.
                let _ = chownat(
                    to,
                    name,
                    Some(owner(&stat)),
                    Some(group(&stat)),
                    AtFlags::SYMLINK_NOFOLLOW,
                );
                let _ = utimensat(to, name, &times(&stat), AtFlags::SYMLINK_NOFOLLOW);
                Ok(())
            }
            FileType::Fifo => {
                let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
                Ok(mknodat(to, name, FileType::Fifo, mode, 0)?)
            }
            // A socket without a listener is of no use, and a device is a way around the rights to
            // read.
            _ => Ok(()),
        }
    }

    fn regular(
        &mut self,
        looked_at: &OwnedFd,
        stat: &Stat,
        to: BorrowedFd<'_>,
        name: &CStr,
        path: &CStr,
    ) -> io::Result<()> {
        let key = (stat.st_dev, stat.st_ino);
        if stat.st_nlink > 1 {
            if let Some(first) = self.copied.get(&key) {
                return Ok(linkat(self.top, first, to, name, AtFlags::empty())?);
            }
            self.copied.insert(key, path.to_owned());
        }
        let from = reopen(looked_at, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(to, name, flags, Mode::RUSR | Mode::WUSR)?;
        self.bytes(&from, &file)?;
        finish(from.as_fd(), file.as_fd(), stat)
    }

    /// What is in a file, without its holes.
    fn bytes(&mut self, from: &OwnedFd, to: &OwnedFd) -> io::Result<()> {
        let end = fstat(from)?.st_size.unsigned_abs();
        ftruncate(to, end)?;
        let mut at = 0;
        while at < end {
            let data = match seek(from, SeekFrom::Data(at)) {
                // Nothing but a hole is left.
                Err(Errno::NXIO) => return Ok(()),
                // The file system does not know its holes.
                Err(Errno::INVAL) => at,
                found => found?,
            };
            let hole = seek(from, SeekFrom::Hole(data)).unwrap_or(end).min(end);
            at = self.range(from, to, data, hole)?;
        }
        Ok(())
    }

    fn range(&mut self, from: &OwnedFd, to: &OwnedFd, mut at: u64, end: u64) -> io::Result<u64> {
        while at < end {
            let wanted = usize::try_from(end - at).unwrap_or(BUFFER_BYTES).min(BUFFER_BYTES);
            let got = rustix::io::retry_on_intr(|| pread(from, &mut self.buffer[..wanted], at))?;
            if got == 0 {
                // Cut off meanwhile.
                return Ok(u64::MAX);
            }
            let mut written = 0;
            while written < got {
                let place = at + written as u64;
                let rest = &self.buffer[written..got];
                written += rustix::io::retry_on_intr(|| pwrite(to, rest, place))?;
            }
            at += got as u64;
        }
        Ok(at)
    }
}

/// Opens a name without looking into what it is.
fn looked_at(at: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(at, name, flags, Mode::empty(), within) {
        // With one name without a slash, openat(2) follows nothing either.
        Err(Errno::NOSYS | Errno::PERM) => openat(at, name, flags, Mode::empty()),
        opened => opened,
    }
}

/// Attributes, owner, permissions and times, the last last.
fn finish(from: BorrowedFd<'_>, to: BorrowedFd<'_>, stat: &Stat) -> io::Result<()> {
    attributes(from, to);
    // Who may not give files away keeps them.
    let _ = rustix::fs::fchown(to, Some(owner(stat)), Some(group(stat)));
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let lost = if is_directory { 0 } else { SET_ID };
    fchmod(to, Mode::from_raw_mode(stat.st_mode & 0o7777 & !lost))?;
    Ok(futimens(to, &times(stat))?)
}

/// What users say about files. Not every file system keeps it, and it is no part of what is measured.
fn attributes(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
    let mut names = vec![0u8; ATTRIBUTE_BYTES_MAX];
    let Ok(count) = flistxattr(from, &mut names[..]) else { return };
    for name in names[..count].split(|&byte| byte == 0).filter(|name| name.starts_with(b"user.")) {
        let mut value = vec![0u8; ATTRIBUTE_BYTES_MAX];
        if let Ok(count) = fgetxattr(from, name, &mut value[..]) {
            let _ = fsetxattr(to, name, &value[..count], XattrFlags::empty());
        }
    }
}

fn owner(stat: &Stat) -> Uid {
    Uid::from_raw(stat.st_uid)
}

fn group(stat: &Stat) -> Gid {
    Gid::from_raw(stat.st_gid)
}

fn times(stat: &Stat) -> Timestamps {
    let time = |seconds, nanoseconds: u64| Timespec {
        tv_sec: seconds,
        tv_nsec: i64::try_from(nanoseconds).unwrap_or(0),
    };
    Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    }
}

fn joined(path: &CStr, name: &CStr) -> CString {
    let bytes = [path.to_bytes(), b"/", name.to_bytes()].concat();
    CString::new(bytes).unwrap_or_default()
}

/// The error with the path before it, unless one stands there already.
fn named(path: &CStr, error: &io::Error) -> io::Error {
    if error.raw_os_error().is_none() && error.to_string().starts_with("./") {
        return io::Error::new(error.kind(), error.to_string());
    }
    io::Error::new(error.kind(), format!("{}: {error}", path.to_string_lossy()))
}

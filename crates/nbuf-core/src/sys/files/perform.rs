//! The calls themselves, with the rights of the process that makes them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, accessat, fstat, linkat,
    mkdirat, openat, openat2, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use super::message::{Kind, Request};
use super::{copy, kind};

/// Makes a call; the descriptors are those that its kind takes.
pub(super) fn perform(request: &Request, with: &[BorrowedFd<'_>]) -> io::Result<Option<OwnedFd>> {
    let Some(&at) = with.first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let second = with.get(1).copied().unwrap_or(at);
    let Request { kind, first, second: to, flags, mode, flag } = request;
    match kind {
        Kind::Open => open(at, first, *flags, *mode).map(Some),
        Kind::Regular => kind::regular(at, first).map(Some),
        Kind::Reopen => reopen(at, *flags).map(Some),
        Kind::Link => {
            let name = format!("/proc/self/fd/{}", at.as_raw_fd());
            Ok(linkat(CWD, name, second, first, AtFlags::SYMLINK_FOLLOW).map(|()| None)?)
        }
        Kind::Rename if *flag => Ok(renameat(at, first, at, to).map(|()| None)?),
        Kind::Rename => match renameat_with(at, first, at, to, RenameFlags::NOREPLACE) {
            // File systems that cannot rename so can link.
            Err(Errno::INVAL | Errno::NOSYS) => {
                linkat(at, first, at, to, AtFlags::empty())?;
                Ok(unlinkat(at, first, AtFlags::empty()).map(|()| None)?)
            }
            renamed => Ok(renamed.map(|()| None)?),
        },
        Kind::Unlink => {
            let kind = if *flag { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            Ok(unlinkat(at, first, kind).map(|()| None)?)
        }
        Kind::MakeDirectory => Ok(mkdirat(at, first, *mode).map(|()| None)?),
        Kind::Rule => rule(at).map(|()| None),
        Kind::Copy => copy::below(at, second).map(|()| None),
    }
}

/// Opens, and never gets a terminal for it.
fn open(
    at: BorrowedFd<'_>,
    name: &std::ffi::OsStr,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
    // Flags that make no sense together with O_PATH are an error to openat2(2).
    let flags = if flags.contains(OFlags::PATH) { flags - OFlags::NOCTTY } else { flags };
    match openat2(at, name, flags, mode, ResolveFlags::empty()) {
        // Kernels before 5.6, and filters of system calls.
        Err(Errno::NOSYS | Errno::PERM) => Ok(openat(at, name, flags, mode)?),
        opened => Ok(opened?),
    }
}

/// Opens the file behind a descriptor again.
pub(super) fn reopen(file: impl AsFd, flags: OFlags) -> io::Result<OwnedFd> {
    let name = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    Ok(openat(CWD, name, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())?)
}

/// As for a mount by an ordinary user (`fusermount`): he may write, and where only owners may remove, he
/// is the owner.
fn rule(directory: BorrowedFd<'_>) -> io::Result<()> {
    let name = format!("/proc/self/fd/{}", directory.as_raw_fd());
    accessat(CWD, name, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
    let stat = fstat(directory)?;
    let us = rustix::process::geteuid();
    let is_sticky = stat.st_mode & 0o1000 != 0;
    if is_sticky && !us.is_root() && stat.st_uid != us.as_raw() {
        return Err(Errno::ACCESS.into());
    }
    Ok(())
}

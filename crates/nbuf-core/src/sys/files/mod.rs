//! Calls about files that the caller names, made with the caller's rights.
//!
//! Under `sudo` a process that has given up root for good, the broker, makes them and passes
//! descriptors; everybody else makes them here. Every other module that touches a file of the caller's
//! calls these functions, so that there is no second way. Invariant: once there is a broker, no call
//! here falls back to root's rights, not even when the broker is gone.
//!
//! Cost: two messages a call. Not for files of the kernel's (`/proc`, `/sys`),
//! which are no file of anyone's.

mod broker;
mod copy;
mod kind;
mod message;
mod own;
mod perform;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

use broker::Broker;
pub(crate) use kind::made_up_by;
use message::{Kind, Request};
pub(crate) use own::{descriptor, duplicate};

use super::supervise::Identity;

/// The broker, once there is one.
static BROKER: OnceLock<Broker> = OnceLock::new();

/// Starts the broker: from now on this process asks it. To be called once, before a thread is started,
/// by root.
///
/// # Errors
/// Those of a fork, and of giving up root; nothing may be run then.
pub(crate) fn as_sudo_user(identity: &Identity) -> io::Result<()> {
    let broker = Broker::start(identity)?;
    BROKER.set(broker).map_err(|_| io::Error::other("there is a broker already"))
}

/// Opens a directory, to work below it: links in its path are followed.
pub(crate) fn directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    opened(&request(Kind::Open, path).flags(flags), &[here()?.as_fd()])
}

/// Opens what has this name relative to a directory.
pub(crate) fn open(at: impl AsFd, name: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    opened(&request(Kind::Open, name).flags(flags).mode(mode), &[at.as_fd()])
}

/// Opens what has this path, from the current directory.
pub(crate) fn open_path(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    open(here()?, path, flags, Mode::empty())
}

/// Opens a regular file to be read, without side effects: it is looked at before it is really opened, so
/// that no device is disturbed and no pipe waited for. Files that the kernel makes up are refused.
///
/// # Errors
/// `InvalidInput` for what is no regular file on a real file system.
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    opened(&request(Kind::Regular, path), &[here()?.as_fd()]).map(File::from)
}

/// Whether a path leads to this file now, perhaps through links.
pub(crate) fn leads_to(path: &Path, file: &File) -> io::Result<bool> {
    let now = match open_path(path, OFlags::PATH | OFlags::CLOEXEC) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    let (now, ours) = (rustix::fs::fstat(now)?, rustix::fs::fstat(file)?);
    Ok((now.st_dev, now.st_ino) == (ours.st_dev, ours.st_ino))
}

/// Opens the file behind a descriptor once more, with a position of its own.
pub(crate) fn reopen(file: impl AsFd, flags: OFlags) -> io::Result<OwnedFd> {
    opened(&request(Kind::Reopen, Path::new("")).flags(flags), &[file.as_fd()])
}

/// Gives a file without a name this one; fails if something has it.
pub(crate) fn link(file: impl AsFd, directory: impl AsFd, name: &OsStr) -> io::Result<()> {
    ask(&request(Kind::Link, Path::new(name)), &[file.as_fd(), directory.as_fd()]).map(drop)
}

/// Renames within a directory. With `replace`, what has the new name goes; otherwise it stays and the call
/// fails.
pub(crate) fn rename(
    directory: impl AsFd,
    from: &OsStr,
    to: &OsStr,
    replace: bool,
) -> io::Result<()> {
    let request = request(Kind::Rename, Path::new(from)).second(to).flag(replace);
    ask(&request, &[directory.as_fd()]).map(drop)
}

/// Removes a name.
pub(crate) fn unlink(directory: impl AsFd, name: &OsStr) -> io::Result<()> {
    ask(&request(Kind::Unlink, Path::new(name)), &[directory.as_fd()]).map(drop)
}

/// Makes a directory.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    let mode = Mode::from_raw_mode(0o700);
    ask(&request(Kind::MakeDirectory, path).mode(mode), &[here()?.as_fd()]).map(drop)
}

/// Removes a directory, which must be empty.
pub(crate) fn remove_directory(path: &Path) -> io::Result<()> {
    ask(&request(Kind::Unlink, path).flag(true), &[here()?.as_fd()]).map(drop)
}

/// Makes a directory and those above it; the caller owns what is made.
pub(crate) fn make_directories(path: &Path) -> io::Result<()> {
    if directory(path).is_ok() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_directories(parent)?;
    }
    match make_directory(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Checks that the caller may make and remove names in a directory at will. The caller must have
/// the right to write, and own it where only owners may remove (`/tmp`). Such a caller may change
/// everything below the directory.
pub(crate) fn may_rule(directory: impl AsFd) -> io::Result<()> {
    ask(&request(Kind::Rule, Path::new("")), &[directory.as_fd()]).map(drop)
}

/// Copies all that is below one directory to another, an empty one, with all but
/// what gives rights: no set-id bits, file capabilities and devices.
pub(crate) fn copy_below(from: impl AsFd, to: impl AsFd) -> io::Result<()> {
    ask(&request(Kind::Copy, Path::new("")), &[from.as_fd(), to.as_fd()]).map(drop)
}

/// A path as a directory that is kept open, and a name in it.
#[derive(Debug)]
pub(crate) struct Place {
    directory: OwnedFd,
    name: std::ffi::OsString,
    path: PathBuf,
}

impl Place {
    /// Resolves the path as far as its directory.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let no_file = || io::Error::from(io::ErrorKind::InvalidInput);
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return Err(no_file());
        }
        let name = path.file_name().ok_or_else(no_file)?.to_owned();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory(parent.unwrap_or(Path::new(".")))?;
        Ok(Self { directory, name, path: path.to_owned() })
    }

    /// The same place once more.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        self.beside("")
    }

    /// The directory.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// The name in it.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// The path as it was given, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The same directory, and the name with this behind it.
    pub(crate) fn beside(&self, suffix: &str) -> io::Result<Self> {
        let with = |text: &OsStr| {
            let mut text = text.to_owned();
            text.push(suffix);
            text
        };
        let directory = self.directory.try_clone()?;
        Ok(Self { directory, name: with(&self.name), path: with(self.path.as_os_str()).into() })
    }

    /// Whether something has the name, be it a dangling link.
    pub(crate) fn is_taken(&self) -> io::Result<bool> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        match open(&self.directory, Path::new(&self.name), flags, Mode::empty()) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the name, if it still leads to this file.
    pub(crate) fn remove(&self, file: &File) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let now = open(&self.directory, Path::new(&self.name), flags, Mode::empty())?;
        let (now, ours) = (rustix::fs::fstat(now)?, rustix::fs::fstat(file)?);
        if (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino) {
            return Err(io::Error::other("another file has its name now"));
        }
        unlink(&self.directory, &self.name)
    }
}

/// The current directory of this process, which the broker need not share.
fn here() -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(CWD, ".", flags, Mode::empty(), ResolveFlags::empty())
        .or_else(|_| rustix::fs::openat(CWD, ".", flags, Mode::empty()))?)
}

fn request(kind: Kind, path: &Path) -> Request {
    Request::new(kind, path.as_os_str())
}

fn opened(request: &Request, with: &[BorrowedFd<'_>]) -> io::Result<OwnedFd> {
    ask(request, with)?.ok_or_else(|| io::Error::other("no descriptor came back"))
}

fn ask(request: &Request, with: &[BorrowedFd<'_>]) -> io::Result<Option<OwnedFd>> {
    match BROKER.get() {
        Some(broker) => broker.ask(request, with),
        None => perform::perform(request, with),
    }
}

#[cfg(test)]
mod tests;

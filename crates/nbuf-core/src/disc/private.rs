//! A private disc: a directory copied to a file system in a file without a name. It is mounted over
//! the directory, and only this process and its children see the mount.
//!
//! Its readahead can be set and its rate limited without touching the machine's disc. It has no
//! name outside: mount and loop device go with the last process that sees them, the file with the
//! loop device. It needs root and `mkfs.ext4`. Writes to the directory are lost at the end, on
//! purpose.
//!
//! Invariant: the sudo user opens the directory once, and every step uses that descriptor. The image
//! is made there and copied with the caller's rights, and the mount goes onto it. So a process that
//! swaps names meanwhile changes nothing here.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount,
};

use crate::sys::files;
use crate::sys::loop_device::LoopDevice;
use crate::sys::programs;
use crate::sys::supervise::Identity;
use crate::units::Bytes;

/// The reason why there is no private disc.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory cannot be opened.
    #[error("cannot use {}: {source}; give --data a directory", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The user has no rights to the directory.
    #[error(
        "cannot put a disc over {}: {source}; give --data a directory where you may write, or add \
         --as-root",
        .path.display()
    )]
    NotYours {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no private mount namespace.
    #[error("cannot make a mount that only the command sees: {0}; run as root to use --loop")]
    Namespace(io::Error),
    /// The image, a file without a name, cannot be created.
    #[error("cannot make a file of {size} in {}: {source}; --loop needs room there, and a file system with O_TMPFILE", .path.display())]
    Image {
        /// The folder for it.
        path: PathBuf,
        /// Its size.
        size: Bytes,
        /// The cause.
        source: io::Error,
    },
    /// `mkfs` failed, with this message.
    #[error("cannot format the private disc: mkfs.ext4: {0}; give --loop more room")]
    Format(String),
    /// The kernel refused the mount.
    #[error("cannot mount the private disc: {0}; --loop needs root and the kernel's loop devices")]
    Mount(io::Error),
    /// A part of the directory could not be copied.
    #[error("cannot copy {}: {source}; give --loop more room, or make it readable to you", .path.display())]
    Copy {
        /// The directory.
        path: PathBuf,
        /// The file, and the cause.
        source: io::Error,
    },
    /// The name does not lead to the new mount.
    #[error("{} still leads to the machine's own disc; give another --data", .0.display())]
    Beside(PathBuf),
    /// The kernel refused to set the readahead.
    #[error("cannot set the readahead of the private disc: {0}; run again without --loop")]
    Readahead(io::Error),
}

/// Puts `directory` onto a private disc of this size, with this readahead window. With a `sudo_user`,
/// the disc belongs to that user, gives no rights and holds no devices. Call it in a private mount
/// namespace ([`crate::sys::namespace`]) that the broker shares.
pub(crate) fn enter(
    directory: &Path,
    size: Bytes,
    readahead: Bytes,
    sudo_user: Option<&Identity>,
) -> Result<(), Error> {
    let wrong = |source| Error::Directory { path: directory.to_owned(), source };
    let below = files::directory(directory).map_err(wrong)?;
    let here = std::env::current_dir().map_err(wrong)?;
    let place = path_of(&below).map_err(wrong)?;
    if place == Path::new("/") {
        // A mount over the root is below it, so its name would still lead to the machine's disc.
        return Err(wrong(io::Error::other("it is the root directory")));
    }
    let ruled = files::may_rule(&below);
    ruled.map_err(|source| Error::NotYours { path: directory.to_owned(), source })?;
    let image = image(directory, &below, size)?;
    format(&image, &below, sudo_user)?;
    let device = LoopDevice::over(&image).map_err(Error::Mount)?;
    device.set_readahead(readahead).map_err(Error::Readahead)?;
    let disc = mounted(&device, sudo_user.is_some()).map_err(Error::Mount)?;
    let copied = fill(&below, &disc);
    copied.map_err(|source| Error::Copy { path: directory.to_owned(), source })?;
    let whole = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(&disc, c"", &below, c"", whole).map_err(|error| Error::Mount(error.into()))?;
    if here.starts_with(&place) {
        // The name leads to the new disc now; this process is still in the old directory.
        let inside = files::directory(&here).map_err(wrong)?;
        rustix::process::fchdir(inside).map_err(|error| wrong(error.into()))?;
    }
    let seen = files::directory(directory).and_then(|now| Ok(fstat(now)?.st_dev));
    let made = fstat(&disc).map_err(|error| wrong(error.into()))?.st_dev;
    if seen.ok() == Some(made) { Ok(()) } else { Err(Error::Beside(directory.to_owned())) }
}

/// The path of an open directory.
fn path_of(directory: &OwnedFd) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()))
}

/// Creates a file without a name in the folder of the data, and so on the same disc.
fn image(path: &Path, directory: &OwnedFd, size: Bytes) -> Result<File, Error> {
    let make = || {
        let (flags, mode) = (OFlags::RDWR | OFlags::TMPFILE, Mode::RUSR | Mode::WUSR);
        let file: File = files::open(directory, Path::new("."), flags, mode)?.into();
        file.set_len(size.0)?;
        Ok(file)
    };
    make().map_err(|source| Error::Image { path: path.to_owned(), size, source })
}

/// Makes a file system in the image. Its top belongs to the user who copies: the sudo user, or the
/// directory's owner, to whom root gives it.
fn format(image: &File, directory: &OwnedFd, sudo_user: Option<&Identity>) -> Result<(), Error> {
    let failed = |error: io::Error| Error::Format(error.to_string());
    let missing = "it is not there; install e2fsprogs".to_owned();
    let program = programs::find("mkfs.ext4").ok_or(Error::Format(missing))?;
    let stat = fstat(directory).map_err(|error| failed(error.into()))?;
    let (uid, gid) = sudo_user.map_or((stat.st_uid, stat.st_gid), |user| (user.uid, user.gid));
    let extended = format!("nodiscard,lazy_itable_init=0,root_owner={uid}:{gid}");
    let mut command = programs::command(&program);
    command.args(["-q", "-F", "-b", "4096", "-m", "0", "-E", &extended, "/proc/self/fd/0"]);
    // Its standard input is the image, which has no other name.
    let output = command.stdin(Stdio::from(image.try_clone().map_err(failed)?)).output();
    let output = output.map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
    Err(Error::Format(first.strip_prefix("mkfs.ext4: ").unwrap_or(first).to_owned()))
}

/// Mounts the file system of a device, without attaching it to a folder yet.
fn mounted(device: &LoopDevice, is_for_sudo_user: bool) -> io::Result<OwnedFd> {
    let context = fsopen(c"ext4", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), c"source", device.path().as_os_str())?;
    fsconfig_create(context.as_fd())?;
    let mut attributes = MountAttrFlags::empty();
    if is_for_sudo_user {
        attributes |= MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    }
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Copies the directory, and writes it to the disc.
fn fill(from: &OwnedFd, disc: &OwnedFd) -> io::Result<()> {
    let _ = unlinkat(disc, c"lost+found", AtFlags::REMOVEDIR);
    files::copy_below(from, disc)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = openat(disc.as_fd(), c".", flags, Mode::empty())?;
    Ok(rustix::fs::syncfs(top)?)
}

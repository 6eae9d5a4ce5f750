//! By what a file is known to the kernel: its device and its inode, and the mount it was opened through.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::{Stat, fstat};

use super::mounts::{device_number, device_of_mount};
use super::writes::FdInfo;

/// A device and an inode on it.
pub type Key = (u32, u64);

/// The device of the mount that an open file was found through.
pub(super) fn superblock(file: BorrowedFd<'_>) -> Option<u32> {
    device_of_mount(mount_of(file)?)
}

/// The number of that mount.
pub(super) fn mount_of(file: BorrowedFd<'_>) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    Some(FdInfo::parse(&text)?.mount)
}

pub(super) fn key_of(stat: &Stat) -> Key {
    let device = stat.st_dev;
    (device_number(rustix::fs::major(device), rustix::fs::minor(device)), stat.st_ino)
}

/// The device and inode of a file, in the kernel's own form.
pub fn key_of_file(file: &File) -> io::Result<Key> {
    Ok(key_of(&fstat(file)?))
}

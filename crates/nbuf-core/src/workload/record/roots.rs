//! From a file handle to the file: how large it is now, and which path leads there.
//!
//! A handle is opened through some mount of its file system. Invariant: a mount is open while files
//! are looked at, and no longer, so that it can be unmounted all the rest of the time; and what is
//! found at a mount's path is looked at before it is opened, for others may have changed the path.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Statx, StatxFlags, statx};

use super::key::superblock;
use super::mounts::{self, Mount, device_number};
use crate::sys::handle::FileHandle;
use crate::sys::process::monotonic_ns;

const DELETED: &[u8] = b" (deleted)";

/// Mounts that are open for as long as this lives.
#[derive(Debug)]
pub(super) struct Roots<'a> {
    mounts: &'a [Mount],
    open: HashMap<u32, Option<(OwnedFd, Mount)>>,
    /// Directories that were found.
    directories: HashMap<(u32, FileHandle), Option<Vec<u8>>>,
    /// `/proc/self/fd`, so that it is walked to once and not for every file.
    descriptors: Option<OwnedFd>,
}

/// What a look at a file showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// `CLOCK_MONOTONIC`, right before the look: others may change the file without end.
    pub(super) time_ns: u64,
    /// Its inode and its size; nothing if it is no more.
    pub(super) file: Option<(u64, u64)>,
    /// When it was made, since 1970. Not every file system says.
    pub(super) born: Option<Duration>,
    /// The path that leads to it, or led.
    pub(super) path: Option<Vec<u8>>,
}

/// What is mounted at `point`, open as by `O_PATH`, if that is on `device`.
pub(super) fn place(point: &Path, device: u32) -> Option<OwnedFd> {
    let place = rustix::fs::open(point, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    (superblock_of(&place) == Some(device)).then_some(place)
}

/// The device of the mount that a file is open through, as tracepoints print it. A mount of another
/// name space is not listed here: then the device of its files, which is the same except on btrfs.
pub(super) fn superblock_of(file: &impl AsFd) -> Option<u32> {
    superblock(file.as_fd()).or_else(|| {
        let stat = examine(file.as_fd())?;
        Some(device_number(stat.stx_dev_major, stat.stx_dev_minor))
    })
}

impl<'a> Roots<'a> {
    /// Those of these mounts, none of which is open yet.
    pub(super) fn of(mounts: &'a [Mount]) -> Self {
        let (open, directories) = (HashMap::new(), HashMap::new());
        Self { mounts, open, directories, descriptors: None }
    }

    /// Whether the device has an ext file system, whose handles can be made by hand.
    pub(super) fn is_ext(&self, device: u32) -> bool {
        let is_it = |mount: &Mount| mount.device == device && mount.filesystem.starts_with("ext");
        self.mounts.iter().any(is_it)
    }

    /// Looks at a file by its handle. A file that is gone still has the name by which it was opened.
    pub(super) fn look(
        &mut self,
        device: u32,
        file: &FileHandle,
        place: Option<&(FileHandle, Box<[u8]>)>,
        wants_path: bool,
    ) -> Option<Look> {
        let time_ns = monotonic_ns();
        let Ok(opened) = self.open(device, file) else {
            let mut path = place.filter(|_| wants_path).and_then(|of| self.path_in(device, of))?;
            path.extend(DELETED);
            return Some(Look { time_ns, file: None, born: None, path: Some(path) });
        };
        let (mut look, links) = examined(&opened, time_ns)?;
        if wants_path {
            look.path = self.named(device, &opened, place, links);
        }
        Some(look)
    }

    /// Looks at an open file.
    pub(super) fn look_at(&mut self, file: &OwnedFd) -> Option<Look> {
        let (mut look, _) = examined(file, monotonic_ns())?;
        look.path = self.path_of(file).filter(|path| path.len() > 1);
        Some(look)
    }

    /// The path of a file that is open by its handle.
    ///
    /// If the file has several links, the kernel takes any. If it was renamed, the name that it was
    /// opened by is an old one.
    fn named(
        &mut self,
        device: u32,
        file: &OwnedFd,
        place: Option<&(FileHandle, Box<[u8]>)>,
        links: u32,
    ) -> Option<Vec<u8>> {
        // An inode whose directory entry is not in memory opens, but its path reads "/".
        let path = self.path_of(file).filter(|path| path.len() > 1);
        let path = path.and_then(|path| self.here(device, path));
        let Some(of) = place else { return path };
        let is_it = |path: &Vec<u8>| {
            path.rsplit(|&byte| byte == b'/').next().is_some_and(|name| name == &*of.1)
        };
        if path.as_ref().is_some_and(|path| links == 1 || (links == 0 || is_it(path))) {
            return path;
        }
        self.path_in(device, of).or(path)
    }

    /// The path of a name in a directory.
    fn path_in(&mut self, device: u32, of: &(FileHandle, Box<[u8]>)) -> Option<Vec<u8>> {
        let known = (device, of.0.clone());
        if !self.directories.contains_key(&known) {
            let directory = self.open(device, &of.0).ok();
            let path = directory.and_then(|directory| self.path_of(&directory));
            let path = path.and_then(|path| self.here(device, path));
            self.directories.insert(known.clone(), path);
        }
        let mut path = self.directories.get(&known)?.clone()?;
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend(&of.1);
        Some(path)
    }

    /// A path as the kernel gives it begins at the mount that the file was opened through; of what
    /// is outside the directory that is mounted there, at the root of the file system.
    fn here(&self, device: u32, path: Vec<u8>) -> Option<Vec<u8>> {
        let (_, mount) = self.open.get(&device)?.as_ref()?;
        let whole = Path::new(OsStr::from_bytes(&path));
        if mount.root == Path::new("/") || whole.starts_with(&mount.point) {
            return Some(path);
        }
        mounts::all().iter().filter(|mount| mount.device == device).find_map(|mount| {
            let rest = whole.strip_prefix(&mount.root).ok()?;
            Some(mount.point.join(rest).into_os_string().into_encoded_bytes())
        })
    }

    /// Opens a file by its handle, as by `O_PATH`.
    fn open(&mut self, device: u32, handle: &FileHandle) -> io::Result<OwnedFd> {
        let mounts = self.mounts;
        let root = self.open.entry(device).or_insert_with(|| open_root(mounts, device));
        let (root, _) = root.as_ref().ok_or(io::ErrorKind::NotFound)?;
        handle.open(root.as_fd())
    }

    fn path_of(&mut self, file: &OwnedFd) -> Option<Vec<u8>> {
        if self.descriptors.is_none() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.descriptors = rustix::fs::open("/proc/self/fd", flags, Mode::empty()).ok();
        }
        let number = file.as_raw_fd().to_string();
        let path = rustix::fs::readlinkat(self.descriptors.as_ref()?, number, Vec::new()).ok()?;
        Some(path.into_bytes())
    }
}

/// Something open on a device, to open handles by, and through which mount.
fn open_root(mounts: &[Mount], device: u32) -> Option<(OwnedFd, Mount)> {
    let open = |mount: &Mount| {
        let place = place(&mount.point, device)?;
        // What blocks, or does something as it is opened, is no file.
        let kind = FileType::from_raw_mode(examine(place.as_fd())?.stx_mode.into());
        if !matches!(kind, FileType::Directory | FileType::RegularFile) {
            return None;
        }
        let path = format!("/proc/self/fd/{}", place.as_raw_fd());
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        Some((root, mount.clone()))
    };
    let is_whole = |mount: &&Mount| mount.root == Path::new("/");
    let known = mounts.iter().filter(|mount| mount.device == device);
    known.clone().filter(is_whole).find_map(open).or_else(|| {
        let mut all = mounts::all();
        all.retain(|mount| mount.device == device);
        all.sort_by_key(|mount| mount.root.as_os_str().len());
        all.iter().find_map(open).or_else(|| known.clone().find_map(open))
    })
}

/// What a regular file is, and how many links it has.
fn examined(file: &OwnedFd, time_ns: u64) -> Option<(Look, u32)> {
    let stat = examine(file.as_fd())?;
    if FileType::from_raw_mode(stat.stx_mode.into()) != FileType::RegularFile {
        return None;
    }
    let (seconds, has) = (u64::try_from(stat.stx_btime.tv_sec).ok(), StatxFlags::BTIME.bits());
    let born = seconds.filter(|_| stat.stx_mask & has != 0);
    let born = born.map(|seconds| Duration::new(seconds, stat.stx_btime.tv_nsec));
    let file = Some((stat.stx_ino, stat.stx_size));
    Some((Look { time_ns, file, born, path: None }, stat.stx_nlink))
}

fn examine(file: BorrowedFd<'_>) -> Option<Statx> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    statx(file, "", flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME).ok()
}

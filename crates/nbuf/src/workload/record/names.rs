//! Which path an inode goes by, and how large its file is: heard from fanotify while the command
//! runs, looked up by inode afterwards, never guessed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, statx};

use super::key::{key_of, mount_of, superblock};
use super::log::FileSeen;
use super::mounted::Mounted;
use super::mounts::{Mount, backed};
use super::overlay::Overlays;
use crate::clock;
use crate::sys::fanotify::Listener;
use crate::sys::handle::open_ext_inode;
use crate::sys::process::monotonic_ns;

pub use super::key::{Key, key_of_file};

/// The names heard so far.
#[derive(Debug)]
pub struct Names {
    listener: Option<Listener>,
    mounted: Mounted,
    seen: Seen,
    overflowed: bool,
    /// When we began to listen.
    began: Began,
}

/// A moment, by the clock of the tracepoints and by that of the file systems.
#[derive(Clone, Copy, Debug)]
struct Began {
    monotonic_ns: u64,
    since_1970: Duration,
}

/// What is known of the files.
#[derive(Debug, Default)]
struct Seen {
    /// Size and path.
    files: HashMap<Key, (u64, Vec<u8>)>,
    /// What tracepoints call a device that `stat` calls this.
    devices: HashMap<u32, u32>,
    /// `/proc/self/fd`, so that it is walked to once and not for every file.
    descriptors: Option<OwnedFd>,
    overlays: Overlays,
}

impl Names {
    /// Starts to listen on every mounted file system that has files behind it.
    ///
    /// Without permission to listen, names are looked up afterwards as far as that goes.
    pub fn listen() -> Self {
        let mounted = Mounted::here();
        let mounts = mounted.backed();
        let listener = Listener::new().ok();
        for mount in mounts {
            if let Some(listener) = &listener {
                // One file system that cannot be watched is no reason to miss the others.
                let _ = listener.hear(&mount.point);
            }
        }
        let devices = mounts.iter().map(|mount| (mount.device, mount.device)).collect();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptors = rustix::fs::open("/proc/self/fd", flags, Mode::empty()).ok();
        let seen =
            Seen { files: HashMap::new(), devices, descriptors, overlays: Overlays::mounted() };
        let since_1970 = clock::unix_time().unwrap_or(Duration::MAX);
        let began = Began { monotonic_ns: monotonic_ns(), since_1970 };
        Self { listener, mounted, seen, overflowed: false, began }
    }

    /// What to wait for.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.listener.as_ref().map(|listener| listener.descriptor().as_fd())
    }

    /// Whether the kernel's queue overflowed, so that names are missing.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Whether this may be a file on a mounted file system.
    pub fn may_be_file(&self, key: Key) -> bool {
        self.mounted.may_be_file(key)
    }

    /// A task came upon a device that may have been mounted since. It is not listened to: what is
    /// heard and not yet taken keeps a file system from being unmounted, and who mounts it meanwhile
    /// will do that. Its files have names if it is still there in the end.
    pub fn meet(&mut self, device: u32, task: u32) {
        if self.mounted.meet(device, task).is_some() {
            self.seen.devices.insert(device, device);
        }
    }

    /// Whether any file on such a device was heard of.
    pub fn heard_on(&self, device: impl Fn(u32) -> bool) -> bool {
        self.seen.files.keys().any(|&(on, _)| device(on))
    }

    /// The path that a file was heard of by.
    pub fn path_of(&self, key: Key) -> Option<String> {
        let (_, path) = self.seen.files.get(&key)?;
        Some(String::from_utf8_lossy(path).into_owned())
    }

    /// The mounts that are listened to.
    pub fn mounts(&self) -> &[Mount] {
        self.mounted.backed()
    }

    /// Hands on every name or size that is news.
    ///
    /// Each bears the time right before that file was looked at: others may be opened without end
    /// meanwhile, and what is truncated then would have been so small before.
    pub fn drain(&mut self, mut each: impl FnMut(FileSeen) -> io::Result<()>) -> io::Result<()> {
        let Some(listener) = &mut self.listener else { return Ok(()) };
        let (seen, began) = (&mut self.seen, self.began);
        let mut result = Ok(());
        let drained = listener.drain(|file, _| {
            if let Some(news) = look(seen, &file, monotonic_ns())
                && result.is_ok()
            {
                let new = news.path.is_some() && was_born_since(&file, began);
                let empty = FileSeen {
                    time_ns: began.monotonic_ns,
                    device: news.device,
                    inode: news.inode,
                    file_bytes: 0,
                    path: None,
                };
                let behind = seen.behind(&news);
                result = if new { each(empty) } else { Ok(()) }
                    .and_then(|()| each(news))
                    .and_then(|()| behind.map_or(Ok(()), &mut each));
            }
        })?;
        self.overflowed |= drained.overflowed;
        result
    }

    /// Looks at the files a process has open, which were opened before anybody listened.
    pub fn look_at_process(
        &mut self,
        pid: i32,
        time_ns: u64,
        mut each: impl FnMut(FileSeen) -> io::Result<()>,
    ) -> io::Result<()> {
        // With the capabilities of a file instead of root's, a child that has not executed yet is
        // closed to us; what it inherited is open here too.
        let entries = fs::read_dir(format!("/proc/{pid}/fd"));
        let Ok(entries) = entries.or_else(|_| fs::read_dir("/proc/self/fd")) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let Ok(file) = rustix::fs::open(entry.path(), flags, Mode::empty()) else { continue };
            if let Some(news) = look(&mut self.seen, &file, time_ns) {
                each(news)?;
            }
        }
        Ok(())
    }

    /// The size of every file heard of, as it is now, and a name for those of `wanted` that have
    /// none yet.
    pub fn look_up(
        &mut self,
        wanted: impl Iterator<Item = Key>,
        time_ns: u64,
        mut each: impl FnMut(FileSeen) -> io::Result<()>,
    ) -> io::Result<()> {
        self.seen.all_behind(time_ns).into_iter().try_for_each(&mut each)?;
        let mut roots: HashMap<u32, Option<OwnedFd>> = HashMap::new();
        for (device, inode) in wanted {
            if let Some((size, path)) = self.seen.files.get(&(device, inode)) {
                let now = fs::symlink_metadata(std::ffi::OsStr::from_bytes(path));
                let file_bytes = now.map_or(*size, |metadata| metadata.len());
                each(FileSeen { time_ns, device, inode, file_bytes, path: None })?;
                continue;
            }
            let mounts = self.mounted.backed();
            let root = roots.entry(device).or_insert_with(|| open_root(mounts, device));
            let Some(root) = root else { continue };
            let Ok(file) = open_ext_inode(root, inode) else { continue };
            if let Some(news) = look(&mut self.seen, &file, time_ns) {
                each(news)?;
            }
        }
        Ok(())
    }
}

/// The root of an ext file system, to open inodes relative to.
fn open_root(mounts: &[Mount], device: u32) -> Option<OwnedFd> {
    let is_it = |mount: &&Mount| mount.device == device && mount.filesystem.starts_with("ext");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |mount: &Mount| rustix::fs::open(&mount.point, flags, Mode::empty()).ok();
    let known = mounts.iter().find(is_it).and_then(open);
    known.or_else(|| backed().iter().find(is_it).and_then(open))
}

impl Seen {
    /// Whether the path of an open file leads to it: that of an overlay's layer does not.
    fn is_path(&mut self, file: &OwnedFd) -> bool {
        if self.overlays.is_empty() {
            return true;
        }
        mount_of(file).is_none_or(|mount| self.overlays.reaches(mount))
    }

    /// The file of a layer that stands behind a file of an overlay, by the name of the latter.
    fn behind(&mut self, of: &FileSeen) -> Option<FileSeen> {
        let path = of.path.clone()?;
        let (device, inode) = self.overlays.behind(of.device, &path)?;
        self.files.insert((device, inode), (of.file_bytes, path.clone()));
        Some(FileSeen { device, inode, path: Some(path), ..*of })
    }

    /// The files that stand now behind those of overlays that were heard of. Files are copied to
    /// another layer when they are written to.
    fn all_behind(&mut self, time_ns: u64) -> Vec<FileSeen> {
        let overlays = &self.overlays;
        let heard = self.files.iter().filter(|((device, _), _)| overlays.has_device(*device));
        let heard = heard.map(|(&(device, inode), (file_bytes, path))| {
            let path = Some(path.clone());
            FileSeen { time_ns, device, inode, file_bytes: *file_bytes, path }
        });
        let mut heard: Vec<FileSeen> = heard.collect();
        heard.retain(|of| {
            let behind = of.path.as_deref().and_then(|path| overlays.behind(of.device, path));
            behind.is_some_and(|key| !self.files.contains_key(&key))
        });
        heard.into_iter().filter_map(|of| self.behind(&of)).collect()
    }
}

/// What an open file tells, if it tells anything new.
fn look(seen: &mut Seen, file: &OwnedFd, time_ns: u64) -> Option<FileSeen> {
    let stat = fstat(file).ok()?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
        return None;
    }
    let (device, inode) = key_of(&stat);
    // A subvolume of btrfs has a device number of its own, which tracepoints do not use.
    let device = *seen.devices.entry(device).or_insert_with(|| superblock(file).unwrap_or(device));
    let key = (device, inode);
    let file_bytes = stat.st_size.unsigned_abs();
    let known = seen.files.get(&key);
    if known.is_some_and(|(size, _)| *size == file_bytes) {
        // Most opens are of files opened before. The first name is the one that is kept.
        return None;
    }
    let number = file.as_raw_fd().to_string();
    let path = rustix::fs::readlinkat(seen.descriptors.as_ref()?, number, Vec::new()).ok()?;
    let path = path.as_bytes();
    let living = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let same_path = known.is_some_and(|(_, before)| before == living);
    // An inode whose directory entry is not in memory opens, but its path reads "/".
    let named = living.len() > 1 && seen.is_path(file);
    if named {
        seen.files.insert(key, (file_bytes, living.to_owned()));
    }
    let path = (named && !same_path).then(|| path.to_owned());
    Some(FileSeen { time_ns, device: key.0, inode: key.1, file_bytes, path })
}

/// Whether a file was made after that moment, and was empty then. Not every file system says.
fn was_born_since(file: &OwnedFd, began: Began) -> bool {
    let wanted = rustix::fs::StatxFlags::BTIME;
    let Ok(stat) = statx(file, "", AtFlags::EMPTY_PATH, wanted) else { return false };
    let seconds = u64::try_from(stat.stx_btime.tv_sec).unwrap_or(0);
    let born = Duration::new(seconds, stat.stx_btime.tv_nsec);
    stat.stx_mask & wanted.bits() != 0 && born >= began.since_1970
}

//! Which file a descriptor or a name of a stopped process stands for, and how large it is.
//!
//! No table of descriptors is kept that could be wrong: each time, the kernel is asked what the
//! descriptor is and where it stands (`/proc/PID/fdinfo/N`: mount, inode, position, flags). Only
//! what belongs to the mount and the inode is remembered. Cost: 4 microseconds a call.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use super::windows::Windows;
use crate::sys::process::monotonic_ns;
use crate::trace::{Detour, Uncached};
use crate::units::Bytes;
use crate::workload::record::log::{Entry, FileSeen};
use crate::workload::record::mounted::Mounted;
use crate::workload::record::mounts::{self, Mount, device_number};
use crate::workload::record::names::Key;
use crate::workload::record::writes::FdInfo;

/// A descriptor of a process on a file of the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// The file.
    pub(super) key: Key,
    /// Where the descriptor stands.
    pub(super) position: u64,
    /// Writes go to the end.
    pub(super) appends: bool,
    /// Reads and writes go past the page cache.
    pub(super) direct: bool,
}

/// What a descriptor turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    /// A file of the page cache.
    File(Open),
    /// Anything else: a pipe, a terminal, a file in memory.
    Other,
    /// The kernel does not let us see it.
    Hidden,
}

/// Every file that was seen.
#[derive(Debug)]
pub(super) struct Files {
    mounted: Mounted,
    /// Devices that were mounted before the command began.
    lasting: Vec<u32>,
    /// By mount and inode; none for what is no file of the page cache.
    places: HashMap<(u64, u64), Option<Key>>,
    /// What the kernel calls a device that `stat` calls this.
    devices: HashMap<u32, u32>,
    sizes: HashMap<Key, u64>,
    windows: Windows,
    /// Used without the page cache of files, by what they are known by here.
    uncached: HashMap<Key, Uncached>,
}

impl Files {
    /// On what is mounted here, and what the command's processes see.
    pub(super) fn on(mounted: Mounted) -> Self {
        let (places, sizes, windows) = (HashMap::new(), HashMap::new(), Windows::default());
        let lasting: Vec<u32> = mounted.backed().iter().map(|mount| mount.device).collect();
        let devices = lasting.iter().map(|&device| (device, device)).collect();
        Self { mounted, lasting, places, devices, sizes, windows, uncached: HashMap::new() }
    }

    /// The mounts that are known by now.
    pub(super) fn mounts(&self) -> &[Mount] {
        self.mounted.backed()
    }

    /// A call goes past the page cache.
    pub(super) fn went_past(&mut self, task: i32, file: u32, key: Key) {
        let of =
            self.uncached.entry(key).or_insert_with(|| uncached(&link(task, file), Detour::Direct));
        of.calls += 1;
    }

    /// What was used without the page cache of files.
    pub(super) fn uncached(&self) -> Vec<Uncached> {
        let mut all: Vec<Uncached> = self.uncached.values().cloned().collect();
        all.sort_by(|a, b| (a.detour, &a.file).cmp(&(b.detour, &b.file)));
        all
    }

    /// What descriptor `file` of `task` is. What is news of it goes to `news`.
    pub(super) fn look(&mut self, task: i32, file: u32, news: &mut Vec<Entry>) -> Looked {
        let Some(info) = self.windows.look(task, file) else {
            // No such descriptor is the command's own mistake.
            let exists = rustix::fs::readlink(link(task, file), Vec::new()).is_ok();
            return if exists || !is_ours(task) { Looked::Hidden } else { Looked::Other };
        };
        let place = (info.mount, info.inode);
        let key = if let Some(known) = self.places.get(&place) {
            *known
        } else {
            let Ok(stat) = rustix::fs::stat(link(task, file)) else { return Looked::Hidden };
            let key = self.meet(task, &info, &stat, &link(task, file), news);
            // The number of a mount that the command made is another's when it is gone.
            if key.is_none_or(|(device, _)| self.lasting.contains(&device)) {
                self.places.insert(place, key);
            }
            key
        };
        let Some(key) = key else { return Looked::Other };
        Looked::File(Open {
            key,
            position: info.position,
            appends: info.has(libc::O_APPEND),
            direct: info.has(libc::O_DIRECT),
        })
    }

    /// A file that is seen for the first time.
    fn meet(
        &mut self,
        task: i32,
        info: &FdInfo,
        stat: &Stat,
        link: &Path,
        news: &mut Vec<Entry>,
    ) -> Option<Key> {
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let known = &mut self.devices;
        // A subvolume of btrfs has a device of its own, which the mount does not have.
        let device = *known
            .entry(device_of(stat))
            .or_insert_with(|| device_of_mount(task, info.mount).unwrap_or(device_of(stat)));
        let key = (device, stat.st_ino);
        self.mounted.meet(device, task.unsigned_abs());
        if !self.mounted.may_be_file(key) {
            if self.mounted.is_in_memory(device) {
                let of = self.uncached.entry(key);
                let of = of.or_insert_with(|| uncached(link, Detour::Memory));
                of.calls += 1;
                of.bytes = Bytes(stat.st_size.unsigned_abs());
            }
            return None;
        }
        let path = rustix::fs::readlink(link, Vec::new()).ok().map(std::ffi::CString::into_bytes);
        self.note(key, stat.st_size.unsigned_abs(), path, news);
        Some(key)
    }

    /// A size was seen, and perhaps a path.
    pub(super) fn note(
        &mut self,
        key: Key,
        file_bytes: u64,
        path: Option<Vec<u8>>,
        news: &mut Vec<Entry>,
    ) {
        if self.sizes.insert(key, file_bytes) == Some(file_bytes) && path.is_none() {
            return;
        }
        let (device, inode) = key;
        let time_ns = monotonic_ns();
        news.push(Entry::File(FileSeen { time_ns, device, inode, file_bytes, path }));
    }

    /// The size of an open file, as it is now where `end` is beyond the size that was known.
    pub(super) fn size(
        &mut self,
        (task, file): (i32, u32),
        key: Key,
        end: u64,
        news: &mut Vec<Entry>,
    ) -> u64 {
        let known = self.sizes.get(&key).copied().unwrap_or(0);
        if end <= known {
            return known;
        }
        let Ok(stat) = rustix::fs::stat(link(task, file)) else { return known };
        let now = stat.st_size.unsigned_abs();
        self.note(key, now, None, news);
        now
    }

    /// A write ended there: the file is at least that large.
    pub(super) fn grow(&mut self, key: Key, end: u64) {
        let size = self.sizes.entry(key).or_insert(0);
        *size = (*size).max(end);
    }

    /// The size of a file that was touched, as it is known.
    pub(super) fn known_size(&self, key: Key) -> Option<u64> {
        self.sizes.get(&key).copied()
    }

    /// The touched file that goes by a path, and whether it has no other name.
    pub(super) fn by_path(&self, path: &Path, follow: bool) -> Option<(Key, bool)> {
        let stat = if follow { rustix::fs::stat(path) } else { rustix::fs::lstat(path) }.ok()?;
        let device = device_of(&stat);
        let key = (self.devices.get(&device).copied().unwrap_or(device), stat.st_ino);
        self.sizes.contains_key(&key).then_some((key, stat.st_nlink == 1))
    }

    /// Whether a process has the file open.
    pub(super) fn is_open(&self, process: i32, key: Key) -> bool {
        let Ok(entries) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return true };
        entries
            .flatten()
            .any(|entry| self.by_path(&entry.path(), true).is_some_and(|(open, _)| open == key))
    }

    /// A task is gone.
    pub(super) fn end(&mut self, task: i32) {
        self.windows.close(task);
    }

    /// A file is gone; its inode may be another's from now on.
    pub(super) fn forget(&mut self, key: Key) {
        self.sizes.remove(&key);
        self.places.retain(|_, place| *place != Some(key));
    }

    /// A file that a mapping names: device as the kernel prints it, inode and path.
    pub(super) fn mapped(
        &mut self,
        task: i32,
        key: Key,
        path: &[u8],
        news: &mut Vec<Entry>,
    ) -> bool {
        if self.sizes.contains_key(&key) {
            return true;
        }
        self.mounted.meet(key.0, task.unsigned_abs());
        if !self.mounted.may_be_file(key) {
            return false;
        }
        let root = format!("/proc/{task}/root");
        let living = [root.as_bytes(), path].concat();
        let size = rustix::fs::stat(living).ok().filter(|stat| stat.st_ino == key.1);
        if let Some(stat) = size {
            self.devices.entry(device_of(&stat)).or_insert(key.0);
            self.note(key, stat.st_size.unsigned_abs(), Some(path.to_owned()), news);
        } else {
            // Deleted, or seen in another place of the tree only: its name all the same.
            let (device, inode) = key;
            let (time_ns, path) = (monotonic_ns(), Some(path.to_owned()));
            news.push(Entry::File(FileSeen { time_ns, device, inode, file_bytes: 0, path }));
        }
        true
    }
}

/// By the path that a descriptor leads to.
fn uncached(link: &Path, detour: Detour) -> Uncached {
    let path = std::fs::read_link(link).unwrap_or_default();
    let file = path.to_string_lossy();
    let file = file.strip_suffix(" (deleted)").unwrap_or(&file).to_owned();
    Uncached { file, detour, calls: 0, bytes: Bytes(0) }
}

/// The device of the mount with this number, where the task sees it.
fn device_of_mount(task: i32, number: u64) -> Option<u32> {
    let mounts = mounts::seen_by(task.unsigned_abs())?;
    mounts.into_iter().find(|mount| mount.number == number).map(|mount| mount.device)
}

fn device_of(stat: &Stat) -> u32 {
    device_number(rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev))
}

fn link(task: i32, file: u32) -> PathBuf {
    format!("/proc/{task}/fd/{file}").into()
}

/// Whether the descriptors of a task may be listed by us.
fn is_ours(task: i32) -> bool {
    std::fs::read_dir(format!("/proc/{task}/fd")).is_ok()
}

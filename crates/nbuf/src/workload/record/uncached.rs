//! What the command uses without the page cache of files: calls with `O_DIRECT`, and files that lie
//! in memory themselves, which are heard of as they are opened.
//!
//! Invariant: only what the command opened is told: the opener is a process that was met in the
//! samples, all of which are the command's. Cost: nothing while nobody opens files in memory.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, fstat};

use super::direct::{Direct, Moved};
use super::events::Sample;
use super::log::Event;
use super::mounts::{self, Mount, device_number};
use super::names::{Key, Names};
use crate::sys::fanotify::Listener;
use crate::units::Bytes;
use crate::workload::trace::{Detour, Uncached};

/// What was heard so far.
#[derive(Debug, Default)]
pub(super) struct Detours {
    listener: Option<Listener>,
    mounts: Vec<Mount>,
    direct: HashMap<Key, Moved>,
    memory: HashMap<Key, InMemory>,
    tasks: HashSet<u32>,
    task_last: u32,
    /// Opened by processes that had not been met when the queue was looked at last.
    undecided: Vec<(i32, Key, InMemory)>,
}

/// A file in memory.
#[derive(Clone, Debug, Default)]
struct InMemory {
    path: String,
    bytes: u64,
    opens: u64,
}

impl Detours {
    /// Listens on everything that is mounted from memory, as far as we may.
    pub(super) fn listen() -> Self {
        let mounts = mounts::in_memory();
        let listener = if mounts.is_empty() { None } else { Listener::new().ok() };
        if let Some(listener) = &listener {
            for mount in &mounts {
                // One that cannot be watched is no reason to miss the others.
                let _ = listener.hear(&mount.point);
            }
        }
        Self { listener, mounts, ..Self::default() }
    }

    /// Tasks of the command did something: all but that of the recorder.
    pub(super) fn meet(&mut self, batch: &[Sample], recorder: u32) {
        for sample in batch {
            let Sample::Event(Event { task, .. }) = *sample else { continue };
            if self.task_last != task && task != recorder {
                self.task_last = task;
                self.tasks.insert(task);
            }
        }
    }

    /// A call went past the page cache.
    pub(super) fn went_past(&mut self, direct: &Direct) {
        self.direct.entry(direct.key).or_default().push(*direct);
    }

    /// Files that calls went past the cache to.
    pub(super) fn direct(&self) -> impl Iterator<Item = Key> {
        self.direct.keys().copied()
    }

    /// Takes in what was opened since the last time. Call it when the samples until now were met.
    pub(super) fn drain(&mut self) {
        let Some(listener) = &mut self.listener else { return };
        let mut opened = std::mem::take(&mut self.undecided);
        let before = opened.len();
        let mounts = &self.mounts;
        // What cannot be heard is not told.
        let _ = listener.drain(|file, process| {
            if let Some((key, seen)) = look(mounts, &file) {
                opened.push((process, key, seen));
            }
        });
        for (at, (process, key, seen)) in opened.into_iter().enumerate() {
            if self.tasks.contains(&process.unsigned_abs()) {
                self.add(key, seen);
            } else if at >= before {
                self.undecided.push((process, key, seen));
            }
        }
    }

    /// Looks at the files a process has open, which were opened before anybody listened.
    pub(super) fn look_at_process(&mut self, pid: i32) {
        let entries = fs::read_dir(format!("/proc/{pid}/fd"));
        for entry in entries.into_iter().flatten().flatten() {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let Ok(file) = rustix::fs::open(entry.path(), flags, Mode::empty()) else { continue };
            if let Some((key, seen)) = look(&self.mounts, &file) {
                self.add(key, seen);
            }
        }
    }

    fn add(&mut self, key: Key, seen: InMemory) {
        let known = self.memory.entry(key).or_default();
        known.opens += 1;
        known.bytes = known.bytes.max(seen.bytes);
        known.path = seen.path;
    }

    /// All of it, by name. Sizes of files in memory are those of now, where they are still there.
    pub(super) fn named(&self, names: &Names) -> Vec<Uncached> {
        let direct = self.direct.iter().filter(|&(&key, _)| names.may_be_file(key));
        let direct = direct.map(|(&(device, inode), moved)| {
            let path = names.path_of((device, inode));
            let unknown =
                || format!("unknown inode {}:{}/{inode}", device >> 20, device & 0xf_ffff);
            let file_bytes = path.as_deref().map_or(0, size_of);
            let (calls, bytes) = (moved.calls, Bytes(moved.bytes(file_bytes)));
            Uncached { file: path.unwrap_or_else(unknown), detour: Detour::Direct, calls, bytes }
        });
        let memory = self.memory.values().map(|file| Uncached {
            file: file.path.clone(),
            detour: Detour::Memory,
            calls: file.opens,
            bytes: Bytes(file.bytes.max(size_of(&file.path))),
        });
        let mut all: Vec<Uncached> = direct.chain(memory).collect();
        all.sort_by(|a, b| (a.detour, &a.file).cmp(&(b.detour, &b.file)));
        all
    }
}

/// The size of a file, if it is still there.
fn size_of(path: &str) -> u64 {
    fs::symlink_metadata(path).map_or(0, |metadata| metadata.len())
}

/// An open file, if it lies in memory.
fn look(mounts: &[Mount], file: &OwnedFd) -> Option<(Key, InMemory)> {
    let stat = fstat(file).ok()?;
    let device = device_number(rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !is_file || !mounts.iter().any(|mount| mount.device == device) {
        return None;
    }
    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let path = fs::read_link(link).ok()?.to_string_lossy().into_owned();
    let path = path.strip_suffix(" (deleted)").unwrap_or(&path).to_owned();
    Some(((device, stat.st_ino), InMemory { path, bytes: stat.st_size.unsigned_abs(), opens: 0 }))
}

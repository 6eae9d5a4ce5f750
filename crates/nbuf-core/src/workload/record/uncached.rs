//! What the command uses without the page cache of files: calls with `O_DIRECT`, and files that lie
//! in memory themselves, which are seen as they are opened.
//!
//! Invariant: only what the command opened is reported: the opener is a process that was met in the
//! samples, all of which are the command's. Cost: nothing while no process opens files in memory.

use std::collections::{HashMap, HashSet};

use super::direct::{Direct, Moved};
use super::events::Sample;
use super::listeners::{Listeners, OpenSeen, What};
use super::log::Event;
use super::mounts::{self, Mount};
use super::names::{Key, Names, Open, open_files};
use super::roots::{Look, Roots, superblock_of};
use crate::sys::handle::FileHandle;
use crate::trace::{Detour, Uncached};
use crate::units::Bytes;

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Detours {
    listeners: Listeners,
    mounts: Vec<Mount>,
    direct: HashMap<Key, Moved>,
    memory: HashMap<Key, InMemory>,
    tasks: HashSet<u32>,
    task_last: u32,
    /// Opened by processes that had not been met when the queue was looked at last.
    undecided: Vec<Opened>,
}

/// A file in memory that a process opened.
#[derive(Debug)]
struct Opened {
    process: i32,
    key: Key,
    file: Option<FileHandle>,
    place: Option<(FileHandle, Box<[u8]>)>,
    /// Where there is no handle to look by later.
    seen: Option<Look>,
}

/// A file in memory that the command opened.
#[derive(Clone, Debug, Default)]
struct InMemory {
    path: String,
    bytes: u64,
    opens: u64,
    file: Option<FileHandle>,
}

impl Detours {
    /// Listens on everything that is mounted from memory, as far as we may.
    pub(super) fn listen() -> Self {
        let mounts = mounts::in_memory();
        Self { listeners: Listeners::listen(&mounts), mounts, ..Self::default() }
    }

    /// Tasks of the command did something: all tasks except the recorder's.
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

    /// Whether a process is one of the command's, as far as those were met.
    pub(super) fn has(&self, process: i32) -> bool {
        self.tasks.contains(&process.unsigned_abs())
    }

    /// Takes in what was opened since the last time. Call it when the samples until now were met.
    pub(super) fn drain(&mut self) {
        let mut opened = std::mem::take(&mut self.undecided);
        let before = opened.len();
        let Self { listeners, mounts, .. } = self;
        let mut roots = Roots::of(mounts);
        // What cannot be seen is not reported.
        let _ = listeners.drain(|seen| opened.extend(identify(mounts, &mut roots, seen)));
        for (at, opened) in opened.into_iter().enumerate() {
            if self.has(opened.process) {
                self.add(opened);
            } else if at >= before {
                self.undecided.push(opened);
            }
        }
    }

    /// Looks at the files that a process has open, which were opened before anybody listened.
    pub(super) fn look_at_process(&mut self, pid: i32, which: Open<'_>) {
        for (_, file) in open_files(pid, which) {
            let opened = OpenSeen { process: pid, what: What::File(file) };
            let mut roots = Roots::of(&self.mounts);
            if let Some(opened) = identify(&self.mounts, &mut roots, opened) {
                self.add(opened);
            }
        }
    }

    fn add(&mut self, opened: Opened) {
        let Opened { key, file, place, seen, .. } = opened;
        let look = seen
            .or_else(|| Roots::of(&self.mounts).look(key.0, file.as_ref()?, place.as_ref(), true));
        let Some(Look { file: now, path: Some(path), .. }) = look else { return };
        let path = path.strip_suffix(b" (deleted)").unwrap_or(&path);
        let known = self.memory.entry(key).or_default();
        known.opens += 1;
        known.bytes = known.bytes.max(now.map_or(0, |(_, bytes)| bytes));
        known.path = String::from_utf8_lossy(path).into_owned();
        known.file = file.or(known.file.take());
    }

    /// All of it, by name. Sizes of files in memory are those of now, where they are still there.
    pub(super) fn named(&self, names: &Names) -> Vec<Uncached> {
        let direct = self.direct.iter().filter(|&(&key, _)| names.may_be_file(key));
        let direct = direct.map(|(&(device, inode), moved)| {
            let path = names.path_of((device, inode));
            let unknown =
                || format!("unknown inode {}:{}/{inode}", device >> 20, device & 0xf_ffff);
            let file_bytes = names.bytes_of((device, inode)).unwrap_or(0);
            let (calls, bytes) = (moved.calls, Bytes(moved.bytes(file_bytes)));
            Uncached { file: path.unwrap_or_else(unknown), detour: Detour::Direct, calls, bytes }
        });
        let mut roots = Roots::of(&self.mounts);
        let memory = self.memory.iter().map(|(&(device, _), file)| {
            let now = file.file.as_ref().and_then(|file| roots.look(device, file, None, false));
            let now = now.and_then(|now| now.file).map_or(0, |(_, bytes)| bytes);
            let (calls, bytes) = (file.opens, Bytes(file.bytes.max(now)));
            Uncached { file: file.path.clone(), detour: Detour::Memory, calls, bytes }
        });
        let mut all: Vec<Uncached> = direct.chain(memory).collect();
        all.sort_by(|a, b| (a.detour, &a.file).cmp(&(b.detour, &b.file)));
        all
    }
}

/// A file that was opened, if it is in memory.
fn identify(mounts: &[Mount], roots: &mut Roots<'_>, opened: OpenSeen) -> Option<Opened> {
    let process = opened.process;
    match opened.what {
        What::Handle { device, inode, file, place } => {
            let mut seen = || roots.look(device, &file, place.as_ref(), false)?.file;
            let inode = inode.or_else(|| Some(seen()?.0))?;
            Some(Opened { process, key: (device, inode), file: Some(file), place, seen: None })
        }
        What::File(file) => {
            let device = superblock_of(&file)?;
            if !mounts.iter().any(|mount| mount.device == device) {
                return None;
            }
            let seen = roots.look_at(&file)?;
            let file = FileHandle::of_file(std::os::fd::AsFd::as_fd(&file)).ok();
            let key = (device, seen.file?.0);
            Some(Opened { process, key, file, place: None, seen: Some(seen) })
        }
    }
}

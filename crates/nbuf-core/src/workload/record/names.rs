//! Which path an inode goes by, and how large its file is: from fanotify while the command
//! runs, looked up by inode afterwards, never guessed.
//!
//! Invariant: nothing is handed on about a file that the command did not touch. What is known of
//! other files stays in memory, and a file is looked at by its handle when it turns out to be one of
//! the command's: no name that others may give another file meanwhile is ever followed.

mod clues;
mod known;
mod listen;

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use self::clues::{Clue, Clues};
use self::known::{Began, Each, Known};
use self::listen::{clue, overlaid_by};
use super::area::Area;
use super::listeners::{Listeners, OpenSeen, What};
use super::mounted::Mounted;
use super::mounts::Mount;
use super::overlay::Overlays;
use super::roots::{Look, Roots};
use crate::clock;
use crate::sys::handle::FileHandle;
use crate::sys::process::monotonic_ns;

pub(super) use self::listen::{Open, open_files};
pub use super::key::{Key, key_of_file};

/// The names seen so far.
#[derive(Debug)]
pub struct Names {
    listeners: Listeners,
    mounted: Mounted,
    overlays: Overlays,
    /// Sizes of files of overlays, by device and path.
    overlaid: HashMap<(u32, Vec<u8>), u64>,
    /// What was seen of files that were not touched.
    clues: Clues,
    /// Files that were.
    files: HashMap<Key, Known>,
    /// Those of them that were touched first since the last look.
    fresh: Vec<Key>,
    overflowed: bool,
    /// When we began to listen.
    began: Began,
}

impl Names {
    /// Starts to listen on every mounted file system that has files behind it.
    ///
    /// Without permission to listen, names are looked up afterwards as far as that goes.
    pub fn listen() -> Self {
        let mounted = Mounted::here();
        let listeners = Listeners::listen(mounted.backed());
        let since_1970 = clock::unix_time().unwrap_or(Duration::MAX);
        Self {
            listeners,
            mounted,
            overlays: Overlays::mounted(),
            overlaid: HashMap::new(),
            clues: Clues::default(),
            files: HashMap::new(),
            fresh: Vec::new(),
            overflowed: false,
            began: Began { monotonic_ns: monotonic_ns(), since_1970 },
        }
    }

    /// Whether the files on a mount can be listened to.
    ///
    /// # Errors
    /// What the kernel says of it.
    pub fn probe(mount: &Mount) -> io::Result<()> {
        Listeners::probe(mount)
    }

    /// What to wait for.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.listeners.descriptors()
    }

    /// What is to be said of names that may be missing.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.overflowed {
            warnings.push("the queue of opened files overflowed: some names are missing".into());
        }
        let forgotten = self.clues.forgotten;
        if forgotten > 0 && self.files.values().any(|file| file.path.is_none()) {
            warnings.push(format!(
                "{forgotten} files that were opened were forgotten before the command used them: \
                 some names are missing"
            ));
        }
        warnings
    }

    /// Whether this may be a file on a mounted file system.
    pub fn may_be_file(&self, key: Key) -> bool {
        self.mounted.may_be_file(key)
    }

    /// A task came upon a device that may have been mounted since. It is not listened to. Its files
    /// have names if it is still there in the end.
    pub fn meet(&mut self, device: u32, task: u32) {
        self.mounted.meet(device, task);
    }

    /// The command touched a file: from now on it may be named.
    pub fn touch(&mut self, key: Key) {
        if let std::collections::hash_map::Entry::Vacant(place) = self.files.entry(key) {
            place.insert(Known::default());
            self.fresh.push(key);
        }
    }

    /// Whether the command touched a file.
    pub fn is_touched(&self, key: Key) -> bool {
        self.files.contains_key(&key)
    }

    /// The file of the command's that a mapping is of. Mappings of an overlay name its device with the inode
    /// number of the layer's file, where all layers are on one file system.
    pub fn touched_as(&self, key: Key) -> Option<Key> {
        if self.is_touched(key) {
            return Some(key);
        }
        let below = self.mounts().iter().filter(|_| self.overlays.has_device(key.0));
        below.map(|mount| (mount.device, key.1)).find(|&key| self.is_touched(key))
    }

    /// Whether a file on such a device was seen.
    pub fn listens_on(&self, device: impl Fn(u32) -> bool) -> bool {
        self.files.keys().map(|&(on, _)| on).chain(self.clues.devices()).any(device)
    }

    /// The path by which a file was seen, if the command touched it.
    pub fn path_of(&self, key: Key) -> Option<String> {
        let path = self.files.get(&key)?.path.as_ref()?;
        let living = path.strip_suffix(b" (deleted)").unwrap_or(path);
        Some(String::from_utf8_lossy(living).into_owned())
    }

    /// The size that it was seen to have last.
    pub fn bytes_of(&self, key: Key) -> Option<u64> {
        self.files.get(&key)?.bytes
    }

    /// The mounts that are listened to.
    pub fn mounts(&self) -> &[Mount] {
        self.mounted.backed()
    }

    /// Hands on every name or size that is news of a file that was touched. `is_ours` tells the
    /// processes of the command.
    ///
    /// Each bears the time right before that file was looked at: others may be opened without end
    /// meanwhile, and what is truncated then would have been so small before.
    pub fn drain(&mut self, is_ours: &impl Fn(i32) -> bool, each: Each<'_>) -> io::Result<()> {
        let Self { listeners, mounted, overlays, overlaid, clues, files, fresh, .. } = self;
        let mut roots = Roots::of(mounted.backed());
        let mut order = Vec::new();
        let drained = listeners.drain(|opened| {
            let Some((key, clue)) = clue(&mut roots, overlays, opened) else { return };
            let behind = overlaid_by(overlays, overlaid, key, &clue);
            for (key, clue) in [Some((key, clue)), behind].into_iter().flatten() {
                if files.contains_key(&key) {
                    order.push(key);
                }
                clues.add(key, clue, is_ours);
            }
        })?;
        self.overflowed |= drained.overflowed;
        order.append(fresh);
        for key in order {
            // Another one may have been seen meanwhile: then it was handed on already.
            if let (Some(clue), Some(known)) = (clues.take(key), files.get_mut(&key)) {
                known.learn(key, clue, &mut roots, self.began, each)?;
            }
        }
        Ok(())
    }

    /// Looks at the files that a process has open, which were opened before anybody listened.
    pub(super) fn look_at_process(&mut self, pid: i32, which: Open<'_>) {
        for (_, file) in open_files(pid, which) {
            self.look_at_file(pid, file);
        }
    }

    /// Looks at the files that a running process has mapped. They count as touched: the kernel reports
    /// no mapping that was made before.
    pub(super) fn look_at_mappings(&mut self, pid: i32) {
        let Ok(maps) = std::fs::read_to_string(format!("/proc/{pid}/maps")) else { return };
        let mut seen = std::collections::HashSet::new();
        for area in maps.lines().filter_map(Area::parse) {
            if !seen.insert((area.device, area.inode)) {
                continue;
            }
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let Range { start, end } = area.range;
            let link = format!("/proc/{pid}/map_files/{start:x}-{end:x}");
            let Ok(file) = rustix::fs::open(link, flags, Mode::empty()) else { continue };
            for key in self.look_at_file(pid, file) {
                if self.may_be_file(key) {
                    self.touch(key);
                }
            }
        }
    }

    /// Takes in a file, and gives back what tracepoints call it: of an overlay the file of the layer too.
    fn look_at_file(&mut self, pid: i32, file: OwnedFd) -> Vec<Key> {
        let opened = OpenSeen { process: pid, what: What::File(file) };
        let mut roots = Roots::of(self.mounted.backed());
        let Some((key, clue)) = clue(&mut roots, &mut self.overlays, opened) else {
            return Vec::new();
        };
        let behind = overlaid_by(&self.overlays, &mut self.overlaid, key, &clue);
        let found = [Some((key, clue)), behind].into_iter().flatten();
        found
            .map(|(key, clue)| {
                self.clues.add(key, clue, &|_| true);
                key
            })
            .collect()
    }

    /// What a link among the descriptors or mappings of a living process stands for, as tracepoints know it:
    /// of an overlay the file of the layer. `None` if the link is gone.
    pub fn key_of(&mut self, task: u32, link: &str) -> Option<Key> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = rustix::fs::open(link, flags, Mode::empty());
        let opened = OpenSeen { process: task.cast_signed(), what: What::File(opened.ok()?) };
        let mut roots = Roots::of(self.mounted.backed());
        let (key, clue) = clue(&mut roots, &mut self.overlays, opened)?;
        let behind = overlaid_by(&self.overlays, &mut self.overlaid, key, &clue);
        Some(behind.map_or(key, |(key, _)| key))
    }

    /// The size of every file that was touched, as it is now, and a name for those that have none
    /// yet.
    pub fn look_up(&mut self, each: Each<'_>) -> io::Result<()> {
        self.look_behind(each)?;
        let mut roots = Roots::of(self.mounted.backed());
        for (&key, known) in &mut self.files {
            let by_number = || FileHandle::of_ext_inode(key.1).filter(|_| roots.is_ext(key.0));
            let Some(file) = known.file.clone().or_else(by_number) else { continue };
            let clue = Clue { file: Some(file), ..Clue::default() };
            known.bytes = None;
            known.learn(key, clue, &mut roots, self.began, each)?;
        }
        Ok(())
    }

    /// The files that stand now behind those of overlays that were seen. Files are copied to
    /// another layer when they are written to.
    fn look_behind(&mut self, each: Each<'_>) -> io::Result<()> {
        let time_ns = monotonic_ns();
        let mut roots = Roots::of(self.mounted.backed());
        for ((device, path), bytes) in &self.overlaid {
            let Some(key) = self.overlays.behind(*device, path) else { continue };
            let Some(known) = self.files.get_mut(&key) else { continue };
            let path = Some(path.clone());
            let seen = Some(Look { time_ns, file: Some((key.1, *bytes)), born: None, path });
            if !known.is_named() {
                let clue = Clue { seen, ..Clue::default() };
                known.learn(key, clue, &mut roots, self.began, each)?;
            }
        }
        Ok(())
    }
}

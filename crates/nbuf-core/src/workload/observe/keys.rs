//! Names of what has meters of its own: processes, threads and files.
//!
//! The kernel says the names of threads. A file is looked up while a process has it open, so that one which is closed
//! sooner than the next look has only its inode.
//! Cost: every 20 ms a look at the newest threads, and at the open and mapped files of those that touched a file
//! without a name: at most [`LOOKS_MAX`] of them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;

use super::timeline::Timeline;
use crate::meter::activity::{File, Key, Keyed, Sums};

/// Processes whose files are looked at each time.
const LOOKS_MAX: usize = 8;
/// Names of files that are kept.
const NAMES_MAX: usize = 10_000;

/// What has meters, with its name.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub keyed: Keyed,
    names: Names,
}

impl Keys {
    /// The name of a key; of a file that was never found, nothing.
    pub(crate) fn name(&self, key: Key) -> Option<String> {
        match key {
            Key::Task(task) => self.names.threads.threads.get(&task).map(|it| it.name.clone()),
            Key::File(file) => self.names.files.get(&file).cloned(),
            Key::NoFile => None,
        }
    }

    /// Each key with its sums.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Key, &Sums)> {
        self.keyed.sums.iter().map(|(key, sums)| (*key, sums))
    }
}

/// Names so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    threads: Timeline,
    files: HashMap<File, String>,
    /// Threads that touched a file without a name.
    wanted: BTreeSet<u32>,
}

impl Names {
    pub(super) fn of(self, keyed: Keyed) -> Keys {
        Keys { keyed, names: self }
    }

    pub(super) fn named(&mut self, thread: u32, name: &[u8]) {
        self.threads.named(thread, name);
    }

    pub(super) fn born(&mut self, thread: u32, parent: Option<u32>, is_process: bool) {
        self.threads.born(thread, parent, is_process);
    }

    pub(super) fn looks(&mut self, thread: u32, file: File) {
        if !self.files.contains_key(&file) && self.threads.threads.contains_key(&thread) {
            self.wanted.insert(thread);
        }
    }

    pub(super) fn look(&mut self) {
        self.threads.look();
        for thread in std::mem::take(&mut self.wanted).into_iter().take(LOOKS_MAX) {
            let open = fs::read_dir(format!("/proc/{thread}/fd")).into_iter().flatten().flatten();
            for descriptor in open {
                let link = descriptor.path();
                if let (Ok(file), Ok(path)) = (fs::metadata(&link), fs::read_link(&link)) {
                    self.name(file.dev(), file.ino(), &path.to_string_lossy());
                }
            }
            let maps = fs::read_to_string(format!("/proc/{thread}/maps")).unwrap_or_default();
            for line in maps.lines() {
                self.mapped(line);
            }
        }
    }

    /// `START-END RIGHTS OFFSET MAJOR:MINOR INODE PATH`, the device in hexadecimal.
    fn mapped(&mut self, line: &str) -> Option<()> {
        let mut words = line.splitn(6, ' ').skip(3);
        let (major, minor) = words.next()?.split_once(':')?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        let device = rustix::fs::makedev(number(major)?, number(minor)?);
        let (inode, path) = (words.next()?.parse().ok()?, words.next()?.trim_start());
        path.starts_with('/').then(|| self.name(device, inode, path))
    }

    /// The kernel's records have a device as `major << 20 | minor`.
    fn name(&mut self, device: u64, inode: u64, path: &str) {
        let device = (rustix::fs::major(device) << 20) | rustix::fs::minor(device);
        if path.starts_with('/') && self.files.len() < NAMES_MAX {
            self.files.entry(File { device, inode }).or_insert_with(|| path.to_owned());
        }
    }
}

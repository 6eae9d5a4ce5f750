//! Writes on file systems that have no tracepoint for them (vfat, fuse, ext2, f2fs, NFS, ...), by
//! their system calls.
//!
//! A call has a descriptor and a result; its file and its position come from the process's own
//! table (`/proc/PID/fdinfo/N`), looked up when an open, or else the first write through a
//! descriptor, is taken from the ring. From then on the position is counted along. A process that is gone by then is known
//! by the page that its write put into the cache, if it put one there; if not, the write cannot be
//! placed and is counted in [`Writes::unplaced`]. Invariant: a file is never guessed.
//!
//! Not seen: `io_uring`, `copy_file_range`, calls of 32-bit programs, mounts of other mount
//! namespaces, overlayfs above such a file system. Wrong position: a descriptor on which bare
//! `read` and `write` alternate without a seek, or one that several processes share.
//! Cost: 1.6 microseconds a write, to whatever; none where every file system has its tracepoint.

use std::collections::HashMap;

use super::calls::{Call, Step};
use super::events::Sample;
use super::log::{Event, Kind};
use super::names::Key;
use crate::units::PAGE_BYTES;

/// What `/proc/PID/fdinfo/N` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FdInfo {
    pub(super) position: u64,
    flags: u64,
    pub(super) mount: u64,
    pub(super) inode: u64,
}

impl FdInfo {
    /// What a descriptor of a living task is.
    pub fn of(task: u32, file: u32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{task}/fdinfo/{file}")).ok()?)
    }

    /// Reads the text of the file.
    pub fn parse(text: &str) -> Option<Self> {
        let field = |name: &str, base| {
            let value = text.lines().find_map(|line| line.strip_prefix(name))?;
            u64::from_str_radix(value.trim(), base).ok()
        };
        Some(Self {
            position: field("pos:", 10)?,
            flags: field("flags:", 8)?,
            mount: field("mnt_id:", 10)?,
            inode: field("ino:", 10)?,
        })
    }

    pub(super) fn has(&self, flag: i32) -> bool {
        self.flags & u64::from(flag.unsigned_abs()) != 0
    }
}

/// What a descriptor stands for, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// Looked at already.
    looked: bool,
    /// The file, if its writes are ours to report.
    file: Option<Key>,
    append: bool,
    position: Option<u64>,
}

impl Open {
    /// Takes in what the descriptor was seen to be, `back` bytes of writes later.
    fn learn(&mut self, mounts: &HashMap<u64, u32>, seen: &FdInfo, back: Option<u64>) {
        self.looked = true;
        let device = mounts.get(&seen.mount).filter(|_| !seen.has(libc::O_DIRECT));
        self.file = device.map(|&device| (device, seen.inode));
        self.append = seen.has(libc::O_APPEND);
        if self.append && self.position == Some(0) && seen.position == 0 {
            // Not written to yet: it will be where the file ends, and the trace does not contain where that is.
            self.looked = false;
        } else if self.position.is_none() || self.append {
            self.position = back.and_then(|back| seen.position.checked_sub(back));
        }
    }
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
struct Pending {
    file: u32,
    position: Option<u64>,
    seek: bool,
    /// First page put into the cache meanwhile.
    filled: Option<(Key, u64)>,
    /// The call touched pages otherwise: the page may be of what it copies from.
    mixed: bool,
}

/// The bookkeeping of descriptors.
#[derive(Debug)]
pub struct Writes {
    /// Devices of the mounts without a tracepoint, by mount number.
    mounts: HashMap<u64, u32>,
    pending: HashMap<u32, Pending>,
    open: HashMap<(u32, u32), Open>,
    unplaced: u64,
}

impl Writes {
    /// For these mounts: number and device.
    pub fn new(mounts: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let mounts = mounts.into_iter().collect();
        Self { mounts, pending: HashMap::new(), open: HashMap::new(), unplaced: 0 }
    }

    /// Writes whose process was gone before it could be asked which file it was.
    pub fn unplaced(&self) -> u64 {
        self.unplaced
    }

    /// What is to be said of them, if files were `heard` of on such a device.
    pub fn warning(&self, opened: impl FnOnce(&dyn Fn(u32) -> bool) -> bool) -> Option<String> {
        let covers = |device: u32| self.mounts.values().any(|&covered| covered == device);
        let unplaced = self.unplaced;
        (unplaced > 0 && opened(&covers)).then(|| {
            format!(
                "{unplaced} writes of processes that were gone too soon have no known file: where \
                 a file system has no tracepoint for writes, overwrites may be missing"
            )
        })
    }

    /// Takes in sample `at` of a batch in time order; gives the write that ended there. `look`
    /// gets a task and a descriptor.
    pub fn take(
        &mut self,
        batch: &[Sample],
        at: usize,
        look: &mut impl FnMut(u32, u32) -> Option<FdInfo>,
    ) -> Option<Event> {
        let call = match batch.get(at)? {
            Sample::Call(call) => call,
            Sample::Event(event) => {
                self.take_note(event);
                return None;
            }
            _ => return None,
        };
        let process = call.process;
        match call.step {
            Step::Write { file, position } => self.began(call.task, file, position, false),
            Step::Seek { file } => self.began(call.task, file, None, true),
            Step::Opened { file } => {
                let mut open = Open { position: Some(0), ..Open::default() };
                let ahead = Ahead::of(process, file, batch.get(at + 1..)?);
                if !ahead.replaced
                    && let Some(seen) = look(call.task, file)
                {
                    open.learn(&self.mounts, &seen, ahead.bytes);
                }
                self.open.insert((process, file), open);
            }
            Step::Gone { first, last } if first == last => {
                self.open.remove(&(process, first));
            }
            Step::Gone { first, last } => {
                self.open.retain(|&(p, file), _| p != process || !(first..=last).contains(&file));
            }
            Step::Returned(result) => {
                let pending = self.pending.remove(&call.task)?;
                let result = u64::try_from(result).ok()?;
                if pending.seek {
                    let open = self.open.entry((process, pending.file)).or_default();
                    open.position = Some(result);
                } else if result > 0 {
                    return self.wrote(call, pending, result, batch.get(at + 1..)?, look);
                }
            }
        }
        None
    }

    fn began(&mut self, task: u32, file: u32, position: Option<u64>, seek: bool) {
        self.pending.insert(task, Pending { file, position, seek, filled: None, mixed: false });
    }

    /// A page that comes into the cache during a write belongs to the file written.
    fn take_note(&mut self, event: &Event) {
        let Some(pending) = self.pending.get_mut(&event.task) else { return };
        match event.kind {
            Kind::Add => {
                let covered = self.mounts.values().any(|&device| device == event.device);
                if covered {
                    pending.filled.get_or_insert(((event.device, event.inode), event.index));
                }
            }
            Kind::GetPages | Kind::Fault | Kind::MapPages => pending.mixed = true,
            Kind::Delete
            | Kind::Write
            | Kind::Read
            | Kind::Advise
            | Kind::Touch
            | Kind::Splice
            | Kind::Prefetch => {}
        }
    }

    fn wrote(
        &mut self,
        call: &Call,
        pending: Pending,
        bytes: u64,
        rest: &[Sample],
        look: &mut impl FnMut(u32, u32) -> Option<FdInfo>,
    ) -> Option<Event> {
        let open = self.open.entry((call.process, pending.file)).or_default();
        let filled = pending.filled.filter(|_| !pending.mixed);
        if !open.looked {
            let ahead = Ahead::of(call.process, pending.file, rest);
            let seen = if ahead.replaced { None } else { look(call.task, pending.file) };
            if let Some(seen) = seen {
                let moved = if pending.position.is_some() { 0 } else { bytes };
                let back = ahead.bytes.map(|ahead| ahead.saturating_add(moved));
                open.learn(&self.mounts, &seen, back);
            } else if let Some((file, _)) = filled {
                open.looked = true;
                open.file = Some(file);
            } else {
                self.unplaced += 1;
                open.position = open.position.map(|position| position + bytes);
                return None;
            }
        }
        let (device, inode) = open.file?;
        let filled = filled.filter(|(file, _)| *file == (device, inode));
        let named = pending.position.filter(|_| !open.append);
        let counted = named.or(open.position).filter(|&start| {
            let pages = start / PAGE_BYTES..=start.saturating_add(bytes - 1) / PAGE_BYTES;
            filled.is_none_or(|(_, page)| pages.contains(&page))
        });
        let Some(start) = counted.or(filled.map(|(_, page)| page.saturating_mul(PAGE_BYTES)))
        else {
            self.unplaced += 1;
            return None;
        };
        if pending.position.is_none() {
            open.position = Some(start.saturating_add(bytes));
        }
        let (time_ns, task, kind) = (call.time_ns, call.task, Kind::Write);
        Some(Event { time_ns, task, kind, device, inode, index: start, extent: bytes })
    }
}

/// What the rest of a batch does to a descriptor, and `fdinfo` therefore already shows.
struct Ahead {
    /// How far it was moved by writes; nothing if it was also sought.
    bytes: Option<u64>,
    /// It stands for something else by now.
    replaced: bool,
}

impl Ahead {
    fn of(process: u32, file: u32, rest: &[Sample]) -> Self {
        let mut ahead = Self { bytes: Some(0), replaced: false };
        let mut writing = Vec::new();
        for sample in rest {
            let Sample::Call(call) = sample else { continue };
            if call.process != process {
                continue;
            }
            match call.step {
                Step::Write { file: f, position: None } if f == file => writing.push(call.task),
                Step::Returned(result) => {
                    if let Some(at) = writing.iter().position(|&task| task == call.task) {
                        writing.swap_remove(at);
                        let moved = u64::try_from(result).unwrap_or(0);
                        ahead.bytes = ahead.bytes.map(|bytes| bytes.saturating_add(moved));
                    }
                }
                Step::Seek { file: f } if f == file => ahead.bytes = None,
                Step::Gone { first, last } if (first..=last).contains(&file) => {
                    ahead.replaced = true;
                    break;
                }
                Step::Opened { file: f } if f == file => {
                    ahead.replaced = true;
                    break;
                }
                _ => {}
            }
        }
        ahead
    }
}

#[cfg(test)]
mod tests;

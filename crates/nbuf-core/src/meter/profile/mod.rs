//! Where a command's processor time, page faults and fills of the page cache happen: by object, place and stack.
//!
//! Pure: it takes the kernel's records in the order of their times, keeps each process's mappings, and counts.
//! Addresses become an object and an offset in it at once, so that later mappings change nothing.
//! Cost: a few words a frame for each stack that was not seen before, up to [`STACKS_MOST`] of them.

mod record;
mod space;

use std::collections::{BTreeMap, HashMap};

pub(crate) use record::{Address, Object, Record};
pub(crate) use space::Mapping;
use space::Space;

/// Stacks that are kept apart. Others are counted by their innermost frame alone.
pub(crate) const STACKS_MOST: usize = 200_000;

/// A place in an object: its number, and an offset in the file, or an address where there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Frame {
    /// The number of the object.
    pub object: u32,
    /// Where in it.
    pub offset: u64,
}

/// What happened in an object, or to its pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Page faults that waited for no read.
    pub minor: u64,
    /// Page faults that waited for a read.
    pub major: u64,
    /// Pages put into the page cache.
    pub fills: u64,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    /// By their numbers.
    pub objects: Vec<Object>,
    /// Those that a process executed.
    pub programs: Vec<bool>,
    /// Samples by the name of the thread and the stack, innermost frame first.
    pub stacks: Vec<(String, Vec<Frame>, u64)>,
    /// All samples.
    pub samples: u64,
    /// Samples whose outer frames were not kept.
    pub cut: u64,
    /// By the object whose code ran.
    pub by_code: BTreeMap<u32, Tally>,
    /// By the object whose pages were touched or filled.
    pub by_data: BTreeMap<u32, Tally>,
}

/// Counts.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    objects: Vec<Object>,
    numbers: HashMap<Object, u32>,
    programs: Vec<bool>,
    files: HashMap<(u32, u64), u32>,
    spaces: HashMap<u32, Space>,
    names: HashMap<u32, String>,
    stacks: HashMap<(String, Vec<Frame>), u64>,
    samples: u64,
    cut: u64,
    by_code: BTreeMap<u32, Tally>,
    by_data: BTreeMap<u32, Tally>,
}

impl Profile {
    /// The next record in the order of time.
    pub(crate) fn take(&mut self, record: Record) {
        match record {
            Record::Mapped { process, mapping, object } => {
                let number = self.number(object);
                let space = self.spaces.entry(process).or_default();
                if space.executes(&mapping) {
                    self.programs[number as usize] = true;
                }
                space.map(mapping, number);
            }
            Record::Named { process, thread, name, executes } => {
                if executes {
                    self.spaces.insert(process, Space::executed());
                }
                self.names.insert(thread, name);
            }
            Record::Began { process, parent, thread, parent_thread } => {
                if process != parent {
                    let space = self.spaces.get(&parent).map(Space::forked).unwrap_or_default();
                    self.spaces.insert(process, space);
                }
                let name = self.names.get(&parent_thread).cloned().unwrap_or_default();
                self.names.insert(thread, name);
            }
            Record::Ended { process, thread } => {
                self.names.remove(&thread);
                // The process's first thread: others may still end, and have no samples of note.
                if process == thread {
                    self.spaces.remove(&process);
                }
            }
            Record::Ran { process, thread, stack } => self.ran(process, thread, &stack),
            Record::Faulted { process, at, touched, is_major } => {
                let code = self.code(process, at).object;
                let data = self.frame(process, Address { value: touched, in_kernel: false }).object;
                for tally in
                    [self.by_code.entry(code).or_default(), self.by_data.entry(data).or_default()]
                {
                    *(if is_major { &mut tally.major } else { &mut tally.minor }) += 1;
                }
            }
            Record::Filled { process, at, device, inode, pages } => {
                let code = match at {
                    Some(at) => self.code(process, at).object,
                    None => self.number(Object::Kernel),
                };
                self.by_code.entry(code).or_default().fills += pages;
                let data = match self.files.get(&(device, inode)) {
                    Some(&named) => named,
                    None => self.number(Object::Inode { device, inode }),
                };
                self.by_data.entry(data).or_default().fills += pages;
            }
        }
    }

    fn ran(&mut self, process: u32, thread: u32, stack: &[Address]) {
        self.samples += 1;
        let mut frames: Vec<Frame> = Vec::with_capacity(stack.len());
        for (depth, &at) in stack.iter().enumerate() {
            // The address of a caller is the one after its call.
            let value = if depth == 0 { at.value } else { at.value.saturating_sub(1) };
            frames.push(self.code(process, Address { value, ..at }));
        }
        let name = self.names.get(&thread).cloned().unwrap_or_default();
        let mut key = (name, frames);
        if self.stacks.len() >= STACKS_MOST && !self.stacks.contains_key(&key) {
            self.cut += 1;
            key.1.truncate(1);
        }
        *self.stacks.entry(key).or_default() += 1;
    }

    /// A place that ran: in memory without a file, only its process can name it.
    fn code(&mut self, process: u32, at: Address) -> Frame {
        let frame = self.frame(process, at);
        if self.objects[frame.object as usize] != Object::Anonymous {
            return frame;
        }
        Frame { object: self.number(Object::Generated { process }), ..frame }
    }

    fn frame(&mut self, process: u32, at: Address) -> Frame {
        if at.in_kernel {
            return Frame { object: self.number(Object::Kernel), offset: at.value };
        }
        if let Some((object, offset)) =
            self.spaces.get(&process).and_then(|space| space.find(at.value))
        {
            let has_file = matches!(self.objects[object as usize], Object::File { .. });
            return Frame { object, offset: if has_file { offset } else { at.value } };
        }
        // Mappings without a file that cannot be executed have no records.
        Frame { object: self.number(Object::Unknown), offset: at.value }
    }

    fn number(&mut self, object: Object) -> u32 {
        if let Some(&number) = self.numbers.get(&object) {
            return number;
        }
        let number = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        if let Object::File { device, inode, .. } = object {
            self.files.insert((device, inode), number);
        }
        self.objects.push(object.clone());
        self.programs.push(false);
        self.numbers.insert(object, number);
        number
    }

    /// What was counted. A file that was filled before it was mapped has its name, too.
    pub(crate) fn finish(mut self) -> Counted {
        for (&data, tally) in &self.by_data.clone() {
            let Object::Inode { device, inode } = self.objects[data as usize] else { continue };
            if let Some(&named) = self.files.get(&(device, inode)) {
                self.by_data.entry(named).or_default().fills += tally.fills;
                self.by_data.remove(&data);
            }
        }
        let mut stacks: Vec<_> =
            self.stacks.into_iter().map(|((name, frames), count)| (name, frames, count)).collect();
        stacks.sort();
        Counted {
            objects: self.objects,
            programs: self.programs,
            stacks,
            samples: self.samples,
            cut: self.cut,
            by_code: self.by_code,
            by_data: self.by_data,
        }
    }
}

#[cfg(test)]
mod tests;

//! What a log holds.
//!
//! The words are the kernel's; what they come to in the workload's own words is decided when the
//! log becomes a trace. Numbers are kept as the kernel gave them, so nothing is lost to rounding.

/// Which of the kernel's events was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A read asked the page cache for these pages.
    GetPages = 0,
    /// A page fault on this page of a mapped file.
    Fault = 1,
    /// Fault-around mapped these pages.
    MapPages = 2,
    /// A folio was added to the page cache.
    Add = 3,
    /// A folio was removed from the page cache.
    Delete = 4,
    /// A write through the page cache.
    Write = 5,
    /// A system call that reads a file through the page cache.
    Read = 6,
    /// A system call that says how a file will be read.
    Advise = 7,
    /// A page of a mapped file was touched since it was looked at last. The task is its process.
    Touch = 12,
    /// A system call that asks for pages ahead of time.
    Prefetch = 13,
    /// Bytes of a file on their way into a pipe.
    Splice = 14,
}

/// One kernel event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// The thread.
    pub task: u32,
    /// What happened.
    pub kind: Kind,
    /// The kernel's own device number: major in the upper twelve bits, minor in the lower twenty.
    pub device: u32,
    /// Inode number.
    pub inode: u64,
    /// Page index; for `Write`, `Read`, `Splice` and `Prefetch` the byte position.
    pub index: u64,
    /// `GetPages`, `MapPages`: last page index, inclusive. `Add`, `Delete`: order of the folio.
    /// `Write`, `Read`, `Splice`, `Prefetch`: length in bytes. `Fault`: 0. `Touch`: 0, or the pages of a large page.
    /// `Advise`: what is said, by the kernel's number.
    pub extent: u64,
}

impl Event {
    /// How many pages this put into the page tables of a process, at most; nothing of other events.
    pub fn mapped_pages(&self) -> Option<u64> {
        match self.kind {
            Kind::Fault => Some(1),
            Kind::MapPages => Some(self.extent.saturating_sub(self.index).saturating_add(1)),
            _ => None,
        }
    }
}

/// A file's name or its size was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSeen {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Device number as in [`Event::device`].
    pub device: u32,
    /// Inode number.
    pub inode: u64,
    /// Its size at that moment; [`Self::SIZE_UNKNOWN`] of a file that was gone by then.
    pub file_bytes: u64,
    /// Its path, if it is known.
    pub path: Option<Vec<u8>>,
}

impl FileSeen {
    /// Stands for an unknown size.
    pub const SIZE_UNKNOWN: u64 = u64::MAX;
}

/// The command's memory was read from its control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySeen {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Anonymous memory.
    pub anonymous_bytes: u64,
    /// Shared memory and tmpfs.
    pub shmem_bytes: u64,
    /// Kernel memory charged.
    pub kernel_bytes: u64,
    /// Page cache charged.
    pub page_cache_bytes: u64,
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// First: JSON of the facts known when the recording began.
    Start(Vec<u8>),
    /// A kernel event.
    Event(Event),
    /// A name or a size.
    File(FileSeen),
    /// An observation of memory.
    Memory(MemorySeen),
    /// Last: JSON of the facts at the end. Its absence means that the recording broke off.
    End(Vec<u8>),
}

impl Entry {
    /// At least as many bytes as the entry takes when coded.
    pub(super) fn bytes_bound(&self) -> usize {
        let carried = match self {
            Self::Start(json) | Self::End(json) => json.len(),
            Self::File(seen) => seen.path.as_ref().map_or(0, Vec::len),
            Self::Event(_) | Self::Memory(_) => 0,
        };
        carried.saturating_add(96)
    }
}

//! A recorded workload in memory: who touched which bytes of which file, in time order.
//!
//! Bytes, not pages: the page size is chosen when a curve is drawn. The on-disc form is Parquet
//! ([`crate::workload::format::native`]); `docs/trace.md` describes the columns. A record costs 4 to 7 bytes
//! here: see [`Records`].
//!
//! ```
//! use nbuf::trace::Trace;
//!
//! let trace = Trace::default();
//! assert_eq!(trace.records.iter().count(), 0);
//! ```

mod capture;
mod code;
mod cost;
mod lifetime;
mod peer;
mod records;
pub mod request;
pub(crate) mod sampled;
mod snapshot;
mod uncached;
pub(crate) mod varint;

pub use capture::{Capture, Looks, Reclaimed};
pub use cost::Cost;
pub use lifetime::Lifetime;
pub use peer::Peer;
pub use records::Records;
pub use sampled::Sampled;
pub use snapshot::{CachedFile, FolioRun, Snapshot};
pub use uncached::{Detour, Detoured, Uncached, summed as summed_uncached};

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// What happened to a range of a file in the page cache. The numbers are the `op` column of the native trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum CacheEvent {
    /// Demand: `read`, `pread`, `io_uring`; clipped to the end of the file.
    Read = 0,
    /// Demand: a write through the page cache.
    Write = 1,
    /// Demand: a page fault on exactly this page of a mapped file.
    Fault = 2,
    /// Demand, blurred: fault-around mapped this window; one page in it was wanted.
    Map = 3,
    /// The kernel put these pages into the cache for a demand access.
    Fill = 4,
    /// The kernel put these pages into the cache before anybody asked.
    Readahead = 5,
    /// The pages left the cache: truncated, deleted or dropped. Pages that the kernel reclaims
    /// because memory is short are left out.
    Evict = 6,
    /// The task said how it will read this file: the length is 0 for no particular way, 1 for at random, 2
    /// for in sequence (`posix_fadvise`), and [`ADVICE_ON_MAPPING`] more for mappings of it (`madvise`).
    Advise = 7,
    /// Demand: a page of a mapped file was touched since it was looked at last, and did not fault. It
    /// has the time of the look, and the process as its task.
    Touch = 8,
    /// The task asked for these pages before it needs them (`readahead`, `POSIX_FADV_WILLNEED`,
    /// `MADV_WILLNEED`). The kernel brings no more of them than one window.
    Prefetch = 9,
    /// Demand: a read that marks all of its folios as used: by `splice`, `sendfile` or `copy_file_range`, in
    /// pieces of a pipe, or by a worker of `io_uring`. Other reads mark a folio once as they go through it.
    Splice = 10,
}

/// Is added to the number of advice on a mapping.
pub const ADVICE_ON_MAPPING: u32 = 16;

impl CacheEvent {
    /// All operations, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Read,
        Self::Write,
        Self::Fault,
        Self::Map,
        Self::Fill,
        Self::Readahead,
        Self::Evict,
        Self::Advise,
        Self::Touch,
        Self::Prefetch,
        Self::Splice,
    ];

    /// The operation with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The number in the `op` column.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Whether a program asked for it, rather than the kernel doing it.
    pub fn is_demand(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Write | Self::Fault | Self::Map | Self::Touch | Self::Splice
        )
    }

    /// Whether it came through a mapping.
    pub fn is_mapped(self) -> bool {
        matches!(self, Self::Fault | Self::Map | Self::Touch)
    }
}

/// Index into [`Trace::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since the recording began.
    pub time_ns: i64,
    /// Where it starts in the file.
    pub offset_bytes: u64,
    /// Size of the file at that moment, as far as it is known; 0 when it is not.
    pub file_bytes: u64,
    /// How much of the file it covers; never past the end of the file.
    pub length_bytes: u32,
    /// Which file.
    pub file: FileId,
    /// The thread that asked.
    pub task: u32,
    /// Numbers the demand requests from 0; what the kernel did carries the number of the request
    /// it did it for, or the last one before it.
    pub request: u32,
    /// What happened.
    pub op: CacheEvent,
}

/// A block device (or other backing) that files of the trace lie on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Kernel's major number.
    pub major: u32,
    /// Kernel's minor number.
    pub minor: u32,
    /// What the kernel calls it, `nvme0n1p2`; empty when unknown.
    #[serde(default)]
    pub name: String,
    /// File system type, `ext4`; empty when unknown.
    pub filesystem: String,
    /// The device's readahead window in bytes (`read_ahead_kb`); 0 turns readahead off.
    pub readahead_bytes: u64,
    /// Largest single I/O in bytes (`max_sectors_kb`), up to which one big read may widen the window.
    pub io_bytes: u64,
    /// Largest folio the file system puts into the cache, as a power of two of pages.
    pub folio_order_max: u8,
}

/// Memory of the recorded command besides its page cache, at its peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Memory {
    /// Anonymous memory: heap, stacks, private copies.
    pub anonymous_bytes: Bytes,
    /// Shared memory and tmpfs; counted as cache by cgroup v1, kept apart here.
    pub shmem_bytes: Bytes,
    /// Kernel memory charged to the command: page tables, slabs, sockets.
    pub kernel_bytes: Bytes,
    /// Page cache charged to the command when it was recorded (what was warm is charged elsewhere).
    pub page_cache_bytes: Bytes,
    /// File pages that it used and that other programs held in memory, such as the C library's: charged
    /// to them, and needed by a command that runs alone. 0 in a trace, which does not know.
    #[serde(default)]
    pub shared_text_bytes: Bytes,
}

impl Memory {
    /// What counts against the limit of a command that runs alone, besides its cache.
    pub fn other_bytes(&self) -> Bytes {
        self.anonymous_bytes + self.shmem_bytes + self.kernel_bytes + self.shared_text_bytes
    }
}

/// The facts that go with a trace: enough to judge and to re-run it. JSON under the key `nbuf` in
/// the metadata of a native trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Version of this structure: [`Facts::SCHEMA`].
    pub schema: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Where it was run.
    pub directory: String,
    /// Kernel release.
    pub kernel: String,
    /// Whether that kernel evicts by the multi-generational LRU rather than by the active and inactive lists.
    #[serde(default)]
    pub multi_generational: bool,
    /// Version of the cgroup interface that metered its memory: `v1` or `v2`; empty when none did.
    #[serde(default)]
    pub cgroup: String,
    /// Processors online.
    pub processors: u32,
    /// Memory of the machine, or what a group around the command leaves of it.
    pub memory_total_bytes: Bytes,
    /// Seconds since 1970 when the recording began.
    pub started_unix_seconds: u64,
    /// Elapsed time of the recorded run.
    pub elapsed_ns: u64,
    /// Processor time of the command, user and system.
    pub cpu_ns: u64,
    /// Bytes read from block devices for it.
    #[serde(default)]
    pub read_bytes: Bytes,
    /// Bytes of pages that it made dirty, counted each time, and of its writes past the cache.
    #[serde(default)]
    pub written_bytes: Bytes,
    /// Exit status as a shell gives it: 128 + n for signal n. Absent when the recording broke off.
    pub exit_status: Option<i32>,
    /// How it was captured.
    pub capture: Capture,
    /// Memory besides the cache.
    pub memory: Memory,
    /// Devices under the files. The first is the one that is asked most.
    pub devices: Vec<Device>,
    /// Files that are not on the first device: name, index into `devices`.
    pub file_devices: Vec<(String, u32)>,
    /// Text of programs in files that were mapped, of which the kernel keeps what is used longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<Text>,
    /// Files that were used without the page cache of files.
    #[serde(default)]
    pub uncached: Vec<Uncached>,
    /// Servers on this machine that the command was connected to, and that were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<Peer>,
    /// The same run again, not recorded: where recording stops the command at each call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<Timed>,
    /// Warnings for the readers of all later reports: losses, a broken recording, unknown files.
    #[serde(alias = "cautions")]
    pub warnings: Vec<String>,
}

/// The text of a file: pages that programs execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The file's name in the trace.
    pub file: String,
    /// Its first page of text.
    pub first: u32,
    /// How many there are.
    pub pages: u32,
}

/// What a run took that was not recorded, with the files in memory that the recorded run left there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    /// Elapsed time.
    pub elapsed_ns: u64,
    /// Processor time, user and system.
    pub cpu_ns: u64,
    /// Bytes read from block devices for it: what had not stayed in memory.
    pub read_bytes: Bytes,
}

impl Facts {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.trace/1";

    /// Whether the command was stopped again and again while it was recorded, so that its times are
    /// not those of a run.
    pub fn stopped(&self) -> bool {
        self.capture.backend == "calls"
    }

    /// How long a run takes; nothing where only one that was stopped at its calls was timed.
    pub fn run_ns(&self) -> Option<u64> {
        let recorded = (!self.stopped()).then_some(self.elapsed_ns);
        self.timed.map(|timed| timed.elapsed_ns).or(recorded)
    }
}

/// A recorded workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// In time order.
    pub records: Records,
    /// Unique names: a path, or `unknown inode MAJOR:MINOR/INODE`.
    pub files: Vec<String>,
    /// What goes with it.
    pub facts: Facts,
}

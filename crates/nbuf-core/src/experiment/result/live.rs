//! What `nbuf size` gives of programs that run already: rates at each size of their cache.

use serde::{Deserialize, Serialize};

use super::{LiveMarks, LiveProbe, LiveSnapshot, Warning};
use crate::units::Bytes;

/// The document of `nbuf size --pid --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveDocument {
    /// [`LiveDocument::SCHEMA`].
    pub schema: String,
    /// What the first of the programs was started as.
    pub command: Vec<String>,
    /// Processes that ran at the end of the window.
    pub processes: u64,
    /// Length of the window.
    pub seconds: f64,
    /// The signal that ended it early.
    pub interrupted: Option<i32>,
    /// How they were recorded: `bpf`, by programs in the kernel, or `perf`, by its events.
    #[serde(default)]
    pub backend: String,
    /// The share of the pages that were recorded, up to 1; the others stand for themselves by a count of accesses.
    #[serde(default)]
    pub sampled_share: f64,
    /// Processor time that nbuf took to read the events.
    #[serde(default)]
    pub reader_seconds: f64,
    /// Events that were recorded.
    pub events: u64,
    /// Events that were lost: all rates are too low.
    pub lost: u64,
    /// Page accesses a second: pages asked for by calls, and touches of mapped pages.
    pub accesses_per_second: f64,
    /// The share of them that came through mappings, from 0 to 1.
    pub mapped_share: f64,
    /// Pages that the kernel brought in, a second, with the cache as it was.
    pub fills_per_second: f64,
    /// The lower edge of its 95 % band for the next window.
    #[serde(default)]
    pub fills_per_second_low: f64,
    /// The upper edge.
    #[serde(default)]
    pub fills_per_second_high: f64,
    /// Different pages that were accessed.
    pub touched_bytes: Bytes,
    /// Memory that is no page cache, at the end of the window.
    pub memory: LiveMemory,
    /// Fills at each size of the cache, as far as the window shows.
    pub points: Vec<LivePoint>,
    /// What a window twice as long would show; absent without a curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer: Option<LiveLonger>,
    /// Whether both halves of the window agree within their bands.
    pub is_steady: bool,
    /// The share of accesses that was to be hits, from 0 to 1.
    pub hit_target: f64,
    /// The misses a second that were allowed instead, where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fills_target: Option<f64>,
    /// The waiting that was allowed instead, where it was: tasks that wait for a disc at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_target: Option<f64>,
    /// What a read of a disc took, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<LiveService>,
    /// The last known size whose memory is worth having; absent where none saves much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee_bytes: Option<Bytes>,
    /// The smallest known size that meets it.
    pub answer: Option<LivePoint>,
    /// What lowering the limit of the service for a while showed, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<LiveProbe>,
    /// How mapped files were watched; absent where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<LiveMarks>,
    /// What was cached when the window began; absent where that could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<LiveSnapshot>,
    /// What to know of the figures.
    pub warnings: Vec<Warning>,
}

impl LiveDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.live/1";

    /// The cache that the group holds and does not need, or else the cache that it needs and does not hold. Nothing
    /// where the kernel has no account of the group, or where the need is not known.
    pub fn frees_or_lacks(&self) -> (Option<Bytes>, Option<Bytes>) {
        let needed = match &self.answer {
            Some(answer) => Some(answer.cache_bytes),
            None => self.points.is_empty().then(Bytes::default),
        };
        let known = needed.filter(|_| self.memory.is_charged && self.processes > 0);
        let held = self.memory.cache_bytes;
        let more = |one: Bytes, other: Bytes| Some(one - other).filter(|bytes| bytes.0 > 0);
        (known.and_then(|needed| more(held, needed)), known.and_then(|needed| more(needed, held)))
    }
}

/// Memory of programs that run, apart from the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveMemory {
    /// Memory without a file behind it. Each process that shares a page counts its part of it.
    pub anonymous_bytes: Bytes,
    /// Shared memory and tmpfs.
    pub shared_bytes: Bytes,
    /// Memory of the kernel for them; 0 where only processes are named, since the kernel does not count it by process.
    pub kernel_bytes: Bytes,
    /// The page cache that is charged to the group, or mapped by the processes.
    pub cache_bytes: Bytes,
    /// Whether it is an account of the kernel for a group: `cache_bytes` is all of the cache then.
    #[serde(default)]
    pub is_charged: bool,
}

impl LiveMemory {
    /// All of it that no eviction of file pages gives back.
    pub fn other_bytes(&self) -> Bytes {
        Bytes(self.anonymous_bytes.0 + self.shared_bytes.0 + self.kernel_bytes.0)
    }
}

/// What a cache of one size would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LivePoint {
    /// The cache.
    pub cache_bytes: Bytes,
    /// With the other memory: the limit to set.
    pub limit_bytes: Bytes,
    /// The share of accesses that hit, from 0 to 1.
    pub hit_ratio: f64,
    /// Pages a second that would have to be brought in.
    pub misses_per_second: f64,
    /// The lower edge of its 95 % band.
    pub misses_per_second_low: f64,
    /// The upper edge.
    pub misses_per_second_high: f64,
    /// Pages a second that the kernel would bring in: for misses, and ahead of them. Absent where that is not known: of a
    /// sample of the pages, and where the window has few misses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fills_per_second: Option<f64>,
    /// The lower edge: of the band of misses, and of two orders of eviction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fills_per_second_low: Option<f64>,
    /// The upper edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fills_per_second_high: Option<f64>,
    /// Misses a second, times what a read takes: tasks that wait for a disc at a time, at most. Readahead serves several
    /// misses by one read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<f64>,
}

/// What a longer window would show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveLonger {
    /// Its length.
    pub seconds: f64,
    /// About the largest size that it would show, by how the number of new pages fell in this window.
    pub known_bytes: Bytes,
}

/// What a read of a disc took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveService {
    /// The mean, with the time in its queue.
    pub read_seconds: f64,
    /// Reads that it is the mean of, of all discs of the machine.
    pub reads: u64,
    /// Whether they are of the window; otherwise of all time since the machine started.
    pub is_of_window: bool,
}

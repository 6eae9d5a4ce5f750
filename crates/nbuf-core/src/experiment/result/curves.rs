//! What `nbuf curve` gives: hits of policies at sizes, for one trace.

use serde::{Deserialize, Serialize};

use super::{CurveGroup, CurveWindow, PointPrefetches, Warning};

/// The document of `nbuf curve --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurveDocument {
    /// [`CurveDocument::SCHEMA`].
    pub schema: String,
    /// What was read.
    pub trace: TraceSummary,
    /// A curve for each page size and policy.
    pub curves: Vec<PolicyCurve>,
    /// Warnings for the reader: the omissions and their reasons.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

impl CurveDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.curve/1";
}

/// What was read, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TraceSummary {
    /// The files, in order; `-` is standard input.
    pub files: Vec<String>,
    /// The format, as it was found or given.
    pub format: String,
    /// How the files are packed: `none`, `gzip`, `xz`, `zstd`.
    pub packing: String,
    /// What became an access: `page`, `request` or `key`.
    pub unit: String,
    /// What a write does: `allocate`, `around` or `ignore`.
    pub writes_do: String,
    /// Requests that were read.
    pub requests: u64,
    /// Those at the beginning that filled the caches and were not counted; absent where none were.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub warmup_requests: Option<u64>,
    /// Those that read.
    pub reads: u64,
    /// Those that write.
    pub writes: u64,
    /// Those that discard.
    pub discards: u64,
    /// Those that flush.
    pub flushes: u64,
    /// Requests of no bytes.
    pub empty: u64,
    /// Requests left out: they lie past the end of what can be addressed, or are absurdly long.
    pub unplaced: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// From the first request to the last; 0 where the format has no times.
    pub span_ns: u64,
    /// Records that could not be read.
    pub problems: u64,
}

/// One policy at several sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PolicyCurve {
    /// Its name.
    pub policy: String,
    /// Bytes of a page; what an access is to.
    pub page_bytes: u64,
    /// Distinct pages that were accessed.
    pub distinct_pages: u64,
    /// Accesses that miss at every size, because they are the first to their page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cold_misses: Option<u64>,
    /// What the objects are, where the caches are of objects with sizes. A page is then one byte: sizes in
    /// pages are bytes, and an access is a request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub objects: Option<ObjectFacts>,
    /// How the caches prefetched, as `--prefetch` has it; absent without it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prefetch: Option<String>,
    /// How the keys were sampled, if they were.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sample: Option<SampleFacts>,
    /// Ascending by size.
    pub points: Vec<CurvePoint>,
    /// Where the curve bends; nothing when no size saves anything, or too few sizes were looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corners: Option<CurveCorners>,
    /// Accesses that miss at the knee, between two points too; absent where there is no knee.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub knee_misses: Option<u64>,
    /// The ranges of the three true sizes; absent where `corners` are exact.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corners_between: Option<CornersBetween>,
    /// The size that a target asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<CurveTarget>,
    /// The curve of each window of time; empty when not asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub windows: Vec<CurveWindow>,
    /// The curve of each file, task or operation; empty when not asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<CurveGroup>,
}

/// One size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurvePoint {
    /// The cache in pages.
    pub pages: u64,
    /// Accesses to pages.
    pub accesses: u64,
    /// Those that miss.
    pub misses: u64,
    /// Requests, each of one page or several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requests: Option<u64>,
    /// Those of which a page misses.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request_misses: Option<u64>,
    /// The lower edge of the 95 % band of the misses; of the optimum over objects, what no policy is below. Absent where
    /// the misses are exact.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub misses_low: Option<u64>,
    /// The upper edge; of the optimum over objects, `misses`, which some schedule attains.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub misses_high: Option<u64>,
    /// Bytes that were asked for; absent unless the caches are of objects.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
    /// Those of the misses.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub miss_bytes: Option<u64>,
    /// For the optimum over objects: the bytes of misses that no policy is below.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub miss_bytes_low: Option<u64>,
    /// What all accesses would cost if none hit, in the unit of `--cost`; absent without it, and for the optimum.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<f64>,
    /// What the misses cost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub miss_cost: Option<f64>,
    /// What came of prefetching; absent without it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prefetch: Option<PointPrefetches>,
}

impl CurvePoint {
    /// Accesses that hit, as a share.
    pub fn hit_ratio(&self) -> f64 {
        share(self.accesses.saturating_sub(self.misses), self.accesses)
    }

    /// Half of the band of the hit ratio; 0 where the misses are exact.
    pub fn half_width(&self) -> f64 {
        let (low, high) = self.misses_low.zip(self.misses_high).unwrap_or_default();
        share(high.saturating_sub(low), self.accesses) / 2.0
    }

    /// Requests all of whose pages hit, as a share.
    pub fn request_hit_ratio(&self) -> Option<f64> {
        let (requests, misses) = (self.requests?, self.request_misses?);
        Some(share(requests.saturating_sub(misses), requests))
    }

    /// Bytes of the requests that hit, as a share of the bytes of all; nothing unless the caches are of
    /// objects.
    pub fn byte_hit_ratio(&self) -> Option<f64> {
        let (bytes, misses) = (self.bytes?, self.miss_bytes?);
        Some(share(bytes.saturating_sub(misses), bytes))
    }
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

/// The objects of a trace, for caches in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ObjectFacts {
    /// Distinct objects that were accessed. `distinct_pages` is what all take together, each at its largest.
    pub distinct: u64,
    /// What the largest takes, with the overhead.
    pub largest_bytes: u64,
    /// What each object takes in addition to its bytes.
    pub overhead_bytes: u64,
    /// Who gives its memory: `exact`, or as `redis:key=20`. `exact` in documents without it.
    #[serde(default = "exact")]
    pub allocator: String,
    /// Accesses that found another size than the access to the object before.
    pub size_changes: u64,
    /// Objects that were removed, by a delete or by a write around the cache.
    pub removals: u64,
    /// Where times to live come from, as `--ttl` has it; absent where no object expires.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ttl: Option<String>,
    /// What decides whether an object that missed comes in, as `--admit` has it; absent where all do.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub admissions: Vec<String>,
    /// What becomes of expired objects: `evict` or `free`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expired: Option<String>,
    /// What an object that is larger than the cache does: `clear` if it empties the cache; absent if it bypasses it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub oversized: Option<String>,
    /// The size from which on the policy was counted at all sizes at once; absent where it ran at each.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exact_from_bytes: Option<u64>,
}

fn exact() -> String {
    "exact".to_owned()
}

/// Where a curve bends: sizes in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurveCorners {
    /// Below it a cache is useless.
    pub floor_pages: u64,
    /// From it on most of what can be saved is saved.
    pub knee_pages: u64,
    /// Above it nothing more is gained.
    pub ceiling_pages: u64,
}

/// The range of each of the three sizes, both ends included. For a sample it holds with 95 %
/// confidence. For a policy that was run at some sizes it holds if the curve only falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CornersBetween {
    /// The floor.
    pub floor_pages: [u64; 2],
    /// The knee.
    pub knee_pages: [u64; 2],
    /// The ceiling.
    pub ceiling_pages: [u64; 2],
}

/// What came of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurveTarget {
    /// As it was asked for.
    pub target: String,
    /// The size.
    pub pages: u64,
    /// Whether it meets the target; else it is the nearest there is.
    pub met: bool,
    /// The next smaller size that was counted and does not meet it, where sizes between the two were not counted: one of
    /// them may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_than_pages: Option<u64>,
}

/// A sample of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SampleFacts {
    /// The share of the keys that was followed, in addition to the hot ones.
    pub rate: f64,
    /// What chose them.
    pub seed: u64,
    /// Keys that were followed because they are asked for most.
    pub hot_keys: u64,
    /// Keys that were followed in all.
    pub followed_keys: u64,
    /// The smallest of the sizes that the sample can judge; absent when it can judge none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judged_from_pages: Option<u64>,
}

//! What `curve` draws: made by hand, from a command line, or read from a file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cache::admission::Admission;
use crate::cache::allocator::Allocator;
use crate::cache::objects::{Expired, Oversized};
use crate::cache::policy::Choice;
use crate::cache::prefetch::Prefetching;
use crate::experiment::grid::{By, Every};
use crate::experiment::objects::Ttl;
use crate::experiment::target::Target;
use crate::units::{PAGE_BYTES, Size, SizeList};
use crate::workload::format::Parameters;
use crate::workload::pages::{Whole, Writes};

/// The spec of curves. The default reads nothing: it takes `traces`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The trace, in one or several files; `-` is standard input.
    pub traces: Vec<PathBuf>,
    /// Its format, instead of what it looks like.
    pub format: Option<Parameters>,
    /// Records that may be unreadable.
    pub problems_max: u64,
    /// Memory that may be used, by default half of what is available.
    pub memory: Option<Size>,
    /// The policies; by default LRU, and the optimum where the whole trace is looked at.
    pub policies: Vec<Choice>,
    /// The sizes; by default some sixteen in equal ratios.
    pub sizes: Option<SizeList>,
    /// Bytes of a page; each has curves of its own.
    pub page_bytes: Vec<u64>,
    /// The option that asks for pages, if one does: a trace of keys is then an error, as it has none.
    #[serde(skip)]
    pub asks_for_pages: Option<&'static str>,
    /// Whether requests are kept whole.
    pub whole: Whole,
    /// Whether the caches are of objects with sizes: a key, or a whole request. They also are where a size
    /// is in bytes and an access is to one of these.
    pub is_objects: bool,
    /// What each object takes in addition to its bytes; more than 0 asks for caches of objects.
    pub overhead_bytes: u64,
    /// Who gives memory to each object; another than `exact` asks for caches of objects.
    pub allocator: Allocator,
    /// Times to live, which ask for caches of objects; by default no object expires.
    pub ttl: Option<Ttl>,
    /// What becomes of the bytes of expired objects.
    pub expired: Expired,
    /// What an object that is larger than the cache does to the others; another than `bypass` asks for caches of objects.
    pub oversized: Oversized,
    /// What decides whether an object that missed comes in; all must admit it. Any asks for caches of objects.
    pub admissions: Vec<Admission>,
    /// The column of a CSV that says what each miss costs; it asks for caches of objects.
    pub cost: Option<String>,
    /// A snapshot of the store, whose sizes and times to live go to the requests without: what memcached's metadump
    /// prints, or an RDB file of Redis. It asks for caches of objects.
    pub snapshot: Option<PathBuf>,
    /// What the caches prefetch, if anything. Every policy then runs at each size.
    pub prefetch: Option<Prefetching>,
    /// What writes do.
    pub writes: Writes,
    /// What fills the caches before anything is counted.
    pub warmup: Option<Warmup>,
    /// Draws the curves from a sample of the keys.
    pub sample: Option<Rate>,
    /// With a rate of `auto`: the half width of the widest band, in points of the hit ratio.
    pub tolerance: f64,
    /// Whether LRU is wanted at all sizes, however few are shown.
    pub all_sizes: bool,
    /// Which size to look for.
    pub target: Option<Target>,
    /// Windows of time to be counted apart.
    pub every: Option<Every>,
    /// Parts to be counted apart.
    pub by: Option<By>,
    /// Whether one processor does it all.
    pub is_serial: bool,
}

/// What fills the caches before anything is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warmup {
    /// This many requests.
    Requests(u64),
    /// This share of all, in millionths.
    Millionths(u64),
}

/// How much is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// This share of the keys.
    Fixed(f64),
    /// As much as the tolerance takes.
    Auto,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            traces: Vec::new(),
            format: None,
            problems_max: 1000,
            memory: None,
            policies: Vec::new(),
            sizes: None,
            asks_for_pages: None,
            page_bytes: vec![PAGE_BYTES],
            whole: Whole::default(),
            is_objects: false,
            overhead_bytes: 0,
            allocator: Allocator::Exact,
            ttl: None,
            expired: Expired::default(),
            oversized: Oversized::default(),
            admissions: Vec::new(),
            cost: None,
            snapshot: None,
            prefetch: None,
            writes: Writes::default(),
            warmup: None,
            sample: None,
            tolerance: 1.0,
            all_sizes: false,
            target: None,
            every: None,
            by: None,
            is_serial: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_from_a_file_and_written_again() {
        let text = r#"
            traces = ["a.csv.zst", "b.csv.zst"]
            format = "csv:key=lbn,size=bytes"
            policies = ["lru", "v1:busy=3"]
            sizes = "64MiB,10%,1000..500000,64MiB..1GiB:64MiB"
            writes = "around"
            ttl = "trace,1h"
            expired = "free"
            oversized = "clear"
            admissions = ["threshold:bytes=64KiB", "tinylfu"]
            snapshot = "dump.rdb"
            prefetch = "next:pages=2"
            warmup = { millionths = 100000 }
            sample = { fixed = 0.01 }
            every = { requests = 1000 }
        "#;
        let spec: Spec = toml::from_str(text).unwrap();
        assert_eq!(spec.policies.len(), 2);
        assert_eq!((spec.writes, spec.every), (Writes::Around, Some(Every::Requests(1000))));
        let json = serde_json::to_string(&spec).unwrap();
        let again: Spec = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), json);
        assert_eq!(again.sizes, spec.sizes);
    }
}

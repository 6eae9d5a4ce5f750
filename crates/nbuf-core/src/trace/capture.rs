//! How a trace was captured, and what it does not contain.

use serde::{Deserialize, Serialize};

use super::Sampled;

/// How the trace was captured, and what was lost on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// `perf` or `bpf`: by tracepoints, read by perf's events or by programs in the kernel. `calls`: by stopping the
    /// command at its calls.
    pub backend: String,
    /// Kernel events counted, by the kernel's own counters.
    pub events: u64,
    /// Events counted but not received. Not zero: everything derived is too low.
    pub lost: u64,
    /// How repeated touches of mapped pages were seen; nothing where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks: Option<Looks>,
    /// Which pages are in the trace; nothing of one that has all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// Processor time that it took to read the events.
    #[serde(default)]
    pub reader_ns: u64,
    /// Pages that the kernel's own threads took from the cache meanwhile, from any program of the machine. Only
    /// programs in the kernel count them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reclaimed: Vec<Reclaimed>,
}

/// Pages of files that a thread of the kernel took from the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reclaimed {
    /// `kswapd`, where memory was short; `kdamond`, which takes pages that are not used.
    pub name: String,
    /// How many.
    pub pages: u64,
}

/// How repeated touches of mapped pages were seen: by looking at intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    /// How often.
    pub rounds: u64,
    /// The longest interval.
    pub interval_ns: u64,
    /// The most pages that were touched in one. A cache that does not hold several times as many is not
    /// described by the trace.
    pub pages_max: u64,
    /// Pages mapped by processes that were looked at often.
    pub seen_pages: u64,
    /// Pages mapped by processes that ended before that.
    pub unseen_pages: u64,
}

impl Looks {
    /// The share of mapped pages whose next touches were not seen, from 0 to 1.
    pub fn unseen_share(&self) -> f64 {
        let all = self.seen_pages.saturating_add(self.unseen_pages);
        if all == 0 { 1.0 } else { self.unseen_pages as f64 / all as f64 }
    }
}

impl Capture {
    /// The warning of a recording that lost events.
    pub fn loss(&self) -> Option<String> {
        let Self { lost, events, .. } = self;
        (*lost > 0).then(|| format!("{lost} of {events} events were lost: every figure is too low"))
    }
}

//! How a trace was captured, and what it does not contain.

use serde::{Deserialize, Serialize};

use super::{Sampled, Snapshot};

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
    /// What was cached when the recording of running programs began, if that was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Snapshot>,
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
    /// Pages mapped by processes that ended before that, or that were left out.
    pub unseen_pages: u64,
    /// Pages of programs that ran already that are in large pages: a touch is one of all pages of a large one.
    #[serde(default)]
    pub large_pages: u64,
    /// The longest time that taking away the marks of a process took. Its faults waited meanwhile.
    #[serde(default)]
    pub clear_ns_max: u64,
    /// How long the recording went on before the first look.
    #[serde(default)]
    pub waited_ns: u64,
    /// How long there were no looks after the first one, because memory was reclaimed.
    #[serde(default)]
    pub rested_ns: u64,
    /// Processes that were left out, because taking their marks away took too long.
    #[serde(default)]
    pub left_out: u64,
}

impl Looks {
    /// These, and those of another recording.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            rounds: self.rounds + other.rounds,
            interval_ns: self.interval_ns.max(other.interval_ns),
            pages_max: self.pages_max.max(other.pages_max),
            seen_pages: self.seen_pages + other.seen_pages,
            unseen_pages: self.unseen_pages + other.unseen_pages,
            large_pages: self.large_pages.max(other.large_pages),
            clear_ns_max: self.clear_ns_max.max(other.clear_ns_max),
            waited_ns: self.waited_ns + other.waited_ns,
            rested_ns: self.rested_ns + other.rested_ns,
            left_out: self.left_out + other.left_out,
        }
    }

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

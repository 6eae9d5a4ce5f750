//! What `nbuf size` gives of several programs that run already.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::LiveDocument;
use crate::units::Bytes;

/// The document of `nbuf size --cgroup '/system.slice/*.service' --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveMachine {
    /// [`LiveMachine::SCHEMA`].
    pub schema: String,
    /// Length of the window, from the moment when all were attached to.
    pub seconds: f64,
    /// The signal that ended it early.
    pub interrupted: Option<i32>,
    /// The programs, those first that gain most: by memory to free, then by memory that they lack.
    pub targets: Vec<LiveTarget>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveTarget {
    /// The path of its cgroup, the name of its container, unit or pod, or the number of its process.
    pub name: String,
    /// Why there are no figures of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Cache that it holds and does not need. Absent where the kernel keeps no account of its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frees_bytes: Option<Bytes>,
    /// Cache that it needs and does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks_bytes: Option<Bytes>,
    /// The figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveDocument>,
}

impl LiveMachine {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.live-machine/1";

    /// Puts those first that gain most.
    pub(in crate::experiment) fn sort(&mut self) {
        self.targets.sort_by_key(|target| {
            let none = Bytes::default();
            let free = target.frees_bytes.unwrap_or(none);
            let lack = target.lacks_bytes.unwrap_or(none);
            (target.live.is_none(), Reverse(free), Reverse(lack), target.name.clone())
        });
    }
}

impl LiveTarget {
    /// The row of a document.
    pub(in crate::experiment) fn of(name: String, live: LiveDocument) -> Self {
        let (frees_bytes, lacks_bytes) = live.frees_or_lacks();
        Self { name, failed: None, frees_bytes, lacks_bytes, live: Some(live) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::{LiveMemory, LivePoint};

    fn row(name: &str, held: u64, needed: Option<u64>, known: bool) -> LiveTarget {
        let memory =
            LiveMemory { cache_bytes: Bytes(held), is_charged: known, ..LiveMemory::default() };
        let answer =
            needed.map(|needed| LivePoint { cache_bytes: Bytes(needed), ..LivePoint::default() });
        let points = answer.into_iter().collect();
        let live = LiveDocument { memory, answer, points, processes: 1, ..LiveDocument::default() };
        LiveTarget::of(name.to_owned(), live)
    }

    #[test]
    fn what_gains_most_comes_first() {
        let failed = LiveTarget { name: "a".into(), ..LiveTarget::default() };
        let mut machine = LiveMachine {
            targets: vec![
                failed,
                row("little", 50, Some(40), true),
                row("lacks", 40, Some(70), true),
                row("unknown", 90, Some(10), false),
                row("idle", 80, None, true),
            ],
            ..LiveMachine::default()
        };
        machine.sort();
        let got: Vec<(&str, Option<u64>, Option<u64>)> = machine
            .targets
            .iter()
            .map(|row| {
                (row.name.as_str(), row.frees_bytes.map(|b| b.0), row.lacks_bytes.map(|b| b.0))
            })
            .collect();
        let want = [
            ("idle", Some(80), None),
            ("little", Some(10), None),
            ("lacks", None, Some(30)),
            ("unknown", None, None),
            ("a", None, None),
        ];
        assert_eq!(got, want);
    }
}

//! Whether touches of mapped pages of running programs are watched. Watching costs these programs something.

use serde::{Deserialize, Serialize};

use crate::units::whole;

/// How long clearing marks may hold up a process, by default.
const PAUSE_SECONDS: f64 = 0.005;

/// When the processor's marks of mapped pages are cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MappedWhen {
    /// While the kernel reclaims no memory of the programs.
    #[default]
    Auto,
    /// Also while it reclaims memory.
    On,
    /// Never. Only faults of mapped files are recorded.
    Off,
}

/// How mapped files are watched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MappedWatch {
    /// When marks are cleared.
    pub when: MappedWhen,
    /// The longest time for which clearing the marks of a process may hold up that process.
    pub pause_seconds: f64,
}

impl Default for MappedWatch {
    fn default() -> Self {
        Self { when: MappedWhen::Auto, pause_seconds: PAUSE_SECONDS }
    }
}

impl MappedWatch {
    pub(in crate::workload::record) fn pause_ns(self) -> u64 {
        whole(self.pause_seconds * 1e9)
    }
}

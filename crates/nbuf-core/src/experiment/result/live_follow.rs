//! What `nbuf size --follow` gives of a program at the end of each window.

use serde::{Deserialize, Serialize};

use super::LiveDocument;

/// A line of `nbuf size --follow --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveFollow {
    /// [`LiveFollow::SCHEMA`].
    pub schema: String,
    /// The path of its cgroup, the name of its container, unit or pod, or the number of its process.
    pub target: String,
    /// The number of the window, from 1.
    pub window: u64,
    /// When the window ended, in seconds since 1970.
    pub unix_seconds: u64,
    /// Windows that the curve is made of: the newest fifteen that had accesses, of which one that is five windows
    /// older counts half.
    pub windows: u64,
    /// How often nbuf attached in this window: once, and again after each restart.
    pub attached: u64,
    /// The directory of the cgroup that was watched last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// Processes that were watched in this window, by their numbers: a hundred at most.
    pub processes: Vec<u32>,
    /// Why it was not watched when the window ended, or never in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Processor time of nbuf since its start, for all programs that it follows.
    pub nbuf_cpu_seconds: f64,
    /// The figures. Its length, events, fills, memory and warnings are of this window; the curve, the rate of
    /// accesses and the answer are of all windows that count. Absent if nothing was watched in this window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveDocument>,
}

impl LiveFollow {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.live-follow/1";
}

/// The document of programs that were followed: its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveFollowed {
    /// [`LiveFollowed::SCHEMA`].
    pub schema: String,
    /// Windows, the last one included.
    pub windows: u64,
    /// The signal that ended it; absent if all programs had ended.
    pub interrupted: Option<i32>,
    /// The lines of the last window.
    pub targets: Vec<LiveFollow>,
}

impl LiveFollowed {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.live-followed/1";
}

//! What `nbuf watch` gives of files and processes that are named.

use serde::{Deserialize, Serialize};

use super::WatchStates;
use crate::units::Bytes;

/// What of a named file is in the page cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchFile {
    /// As it was named.
    pub path: String,
    /// Its size.
    pub bytes: Bytes,
    /// Its pages.
    pub pages: u64,
    /// Pages in the page cache.
    pub cached: u64,
    /// How many more than at the end of the interval before; nothing in the first one.
    pub grown: Option<i64>,
    /// Pages that are not yet written.
    pub dirty: u64,
    /// Pages that are being written.
    pub writeback: u64,
    /// Pages that were evicted, as far as the kernel remembers.
    pub evicted: u64,
    /// Those evicted so recently that another read would make them active.
    pub recently_evicted: u64,
    /// The share in the page cache, from 0 to 1, of each of at most 64 equal parts.
    pub map: Vec<f64>,
    /// Why nothing is known of it.
    pub error: Option<String>,
}

/// Chosen processes together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchChosen {
    /// The processes at the end, by number.
    pub processes: Vec<u32>,
    /// States of their threads at the end.
    pub thread_states: WatchStates,
    /// Their time in programs. Processes that began or ended in the interval are missing here and below.
    pub user_seconds: f64,
    /// Their time in the kernel.
    pub system_seconds: f64,
    /// Their faults that waited for a disc.
    pub faults_major: u64,
    /// Their other faults.
    pub faults_minor: u64,
    /// Their running time by their number of faults of any kind; nothing without any.
    pub running_between_mean_seconds: Option<f64>,
    /// Their memory at the end. What several share counts several times.
    pub resident_bytes: Bytes,
}

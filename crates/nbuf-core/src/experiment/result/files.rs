//! The files of a report.

use serde::{Deserialize, Serialize};

/// What one file has to do with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FileShare {
    /// Its path.
    pub name: String,
    /// Distinct pages accessed.
    pub pages: u64,
    /// Pages accessed by calls and exact faults, repetitions included.
    pub accesses: u64,
    /// Pages filled at the recommended size, or with room for everything where none is recommended.
    pub fills: u64,
    /// Pages filled at the floor: what is more than `fills` is what the file loses there.
    pub fills_at_floor: u64,
    /// Pages filled with room for everything: what is less than `fills` is what more would gain.
    pub fills_unlimited: u64,
}

/// The files that are not listed one by one, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct OtherFiles {
    /// How many there are.
    pub files: u64,
    /// As in [`FileShare`].
    pub pages: u64,
    /// As in [`FileShare`].
    pub accesses: u64,
    /// As in [`FileShare`].
    pub fills: u64,
    /// As in [`FileShare`].
    pub fills_at_floor: u64,
    /// As in [`FileShare`].
    pub fills_unlimited: u64,
}

/// A file that others keep in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SharedFile {
    /// Its path.
    pub name: String,
    /// Runs of pages: first and last.
    pub pages: Vec<(u32, u32)>,
}

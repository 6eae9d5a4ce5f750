//! What the stack distances of a series of accesses are given as.

use serde::{Deserialize, Serialize};

/// The document of stack distances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DistancesDocument {
    /// [`DistancesDocument::SCHEMA`].
    pub schema: String,
    /// For each access the size in pages of the smallest LRU cache that hits it; 2^64 - 1 for a first access.
    pub distances: Vec<u64>,
}

impl DistancesDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.distances/1";
}

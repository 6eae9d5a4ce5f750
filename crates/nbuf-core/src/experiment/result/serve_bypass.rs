//! Whether the cache of `nbuf serve` stepped aside.

use serde::{Deserialize, Serialize};

/// Reads that went past the cache, as it cost more than it saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeBypass {
    /// `auto` or `off`.
    pub mode: String,
    /// Whether the cache is aside now; of several exports, whether one is.
    pub is_aside: bool,
    /// How often it stepped aside or was back.
    pub changes: u64,
    /// Reads that went past it.
    pub reads: u64,
    /// Bytes of these.
    pub read_bytes: u64,
}

impl ServeBypass {
    pub(super) fn since(&self, was: &Self) -> Self {
        Self {
            changes: self.changes.saturating_sub(was.changes),
            reads: self.reads.saturating_sub(was.reads),
            read_bytes: self.read_bytes.saturating_sub(was.read_bytes),
            ..self.clone()
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            mode: if self.mode.is_empty() { &other.mode } else { &self.mode }.clone(),
            is_aside: self.is_aside || other.is_aside,
            changes: self.changes + other.changes,
            reads: self.reads + other.reads,
            read_bytes: self.read_bytes + other.read_bytes,
        }
    }
}

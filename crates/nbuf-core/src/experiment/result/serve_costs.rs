//! What the cache of `nbuf serve` costs, and what it saves.

use serde::{Deserialize, Serialize};

use super::WatchTimes;

/// What a cache costs in processor time, how long its disc takes, and what reads do not wait for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeCosts {
    /// A read looks for a page.
    pub lookup: ServeWork,
    /// The part of a page that is in the cache is copied to the client.
    pub copy: ServeWork,
    /// A page is taken in, after a read of the disc or for a write.
    pub fill: ServeWork,
    /// Processor time of all of these.
    pub work_seconds: f64,
    /// Reads of the disc for clients, from submission to completion; those of readahead have their own times.
    pub disc_read: WatchTimes,
    /// Writes, discards and zeros of the disc.
    pub disc_write: WatchTimes,
    /// Flushes of the disc.
    pub disc_flush: WatchTimes,
    /// Time that reads did not wait: a mean read of the disc for each read that the cache served, less
    /// `work_seconds`. Below zero the cache costs more than it saves. Nothing before the first read of the disc.
    pub saved_seconds: Option<f64>,
}

/// Work of the cache, page by page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeWork {
    /// How often it was done.
    pub count: u64,
    /// Processor time of all: the mean of those that were measured, times `count`.
    pub seconds: f64,
    /// The times of a sample, about one in 64.
    pub times: WatchTimes,
}

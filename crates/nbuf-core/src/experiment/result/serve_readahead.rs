//! What `nbuf serve` read ahead.

use serde::{Deserialize, Serialize};

use super::WatchTimes;

/// What was read ahead of sequential reads. Each page ends as used or useless; the others wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeReadahead {
    /// The most that is asked for at once for one stream, in bytes, as it was given; 0 if it is off.
    pub most_bytes: u64,
    /// Reads of the disc ahead; they are in `disc_reads` too.
    pub requests: u64,
    /// Pages of these.
    pub pages: u64,
    /// Pages of these that a read wanted.
    pub used: u64,
    /// Pages of these that left, or did not come, before a read wanted them.
    pub useless: u64,
    /// Times of these reads, from submission to completion.
    pub times: WatchTimes,
}

impl ServeReadahead {
    pub(super) fn since(&self, was: &Self) -> Self {
        let less = |of: fn(&Self) -> u64| of(self).saturating_sub(of(was));
        Self {
            most_bytes: self.most_bytes,
            requests: less(|r| r.requests),
            pages: less(|r| r.pages),
            used: less(|r| r.used),
            useless: less(|r| r.useless),
            times: self.times.since(&was.times),
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            most_bytes: self.most_bytes.max(other.most_bytes),
            requests: self.requests + other.requests,
            pages: self.pages + other.pages,
            used: self.used + other.used,
            useless: self.useless + other.useless,
            times: self.times.plus(&other.times),
        }
    }
}

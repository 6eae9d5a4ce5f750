//! Time in the result document.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// What the estimates of time rest on, and what they come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TimeReport {
    /// `recorded`: waits of the recorded run; `probed`: reads of its files just now; `rate`: nothing
    /// but the rate that was asked for.
    pub basis: String,
    /// Elapsed time without waits for the disc.
    pub work_seconds: f64,
    /// Service time of a request, whatever its size.
    pub request_seconds: f64,
    /// And for each page of it.
    pub page_seconds: f64,
    /// Requests a second that the disc is held to.
    pub iops: Option<u64>,
    /// Bytes a second that it is held to.
    pub bytes_per_second: Option<Bytes>,
    /// Time along the curve, from a cold cache.
    pub points: Vec<TimePoint>,
}

/// How long a run would take at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TimePoint {
    /// Room for file pages.
    pub cache_bytes: Bytes,
    /// The memory limit that leaves so much room.
    pub limit_bytes: Bytes,
    /// Elapsed time, the shorter estimate.
    pub seconds_low: f64,
    /// Elapsed time, the longer estimate.
    pub seconds_high: f64,
}

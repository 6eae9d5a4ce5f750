//! Parts of a curve: windows of time, and files, tasks or operations.

use serde::{Deserialize, Serialize};

use super::{CurveCorners, CurvePoint};

/// The LRU curve of some part of the time, in a cache that lives through all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurveWindow {
    /// The first request of it, by the time of the trace.
    pub from_ns: i64,
    /// Its requests.
    pub requests: u64,
    /// The curve.
    pub points: Vec<CurvePoint>,
    /// Where it bends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corners: Option<CurveCorners>,
}

/// The part of one file, task or operation in the LRU curve of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurveGroup {
    /// Which.
    pub name: String,
    /// The curve.
    pub points: Vec<CurvePoint>,
    /// Where it bends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corners: Option<CurveCorners>,
}

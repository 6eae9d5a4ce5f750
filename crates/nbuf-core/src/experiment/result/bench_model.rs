//! Lines through the times of a path.

use serde::{Deserialize, Serialize};

use super::State;

/// The line through the times of a path over sizes of blocks: t = a + b x size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BenchModel {
    /// The path.
    pub path: String,
    /// `read` or `write`.
    pub direction: String,
    /// The state of the file.
    pub state: State,
    /// a: nanoseconds of an operation of no bytes.
    pub base_ns: f64,
    /// b: nanoseconds of each byte.
    pub byte_ns: f64,
    /// a / b: the block with which half of the time is for the bytes; absent where one is 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub half_bandwidth_bytes: Option<f64>,
    /// The measured times, compared with those of the line.
    pub points: Vec<ModelPoint>,
}

/// One size of block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ModelPoint {
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// As measured.
    pub measured_ns: f64,
    /// As the line has it.
    pub predicted_ns: f64,
    /// How much longer it took, in percent of what the line has.
    pub residual_percent: f64,
}

impl ModelPoint {
    /// Residuals above this need an explanation.
    pub const RESIDUAL_PERCENT: f64 = 15.0;

    /// Whether the line misses something here.
    pub fn is_odd(&self) -> bool {
        self.residual_percent.abs() > Self::RESIDUAL_PERCENT
    }
}

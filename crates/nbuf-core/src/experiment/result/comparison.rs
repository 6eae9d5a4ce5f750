//! Two results side by side.

use serde::{Deserialize, Serialize};

use super::Warning;
use crate::units::Bytes;

/// The document of `nbuf size --compare`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// [`Comparison::SCHEMA`]
    pub schema: String,
    /// The first document.
    pub a: Side,
    /// The second one.
    pub b: Side,
    /// What the need of A may be multiplied by.
    pub budget: f64,
    /// The most that B may need: A's limit times the budget, and the noise floor of limits.
    pub allowed_bytes: Bytes,
    /// Whether B needs more than that.
    pub exceeded: bool,
    /// What was compared.
    pub measures: Vec<Measure>,
    /// Warnings for the reader.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

impl Comparison {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.compare/1";
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Side {
    /// Its command.
    pub command: Vec<String>,
    /// The limit that is recommended.
    pub limit_bytes: Bytes,
}

/// One thing measured, or predicted, of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Measure {
    /// What.
    pub what: Quantity,
    /// The size of cache it is predicted at.
    pub cache_bytes: Option<Bytes>,
    /// Whether it was measured at the recommended limit; without a limit otherwise.
    pub limited: Option<bool>,
    /// In A.
    pub a: f64,
    /// In B.
    pub b: f64,
    /// B in units of A; absent where A is 0.
    pub ratio: Option<f64>,
    /// A smaller difference means nothing; absent where single runs cannot tell.
    pub noise: Option<f64>,
    /// What can be said.
    pub difference: Difference,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The recommended limit, in bytes.
    Limit,
    /// The part of it that caches files.
    Cache,
    /// Anonymous memory.
    Anonymous,
    /// Shared memory.
    Shared,
    /// Kernel memory.
    Kernel,
    /// The distinct pages, in bytes.
    Footprint,
    /// Pages that a size of cache fills.
    PredictedFills,
    /// Pages that the runs under a limit filled.
    MeasuredFills,
    /// Seconds that they took.
    MeasuredSeconds,
}

impl Quantity {
    /// The name, as the document has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Cache => "cache",
            Self::Anonymous => "anonymous",
            Self::Shared => "shared",
            Self::Kernel => "kernel",
            Self::Footprint => "footprint",
            Self::PredictedFills => "predicted_fills",
            Self::MeasuredFills => "measured_fills",
            Self::MeasuredSeconds => "measured_seconds",
        }
    }
}

/// What can be said of two numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The difference is within the noise.
    NotSeen,
    /// B has more.
    More,
    /// B has less.
    Less,
    /// There was one run of each, whose noise is not known.
    #[default]
    NotJudged,
}

//! The shape of a trace: what its accesses have in common, whatever the cache.

use serde::{Deserialize, Serialize};

use super::ShapePolicies;
use crate::units::Bytes;

/// The shape of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TraceShape {
    /// What is accessed: `page` or `key`.
    pub unit: String,
    /// What time is counted in: `ns`, or `accesses` where the trace has no times.
    pub clock: String,
    /// The share of the keys that was looked at, chosen by a hash; absent where all were. Numbers of keys, stack
    /// distances and the ceiling are then estimates for all keys. Other counts are of the chosen keys.
    pub sample: Option<f64>,
    /// Accesses to the keys that were looked at.
    pub accesses: u64,
    /// Distinct keys.
    pub keys: u64,
    /// What any cache of any policy could hit.
    pub ceiling: ShapeCeiling,
    /// How often keys are used.
    pub popularity: ShapePopularity,
    /// LRU stack distances over time, in keys.
    pub reuse_distance: ShapeHeat,
    /// Time between two uses of a key, over time, by the clock.
    pub reuse_time: ShapeHeat,
    /// Sizes in bytes; absent where the trace has none.
    pub sizes: Option<ShapeSizes>,
    /// Time from the first use of a key to its last, by the clock, of keys that are used again.
    pub lifetimes: ShapeHistogram,
    /// Distinct keys of each column of time.
    pub working_set: ShapeSeries,
    /// Reads of each column of time.
    pub reads: ShapeSeries,
    /// Writes of each column of time.
    pub writes: ShapeSeries,
    /// Runs of at least 64 accesses to keys that follow each other; absent in a sample.
    pub scans: Option<ShapeRuns>,
    /// Runs of at least 64 first uses; absent in a sample.
    pub first_uses: Option<ShapeRuns>,
    /// Loops of at least 16 keys, those with the most accesses first; absent in a sample.
    pub loops: Option<Vec<ShapeLoop>>,
    /// What is not known of this trace.
    pub absent: Vec<ShapeAbsent>,
    /// What policies did; absent where none were asked for.
    pub policies: Option<ShapePolicies>,
}

/// What a cache of any size and policy could hit at the most: all but the first access to each key, and
/// the first one after a discard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeCeiling {
    /// Accesses that miss in any cache.
    pub compulsory_misses: u64,
    /// The share of the other accesses, from 0 to 1.
    pub hit_ratio: f64,
    /// Bytes that all accesses ask for; absent where keys have no sizes.
    pub bytes: Option<Bytes>,
    /// Bytes of the accesses that miss in any cache; absent where keys have no sizes.
    pub compulsory_bytes: Option<Bytes>,
    /// The share of the other bytes, from 0 to 1; absent where keys have no sizes.
    pub byte_hit_ratio: Option<f64>,
}

/// How often keys are used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapePopularity {
    /// Keys that are used once.
    pub used_once: u64,
    /// Ranks in about equal ratios, and how often the key of each is used.
    pub ranks: Vec<ShapeRank>,
    /// Accesses to each tenth of the keys, from the most used tenth down.
    pub deciles: Vec<u64>,
    /// The Zipf law; absent where fewer than 16 keys are used 20 times or more.
    pub zipf: Option<ShapeZipf>,
}

/// How often the key of a rank is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeRank {
    /// The rank, from 1 for the most used key.
    pub rank: u64,
    /// Accesses to its key.
    pub accesses: u64,
}

/// A Zipf law: the key of rank `r` is used in proportion to `1 / r^exponent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeZipf {
    /// The exponent.
    pub exponent: f64,
    /// The exponent is this near, nineteen times of twenty, if the law holds.
    pub error: f64,
    /// Ranks that the fit covers: those of keys that are used 20 times or more.
    pub ranks: u64,
    /// The most by which a bin of ranks differs from the law, as a ratio of at least 1.
    pub factor: f64,
}

/// Counts by columns of time and by rows of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeHeat {
    /// The clock of the columns: `ns` or `accesses`.
    pub clock: String,
    /// Ticks of the clock in a column.
    pub column_width: u64,
    /// Rows from the smallest numbers up.
    pub rows: Vec<ShapeHeatRow>,
    /// First uses in each column, which have no number.
    pub first_uses: Vec<u64>,
}

/// A row of a heat map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeHeatRow {
    /// The first number.
    pub from: u64,
    /// The first number beyond.
    pub below: u64,
    /// The count of each column.
    pub counts: Vec<u64>,
}

/// Counts by powers of two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeHistogram {
    /// How many there are.
    pub count: u64,
    /// Their mean.
    pub mean: u64,
    /// The rows from the first to the last with a count.
    pub rows: Vec<ShapeBin>,
}

/// A row of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeBin {
    /// The first number.
    pub from: u64,
    /// The first number beyond.
    pub below: u64,
    /// How many there are.
    pub count: u64,
}

/// Sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeSizes {
    /// What has these sizes: `object`, each once with its last size, or `request`, each time.
    pub of: String,
    /// The sizes.
    pub bytes: ShapeHistogram,
}

/// A number for each column of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeSeries {
    /// The clock of the columns: `ns` or `accesses`.
    pub clock: String,
    /// Ticks of the clock in a column.
    pub column_width: u64,
    /// The numbers.
    pub values: Vec<u64>,
}

/// Runs of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeRuns {
    /// How many.
    pub runs: u64,
    /// Their accesses.
    pub accesses: u64,
    /// Accesses of the longest.
    pub longest: u64,
    /// First uses among the accesses.
    pub first_uses: u64,
}

/// Loops of about one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeLoop {
    /// Keys of a round.
    pub keys: u64,
    /// Accesses after the first round.
    pub accesses: u64,
    /// How often such a loop began.
    pub runs: u64,
}

/// What is not known, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeAbsent {
    /// What is absent.
    pub what: String,
    /// Why, in words.
    pub reason: String,
}

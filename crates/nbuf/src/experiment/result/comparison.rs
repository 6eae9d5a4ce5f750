//! Two results side by side: what is read of each, and the document that comes of it.

use serde::{Deserialize, Serialize};

use super::{Point, Sample};
use crate::units::Bytes;
use crate::workload::trace::Memory;

/// What a comparison needs of a document of `nbuf size`. Other fields may be there or not, so that
/// documents of other versions can be read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SizeDocument {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// What the command gave.
    #[serde(default)]
    pub exit_status: i32,
    /// How it was captured.
    pub capture: DocumentCapture,
    /// Memory beside the cache.
    pub memory: Memory,
    /// The curve.
    pub curve: Vec<Point>,
    /// Every page touched.
    pub footprint_bytes: Bytes,
    /// What is recommended, if anything is.
    pub recommend: Option<DocumentRecommend>,
    /// The runs.
    #[serde(default)]
    pub verify: Vec<DocumentRun>,
}

/// Of the capture.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DocumentCapture {
    /// By which means; empty where it does not say.
    #[serde(default)]
    pub backend: String,
    /// Kernel events that never arrived.
    pub lost: u64,
    /// Share of accesses through mappings.
    pub mapped_share: f64,
    /// Readahead of the device.
    #[serde(default)]
    pub readahead_bytes: Bytes,
}

/// Of the recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct DocumentRecommend {
    /// The limit.
    pub limit_bytes: Bytes,
    /// The part of it that caches files.
    pub cache_bytes: Bytes,
}

/// Of the runs under one limit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DocumentRun {
    /// The limit; none for runs without.
    pub limit_bytes: Option<Bytes>,
    /// Pages filled, the median.
    pub measured_fills: u64,
    /// Elapsed time, the median.
    pub measured_seconds: f64,
    /// Whether the prediction held.
    pub held: Option<bool>,
    /// One by one.
    #[serde(default)]
    pub samples: Vec<Sample>,
}

/// The document of `nbuf size --compare`.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// What the reader must be told.
    pub cautions: Vec<String>,
}

impl Comparison {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.compare/1";
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Its command.
    pub command: Vec<String>,
    /// The limit that is recommended.
    pub limit_bytes: Bytes,
}

/// One thing measured, or predicted, of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// What: `limit`, `cache`, `anonymous`, `shared`, `kernel`, `footprint` (bytes),
    /// `predicted_fills`, `measured_fills` (pages), `measured_seconds`.
    pub what: &'static str,
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

/// What can be said of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The difference is within the noise.
    NotSeen,
    /// B has more.
    More,
    /// B has less.
    Less,
    /// There was one run of each, whose noise is not known.
    NotJudged,
}

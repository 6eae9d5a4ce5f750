//! The six figures of a cache in front of a disc.

use serde::{Deserialize, Serialize};

/// What the meters of a replay showed at its end, and over its time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplayFigures {
    /// What of the disc is in the cache.
    pub tracks: FigureTracks,
    /// The hash lists; absent where the cache has none.
    pub lists: Option<FigureLists>,
    /// The length of the periods of the two distributions that have periods.
    pub period_seconds: f64,
    /// Periods by their hit rate, in equal parts of 1.
    pub hit_rates: Vec<u64>,
    /// Periods without a request, which are in neither distribution.
    pub idle_periods: u64,
    /// Requests by the time that cache and disc took, without the queue of the disc; in steps of equal
    /// ratios.
    pub service: Vec<FigureStep>,
    /// Periods by their requests a second, in equal steps.
    pub rates: Vec<FigureStep>,
}

/// Units in the cache by their place on the disc.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FigureTracks {
    /// Tracks of the disc; where it has none, equal pieces of what is asked for.
    pub tracks: u64,
    /// Bytes of one.
    pub track_bytes: u64,
    /// Whether it is a track of the disc.
    pub is_track: bool,
    /// Those of which something is in the cache.
    pub tracks_held: u64,
    /// Units in the cache.
    pub units_held: u64,
    /// Those of `units_held` in the management space; absent where there is none.
    pub units_management: Option<u64>,
    /// Tracks of a cell.
    pub cell_tracks: u64,
    /// Cells from the first on that are management space.
    pub cells_management: u64,
    /// Units by cell.
    pub cells: Vec<u64>,
}

/// How long hash lists are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FigureLists {
    /// Each of them, at the end.
    pub lengths: Vec<u32>,
    /// How often the full cache was looked at, the end included.
    pub looks: u64,
    /// How many had which length, over all looks; the first were empty.
    pub distribution: Vec<u64>,
    /// The mean of all, over all looks.
    pub mean: f64,
    /// The longest, at the end.
    pub longest: u32,
    /// The share with three entries or fewer, over all looks.
    pub share_up_to_3: f64,
}

/// How many lie between two ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FigureStep {
    /// From here on, in seconds or a second.
    pub from: f64,
    /// To below here.
    pub to: f64,
    /// How many.
    pub count: u64,
}

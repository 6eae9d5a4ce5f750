//! What an experiment gives to the faces: plain structures, and the one place that derives their
//! serialisation. The JSON documents of the program are these structures.
//!
//! ```
//! use nbuf::experiment::document::Document;
//! use nbuf::experiment::result::{CurveDocument, SizeReport};
//!
//! println!("{} {}", CurveDocument::SCHEMA, SizeReport::SCHEMA);
//! ```

mod advice;
mod bench;
mod bench_model;
mod bench_sample;
mod census;
mod choice;
mod comparison;
mod course;
mod curve;
mod curve_parts;
mod curves;
mod distances;
mod doctor;
mod figures;
mod files;
mod fill_meter;
mod fleet;
mod fleet_choice;
mod fleet_representatives;
mod fleet_sharing;
mod fleet_split;
mod live;
mod live_follow;
mod live_machine;
mod live_marks;
mod live_probe;
mod load;
mod load_cause;
mod load_class;
mod load_line;
mod ping;
mod replay;
mod run;
mod run_comparison;
mod run_meters;
mod run_profile;
mod run_sample;
mod search;
mod serve;
mod serve_bypass;
mod serve_costs;
mod serve_need;
mod serve_readahead;
mod serve_since;
mod serve_sum;
mod serve_tier;
mod shape;
mod shape_policies;
mod size;
mod sweep;
mod time;
mod trace;
mod traffic;
mod verdict;
mod watch;
mod watch_named;

use serde::{Deserialize, Serialize};

pub use super::cliff::Cliff;
pub use super::files::Files;
pub use super::statistics::Spread;
pub use crate::meter::map::{AccessMap, Cell, Kind as MapKind, Strip};
pub use crate::trace::{Device, Facts, Memory};
pub use advice::{AdviceCheck, AdviceDocument, AdviceWay, CheckedWay};
pub use bench::{
    BenchComparison, BenchDocument, BenchMachine, BenchReference, BenchRow, LabelCheck, NoiseFloor,
    Refused, State, Trust,
};
pub use bench_model::{BenchModel, ModelPoint};
pub use bench_sample::{BenchSample, BenchSampleLine, BenchTask};
pub use census::{Census, TraceDocument};
pub use choice::{ReadaheadPoint, Sample, TargetReport};
pub use comparison::{Comparison, Difference, Measure, Quantity, Side};
pub use course::CourseDocument;
pub use curve::{Curve, Point};
pub use curve_parts::{CurveGroup, CurveWindow, PointPrefetches};
pub use curves::{
    CornersBetween, CurveCorners, CurveDocument, CurvePoint, CurveTarget, ObjectFacts, PolicyCurve,
    SampleFacts, TraceSummary,
};
pub use distances::DistancesDocument;
pub use doctor::{DoctorCapability, DoctorDocument, DoctorState};
pub use figures::{FigureLists, FigureStep, FigureTracks, ReplayFigures};
pub use files::{FileShare, OtherFiles, SharedFile};
pub use fill_meter::Meter;
pub use fleet::{
    FleetBy, FleetChange, FleetDocument, FleetFailure, FleetInput, FleetLast, FleetPiece,
    FleetPoint, FleetPolicies, FleetPolicy, FleetPolicyMisses, FleetRepresentative,
    FleetRepresentatives, FleetRow, FleetRule, FleetShare, FleetSplit, FleetSpread, FleetTask,
    FleetVerdict, FleetVolume, FleetWhole, FleetWorst,
};
pub use fleet_sharing::{FleetPartition, FleetSharing, FleetSharingHost, FleetSharingVerdict};
pub use live::{LiveDocument, LiveLonger, LiveMemory, LivePoint, LiveService};
pub use live_follow::{LiveFollow, LiveFollowed};
pub use live_machine::{LiveMachine, LiveTarget};
pub use live_marks::{LiveFaults, LiveMarks, LiveSnapshot};
pub use live_probe::{LivePressureOf, LiveProbe, LiveProbeEnd, LiveProbeRates, LiveProbeStep};
pub use load::{
    LoadBottleneck, LoadCarried, LoadCurve, LoadDocument, LoadKnee, LoadLabel, LoadLimit,
    LoadPrice, LoadStep, LoadTimes, LoadUse,
};
pub use load_cause::{LoadEvidence, LoadFigure, LoadHistory, LoadIdle, LoadSplit};
pub use load_class::{LoadClass, LoadCost, LoadWorkingSet};
pub use load_line::LoadLine;
pub use ping::{
    PingBin, PingDocument, PingJudged, PingMachine, PingOutcome, PingRange, PingReference, PingRow,
    PingSample, PingSampleLine, PingTask,
};
pub use replay::{
    ReplayCpu, ReplayDisc, ReplayDocument, ReplayKind, ReplayPoints, ReplayResponse, ReplaySize,
};
pub use run::{RunCache, RunDocument, RunParts, RunPerLine};
pub use run_comparison::{RunComparison, RunMoved, RunPartMoved, RunSide, RunUnit, RunVerdict};
pub use run_meters::{RunBy, RunMeter, RunMeterStep, RunMeters, RunMetersBy, RunMetersOf};
pub use run_profile::{
    RunFunction, RunProfile, RunProfileFile, RunSegment, RunSegmentKind, RunStack,
};
pub use run_sample::{RunSample, RunSampleMeter};
pub use search::{SearchGoal, SearchOutcome, SearchReport, SearchRun};
pub use serve::{ServeDocument, ServeMisses, ServeSize};
pub use serve_bypass::ServeBypass;
pub use serve_costs::{ServeCosts, ServeWork};
pub use serve_need::{ServeAnswer, ServeNeed, ServeNeedSize, ServeNeeds};
pub use serve_readahead::ServeReadahead;
pub use serve_tier::ServeTier;
pub use shape::{
    ShapeAbsent, ShapeBin, ShapeCeiling, ShapeHeat, ShapeHeatRow, ShapeHistogram, ShapeLoop,
    ShapePopularity, ShapeRank, ShapeRuns, ShapeSeries, ShapeSizes, ShapeZipf, TraceShape,
};
pub use shape_policies::{ShapeAge, ShapeClass, ShapeDifference, ShapePolicies, ShapePolicy};
pub use size::{CaptureReport, Detail, SizeDetail, SizeReport};
pub use sweep::{Against, SweepDocument, SweepRow};
pub use time::{TimePoint, TimeReport};
pub use trace::{RecordDocument, TraceDropped, TraceHead, TraceMade, TraceReading, TraceSalvaged};
pub use traffic::Traffic;
pub(in crate::experiment) use verdict::deviation;
pub use verdict::{MAPPED_SHARE_MAX, TOLERANCE, Verdict};
pub use watch::{
    WatchCache, WatchCpu, WatchDisc, WatchDocument, WatchFaults, WatchMeter, WatchOwn,
    WatchPressure, WatchQueue, WatchStates, WatchTimes,
};
pub use watch_named::{WatchChosen, WatchFile};

pub use super::warning::Warning;
use crate::units::Bytes;

/// What kind of advice a curve allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// There is a size from which more memory saves little.
    #[default]
    Knee,
    /// Cache buys nothing: the command reads everything once, or nothing at all. The three sizes
    /// are the same: room for readahead to work in.
    NothingToGain,
    /// The size meets the goal of a `--target`. It may lie below the floor or above the ceiling.
    Target,
    /// Runs found the size: with less, the command reads more.
    Measured,
}

/// The three sizes, and the number to paste.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Recommend {
    /// Whether the cache is worth having at all.
    #[serde(default)]
    pub kind: Advice,
    /// The memory limit to set: cache + anonymous + shared + kernel + slack.
    pub limit_bytes: Bytes,
    /// The part of it that caches files: the knee, or what a target asks for.
    pub cache_bytes: Bytes,
    /// The knee of the curve: the same, unless a target asks for another size.
    #[serde(default)]
    pub knee_bytes: Bytes,
    /// A cache below this is worse than useless: it costs its memory and saves almost nothing.
    #[serde(default)]
    pub floor_bytes: Bytes,
    /// A cache above this gains nothing more.
    #[serde(default)]
    pub ceiling_bytes: Bytes,
    /// What was added so that a little more of anything does not spoil it.
    #[serde(default)]
    pub slack_bytes: Bytes,
    /// The part of the slack that was added after the runs, because other memory differed between them.
    /// Runs at the recommendation had a limit less by this.
    #[serde(default)]
    pub spread_bytes: Bytes,
    /// Why, in one sentence.
    #[serde(default)]
    pub reason: String,
}

impl Recommend {
    /// The limit that runs had: the recommendation before other memory of these runs was known.
    pub fn tried_bytes(&self) -> Bytes {
        self.limit_bytes.saturating_sub(self.spread_bytes)
    }
}

/// The runs under one limit: the prediction, and what the kernel counted. Every measurement of several
/// runs is their median; if one was killed, all count as killed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Verified {
    /// The limit; none for the run without.
    pub limit_bytes: Option<Bytes>,
    /// The room for file pages under it.
    #[serde(default)]
    pub cache_bytes: Bytes,
    /// The band, fixed before the run.
    #[serde(default)]
    pub predicted_fills_low: u64,
    /// Its upper edge.
    #[serde(default)]
    pub predicted_fills_high: u64,
    /// Elapsed time as estimated before the run; absent where it was not.
    pub predicted_seconds_low: Option<f64>,
    /// Its upper edge.
    pub predicted_seconds_high: Option<f64>,
    /// Pages the kernel put into the cache, by `meter`.
    pub measured_fills: u64,
    /// What counted them.
    #[serde(default)]
    pub meter: Meter,
    /// Elapsed time.
    pub measured_seconds: f64,
    /// Whether the fills were within the band; nothing for a run that did not reach its end, and for one that
    /// was off by so few pages that other processes may have brought or dropped them.
    #[serde(alias = "held")]
    pub within_band: Option<bool>,
    /// Whether the count is in the band or within 5 % of it.
    #[serde(default)]
    pub near_band: bool,
    /// The cliff of the curve that the size is within 3 % of.
    #[serde(alias = "step_bytes")]
    pub cliff_bytes: Option<Bytes>,
    /// Whether the time allowed was up before it had ended.
    #[serde(default)]
    pub timed_out: bool,
    /// The time allowed: many times the predicted time, unless the user gave another.
    #[serde(default)]
    pub allowed_seconds: Option<f64>,
    /// Whether the kernel OOM-killed it: the limit is below the floor.
    #[serde(default)]
    pub killed: bool,
    /// The exit status of the command.
    #[serde(default)]
    pub exit_status: i32,
    /// File pages charged to the group when the command had ended.
    #[serde(default)]
    pub measured_cache_bytes: Bytes,
    /// The most memory that the group had, page cache included; 0 where the kernel does not count that.
    #[serde(default)]
    pub peak_bytes: Bytes,
    /// The most of it that was not page cache: anonymous, shared and kernel memory. 0 if it was not measured.
    #[serde(default)]
    pub other_bytes: Bytes,
    /// Page faults that waited for I/O.
    #[serde(default)]
    pub major_faults: u64,
    /// Read from block devices.
    #[serde(default)]
    pub read_bytes: Bytes,
    /// Pages made dirty, counted again each time, and writes past the cache.
    #[serde(default)]
    pub written_bytes: Bytes,
    /// Time some task waited for memory.
    #[serde(default)]
    pub memory_pressure_seconds: f64,
    /// Time some task waited for I/O.
    #[serde(default)]
    pub io_pressure_seconds: f64,
    /// Fill events that were lost: the count is too low.
    #[serde(default)]
    pub lost_events: u64,
    /// How much more or less stayed in the cache before this run than the prediction reckoned with.
    #[serde(default)]
    pub stayed_bytes: Bytes,
    /// How many of the samples were within the band, each by itself.
    #[serde(default, alias = "samples_held")]
    pub samples_within_band: u64,
    /// The runs one by one, in the order they were made.
    #[serde(default)]
    pub samples: Vec<Sample>,
}

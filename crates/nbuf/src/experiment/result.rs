//! What an experiment gives to the faces: plain structures, and the one place that derives their
//! serialisation. The JSON documents of the program are these structures.

mod advice;
mod bench;
mod bench_sample;
mod census;
mod choice;
mod comparison;
mod curve;
mod curves;
mod figures;
mod files;
mod ping;
mod replay;
mod sweep;
mod time;
mod traffic;

use serde::{Deserialize, Serialize};

pub use advice::{AdviceCheck, AdviceDocument, AdviceWay, CheckedWay};
pub use bench::{
    BenchComparison, BenchDocument, BenchMachine, BenchModel, BenchRow, ModelPoint, NoiseFloor,
    Proof, Refused, State, Trust,
};
pub use bench_sample::{BenchLine, BenchSample, BenchSampleLine, BenchTask};
pub use census::{Census, TraceDocument};
pub use choice::{ReadaheadPoint, Sample, TargetReport};
pub use comparison::{
    Comparison, Difference, DocumentCapture, DocumentRecommend, DocumentRun, Measure, Side,
    SizeDocument,
};
pub use curve::{Curve, Point};
pub use curves::{
    CornersBetween, CurveCorners, CurveDocument, CurveGroup, CurvePoint, CurveTarget, CurveWindow,
    PolicyCurve, SampleFacts, TraceSummary,
};
pub use figures::{FigureLists, FigureStep, FigureTracks, ReplayFigures};
pub use files::{FileShare, OtherFiles, SharedFile};
pub use ping::{
    PingBin, PingDocument, PingJudged, PingMachine, PingOutcome, PingRange, PingReference, PingRow,
    PingSaid, PingSample, PingSampleLine, PingTask,
};
pub use replay::{
    ReplayCpu, ReplayDisc, ReplayDocument, ReplayKind, ReplayPoints, ReplayResponse, ReplaySize,
};
pub use sweep::{Against, SweepDocument, SweepRow};
pub use time::{TimePoint, TimeReport};
pub use traffic::Traffic;

use super::cautions::UNREACHED_SHARE_MAX;
pub use super::fills::Meter;
use super::size::Analysis;
use crate::units::Bytes;

/// What kind of advice a curve allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// There is a size from which more memory saves little.
    Knee,
    /// Cache buys nothing: the command reads everything once, or nothing at all. The three sizes
    /// are the same: room for readahead to work in.
    NothingToGain,
    /// The size is what a `--target` asked for. It may lie below the floor or above the ceiling.
    Target,
}

/// The three sizes, and the number to paste.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recommend {
    /// Whether the cache is worth having at all.
    pub kind: Advice,
    /// The memory limit to set: cache + anonymous + shared + kernel + slack.
    pub limit_bytes: Bytes,
    /// The part of it that caches files: the knee, or what a target asks for.
    pub cache_bytes: Bytes,
    /// The knee of the curve: the same, unless a target asks for another size.
    pub knee_bytes: Bytes,
    /// A cache below this is worse than useless: it costs its memory and saves almost nothing.
    pub floor_bytes: Bytes,
    /// A cache above this gains nothing more.
    pub ceiling_bytes: Bytes,
    /// What was added so that a little more of anything does not spoil it.
    pub slack_bytes: Bytes,
    /// Why, in one sentence.
    pub reason: String,
}

/// The runs under one limit: what was predicted, what the kernel counted. Of several runs the
/// medians, whatever is measured; one that was killed speaks for all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// The limit; none for the run without.
    pub limit_bytes: Option<Bytes>,
    /// The room for file pages under it.
    pub cache_bytes: Bytes,
    /// The band, fixed before the run.
    pub predicted_fills_low: u64,
    /// Its upper edge.
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
    /// Whether the prediction held; nothing for a run that did not reach its end, and for one that
    /// was off by so few pages that other processes may have brought or dropped them.
    pub held: Option<bool>,
    /// The step of the curve that the size is within 3 % of.
    pub step_bytes: Option<Bytes>,
    /// Whether the time allowed was up before it had ended.
    pub timed_out: bool,
    /// The time allowed: many times what was predicted, unless somebody said otherwise.
    #[serde(default)]
    pub allowed_seconds: Option<f64>,
    /// Whether the kernel killed it for want of memory: the limit is below the floor.
    pub killed: bool,
    /// Of the command.
    pub exit_status: i32,
    /// File pages charged to the group when the command had ended.
    pub measured_cache_bytes: Bytes,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// Read from block devices.
    pub read_bytes: Bytes,
    /// Pages made dirty, each time anew, and writes past the cache.
    #[serde(default)]
    pub written_bytes: Bytes,
    /// Time some task waited for memory.
    pub memory_pressure_seconds: f64,
    /// Time some task waited for I/O.
    pub io_pressure_seconds: f64,
    /// Fill events that were lost: the count is too low.
    pub lost_events: u64,
    /// How much more or less stayed in the cache before this run than the prediction reckoned with.
    pub stayed_bytes: Bytes,
    /// The runs one by one, in the order they were made.
    #[serde(default)]
    pub samples: Vec<Sample>,
}

/// What a page has room for beside the report. Not part of the JSON document.
#[derive(Clone, Copy, Debug)]
pub struct Detail<'a> {
    /// The curve, as in the report.
    pub curve: &'a Curve,
    /// Its cliffs.
    pub steps: &'a [super::step::Step],
    /// Every file that matters, the rest of them, and the map of accesses.
    pub files: &'a super::files::Files,
    /// The facts of the recording.
    pub facts: &'a crate::workload::trace::Facts,
    /// Predicted time, ascending by size; empty where none was predicted.
    pub time: &'a [TimePoint],
}

/// How it was captured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaptureReport {
    /// `perf`
    pub backend: String,
    /// Kernel events.
    pub events: u64,
    /// Kernel events that never arrived.
    pub lost: u64,
    /// Demand page accesses.
    pub accesses: u64,
    /// Distinct pages among them.
    pub distinct_pages: u64,
    /// Share of accesses through mappings, from 0 to 1.
    pub mapped_share: f64,
    /// Pages that stayed in memory on somebody else's account, and are charged to nobody here.
    pub shared_bytes: Bytes,
    /// Readahead of the device most files are on.
    pub readahead_bytes: Bytes,
}

/// The whole answer of `nbuf size`: its JSON document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeReport {
    /// [`SizeReport::SCHEMA`]
    pub schema: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Exit status of the recorded run.
    pub exit_status: Option<i32>,
    /// How it was captured.
    pub capture: CaptureReport,
    /// Memory beside the cache, at its peak.
    pub memory: crate::workload::trace::Memory,
    /// Reads and writes, apart.
    #[serde(default)]
    pub traffic: Traffic,
    /// The curve.
    pub curve: Vec<Point>,
    /// The footprint: every page touched.
    pub footprint_bytes: Bytes,
    /// The three sizes; absent where none is recommended.
    pub recommend: Option<Recommend>,
    /// What `--target` asked for and whether it can be had; absent where nothing was asked.
    pub target: Option<TargetReport>,
    /// What other readahead windows would change, the device's own among them; empty where they
    /// change little.
    pub readahead: Vec<ReadaheadPoint>,
    /// Time, estimated; absent where nothing is known of the disc.
    pub time: Option<TimeReport>,
    /// The runs that were made to prove it.
    pub verify: Vec<Verified>,
    /// Whether the run without a limit did what the recording said; absent when none was made.
    pub repeatable: Option<bool>,
    /// The ten files with the most fills.
    pub files: Vec<FileShare>,
    /// Pages that stayed in memory on somebody else's account and are free hits in every run.
    pub shared: Vec<SharedFile>,
    /// What the reader must be told.
    pub cautions: Vec<String>,
}

impl SizeReport {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.size/1";
    /// Files that are listed.
    const FILES_MAX: usize = 10;

    pub(super) fn new(of: &Analysis, mut verify: Vec<Verified>) -> Self {
        verify.sort_by_key(|run| std::cmp::Reverse(run.limit_bytes.map_or(u64::MAX, |l| l.0)));
        let unlimited = verify.iter().find(|run| run.limit_bytes.is_none());
        // A run that found its files in memory does not tell.
        let tells = |held: &bool| *held || of.unreached <= UNREACHED_SHARE_MAX;
        let repeatable = unlimited.and_then(|run| run.held).filter(tells);
        let mut cautions = of.cautions.clone();
        if repeatable == Some(false) {
            cautions.push(
                "the command is not repeatable: run again without a limit it filled another \
                 number of pages than recorded (--prepare may reset what it changes)"
                    .into(),
            );
        }
        let device = of.facts.devices.first();
        Self {
            schema: Self::SCHEMA.into(),
            command: of.facts.command.clone(),
            exit_status: of.facts.exit_status,
            capture: CaptureReport {
                backend: of.facts.capture.backend.clone(),
                events: of.facts.capture.events,
                lost: of.facts.capture.lost,
                accesses: of.curve.accesses,
                distinct_pages: of.curve.footprint_bytes.pages_up().0,
                mapped_share: of.stream.mapped_share(),
                shared_bytes: of.shared,
                readahead_bytes: Bytes(device.map_or(0, |device| device.readahead_bytes)),
            },
            memory: of.memory,
            traffic: of.traffic,
            curve: of.curve.points.clone(),
            footprint_bytes: of.curve.footprint_bytes,
            recommend: of.recommend.clone(),
            target: of.target.clone(),
            readahead: of.readahead.clone(),
            time: of.timing.as_ref().map(|timing| timing.report(&of.time)),
            verify,
            repeatable,
            files: of.files.top.iter().take(Self::FILES_MAX).cloned().collect(),
            shared: of.shared_files(),
            cautions,
        }
    }

    /// Whether every prediction that was put to the test held.
    pub fn held(&self) -> bool {
        let limit = self.recommend.as_ref().map(|recommend| recommend.limit_bytes);
        self.verify.iter().all(|run| match run.held {
            Some(held) => held,
            // Killed below the recommendation is an answer; killed at it is a broken promise. Cut
            // off by the time allowed is neither.
            None if run.killed => {
                run.limit_bytes.is_some_and(|at| limit.is_none_or(|limit| at < limit))
            }
            None => true,
        })
    }
}

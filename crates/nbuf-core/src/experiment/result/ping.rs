//! What `nbuf ping` gives: how often a second threads wake each other, for each mechanism and placement.

use serde::{Deserialize, Serialize};

use super::Warning;

/// The document of `nbuf ping --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingDocument {
    /// [`PingDocument::SCHEMA`].
    pub schema: String,
    /// Where it was measured.
    pub machine: PingMachine,
    /// A row for each mechanism and placement, in the order of the table.
    pub rows: Vec<PingRow>,
    /// From the slowest to the fastest ping-pong of two threads that sleep, for each placement.
    pub ranges: Vec<PingRange>,
    /// What others have measured elsewhere, to compare with.
    pub references: Vec<PingReference>,
    /// Warnings for the reader.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

impl PingDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.ping/1";
}

/// Where it was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingMachine {
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name for itself; empty where it has none.
    pub processor: String,
    /// The processors that we may use, by number.
    pub processors: Vec<usize>,
    /// Those that were used, the one of the first thread first.
    pub used: Vec<usize>,
    /// Whether those are two threads of one core, because there is no other core to be had.
    pub siblings: bool,
    /// Percent of the ten seconds before in which programs waited for a processor (PSI); absent where the
    /// kernel does not tell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pressure_percent: Option<f64>,
}

/// One mechanism in one placement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingRow {
    /// Its name in the table of mechanisms.
    pub mechanism: String,
    /// `same core`, `other core` or `unpinned`.
    pub placement: String,
    /// What came of it.
    pub outcome: PingOutcome,
    /// Why there is no number, or what is to be known about the one that is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// What is counted as a round trip.
    pub round: String,
    /// What the threads do while there is nothing for them: `sleeping`, `yielding`, `spinning`, or
    /// `spinning, then sleeping`.
    pub waits: String,
    /// The median of the samples that are judged.
    pub round_trips_per_second: Option<f64>,
    /// The 5th percentile of the same samples.
    pub low: Option<f64>,
    /// The 95th percentile.
    pub high: Option<f64>,
    /// All samples by their rate, clean or not.
    pub histogram: Vec<PingBin>,
    /// Samples in which our threads waited at most a hundredth of the time while another program
    /// had their processor.
    pub clean: u64,
    /// All samples.
    pub samples: u64,
    /// Which of them are judged: the clean ones, or all where the kernel does not tell which are.
    pub judged: PingJudged,
    /// Round trips in the samples, all together.
    pub round_trips: u64,
    /// Fresh processes that the samples are from.
    pub processes: u64,
    /// Times that a thread notified another one, per round trip; more than wake-ups where sends
    /// coalesce.
    pub sends_per_round_trip: Option<f64>,
    /// Times that it took a wake-up, a round trip.
    pub wakes_per_round_trip: Option<f64>,
    /// Share of the time of the samples for which our processors idled, all together: up to 2 of two.
    pub idle: Option<f64>,
    /// Times that a thread went to sleep, a round trip: what proves that it slept, or span.
    pub sleeps_per_round_trip: Option<f64>,
}

/// What came of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PingOutcome {
    /// There is a number.
    Measured,
    /// It makes no sense here.
    NotApplicable,
    /// The kernel does not do it here.
    Refused,
    /// It did not come back in time: a wake-up was lost, or the machine is very busy.
    Hung,
    /// It went wrong.
    Failed,
    /// Other programs had the processors all the time: fewer than ten samples were clean.
    Busy,
    /// The measuring was ended before its turn.
    #[default]
    NotMeasured,
}

/// Which samples a row is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PingJudged {
    /// Samples during which no other program had the processor.
    Clean,
    /// All: this kernel does not tell which are clean.
    #[default]
    All,
}

/// Samples between two rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingBin {
    /// Round trips a second, from here on.
    pub from: f64,
    /// Below that.
    pub to: f64,
    /// Samples.
    pub samples: u64,
    /// Those of them that are clean.
    pub clean: u64,
}

/// What the mechanisms of one placement have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingRange {
    /// Where the threads run.
    pub placement: String,
    /// Mechanisms that were measured: of rows that are judged by clean samples, where there is one.
    pub mechanisms: u64,
    /// The slowest.
    pub slowest: String,
    /// Its median, in round trips a second.
    pub low: f64,
    /// The fastest.
    pub fastest: String,
    /// Its median.
    pub high: f64,
}

/// A measurement by others on another machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingReference {
    /// Where.
    pub machine: String,
    /// How.
    pub mechanism: String,
    /// Round trips a second.
    pub round_trips_per_second: f64,
    /// How sure that is: `at most` or `above`.
    pub is: String,
}

/// What a child is asked for, on its standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingTask {
    /// The process that waits for the answer; without it there is nothing to do.
    pub parent: i32,
    /// The mechanism, by its name.
    pub mechanism: String,
    /// The placement, by its name.
    pub placement: String,
    /// The processors to use, the one of the first thread first.
    pub processors: Vec<usize>,
    /// Samples after which it may end.
    pub samples_min: u64,
    /// Samples after which it ends.
    pub samples_max: u64,
    /// Time after which it ends, as soon as it has a few samples.
    pub time_max_ms: u64,
    /// Time beyond that in which it waits for quiet moments, while fewer than `clean_min` samples are
    /// clean.
    pub patience_ms: u64,
    /// Clean samples that it needs at least.
    pub clean_min: u64,
}

/// A line of `--samples-out`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingSampleLine {
    /// The mechanism.
    pub mechanism: String,
    /// The placement.
    pub placement: String,
    /// The process, counted from 0 for each row.
    pub process: u64,
    /// Whether no other program had the processors.
    pub is_clean: bool,
    /// The sample.
    #[serde(flatten)]
    pub sample: PingSample,
}

/// One batch of round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PingSample {
    /// Round trips.
    pub rounds: u64,
    /// Time from the first to the last.
    pub elapsed_ns: u64,
    /// Time in which our threads waited while another program had their processor; absent where the
    /// kernel does not report it.
    pub foreign_ns: Option<u64>,
    /// Time for which our processors idled, all together; absent where they do not count it.
    #[serde(default)]
    pub idle_ns: Option<u64>,
    /// Times that one of our threads was preempted, by another program or by another of our
    /// threads.
    pub involuntary: u64,
    /// Times that a thread went to sleep.
    pub sleeps: u64,
    /// Times that a thread notified another one.
    pub sends: u64,
    /// Times that it took a wake-up.
    pub wakes: u64,
}

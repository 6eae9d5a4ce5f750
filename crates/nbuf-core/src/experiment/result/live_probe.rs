//! What `nbuf size --probe` gives of a service whose limit was lowered for a while.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// A probe: what each limit did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveProbe {
    /// The file of the limit that was written.
    pub file: String,
    /// The limit before; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_bytes: Option<Bytes>,
    /// The limit when the probe was over; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_bytes: Option<Bytes>,
    /// Whether the limit was the one from before when the probe was over.
    pub is_restored: bool,
    /// Where the pressure comes from.
    pub pressure_of: LivePressureOf,
    /// The share of time waiting that stops a probe, from 0 to 1.
    pub pressure_max: f64,
    /// The service before the first step.
    pub free: LiveProbeRates,
    /// What each limit did.
    pub steps: Vec<LiveProbeStep>,
    /// What ended it.
    pub end: LiveProbeEnd,
    /// What the kernel answered, if an error ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveProbeStep {
    /// The limit.
    pub limit_bytes: Bytes,
    /// The cache that the curve has at this limit.
    pub predicted_cache_bytes: Bytes,
    /// Misses a second by the curve.
    pub predicted_per_second: f64,
    /// The lower edge of their band.
    pub predicted_per_second_low: f64,
    /// The upper edge.
    pub predicted_per_second_high: f64,
    /// Misses a second by the curve, at the pace at which the service read under the limit; absent if the pace is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_per_second: Option<f64>,
    /// The cache that the group had at the end of the step.
    pub cache_bytes: Bytes,
    /// What was measured; absent if the step was over too soon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<LiveProbeRates>,
    /// Cache that the step took from the group.
    pub taken_bytes: Bytes,
    /// How long nine tenths of it took to come back when the limit was lifted; absent if nbuf did not see that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_seconds: Option<f64>,
    /// How long nbuf looked for that.
    pub back_watched_seconds: f64,
}

/// What a service did in a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveProbeRates {
    /// Length of it.
    pub seconds: f64,
    /// File pages a second that came back after they had been evicted.
    pub fills_per_second: f64,
    /// Calls a second that read; 0 where they are not known. A service that waits more asks less often.
    pub calls_per_second: f64,
    /// The share of time in which some task waited for memory, from 0 to 1.
    pub memory_pressure: f64,
    /// The same for I/O.
    pub io_pressure: f64,
}

impl LiveProbeRates {
    /// The larger of both pressures.
    pub fn pressure(&self) -> f64 {
        self.memory_pressure.max(self.io_pressure)
    }
}

/// Where a pressure comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum LivePressureOf {
    /// The group.
    #[default]
    Group,
    /// The whole machine: the group has none of its own.
    Machine,
    /// The kernel keeps none. Twice the fills that were predicted stop a probe.
    Nothing,
}

/// What ended a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum LiveProbeEnd {
    /// All steps were made.
    #[default]
    Complete,
    /// The curve has no size that meets the target, or none is below the limit of now.
    NoStep,
    /// The user did not agree.
    Declined,
    /// The pressure was too high.
    Pressure,
    /// The other memory of the service leaves no room below the next limit.
    NoRoom,
    /// The other memory of the service grew, and the limit was lifted at once.
    Grew,
    /// The kernel killed a process of the group.
    Killed,
    /// Another program changed the limit, which was left alone.
    Changed,
    /// The service ended.
    Ended,
    /// A signal came.
    Interrupted,
    /// The kernel refused.
    Refused,
}

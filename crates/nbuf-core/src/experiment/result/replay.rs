//! What `nbuf replay` gives: how long a workload took in front of a disc, and where the time went.

use serde::{Deserialize, Serialize};

use super::{ReplayFigures, Warning};
use crate::experiment::replay::{Cpu, KINDS, Points, Stats};
use crate::meter::times::Times;
use crate::units::Nanos;

/// The document of `nbuf replay --json`. With several sizes it describes the largest, and `sizes`
/// contains the figures of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplayDocument {
    /// [`ReplayDocument::SCHEMA`].
    pub schema: String,
    /// The trace, or the name of what made it up.
    pub workload: String,
    /// What the trace was taken for; empty where there is none.
    pub format: String,
    /// How many processes asked.
    pub processes: u32,
    /// The policy of the cache.
    pub policy: String,
    /// Bytes of a unit of the cache.
    pub unit_bytes: u64,
    /// What a unit is called: `sector`, `track`, `cylinder`, or `chunk`.
    pub unit: String,
    /// Units that the cache has room for; 0 is no cache.
    pub size_units: u64,
    /// The disc, as it was named.
    pub disc: String,
    /// What chance began with.
    pub seed: u64,
    /// From the beginning to the end.
    pub elapsed_seconds: f64,
    /// Share of that during which some request was with the disc.
    pub disc_utilisation: f64,
    /// Share of that during which the processor had something to do.
    pub cpu_utilisation: f64,
    /// Share of all requests that the cache served.
    pub hit_ratio: f64,
    /// By kind, those that were made.
    pub requests: Vec<ReplayKind>,
    /// Units that requests looked for.
    pub units: u64,
    /// Those of `units` that the cache had.
    pub unit_hits: u64,
    /// Time from a request to its completion; absent where no process made a request.
    pub response: Option<ReplayResponse>,
    /// From the beginning of a command to its end; absent where there are no commands.
    pub commands: Option<ReplayResponse>,
    /// What the disc did.
    pub disc_work: ReplayDisc,
    /// What the processor did.
    pub cpu: ReplayCpu,
    /// Each size that was tried, ascending; empty where there was one.
    pub sizes: Vec<ReplaySize>,
    /// What stands out among them.
    pub points: Option<ReplayPoints>,
    /// The six figures; absent unless they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<ReplayFigures>,
    /// Warnings for the reader.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplayKind {
    /// `read`, `write`, `write EOF`, ...
    pub kind: String,
    /// How many.
    pub count: u64,
    /// Those that the cache served.
    pub hits: u64,
    /// Those that the disc failed.
    pub failed: u64,
}

/// A distribution of times, in seconds. Quantiles are within a thirtieth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplayResponse {
    /// How many.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Half took no longer.
    pub p50: f64,
    /// Nine of ten took no longer.
    pub p90: f64,
    /// All but one in a hundred took no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// Where the time of the disc went, all its requests together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplayDisc {
    /// Requests that it did.
    pub requests: u64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Waiting for others.
    pub queued_seconds: f64,
    /// In the controller and on the wire.
    pub overhead_seconds: f64,
    /// Moving the arm, and settling.
    pub seek_seconds: f64,
    /// Waiting for sectors to come round.
    pub rotation_seconds: f64,
    /// Moving data.
    pub transfer_seconds: f64,
}

/// What the processor did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplayCpu {
    /// As it was named.
    pub name: String,
    /// What looking at one entry costs.
    pub comparison_ns: u64,
    /// What copying 256 bytes costs.
    pub copy_ns: u64,
    /// Processes computed for so long.
    pub computed_seconds: f64,
    /// The cache took so long, with interrupts off.
    #[serde(alias = "locked_seconds")]
    pub interrupts_off_seconds: f64,
    /// How often interrupts were off.
    #[serde(alias = "lock_outs")]
    pub interrupts_off: u64,
    /// The longest of these times.
    #[serde(alias = "lock_out_max_seconds")]
    pub interrupts_off_max_seconds: f64,
    /// Characters of one busy line of 9600 baud that came meanwhile.
    pub characters_late: u64,
    /// Those of `characters_late` that are surely lost.
    pub characters_lost: u64,
    /// Entries that were compared.
    pub comparisons: u64,
    /// Bytes that were copied.
    pub copied_bytes: u64,
}

/// What one size came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplaySize {
    /// Units; 0 is no cache.
    pub size_units: u64,
    /// From the beginning to the end.
    pub elapsed_seconds: f64,
    /// Share of all requests that the cache served.
    pub hit_ratio: f64,
    /// See [`ReplayDocument::disc_utilisation`].
    pub disc_utilisation: f64,
    /// See [`ReplayDocument::cpu_utilisation`].
    pub cpu_utilisation: f64,
    /// The mean time from asking to having.
    pub response_mean_seconds: f64,
}

/// The three points of the S, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplayPoints {
    /// The largest size that takes longer than no cache.
    pub worse_to_units: Option<u64>,
    /// The size from which on every cache saves time.
    pub worth_from_units: Option<u64>,
    /// The size from which on no larger cache saves more.
    pub enough_from_units: Option<u64>,
}

impl ReplayDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.replay/1";

    /// A document of what was seen; who asked what is left to be said.
    pub fn of(stats: &Stats, cpu: &Cpu) -> Self {
        let kinds = KINDS.iter().zip(&stats.kinds);
        let made = kinds.filter(|(_, kind)| kind.count > 0).map(|(&name, kind)| ReplayKind {
            kind: name.to_owned(),
            count: kind.count,
            hits: kind.hits,
            failed: kind.failed,
        });
        Self {
            schema: Self::SCHEMA.to_owned(),
            elapsed_seconds: stats.elapsed.seconds(),
            disc_utilisation: stats.disc_utilisation(),
            cpu_utilisation: stats.cpu_utilisation(),
            hit_ratio: stats.hit_ratio(),
            requests: made.collect(),
            units: stats.units,
            unit_hits: stats.unit_hits,
            response: ReplayResponse::of(&stats.responses),
            commands: ReplayResponse::of(&stats.commands),
            disc_work: ReplayDisc {
                requests: stats.disc_requests,
                bytes: stats.disc_bytes,
                queued_seconds: stats.breakdown.queued.seconds(),
                overhead_seconds: stats.breakdown.overhead.seconds(),
                seek_seconds: stats.breakdown.seek.seconds(),
                rotation_seconds: stats.breakdown.rotation.seconds(),
                transfer_seconds: stats.breakdown.transfer.seconds(),
            },
            cpu: ReplayCpu {
                name: cpu.name.clone(),
                comparison_ns: cpu.comparison.0,
                copy_ns: cpu.copy.0,
                computed_seconds: stats.computed.seconds(),
                interrupts_off_seconds: stats.interrupts_off.total.seconds(),
                interrupts_off: stats.interrupts_off.count,
                interrupts_off_max_seconds: stats.interrupts_off.longest.seconds(),
                characters_late: stats.interrupts_off.characters_late(),
                characters_lost: stats.interrupts_off.characters_lost,
                comparisons: stats.comparisons,
                copied_bytes: stats.copied_bytes,
            },
            ..Self::default()
        }
    }

    /// All requests.
    pub fn requests_total(&self) -> u64 {
        self.requests.iter().map(|kind| kind.count).sum()
    }
}

impl ReplayResponse {
    fn of(times: &Times) -> Option<Self> {
        let seconds = |time: Option<Nanos>| time.map(Nanos::seconds);
        Some(Self {
            count: times.count(),
            mean: seconds(times.mean())?,
            p50: seconds(times.quantile(0.5))?,
            p90: seconds(times.quantile(0.9))?,
            p99: seconds(times.quantile(0.99))?,
            max: seconds(times.longest())?,
        })
    }
}

impl ReplaySize {
    /// The figures of one size.
    pub fn of(size_units: u64, stats: &Stats) -> Self {
        Self {
            size_units,
            elapsed_seconds: stats.elapsed.seconds(),
            hit_ratio: stats.hit_ratio(),
            disc_utilisation: stats.disc_utilisation(),
            cpu_utilisation: stats.cpu_utilisation(),
            response_mean_seconds: stats.responses.mean().map_or(0.0, Nanos::seconds),
        }
    }
}

impl From<Points> for ReplayPoints {
    fn from(points: Points) -> Self {
        Self {
            worse_to_units: points.worse_to,
            worth_from_units: points.worth_from,
            enough_from_units: points.enough_from,
        }
    }
}

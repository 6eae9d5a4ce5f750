//! What a search by runs gives: the limits that were tried, and the two that the need is between.

use serde::{Deserialize, Serialize};

use super::Verified;
use crate::experiment::search::with_slack;
use crate::units::Bytes;

/// A search for the smallest limit that is enough.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SearchReport {
    /// What is enough.
    #[serde(default)]
    pub goal: SearchGoal,
    /// The most fills that count as enough where the goal is fills: a tenth more than without a limit.
    pub fills_enough: u64,
    /// The runs, in the order in which they were made; the first has no limit.
    pub runs: Vec<SearchRun>,
    /// The largest limit that is too small, or other memory alone.
    pub too_small_bytes: Bytes,
    /// The smallest limit that is enough.
    pub enough_bytes: Bytes,
    /// Whether the two are within 5 % of each other.
    pub is_narrow: bool,
}

impl SearchReport {
    /// Returns the run that proves the size, with its limit: the smallest limit that is enough, or the number made of it.
    /// None if no run did: the size is then the peak of a run without a limit, or more than was too small.
    pub(in crate::experiment) fn proof(&self) -> Option<(Bytes, &SearchRun)> {
        let ends = [self.enough_bytes, with_slack(self.enough_bytes)];
        ends.into_iter().find_map(|limit| {
            let is_proof = |run: &&SearchRun| {
                run.limit_bytes == Some(limit) && run.outcome == SearchOutcome::Enough
            };
            self.runs.iter().find(is_proof).map(|run| (limit, run))
        })
    }
}

/// What makes a limit enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchGoal {
    /// At most `fills_enough` fills.
    #[default]
    Fills,
    /// At most this many seconds.
    Seconds(f64),
    /// At most this share of the time, from 0 to 1, in which a task waited for memory.
    Stall(f64),
}

impl SearchRun {
    /// What went wrong other than too many fills, as the words after "it"; none if nothing did.
    pub fn shortcoming(&self) -> Option<String> {
        match self.outcome {
            SearchOutcome::Killed => Some("is OOM-killed".into()),
            SearchOutcome::Failed => Some("fails".into()),
            SearchOutcome::TooSlow => Some(format!("takes {:.2} s", self.seconds)),
            SearchOutcome::Stalled => {
                let percent = self.stall_share() * 100.0;
                Some(format!("waits for memory in {percent:.1} % of the time"))
            }
            SearchOutcome::Enough | SearchOutcome::TooManyFills | SearchOutcome::Stopped => None,
        }
    }

    /// The share of its time in which a task waited for memory, from 0 to 1.
    pub fn stall_share(&self) -> f64 {
        if self.seconds > 0.0 { self.memory_pressure_seconds / self.seconds } else { 0.0 }
    }
}

impl From<&Verified> for SearchRun {
    /// A run that verified a prediction, before any goal has judged it.
    fn from(run: &Verified) -> Self {
        let outcome = match run {
            run if run.killed => SearchOutcome::Killed,
            run if run.timed_out => SearchOutcome::Stopped,
            _ => SearchOutcome::Enough,
        };
        Self {
            limit_bytes: run.limit_bytes,
            outcome,
            fills: run.measured_fills,
            lost_events: run.lost_events,
            read_bytes: run.read_bytes,
            major_faults: run.major_faults,
            peak_bytes: run.peak_bytes,
            other_bytes: run.other_bytes,
            cache_bytes: run.measured_cache_bytes,
            seconds: run.measured_seconds,
            memory_pressure_seconds: run.memory_pressure_seconds,
        }
    }
}

/// One run of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SearchRun {
    /// The limit; none for the run without.
    pub limit_bytes: Option<Bytes>,
    /// How it ended.
    pub outcome: SearchOutcome,
    /// Pages filled; of a stopped run those until then.
    pub fills: u64,
    /// Events that were lost while fills were counted: there were more fills than that.
    #[serde(default)]
    pub lost_events: u64,
    /// Read from block devices.
    pub read_bytes: Bytes,
    /// Page faults that waited for the disc.
    pub major_faults: u64,
    /// The most memory that the group had, page cache included; 0 where the kernel does not count that.
    pub peak_bytes: Bytes,
    /// The most of it that was not page cache: anonymous, shared and kernel memory. 0 if it was not measured.
    #[serde(default)]
    pub other_bytes: Bytes,
    /// File pages charged to the group at the end.
    pub cache_bytes: Bytes,
    /// Elapsed time.
    pub seconds: f64,
    /// Time in which some task waited for memory.
    pub memory_pressure_seconds: f64,
}

/// How a run of a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchOutcome {
    /// At its own end, with few enough fills.
    #[default]
    Enough,
    /// At its own end, with too many fills.
    TooManyFills,
    /// At its own end, and later than allowed.
    TooSlow,
    /// At its own end, after waiting for memory for too long.
    Stalled,
    /// Stopped, because it had too many fills or took too long.
    Stopped,
    /// The kernel OOM-killed it.
    Killed,
    /// With another exit status than without a limit.
    Failed,
}

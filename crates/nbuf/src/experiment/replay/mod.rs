//! Processes, a processor, a cache and a disc in virtual time: how long a workload takes, and why.
//!
//! Each process of a [`Crowd`] does one step after the other. Computing takes the one processor, first
//! come, first served, to the end of the step: there is no time slice, since the steps between requests
//! are short. A request is made at no cost; what the cache then does for it, at its initiation and at its
//! termination, is done by the processor with interrupts locked out: before all computing, which it
//! prolongs, and one request after the other. What it costs is told by a [`Cpu`]. A request that the
//! cache does not serve goes to the disc when the search is over.
//!
//! Invariant: the same crowd, cache and disc give the same result to the last digit. Nothing is kept of a
//! request that is done. A process has one request under way at most: what a trace had under way at once
//! it has here only among several processes. With a real disc the same happens in real time, and only
//! the decisions of the cache repeat. V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982, section 1.

mod cpu;
mod crowd;
mod deal;
mod events;
mod figures;
mod joint;
mod layout;
mod processor;
mod run;
mod seen;
mod size_curve;
mod watch;

pub use cpu::{CHARACTER_9600, CPUS, Cpu, CpuRow, UnknownCpu};
pub use crowd::{Crowd, Next};
pub use deal::{Deal, Feed, Pace, WINDOW};
pub use figures::{Figures, PERIOD};
pub use layout::{Layout, LayoutError, Survey};
pub use processor::LockOuts;
pub use run::replay;
pub use seen::{Kind, Seen};
pub use size_curve::Points;
pub use watch::{Finished, Watch};

use crate::disc::DiscError;
use crate::units::TooLarge;

/// What stands around cache and disc.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// What the work of the cache costs.
    pub cpu: Cpu,
    /// Bytes of a sector: the disc is asked for whole ones.
    pub sector_bytes: u32,
    /// Whether the disc is real: requests carry bytes, of which those written are zeros, and time goes by.
    pub moves_bytes: bool,
}

/// Why a replay cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A request leaves the disc.
    #[error(transparent)]
    Disc(#[from] DiscError),
    /// The cache would take more memory than may be used.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod tests;

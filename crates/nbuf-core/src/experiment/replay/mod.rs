//! Processes, a processor, a cache and a disc in virtual time: how long a workload takes, and why.
//!
//! Each of the [`Clients`] does one step after the other. The one processor computes the steps
//! first come, first served, each to its end. There is no time slice, since the steps between
//! requests are short. Making a request costs nothing. At its initiation and at its termination,
//! the processor does the cache's work for it, with interrupts off. This work comes before
//! all computing, which it prolongs, and is done for one request after the other. A [`Cpu`] has its
//! cost. A request that the cache does not serve goes to the disc when the search is over.
//!
//! Invariant: the same clients, cache and disc give the same result to the last digit. Nothing is kept of a
//! request that is done. A process has one request under way at most: what a trace had under way at once
//! it has here only among several processes. With a real disc the same happens in real time, and only
//! the decisions of the cache repeat. V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982, section 1.
//!
//! [`run`] does all of it for a trace or a synthetic workload:
//!
//! ```
//! # #[cfg(feature = "capture")] {
//! use nbuf::experiment::replay::{self, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let traces = vec!["zipf:keys=1000,requests=10000".into()];
//! let spec = Spec { traces, sizes: Some("100".parse()?), ..Spec::default() };
//! let document = replay::run(&spec, &mut Session::new(&()))?;
//! assert!(document.hit_ratio > 0.5);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clients;
mod cpu;
mod disc_io;
mod dispatcher;
#[cfg(feature = "capture")]
mod document;
#[cfg(feature = "capture")]
mod error;
mod events;
mod layout;
mod meters;
mod observer;
mod processor;
mod run;
#[cfg(feature = "capture")]
mod setup;
mod size_curve;
#[cfg(feature = "capture")]
mod spec;
mod stats;

pub use clients::{Clients, Next};
pub use cpu::{CHARACTER_9600, CPUS, Cpu, CpuRow, UnknownCpu};
pub use dispatcher::{Dispatcher, Feed, Pace, WINDOW};
#[cfg(feature = "capture")]
pub use document::run;
#[cfg(feature = "capture")]
pub use error::Error;
pub use layout::{Layout, LayoutError, Survey};
#[cfg(all(feature = "capture", feature = "paths"))]
pub(in crate::experiment) use meters::rate_steps;
pub use meters::{Figures, METERS, Meter, MeterRow, PERIOD, Subject};
pub use observer::{Finished, Observer};
pub use processor::InterruptsOff;
pub use run::replay;
pub use size_curve::Points;
#[cfg(feature = "capture")]
pub use spec::{CachingUnit, Order, Spec};
pub use stats::{KINDS, Kind, Stats};

pub use crate::cache::layer::Writes;
pub use crate::workload::format::Parameters as Format;
pub use crate::workload::synthetic::tools;

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

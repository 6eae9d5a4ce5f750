//! Two threads wake each other: how often a second, by each mechanism and in each placement.
//!
//! Each row is measured in processes of its own, which [`serve`] runs in; this one only waits, and ends
//! them when they hang. All rows are gone through once before any of them gets a second process, so that
//! an early end leaves something of all of them, and an hour in which the machine was busy does not fall
//! on one. The result is the median of short batches, never a mean: threads that are not pinned have two
//! speeds, and a mean would be neither.
//!
//! ```
//! use nbuf::experiment::ping::{Placement, Spec};
//!
//! let spec = Spec { placements: vec![Placement::OtherCore], is_quick: true, ..Spec::default() };
//! # assert!(spec.mechanisms.is_empty());
//! ```

mod child;
mod contention;
mod histogram;
mod machine;
mod plan;
mod run;
mod spec;
mod summary;
mod warnings;

pub use crate::path::wake::{Placement, Row, WAKES};
pub use child::serve;
pub use machine::machine;
pub use plan::Plan;
pub use run::{measure, run};
pub use spec::{Mechanism, Spec, UnknownName};

use std::io;

use super::child::ChildError;

/// The argument with which a program that runs this is started as a process of a row: it calls [`serve`]
/// then.
pub const CHILD: &str = "ping-child";

/// Why nothing could be measured at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No signal can end the experiment.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// The process of a row cannot be started.
    #[error(
        "cannot start a process to measure in ({0}); check the limit on processes (`ulimit -u`)"
    )]
    Start(#[source] io::Error),
    /// The output of the process of a row cannot be read.
    #[error("no answer from the measured process ({0}); try again")]
    Wait(#[source] io::Error),
    /// The observer could not take a sample.
    #[error(transparent)]
    Observer(io::Error),
}

impl From<ChildError> for Error {
    fn from(error: ChildError) -> Self {
        match error {
            ChildError::Start(error) => Self::Start(error),
            ChildError::Read(error) => Self::Wait(error),
        }
    }
}

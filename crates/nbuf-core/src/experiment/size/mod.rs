//! The main experiment: a command is recorded, its curve drawn, a limit recommended, and the
//! prediction verified by runs under real limits.
//!
//! ```
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::size::{self, Spec};
//!
//! let command = vec!["cat".into(), "/etc/services".into()];
//! let spec = Spec { command, verify: false, force: true, ..Spec::default() };
//! match size::run(&spec, &mut Session::new(&())) {
//!     Ok(report) => assert_eq!(report.command[0], "cat"),
//!     // Not everywhere may a command be recorded.
//!     Err(error) => eprintln!("{error}"),
//! }
//! ```

mod analysis;
pub(crate) mod curve;
#[cfg(feature = "capture")]
mod error;
mod report;
#[cfg(feature = "capture")]
mod run;
#[cfg(feature = "capture")]
mod spec;
#[cfg(feature = "capture")]
mod spread;

pub use super::cliff::cliffs;
pub use super::recommend::{RecommendError, recommend};
pub use super::time::Rate;
#[cfg(feature = "capture")]
pub use crate::workload::command::Until;
pub use analysis::{Analysis, Ask, WRITTEN_SHARE_MAX, gains};
#[cfg(feature = "capture")]
pub use error::Error;
#[cfg(feature = "capture")]
pub use run::run;
#[cfg(feature = "capture")]
pub use spec::{PrivateDisc, Spec};

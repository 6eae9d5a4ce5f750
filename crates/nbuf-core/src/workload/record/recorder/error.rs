//! Why there is no recording by tracepoints.

use std::io;

use crate::workload::record::perf;

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tracepoints cannot be had.
    #[error(transparent)]
    Perf(#[from] perf::Error),
    /// The log cannot be begun, so the command was not started.
    #[error("cannot begin the log: {0}; make room, or give another place")]
    Log(#[from] io::Error),
    /// The command ran, but its log broke off: a full disc, most of all.
    #[error("the log broke off: {0}")]
    Broken(#[source] io::Error),
}

//! How a command is recorded, and the fallback where the best way is closed.
//!
//! ```
//! use nbuf::experiment::capture::Capture;
//!
//! let spec: Capture = serde_json::from_str("\"calls\"")?;
//! assert_eq!(spec, Capture::Calls);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io;

use serde::{Deserialize, Serialize};

use super::notice::Notice;
use super::session::Observer;
use crate::sys::process;
use crate::workload::command;
use crate::workload::record::perf::{self, Perf};
use crate::workload::record::{self, Backend, overlay, recorder, traced};

/// How a command is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capture {
    /// Tracepoints, or system calls without permission for those.
    #[default]
    Auto,
    /// By the kernel's tracepoints.
    Perf,
    /// By stopping at the command's system calls.
    Calls,
}

/// The kernel's answer where it is permission that a recording lacks: to open tracepoints, or to attach them
/// to the command.
pub fn refusal(error: &record::Error) -> Option<&io::Error> {
    match error {
        record::Error::Recorder(recorder::Error::Perf(perf::Error::NotPermitted(cause))) => {
            Some(cause)
        }
        record::Error::Command(command::Error::Attach(cause))
            if cause.kind() == io::ErrorKind::PermissionDenied =>
        {
            Some(cause)
        }
        _ => None,
    }
}

/// The kernel refuses to trace a command.
#[derive(Debug, thiserror::Error)]
#[error("not permitted to trace a command ({0}); run `nbuf doctor` to see what would permit it")]
pub struct CaptureError(io::Error);

impl Capture {
    /// The backend that works here. Reports when it is not the best one.
    pub fn choose(self, observer: &dyn Observer) -> Result<Backend, CaptureError> {
        match self {
            Self::Perf => Ok(Backend::Perf),
            Self::Calls => {
                if let Some(cause) = no_tracing() {
                    return Err(CaptureError(cause));
                }
                observer.notice(&Notice::BlindSpots);
                Ok(Backend::Calls)
            }
            Self::Auto => Ok(match tried() {
                Ok(()) if is_unnamed_here() => {
                    observer.notice(&Notice::LayersHidden);
                    observer.notice(&Notice::BlindSpots);
                    Backend::Calls
                }
                // More descriptors can be had.
                Ok(()) | Err(perf::Error::Descriptors) => Backend::Perf,
                Err(error) => fall_back(error, observer),
            }),
        }
    }
}

/// Whether files here have names for system calls, and none for the tracepoints.
fn is_unnamed_here() -> bool {
    let here = std::env::current_dir().unwrap_or_default();
    overlay::without_layers(&here) && traced::probe().is_ok()
}

/// Root is only asked for what a container may lack: opening a tracepoint costs a third of a second.
fn tried() -> Result<(), perf::Error> {
    if process::is_root() { Perf::probe_quickly() } else { Perf::probe() }
}

/// Why nothing may be traced here. Where no process can be had to try it, the recording has none
/// either, and says so.
fn no_tracing() -> Option<io::Error> {
    traced::probe().err().filter(|error| error.kind() != io::ErrorKind::WouldBlock)
}

fn fall_back(error: perf::Error, observer: &dyn Observer) -> Backend {
    // The recording meets the same error, and reports it.
    if no_tracing().is_some() {
        return Backend::Perf;
    }
    observer.notice(&Notice::TracepointsClosed(&recorder::Error::Perf(error).into()));
    observer.notice(&Notice::BlindSpots);
    Backend::Calls
}

//! `--capture`: how a command is watched, and what to fall back to where that is refused.

use std::io;

use anyhow::{Result, bail};
use nbuf::sys::process;
use nbuf::workload::record::perf::{self, Perf};
use nbuf::workload::record::{Backend, overlay, recorder, traced};

use crate::fail::{chain, say};
use crate::permission;

/// How to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Capture {
    /// By tracepoints, and by system calls where those are refused
    Auto,
    /// By the kernel's tracepoints, which takes privileges
    Perf,
    /// By stopping at the command's system calls (ptrace), which anybody may do
    Calls,
}

impl Capture {
    /// The way that is open here. Says so when it is not the best one, and what would open that.
    /// Fails where the way that was asked for is closed and nothing later would say so rightly.
    pub(crate) fn choose(self) -> Result<Backend> {
        let backend = match self {
            Self::Perf => Backend::Perf,
            Self::Calls => {
                if let Some(cause) = no_tracing() {
                    bail!(
                        "not permitted to trace a command ({cause}); `nbuf doctor` says what would permit it"
                    );
                }
                say(traced::BLIND_SPOTS);
                Backend::Calls
            }
            Self::Auto => match tried() {
                Ok(()) if is_unnamed_here() => {
                    say(
                        "recording by system calls, for the layers of the overlay here are hidden, as in a \
                         container: by tracepoints its files would have no names (--capture perf)",
                    );
                    say(traced::BLIND_SPOTS);
                    Backend::Calls
                }
                // More descriptors can be had.
                Ok(()) | Err(perf::Error::Descriptors) => Backend::Perf,
                Err(error) => fall_back(error),
            },
        };
        Ok(backend)
    }
}

/// Whether what lies here has no names for the tracepoints, but for system calls.
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

fn fall_back(error: perf::Error) -> Backend {
    // What is wrong with the better way is told by the recording, which meets it too.
    if no_tracing().is_some() {
        return Backend::Perf;
    }
    let error = permission::brief(recorder::Error::Perf(error).into());
    say(format_args!("recording by system calls, for the better way is closed: {}", chain(&error)));
    say(traced::BLIND_SPOTS);
    Backend::Calls
}

//! A trace of the log of an interrupted recording.
//!
//! ```no_run
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::trace::recover::{Spec, run};
//!
//! let spec = Spec { log: "nbuf.log".into(), output: "trace.parquet".into(), memory: None };
//! let made = run(&spec, &mut Session::new(&()))?;
//! println!("{} records, {:?}", made.count, made.salvaged);
//! # Ok::<(), nbuf::experiment::trace::Error>(())
//! ```

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::experiment::memory::bound;
use crate::experiment::output::{must_be_free, write_trace_with};
use crate::experiment::result::{TraceMade, TraceSalvaged};
use crate::experiment::session::Session;
use crate::sys::direct::is_being_written;
use crate::sys::input::open;
use crate::units::Size;
use crate::workload::record::log::Ending;
use crate::workload::record::{Salvaged, salvage_with};

/// What the trace of a log takes at the most, a byte of the log.
const LOG_FACTOR: u64 = 4;

/// The spec of a recovery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The log; it is not changed.
    pub log: PathBuf,
    /// The new trace; nothing may have its name.
    pub output: PathBuf,
    /// Memory that may be used, by default half of what is available.
    pub memory: Option<Size>,
}

/// Makes the trace.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<TraceMade, Error> {
    let Spec { log, output, memory } = spec;
    let mut file = open(log)?;
    must_be_free(output, "-o")?;
    if is_being_written(&file) {
        return Err(Error::Recording(log.clone()));
    }
    let unread = |source| Error::Read { path: log.clone(), source };
    if is_parquet(&mut file).map_err(unread)? {
        return Err(Error::NotALog(log.clone()));
    }
    let log_bytes = file.metadata().map_err(unread)?.len();
    let bound = bound(*memory, "allow more with --memory");
    bound.allow("the trace of this log", LOG_FACTOR.saturating_mul(log_bytes))?;
    let broken = |source| Error::Log { path: log.clone(), source };
    let salvaged = session.reading_log(|progress| salvage_with(&file, progress));
    let Salvaged { trace, entries, frames_skipped, ending } = salvaged.map_err(broken)?;
    session
        .writing(|progress| write_trace_with(&trace, output, "-o", progress))
        .map_err(|source| Error::WriteOfLog { path: output.clone(), source })?;
    let torn = match ending {
        Ending::Torn { at_byte, reason } => Some((at_byte, reason.to_string())),
        Ending::Clean => None,
    };
    Ok(TraceMade {
        count: trace.records.len() as u64,
        what: "record".to_owned(),
        files: trace.files.len() as u64,
        salvaged: Some(TraceSalvaged { entries, frames_skipped, torn }),
        ..TraceMade::of(output)
    })
}

fn is_parquet(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(4).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head == b"PAR1")
}

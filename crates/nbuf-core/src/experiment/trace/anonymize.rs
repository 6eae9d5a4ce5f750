//! A trace without names, so that it can be shared.
//!
//! ```no_run
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::trace::anonymize::{Spec, run};
//!
//! let spec = Spec { trace: "service.parquet".into(), output: "shared.parquet".into(), memory: None };
//! let made = run(&spec, &mut Session::new(&()))?;
//! println!("{} records of {} files", made.count, made.files);
//! # Ok::<(), nbuf::experiment::trace::Error>(())
//! ```

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::experiment::memory::bound;
use crate::experiment::output::{must_be_free, write_trace_with};
use crate::experiment::result::TraceMade;
use crate::experiment::session::Session;
use crate::sys::input::open;
use crate::units::{Bound, Bytes, Size};
use crate::workload::anonymize;
use crate::workload::format::native;

/// The spec of an anonymization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The native trace; it is not changed.
    pub trace: PathBuf,
    /// The new trace; nothing may have its name.
    pub output: PathBuf,
    /// Memory that may be used, by default half of what is available.
    pub memory: Option<Size>,
}

/// Makes the new trace. It has the same curve.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<TraceMade, Error> {
    let Spec { trace: path, output, memory } = spec;
    let file = open(path)?;
    must_be_free(output, "-o")?;
    // The old records and the new ones.
    let bound = bound(*memory, "allow more with --memory");
    let half = Bound { allowed: Bytes(bound.allowed.0 / 2), ..bound };
    let unread = |source| Error::Native { path: path.clone(), source };
    let loaded = session.loading(|loading| native::read_with(file, half, loading));
    let mut trace = loaded.map_err(unread)?;
    anonymize::anonymize(&mut trace);
    session
        .writing(|progress| write_trace_with(&trace, output, "-o", progress))
        .map_err(|source| Error::of_writing(output, source))?;
    Ok(TraceMade {
        count: trace.records.len() as u64,
        what: "record".to_owned(),
        files: trace.files.len() as u64,
        ..TraceMade::of(output)
    })
}

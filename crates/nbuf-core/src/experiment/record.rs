//! A command runs, and what it asks of the page cache becomes a trace.
//!
//! Invariant: once the command has run, nothing of its recording is given up. Whatever fails from
//! then on keeps the log, and the error names it.
//!
//! ```no_run
//! use nbuf::experiment::record::{self, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let command = ["grep", "-r", "main", "/usr/include"].map(Into::into).to_vec();
//! let spec = Spec { command, output: Some("grep.parquet".into()), ..Spec::default() };
//! let recorded = record::run(&spec, &mut Session::new(&()))?;
//! println!("{} events", recorded.events);
//! # Ok::<(), record::Error>(())
//! ```

mod error;
mod log;
mod target;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use crate::workload::command::{Error as CommandError, Until};
pub use crate::workload::record::Error as CaptureError;
pub use error::Error;

use super::capture::Capture;
use super::notice::Notice;
use super::result::RecordDocument;
use super::session::Session;
use super::warnings::recorded;
use crate::clock;
use crate::sys::cgroup::{Hierarchies, sweep};
use crate::sys::signal::Signals;
use crate::trace::Trace;
use crate::workload::command::engine::{followed, group_for};
use crate::workload::command::{Command, Ended};
pub use crate::workload::record::running::{
    MappedWatch, MappedWhen, NameError, Named, Running, RunningError, is_pattern,
};
use crate::workload::record::{self, Backend, Options, running};
use log::Log;
use target::Target;

/// The spec of a recording. The default records nothing: it takes a `command`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Programs that run already, instead of a command.
    pub running: Option<Running>,
    /// How long those are recorded; until they end, without.
    #[serde(rename = "duration_seconds", with = "super::seconds")]
    pub duration: Option<Duration>,
    /// The command and its arguments.
    #[serde(with = "super::words")]
    pub command: Vec<OsString>,
    /// The trace; nothing may have its name. By default a dated file in the session's spool directory.
    pub output: Option<PathBuf>,
    /// When the recording is over.
    pub until: Until,
    /// Whether names of files, command and machine are left out of the trace. The log has them.
    pub anonymize: bool,
    /// How the command is recorded.
    pub capture: Capture,
    /// Bytes of the ring of each processor, to provoke losses.
    pub ring_bytes: Option<usize>,
    /// How mapped files of programs that run already are watched.
    pub mapped: MappedWatch,
}

/// Records. The command keeps its standard input, output and error.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<RecordDocument, Error> {
    let session = &*session;
    // Before anything can start a thread.
    let signals = session.cancellation.listen().map_err(Error::Signals)?;
    let output = match &spec.output {
        Some(output) => output.clone(),
        None => spec.dated(session)?,
    };
    let target = Target::of(&output)?;
    let backend = match &spec.running {
        Some(running) => {
            running.check(session.user())?;
            Backend::Perf
        }
        None => spec.capture.choose(session.observer)?,
    };
    let log = target.create_log(session.spool.clone())?;
    let (ended, log) = spec
        .record(backend, signals, log, session)
        .map_err(|error| target.forget_or_keep(error))?;
    let trace = target.finish(log, spec.anonymize, session)?;
    if ended.stopped > 0 {
        session.observer.notice(&Notice::StoppedEnded(ended.stopped));
    }
    Ok(document(&trace, &ended, &output))
}

impl Spec {
    fn dated(&self, session: &Session<'_>) -> Result<PathBuf, Error> {
        let program = match self.command.first() {
            Some(program) if !self.anonymize => program.to_string_lossy(),
            _ => "anonymous".into(),
        };
        let now = clock::unix_time().unwrap_or_default().as_secs();
        Ok(super::output::dated(session.spool.as_deref(), &program, now)?)
    }

    /// Runs the command. Whatever was put into the machine for that is gone when this returns.
    fn record(
        &self,
        backend: Backend,
        signals: &Signals,
        log: Log,
        session: &Session<'_>,
    ) -> Result<(Ended, Log), record::Error> {
        if let Some(running) = &self.running {
            let duration = self.duration;
            let options = running::Options {
                running,
                user: session.user(),
                duration,
                ring_bytes: self.ring_bytes,
                memory: true,
                programs: self.capture == Capture::Auto,
                overhead: None,
                snapshot: false,
                mapped: self.mapped,
                quiet: &running::Quiet::default(),
            };
            return running::record_running(&options, log, signals);
        }
        let hierarchies = Hierarchies::of_this_process();
        for path in sweep(&hierarchies) {
            session.observer.notice(&Notice::LeftoverRemoved(&path));
        }
        let command = Command {
            arguments: self.command.clone(),
            account: session.account.clone(),
            ..Command::default()
        };
        // Without a group the command's memory is not measured; the trace has a warning.
        let command = followed(command, backend);
        let group = group_for(&command, &hierarchies, None).ok();
        let Self { until, ring_bytes, .. } = *self;
        let group = group.as_ref();
        let options = Options { group, until, backend, ring_bytes, ..Options::default() };
        record::record(&command, options, log, signals)
    }
}

fn document(trace: &Trace, ended: &Ended, output: &std::path::Path) -> RecordDocument {
    let capture = &trace.facts.capture;
    RecordDocument {
        schema: RecordDocument::SCHEMA.to_owned(),
        output: output.display().to_string(),
        exit_status: ended.exit_status,
        signal: ended.signal,
        interrupted: ended.interrupted,
        events: capture.events,
        lost: capture.lost,
        records: trace.records.len() as u64,
        files: trace.files.len() as u64,
        warnings: recorded(&trace.facts),
    }
}

//! The first half of `size`: the trace, of a recorded command or from a file.

use super::Error;
use super::Subject;
use crate::experiment::memory::bound;
use crate::experiment::need;
use crate::experiment::notice::Notice;
use crate::experiment::result::Meter;
use crate::experiment::session::Interim;
use crate::sys::cgroup::Group;
use crate::sys::input;
use crate::trace::Trace;
use crate::workload::command::Ended;
use crate::workload::command::engine::{followed, group_for};
use crate::workload::format::native;
use crate::workload::record::perf::Perf;
use crate::workload::record::spool::Spool;
use crate::workload::record::{Backend, Options, record, text};

/// Statuses by which `docker run`, `env`, `sudo` and shells say that the work did not begin.
const NOT_STARTED: std::ops::RangeInclusive<i32> = 125..=127;

impl Subject<'_> {
    /// Records the command, or reads the trace.
    pub(super) fn trace(&mut self) -> Result<Trace, Error> {
        match &self.spec.trace {
            Some(path) => {
                let file = input::open(path)?;
                let bound = bound(self.spec.memory, "allow more with --memory");
                let read = |source| Error::Read { path: path.clone(), source };
                let loaded =
                    self.session.loading(|loading| native::read_with(file, bound, loading));
                let trace = loaded.map_err(read)?;
                let large = |source| Error::TooLarge { path: path.clone(), source };
                need::must_fit(&trace, bound).map_err(large)?;
                Ok(trace)
            }
            None => self.record(),
        }
    }

    fn record(&mut self) -> Result<Trace, Error> {
        self.prepare()?;
        if let Some(signal) = self.interrupted() {
            return Err(Error::Interrupted(signal));
        }
        let backend = self.spec.capture.choose(self.session.observer)?;
        self.command = followed(std::mem::take(&mut self.command), backend);
        let group = self.group(backend);
        if group.as_ref().is_some_and(|group| group.parent_for_engine().is_some()) {
            self.notice(&Notice::Container);
        }
        let options = Options {
            backend,
            group: group.as_ref(),
            standard: [None, self.session.output.descriptor()?, None],
            until: self.spec.until,
            deadline: self.time_left(),
            ring_bytes: None,
        };
        let mut spool = Spool::new(self.session.spool.clone());
        if let Some(bytes) = self.spec.log_memory_bytes {
            spool = spool.with_memory(bytes);
        }
        let (ended, log) = record(&self.command, options, spool, self.signals)?;
        drop(group);
        self.note(&ended);
        if ended.stopped > 0 {
            self.notice(&Notice::StoppedEnded(ended.stopped));
        }
        self.used_terminal = ended.used_terminal;
        self.recording_interrupted = ended.interrupted.is_some();
        let mut trace = self.session.reading_log(|progress| log.trace_with(progress))?;
        text::note(&mut trace);
        let (records, files) = (trace.records.len(), trace.files.len());
        self.notice(&Notice::Recorded { records, files });
        let end = self.judge(&ended);
        if end.is_ok() && !ended.timed_out && trace.facts.stopped() {
            trace.facts.timed = self.time(&trace.facts);
        }
        self.session.observer.interim(Interim::Trace(&trace)).map_err(Error::Observer)?;
        end.map(|()| trace)
    }

    /// A private group for the recording. Without one, other memory is unknown.
    /// Where system calls are recorded because tracepoints are refused, those count no fills either.
    fn group(&mut self, backend: Backend) -> Option<Group> {
        if backend == Backend::Calls && self.spec.verify && Perf::probe().is_err() {
            self.meter = Meter::BytesRead;
        }
        match group_for(&self.command, &self.hierarchies, None) {
            Ok(group) => Some(group),
            Err(_) if !self.verifies() => None,
            Err(error) => {
                self.cannot_verify = true;
                self.notice(&Notice::NoGroup(&error));
                None
            }
        }
    }

    /// Reports how the recording ended, unless in the ordinary way. An error if it says nothing of
    /// what the command needs.
    fn judge(&mut self, ended: &Ended) -> Result<(), Error> {
        let status = ended.exit_status;
        if let Some(left) = &ended.left {
            // What a limit does to the others proves nothing.
            self.notice(&Notice::Left(left));
            self.cannot_verify = true;
        }
        if ended.timed_out {
            self.notice(&Notice::RecordingTimedOut);
        } else if ended.interrupted.is_some() {
            self.notice(&Notice::RecordingInterrupted);
        } else if let Some(signal) = ended.signal {
            return Err(Error::Killed { signal, status });
        } else if NOT_STARTED.contains(&status) {
            self.notice(&Notice::NotStarted(status));
            // What a run under a limit does then says nothing of the work that was meant.
            self.cannot_verify = true;
        } else if status != 0 {
            self.notice(&Notice::CommandFailed(status));
        }
        Ok(())
    }
}

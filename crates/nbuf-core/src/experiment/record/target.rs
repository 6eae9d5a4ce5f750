//! The place of a trace: next to its log, or a descriptor.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{Error, LogToTrace};
use super::log::Log;
use crate::experiment::output::{
    OutputError, descriptor, must_be_free, place, write_trace_at, write_trace_with,
};
use crate::experiment::session::Session;
use crate::sys::direct::{DirectFile, is_being_written};
use crate::sys::files::{self, Place};
use crate::trace::Trace;
use crate::workload::anonymize::anonymize;
use crate::workload::command;
use crate::workload::record::spool::{Spool, SpoolError};
use crate::workload::record::{self, recorder, text};

/// The place of the trace.
pub(super) struct Target<'a> {
    output: &'a Path,
    /// None for a descriptor, which takes the trace when it is whole.
    places: Option<Places>,
}

/// A trace and its log, in a directory that stays open: renaming the directory changes nothing.
struct Places {
    trace: Place,
    log: Place,
}

impl<'a> Target<'a> {
    pub(super) fn of(output: &'a Path) -> Result<Self, Error> {
        must_be_free(output, "-o")?;
        if descriptor(output, "-o")?.is_some() {
            return Ok(Self { output, places: None });
        }
        let trace = place(output, "-o")?;
        let log = trace.beside(".log").map_err(Error::Directory)?;
        Ok(Self { output, places: Some(Places { trace, log }) })
    }

    /// Makes the log, which stands in for the trace until that is whole.
    pub(super) fn create_log(&self, spool: Option<PathBuf>) -> Result<Log, Error> {
        let Some(Places { log, .. }) = &self.places else {
            return Ok(Log::Spool(Spool::new(spool)));
        };
        match DirectFile::create(log) {
            Ok(file) => Ok(Log::Named(file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(self.taken(log)),
            Err(cause) => Err(Error::Log { log: log.path().to_owned(), cause }),
        }
    }

    /// Why the name of a log is taken.
    fn taken(&self, log: &Place) -> Error {
        let path = log.path().to_owned();
        if files::regular(&path).is_ok_and(is_being_written) {
            return Error::Recording(path);
        }
        Error::Leftover { log: path, output: self.output.to_owned() }
    }

    /// A log of a command that never ran is of no use; any other stays, and the error names it.
    pub(super) fn forget_or_keep(&self, error: record::Error) -> Error {
        use command::Error::{Attach, NoRoom, NotExecutable, NotFound, NotStarted, Nul};
        let never_ran = match &error {
            record::Error::Command(error) => {
                let before = matches!(error, Nul(_) | NoRoom(_) | NotStarted(_) | Attach(_));
                before || matches!(error, NotFound(_) | NotExecutable(..))
            }
            record::Error::Recorder(error) => !matches!(error, recorder::Error::Broken(_)),
            _ => true,
        };
        if !never_ran {
            return self.kept(error.into());
        }
        if let Some(Places { log, .. }) = &self.places {
            let _ = files::unlink(log.directory(), log.name());
        }
        Error::Record(error)
    }

    /// What failed, and what was kept.
    fn kept(&self, cause: Box<dyn StdError + Send + Sync>) -> Error {
        let Some(Places { log, .. }) = &self.places else {
            return Error::Gone(cause);
        };
        let (log, output) = (log.path().to_owned(), self.output.to_owned());
        Error::Kept { log, output, is_full: is_full(cause.as_ref()), cause }
    }

    /// Makes the trace of the log, and removes the log.
    pub(super) fn finish(
        &self,
        log: Log,
        is_nameless: bool,
        session: &Session<'_>,
    ) -> Result<Trace, Error> {
        self.made(log, is_nameless, session).map_err(|error| self.kept(error.into()))
    }

    fn made(
        &self,
        log: Log,
        is_nameless: bool,
        session: &Session<'_>,
    ) -> Result<Trace, LogToTrace> {
        let (mut trace, file) = session.reading_log(|progress| log.trace(progress))?;
        text::note(&mut trace);
        if is_nameless {
            anonymize(&mut trace);
        }
        let (Some(Places { trace: place, log }), Some(file)) = (&self.places, file) else {
            session.writing(|progress| write_trace_with(&trace, self.output, "-o", progress))?;
            return Ok(trace);
        };
        session.writing(|progress| write_trace_at(&trace, place, progress))?;
        log.remove(&file)
            .map_err(|source| LogToTrace::Remove { log: log.path().to_owned(), source })?;
        Ok(trace)
    }
}

/// Whether a disc was full.
fn is_full(error: &(dyn StdError + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| answer(cause).is_some_and(|it| it.kind() == io::ErrorKind::StorageFull))
}

/// The answer of the kernel in an error. A transparent error gives no source for the answer that it
/// wraps, so the answer is taken out.
fn answer<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a io::Error> {
    match error.downcast_ref::<LogToTrace>() {
        Some(
            LogToTrace::Io(answer)
            | LogToTrace::Spool(SpoolError::Io(answer))
            | LogToTrace::Output(OutputError::Io(answer)),
        ) => Some(answer),
        Some(_) => None,
        None => error.downcast_ref(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::workload::format::native;

    #[test]
    fn a_full_disc_is_found_in_every_error_that_has_it() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let device = File::options().write(true).open("/dev/full").unwrap();
        let trace = native::write(&Trace::default(), &device).unwrap_err();
        let errors: [Box<dyn StdError + Send + Sync>; 6] = [
            record::Error::from(recorder::Error::Broken(full())).into(),
            LogToTrace::from(full()).into(),
            LogToTrace::from(SpoolError::from(full())).into(),
            LogToTrace::from(OutputError::from(full())).into(),
            LogToTrace::from(OutputError::Write(trace.into())).into(),
            LogToTrace::Remove { log: PathBuf::new(), source: full() }.into(),
        ];
        for error in errors {
            assert!(is_full(error.as_ref()), "{error:?}");
        }
        // The words decide nothing.
        let words = LogToTrace::from(io::Error::other("No space left on device"));
        assert!(!is_full(&words));
    }
}

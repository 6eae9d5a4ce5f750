//! Failures: one line on standard error, and the exit status that goes with it.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::process::ExitCode;

use nbuf::experiment::bench::advise::AdviceError;
use nbuf::experiment::notice::causes;
use nbuf::experiment::record::{CaptureError as RecordError, CommandError};
use nbuf::experiment::session::Cancellation;
use nbuf::experiment::{bench, course, curve, replay, serve, trace};

use crate::exit;
use crate::show::terminal::Terminal;
use crate::show::text::{clean_lines, wrap_behind};

/// A usage error that clap cannot find.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl Display for UsageError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Prints a message on standard error: one line, broken at words on a terminal. A closed standard error
/// stops nothing. Names in the message may be anybody's; they cannot act on the terminal.
pub(crate) fn say(message: impl Display) {
    let message = clean_lines(&message.to_string());
    let text = match Terminal::error_width().filter(|_| !message.contains('\n')) {
        Some(width) => {
            let mut lines = String::new();
            wrap_behind(&mut lines, &message, width, ["nbuf:", "     "]);
            lines
        }
        None => format!("nbuf: {message}\n"),
    };
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Has a panic be one line, and our exit status. What it leaves behind is cleaned up by those who would do
/// so for a killed nbuf.
pub(crate) fn say_panics_in_a_line() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        // A decoder that gives up is caught, and its file refused (`workload::format::native`).
        if place.contains("/parquet-") {
            return;
        }
        let text = panic.payload_as_str().unwrap_or("no message");
        if let Some((_, cause)) = text.split_once("failed to spawn thread: ") {
            say(format_args!(
                "cannot start a thread: {cause}; end other processes, or raise the limit on processes \
                 (`ulimit -u`, `pids.max` of a cgroup)"
            ));
        } else {
            say(format_args!("a defect of nbuf: {text} ({place}); please report it"));
        }
        std::process::exit(exit::INTERNAL_ERROR.into());
    }));
}

/// Leaves panics to the work that catches them: a task of a fleet reports its own.
pub(crate) fn leave_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Says what failed, the causes behind it, and what to do next.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    say(chain(error));
    ExitCode::from(status(error))
}

/// What a failure that a signal caused exits with, after the line about it; other failures are handed back.
pub(crate) fn ended(error: anyhow::Error, cancellation: &Cancellation) -> anyhow::Result<u8> {
    let Some(signal) = cancellation.signal() else { return Err(error) };
    say(chain(&error));
    Ok(exit::command(128 + signal))
}

/// Whether no process reads our standard output any more. Only printing there returns this error
/// without context; the error of any other pipe has some.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The chain on one line. A cause that its parent quotes is not said again.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    causes(error.as_ref())
}

/// Whether it is an experiment's own word that the command line is wrong.
fn is_usage(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref().is_some_and(bench::Error::is_usage)
        || cause.downcast_ref().is_some_and(AdviceError::is_usage)
        || cause.downcast_ref().is_some_and(course::Error::is_usage)
        || cause.downcast_ref().is_some_and(curve::Error::is_usage)
        || cause.downcast_ref().is_some_and(replay::Error::is_usage)
        || cause.downcast_ref().is_some_and(serve::Error::is_usage)
        || cause.downcast_ref().is_some_and(trace::Error::is_usage)
}

fn status(error: &anyhow::Error) -> u8 {
    if error.is::<UsageError>() || error.chain().any(is_usage) {
        return exit::USAGE_ERROR;
    }
    let command = error.chain().find_map(|cause| {
        if let Some(RecordError::Command(error)) = cause.downcast_ref() {
            return Some(error);
        }
        cause.downcast_ref::<CommandError>()
    });
    match command {
        Some(CommandError::NotFound(_)) => exit::NOT_FOUND,
        Some(CommandError::NotExecutable(..)) => exit::NOT_EXECUTABLE,
        _ => exit::INTERNAL_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn the_chain_is_one_line_without_repetition() {
        let inner = io::Error::other("the cause");
        let quoting = Err::<(), _>(inner).map_err(|e| anyhow::anyhow!("failed ({e})").context(e));
        let error = quoting.context("a.parquet").unwrap_err();
        assert_eq!(chain(&error), "a.parquet: the cause: failed (the cause)");
        let error = Err::<(), _>(io::Error::other("full")).context("t").unwrap_err();
        assert_eq!(chain(&error), "t: full");
    }

    #[test]
    fn statuses_are_found_behind_context() {
        let missing = CommandError::NotFound("x".into());
        assert_eq!(status(&anyhow::Error::from(RecordError::Command(missing)).context("c")), 127);
        let refused = CommandError::NotExecutable("x".into(), io::ErrorKind::NotFound.into());
        assert_eq!(status(&refused.into()), 126);
        assert_eq!(status(&anyhow::anyhow!("else")), 125);
        assert_eq!(status(&anyhow::Error::new(UsageError("s".into())).context("c")), 2);
    }
}

//! Failures: one line on standard error, and the exit status that goes with it.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::process::ExitCode;

use nbuf::workload::command::Error as CommandError;
use nbuf::workload::record::Error as RecordError;

use crate::exit;
use crate::show::text::clean_lines;

/// The command line makes no sense, which only a look at all of it could show.
#[derive(Debug)]
pub(crate) struct Senseless(pub(crate) String);

impl Display for Senseless {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Senseless {}

/// Says something on standard error. A message that nobody can hear stops nothing. Names in it
/// may be anybody's; they get no hold of the terminal.
pub(crate) fn say(message: impl Display) {
    let message = clean_lines(&message.to_string());
    let _ = writeln!(io::stderr().lock(), "nbuf: {message}");
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
        let text = panic.payload_as_str().unwrap_or("no words");
        if let Some((_, cause)) = text.split_once("failed to spawn thread: ") {
            say(format_args!(
                "cannot start a thread: {cause}; end other processes, or raise what they are limited to \
                 (`ulimit -u`, `pids.max` of a cgroup)"
            ));
        } else {
            say(format_args!("a defect of nbuf: {text} ({place}); please report it"));
        }
        std::process::exit(exit::OURS.into());
    }));
}

/// Says what failed, the causes behind it, and what to do next.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    say(chain(error));
    ExitCode::from(status(error))
}

/// Whether nobody reads our standard output any more. Only printing there is ever given this
/// context-free error; a pipe of somebody else's comes with words around it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The chain on one line. A cause that its parent quotes is not said again.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    line
}

fn status(error: &anyhow::Error) -> u8 {
    if error.is::<Senseless>() {
        return exit::SENSELESS;
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
        _ => exit::OURS,
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
        assert_eq!(status(&anyhow::Error::new(Senseless("s".into())).context("c")), 2);
    }
}

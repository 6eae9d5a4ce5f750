//! Where a file goes: a name that nothing has yet, taken only when the file is whole.
//!
//! Invariant: no file of anybody's is ever overwritten, not even by a race: the final name is
//! taken by a call that fails when it exists.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};
use nbuf::experiment::output::{self, OutputError, Readers};
use serde::Serialize;

use crate::sudo_user;

/// Refuses a name that something has; `option` is what gave it.
pub(crate) fn must_be_free(path: &Path, option: &'static str) -> Result<()> {
    output::must_be_free(path, option).map_err(Error::from)
}

/// Refuses a name under which no file can be made, while there is nothing to lose yet.
pub(crate) fn must_be_possible(path: &Path, option: &'static str) -> Result<()> {
    output::must_be_possible(path, option).map_err(Error::from)
}

/// Writes a file without a name and gives it `path` once it is on the disc; or to the descriptor that
/// the path means.
pub(crate) fn write_new(
    path: &Path,
    option: &'static str,
    readers: Readers,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<()> {
    output::write_new(path, option, readers, write).map_err(unwrapped)
}

/// An error as it is: what a closed pipe of ours ends with is known by its type.
pub(crate) fn unwrapped(error: OutputError) -> Error {
    match error {
        OutputError::Io(error) => error.into(),
        OutputError::Write(error) => match error.downcast::<io::Error>() {
            Ok(error) => (*error).into(),
            Err(error) => OutputError::Write(error).into(),
        },
        other => other.into(),
    }
}

/// Writes the rest of a report to a file that is new, after standard output has had the report.
pub(crate) fn keep(path: &Path, option: &'static str, text: &[u8]) -> Result<()> {
    let write = |mut file: &File| file.write_all(text);
    write_new(path, option, Readers::All, write).with_context(|| {
        format!("cannot write {}; make room, or give another place with {option}", path.display())
    })
}

/// A line of JSON for each.
pub(crate) fn json_lines(lines: &[impl Serialize]) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    Ok(text)
}

/// Writes to standard output. If no process reads it, everything ends: `nbuf size ... | head -1`.
pub(crate) fn print(text: &[u8]) -> Result<()> {
    to_stdout(|out| out.write_all(text))
}

/// A failure to print as the library hands it on.
pub(crate) fn as_io(error: Error) -> io::Error {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    match kind {
        // Without words around it, as above.
        Some(io::ErrorKind::BrokenPipe) => io::ErrorKind::BrokenPipe.into(),
        _ => io::Error::other(error),
    }
}

/// Writes a report to standard error. If no process reads it, everything ends, as for standard output.
pub(crate) fn print_error(text: &[u8]) -> Result<()> {
    match io::stderr().lock().write_all(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(error.into()),
        written => written.context("cannot write to standard error; send it elsewhere"),
    }
}

/// Writes to standard output what is too much to be held twice.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>,
) -> Result<()> {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        // Without words around it: this is what tells our pipe from others.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(error.into()),
        written => written.context("cannot write to standard output; send it elsewhere"),
    }
}

/// Where the state directory of the user is, or would be.
pub(crate) fn state_path() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(sudo_user::home()?.join(".local/state")));
    state.map(|state| state.join("nbuf"))
}

//! Files that are written for a user: a name that nothing has yet, taken only when the file is whole.
//!
//! Invariant: no file is ever overwritten, not even in a race. A call that fails when the name exists
//! takes the final name.
//!
//! ```
//! use std::io::Write;
//!
//! use nbuf::experiment::output::{self, Readers};
//!
//! let directory = tempfile::tempdir()?;
//! let page = directory.path().join("page.html");
//! output::write_new(&page, "--html", Readers::All, |mut file| file.write_all(b"<p>"))?;
//! assert!(output::must_be_free(&page, "--html").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

pub use crate::sys::publish::Readers;
pub use error::OutputError;

use crate::sys::files::{self, Place};
use crate::sys::publish::Unfinished;
use crate::trace::Trace;
use crate::units::date;
use crate::workload::format::native;

/// What a write of a file may fail with.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Returns `path` with `suffix` appended to its name.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Refuses a name that something has, be it a dangling link; `option` is what gave it. The name of one
/// of our descriptors means that descriptor.
pub fn must_be_free(path: &Path, option: &'static str) -> Result<(), OutputError> {
    if path == Path::new("-") {
        return Err(OutputError::Standard { option });
    }
    if is_descriptor(path) {
        return descriptor(path, option).map(drop);
    }
    place(path, option).map(drop)
}

/// Refuses a name under which no file can be made, while there is nothing to lose yet.
pub fn must_be_possible(path: &Path, option: &'static str) -> Result<(), OutputError> {
    must_be_free(path, option)?;
    if is_descriptor(path) {
        return Ok(());
    }
    let made = Unfinished::create(path, Readers::Owner).map(drop);
    made.map_err(|cause| OutputError::Refused { path: path.to_owned(), option, cause })
}

/// Whether the name means a descriptor of ours, as `/dev/stdout` and `/dev/fd/3` do.
pub fn is_descriptor(path: &Path) -> bool {
    files::descriptor(path).is_some()
}

/// Where a directory is, with all links followed, as far as the caller may see.
pub fn real_directory(path: &Path) -> io::Result<PathBuf> {
    let open = files::directory(path)?;
    std::fs::read_link(format!("/proc/self/fd/{}", open.as_raw_fd()))
}

/// The descriptor that the name means; none for other names.
pub(super) fn descriptor(path: &Path, option: &'static str) -> Result<Option<File>, OutputError> {
    let Some(number) = files::descriptor(path) else { return Ok(None) };
    let file = files::duplicate(number);
    let closed = |cause| OutputError::Closed { path: path.to_owned(), option, cause };
    file.map(Some).map_err(closed)
}

/// Where a file is to be: a directory that is kept open, and a name in it that nothing has.
pub(super) fn place(path: &Path, option: &'static str) -> Result<Place, OutputError> {
    let place = Place::of(path).map_err(|cause| match cause.kind() {
        io::ErrorKind::InvalidInput => OutputError::Directory { path: path.to_owned(), option },
        _ => OutputError::Refused { path: path.to_owned(), option, cause },
    })?;
    match place.is_taken() {
        Ok(true) => Err(OutputError::Taken { path: path.to_owned(), option }),
        Ok(false) => Ok(place),
        Err(cause) => Err(OutputError::Unseen { path: path.to_owned(), option, cause }),
    }
}

/// Writes a trace to a file that is new, and that its owner alone can read; `option` is what gave its name.
pub fn write_trace(trace: &Trace, path: &Path, option: &'static str) -> Result<(), OutputError> {
    write_trace_with(trace, path, option, &|_, _| ())
}

/// The same; `progress` gets the records that were written, and all.
pub(super) fn write_trace_with(
    trace: &Trace,
    path: &Path,
    option: &'static str,
    progress: &dyn Fn(u64, u64),
) -> Result<(), OutputError> {
    write_new(path, option, Readers::Owner, |file| native::write_with(trace, file, progress))
}

/// The same in a directory that was kept open.
pub(super) fn write_trace_at(
    trace: &Trace,
    place: &Place,
    progress: &dyn Fn(u64, u64),
) -> Result<(), OutputError> {
    let unfinished = Unfinished::create_at(place.try_clone()?, Readers::Owner)?;
    native::write_with(trace, unfinished.file(), progress)
        .map_err(|error| OutputError::Write(error.into()))?;
    publish(unfinished, place.path(), "-o")
}

/// Writes a file without a name and gives it `path` once it is on the disc; or to the descriptor that
/// the path means.
pub fn write_new<E: Into<Cause>>(
    path: &Path,
    option: &'static str,
    readers: Readers,
    write: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), OutputError> {
    if let Some(file) = descriptor(path, option)? {
        return write(&file).map_err(|error| OutputError::Write(error.into()));
    }
    let unfinished = Unfinished::create(path, readers)?;
    let full = |error: E| OutputError::Full { path: path.to_owned(), option, source: error.into() };
    write(unfinished.file()).map_err(full)?;
    publish(unfinished, path, option)
}

fn publish(unfinished: Unfinished, path: &Path, option: &'static str) -> Result<(), OutputError> {
    unfinished.publish().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => OutputError::Lost { path: path.to_owned(), option },
        _ => error.into(),
    })
}

/// A dated name in a directory, whose missing parts are made; neither it nor the name of its log is taken.
pub(super) fn dated(
    directory: Option<&Path>,
    program: &str,
    unix_seconds: u64,
) -> Result<PathBuf, OutputError> {
    let directory = directory.ok_or(OutputError::NoHome)?;
    let unmade = |source| OutputError::Unmade { directory: directory.to_owned(), source };
    files::make_directories(directory).map_err(unmade)?;
    let stem = format!("{}-{}", date(unix_seconds), plain(program));
    let names = (1..).map(|n| if n == 1 { stem.clone() } else { format!("{stem}-{n}") });
    let mut paths = names.map(|name| directory.join(format!("{name}.parquet")));
    let is_free =
        |path: &Path| Place::of(path).and_then(|place| place.is_taken()).is_ok_and(|taken| !taken);
    let free = paths.find(|path| is_free(path) && is_free(&with_suffix(path, ".log")));
    free.ok_or(OutputError::NoName)
}

/// The last part of a program's name, fit for a file name.
fn plain(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or_default();
    let kept = name.chars().filter(|c| c.is_ascii_alphanumeric() || "._+-".contains(*c));
    kept.take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_become_names_of_files() {
        let cases = [("/usr/bin/grep", "grep"), ("./a b\n", "ab"), ("g++-12", "g++-12"), ("/", "")];
        for (program, want) in cases {
            assert_eq!(plain(program), want);
        }
    }
}

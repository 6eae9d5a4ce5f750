//! Where a file goes: a name that nothing has yet, taken only when the file is whole.
//!
//! Invariant: no file of anybody's is ever overwritten, not even by a race: the final name is
//! taken by a call that fails when it exists.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use nbuf::sys::files::{self, Place};
use nbuf::sys::publish::{Readers, Unfinished};
use nbuf::workload::format::native;
use nbuf::workload::trace::Trace;
use serde::Serialize;

use crate::caller;

/// A file beside `path` with `suffix` behind its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Refuses a name that something has, be it a dangling link; `option` is what gave it. The name of one
/// of our descriptors means that descriptor.
pub(crate) fn must_be_free(path: &Path, option: &str) -> Result<()> {
    if path == Path::new("-") {
        bail!("standard output is not for this; name a file with {option} (./- for one named -)");
    }
    if files::descriptor(path).is_some() {
        return descriptor(path, option).map(drop);
    }
    place(path, option).map(drop)
}

/// Where a file is to be: a directory that is kept open, and a name in it that nothing has.
pub(crate) fn place(path: &Path, option: &str) -> Result<Place> {
    let place = Place::of(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            anyhow!("{} is the name of a directory; name a file with {option}", path.display())
        }
        _ => anyhow!("cannot write {}: {error}; give another place with {option}", path.display()),
    })?;
    match place.is_taken() {
        Ok(true) => {
            bail!("{} exists; move it away or give another name with {option}", path.display())
        }
        Ok(false) => Ok(place),
        Err(error) => Err(error).with_context(|| format!("{}", path.display())),
    }
}

/// The descriptor of ours that a name like `/dev/stdout` or `/dev/fd/3` means; none for other names.
pub(crate) fn descriptor(path: &Path, option: &str) -> Result<Option<File>> {
    let Some(number) = files::descriptor(path) else { return Ok(None) };
    let file = files::duplicate(number).map_err(|error| {
        anyhow!("{} is not open for us ({error}); name a file with {option}", path.display())
    })?;
    Ok(Some(file))
}

/// Refuses a name under which no file can be made, while there is nothing to lose yet.
pub(crate) fn must_be_possible(path: &Path, option: &str) -> Result<()> {
    must_be_free(path, option)?;
    if files::descriptor(path).is_some() {
        return Ok(());
    }
    let made = Unfinished::create(path, Readers::Owner).map(drop);
    made.map_err(|error| {
        anyhow!("cannot write {}: {error}; give another place with {option}", path.display())
    })
}

/// Writes a trace to a file that is new.
pub(crate) fn write_trace(trace: &Trace, path: &Path) -> Result<()> {
    write_new(path, "-o", Readers::Owner, |file| Ok(native::write(trace, file)?))
}

/// The same in a directory that was kept open.
pub(crate) fn write_trace_at(trace: &Trace, place: &Place) -> Result<()> {
    let unfinished = Unfinished::create_at(place.try_clone()?, Readers::Owner)?;
    native::write(trace, unfinished.file())?;
    publish(unfinished, place.path(), "-o")
}

/// Writes a file without a name and gives it `path` once it is on the disc; or to the descriptor that
/// the path means.
pub(crate) fn write_new(
    path: &Path,
    option: &str,
    readers: Readers,
    write: impl FnOnce(&File) -> Result<()>,
) -> Result<()> {
    if let Some(file) = descriptor(path, option)? {
        return write(&file);
    }
    let unfinished = Unfinished::create(path, readers)?;
    write(unfinished.file()).with_context(|| {
        format!("cannot write {}; make room, or give another place with {option}", path.display())
    })?;
    publish(unfinished, path, option)
}

fn publish(unfinished: Unfinished, path: &Path, option: &str) -> Result<()> {
    unfinished.publish().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => anyhow!(
            "{} was made by somebody else meanwhile; give another name with {option}",
            path.display()
        ),
        _ => error.into(),
    })
}

/// Writes the rest of a report to a file that is new, after standard output has had the report.
pub(crate) fn keep(path: &Path, option: &str, text: &[u8]) -> Result<()> {
    let write = |mut file: &File| Ok(file.write_all(text)?);
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

/// Writes to standard output. Where nobody reads it, everything ends: `nbuf size ... | head -1`.
pub(crate) fn print(text: &[u8]) -> Result<()> {
    to_stdout(|out| out.write_all(text))
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

/// A dated name in the state directory of the caller, whose missing parts are made.
pub(crate) fn default_path(program: &str, unix_seconds: u64) -> Result<PathBuf> {
    let directory = state_directory()?;
    let stem = format!("{}-{}", date(unix_seconds), plain(program));
    let names = (1..).map(|n| if n == 1 { stem.clone() } else { format!("{stem}-{n}") });
    let mut paths = names.map(|name| directory.join(format!("{name}.parquet")));
    let is_free =
        |path: &Path| Place::of(path).and_then(|place| place.is_taken()).is_ok_and(|taken| !taken);
    paths.find(|path| is_free(path) && is_free(&beside(path, ".log"))).context("no name is left")
}

/// The state directory of the caller, whose missing parts are made.
pub(crate) fn state_directory() -> Result<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(caller::home()?.join(".local/state")));
    let Some(directory) = state.map(|state| state.join("nbuf")) else {
        bail!("there is no home directory to keep the trace in; say where with -o");
    };
    make(&directory)
        .with_context(|| format!("cannot make {}; say where with -o", directory.display()))?;
    Ok(directory)
}

/// Makes a directory and those above it; the caller owns what is made.
fn make(directory: &Path) -> Result<()> {
    if files::directory(directory).is_ok() {
        return Ok(());
    }
    if let Some(parent) = directory.parent() {
        make(parent)?;
    }
    match files::make_directory(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

/// The last part of a program's name, fit for a file name.
fn plain(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or_default();
    let kept = name.chars().filter(|c| c.is_ascii_alphanumeric() || "._+-".contains(*c));
    kept.take(40).collect()
}

/// `2026-11-21-054953`, in UTC (Howard Hinnant, `chrono-Compatible Low-Level Date Algorithms`).
pub(crate) fn date(unix_seconds: u64) -> String {
    let (days, seconds) = (unix_seconds / 86_400 + 719_468, unix_seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year}-{month:02}-{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01-000000"),
            (951_782_399, "2000-02-28-235959"),
            (951_782_400, "2000-02-29-000000"),
            (951_868_800, "2000-03-01-000000"),
            (1_795_240_193, "2026-11-21-054953"),
            (4_107_542_400, "2100-03-01-000000"),
        ];
        for (seconds, want) in cases {
            assert_eq!(date(seconds), want);
        }
    }

    #[test]
    fn names_of_programs_become_names_of_files() {
        let cases = [("/usr/bin/grep", "grep"), ("./a b\n", "ab"), ("g++-12", "g++-12"), ("/", "")];
        for (program, want) in cases {
            assert_eq!(plain(program), want);
        }
    }
}

//! Where a file goes: a name that nothing has yet, taken only when the file is whole.
//!
//! Invariant: no file of anybody's is ever overwritten, not even by a race: the final name is
//! taken by a call that fails when it exists.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use nbuf::sys::publish;
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

/// Refuses a name that something has, be it a dangling link; `option` is what gave it.
pub(crate) fn must_be_free(path: &Path, option: &str) -> Result<()> {
    if path.as_os_str().as_bytes().ends_with(b"/") {
        bail!("{} is the name of a directory; name a file with {option}", path.display());
    }
    if path == Path::new("-") {
        bail!("standard output is not for this; name a file with {option} (./- for one named -)");
    }
    match fs::symlink_metadata(path) {
        Ok(_) => {
            bail!("{} exists; move it away or give another name with {option}", path.display())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("{}", path.display())),
    }
}

/// Refuses a name under which no file can be made, while there is nothing to lose yet.
pub(crate) fn must_be_possible(path: &Path, option: &str) -> Result<()> {
    must_be_free(path, option)?;
    let made = publish::Unfinished::create(path).map(drop);
    made.map_err(|error| {
        anyhow!("cannot write {}: {error}; give another place with {option}", path.display())
    })
}

/// Writes a trace to a file that is new.
pub(crate) fn write_trace(trace: &Trace, path: &Path) -> Result<()> {
    write_new(path, "-o", |file| Ok(native::write(trace, file)?))
}

/// Writes a file without a name and gives it `path` once it is on the disc.
pub(crate) fn write_new(
    path: &Path,
    option: &str,
    write: impl FnOnce(&File) -> Result<()>,
) -> Result<()> {
    let unfinished = publish::Unfinished::create(path)?;
    caller::give(unfinished.file())?;
    write(unfinished.file())?;
    unfinished.publish(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => anyhow!(
            "{} was made by somebody else meanwhile; give another name with {option}",
            path.display()
        ),
        _ => error.into(),
    })
}

/// Writes the rest of a report to a file that is new, after standard output has had the report.
pub(crate) fn keep(path: &Path, option: &str, text: &[u8]) -> Result<()> {
    write_new(path, option, |mut file| Ok(file.write_all(text)?)).with_context(|| {
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
    let is_free = |path: &PathBuf| !path.exists() && !beside(path, ".log").exists();
    paths.find(is_free).context("no name is left")
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
    if directory.is_dir() {
        return Ok(());
    }
    if let Some(parent) = directory.parent() {
        make(parent)?;
    }
    match fs::create_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        Err(_) => Ok(()),
        Ok(()) => {
            // Not through a link that somebody put there since.
            let flags = publish::DIRECTORY_NOT_LINK;
            caller::give(&File::options().read(true).custom_flags(flags).open(directory)?)
        }
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

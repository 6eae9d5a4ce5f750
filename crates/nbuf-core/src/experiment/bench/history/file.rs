//! The history of runs in the caller's state folder, with the caller's rights alone.
//!
//! The file is replaced as a whole, so that every reader finds a whole one. Two runs that end at once take turns by a
//! lock on the folder. What nbuf did not write is left alone. A folder that cannot be used means no history, which
//! is no failure.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::super::spec::Spec;
use super::{Conditions, History, Run, parse, widen};
use crate::experiment::notice::{Notice, PathNotice};
use crate::experiment::result::BenchDocument;
use crate::experiment::session::Session;
use crate::experiment::warning::{BenchWarning, Warning};
use crate::sys::calls::c_library;
use crate::sys::files;
use crate::sys::publish::{Readers, Unfinished};

/// The name of the file.
pub(in super::super) const NAME: &str = "bench-history.jsonl";
/// A history is shorter: a line of all rows has 4 KiB.
const BYTES_MAX: u64 = 8 << 20;
/// How often the lock is tried, and how long the pause between is: a second in all. Its holder writes one file.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Widens the ranges of a document by the earlier runs that the folder has, and keeps a run that is complete and not
/// slowed for later ones.
pub(in super::super) fn consult(spec: &Spec, document: &mut BenchDocument, session: &Session<'_>) {
    let Some(folder) = session.spool.as_deref().filter(|_| !spec.ignores_history) else { return };
    let unused = |cause: &io::Error| {
        session.observer.notice(&Notice::Path(PathNotice::HistoryUnused { cause }));
    };
    let sized = spec.size_bytes.is_some() || spec.file.is_some();
    let size_bytes = document.rows.first().map(|row| row.size_bytes).filter(|_| sized);
    let conditions = Conditions {
        is_quick: spec.is_quick,
        is_lent: spec.file.is_some(),
        size_bytes,
        ..Conditions::of(&document.machine, c_library())
    };
    let unix_seconds = document.machine.started_unix_seconds;
    match read_in(folder) {
        Ok(Some(history)) => {
            if history.damaged > 0 {
                let damaged = BenchWarning::HistoryDamaged { lines: history.damaged };
                document.warnings.push(Warning::Bench(damaged));
            }
            widen(&mut document.rows, &history.alike(&conditions, unix_seconds));
        }
        Ok(None) => {
            let foreign = BenchWarning::HistoryForeign { path: folder.join(NAME) };
            document.warnings.push(Warning::Bench(foreign));
            return;
        }
        Err(error) => return unused(&error),
    }
    if !document.is_complete || document.rows.is_empty() || spec.slowdown_percent.abs() > 0.0 {
        return;
    }
    let rates = document.rows.iter().map(|row| (row.test.clone(), row.bytes_per_second)).collect();
    if let Err(error) = keep(folder, Run { unix_seconds, conditions, rates }) {
        unused(&error);
    }
}

/// The history in a folder, which need not be there; none if nbuf did not write it.
fn read_in(folder: &Path) -> io::Result<Option<History>> {
    match files::directory(folder) {
        Ok(directory) => read(&directory),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(History::default())),
        Err(error) => Err(error),
    }
}

fn read(directory: &OwnedFd) -> io::Result<Option<History>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match files::open(directory, Path::new(NAME), flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Some(History::default())),
        // A link, which nbuf does not make; or a socket.
        Err(error) if is_one_of(&error, &[Errno::LOOP, Errno::NXIO]) => return Ok(None),
        Err(error) => return Err(error),
    };
    let facts = file.metadata()?;
    if !facts.is_file() || facts.len() > BYTES_MAX {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(parse(&bytes))
}

fn is_one_of(error: &io::Error, numbers: &[Errno]) -> bool {
    error.raw_os_error().is_some_and(|raw| numbers.contains(&Errno::from_raw_os_error(raw)))
}

/// Adds a run to the history of a folder, which is made if it is missing. A file of others stays.
fn keep(folder: &Path, run: Run) -> io::Result<()> {
    files::make_directories(folder)?;
    let directory = files::open_path(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)?;
    lock(&directory);
    // Again, because other runs may have ended since.
    let Some(history) = read(&directory)? else { return Ok(()) };
    let text = history.with(run)?;
    let unfinished = Unfinished::create(&folder.join(NAME), Readers::Owner)?;
    let mut file: &File = unfinished.file();
    file.write_all(&text)?;
    unfinished.replace()
}

/// Locks the directory until it is closed. Where there is no lock to be had, two runs that end at once may lose one of
/// them.
fn lock(directory: &OwnedFd) {
    for _ in 0..LOCK_TRIES {
        match flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn run(unix_seconds: u64) -> Run {
        let rates = [("r01-byte".to_owned(), 1e6)].into();
        Run { unix_seconds, rates, ..Run::default() }
    }

    fn count(folder: &Path) -> usize {
        let history = read_in(folder).unwrap().unwrap();
        history.alike(&Conditions::default(), 0).len()
    }

    #[test]
    fn runs_that_end_at_once_are_all_kept() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state/nbuf");
        assert_eq!(count(&folder), 0);
        std::thread::scope(|scope| {
            for second in 0..8 {
                let folder = &folder;
                scope.spawn(move || keep(folder, run(second)).unwrap());
            }
        });
        assert_eq!(count(&folder), 8);
        let facts = std::fs::metadata(folder.join(NAME)).unwrap();
        assert_eq!(facts.permissions().mode() & 0o7777, 0o600);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn what_nbuf_did_not_write_stays() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(NAME);
        let elsewhere = place.path().join("elsewhere");
        let check = |what: &str| {
            assert_eq!(read_in(place.path()).unwrap(), None, "{what}");
            keep(place.path(), run(1)).unwrap();
        };
        for text in ["mine\n", "{\"schema\":\"nbuf.bench-history/2\"}\n", "{}\n"] {
            std::fs::write(&path, text).unwrap();
            check(text);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::remove_file(&path).unwrap();
        symlink(&elsewhere, &path).unwrap();
        check("a link");
        assert!(!elsewhere.exists() && path.is_symlink());
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        check("a directory");
        assert!(path.is_dir());
    }
}

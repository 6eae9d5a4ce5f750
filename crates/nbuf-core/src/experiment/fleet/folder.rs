//! The folder of a fleet: its plan, and the results of its tasks.
//!
//! `tasks.jsonl` has the plan, `summaries/TASK` what a task leaves, `rows/TASK.json` its row, which is written
//! last. Every file gets its name when it is whole. Invariant: a folder that has other files and no plan of ours
//! is left alone.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::Error;
use crate::experiment::document;
use crate::experiment::result::{FleetRow, FleetTask};
use crate::sys::publish::{Readers, Unfinished};

/// The name of the plan.
pub const TASKS: &str = "tasks.jsonl";

/// A line of a plan has a name and two paths.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// The version of nbuf, which plans and workers share.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The folder of a fleet.
#[derive(Clone, Debug)]
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// Makes the folder, or takes one that an earlier plan has made.
    pub(super) fn make(path: &Path) -> Result<Self, Error> {
        let folder = Self(path.to_owned());
        let is_ours = folder.path(TASKS).exists() && first_line_is_ours(&folder.path(TASKS));
        match fs::read_dir(path) {
            Ok(entries) => {
                if !is_ours && entries.count() > 0 {
                    return Err(Error::Foreign(path.to_owned()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::Folder { path: path.to_owned(), source }),
        }
        for name in ["summaries", "rows"] {
            let made = folder.path(name);
            fs::create_dir_all(&made).map_err(|source| Error::Folder { path: made, source })?;
        }
        Ok(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn row_path(&self, task: &str) -> PathBuf {
        self.path("rows").join(format!("{task}.json"))
    }

    fn summary_path(&self, task: &str) -> PathBuf {
        self.path("summaries").join(task)
    }

    /// Writes the plan.
    pub(super) fn write_tasks(&self, tasks: &[FleetTask]) -> Result<(), Error> {
        let mut text = String::new();
        for task in tasks {
            text += &document::write_line(task).map_err(|error| self.error(TASKS, error.into()))?;
        }
        write(&self.path(TASKS), text.as_bytes())
    }

    /// Reads the plan, which this version has made.
    pub(super) fn read_tasks(&self) -> Result<Vec<FleetTask>, Error> {
        self.read_tasks_of(self.path(TASKS))
    }

    /// Reads a part of the plan.
    pub(super) fn read_tasks_of(&self, path: PathBuf) -> Result<Vec<FleetTask>, Error> {
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::NoPlan(self.0.clone()));
            }
            Err(source) => return Err(Error::Folder { path, source }),
        };
        let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let mut tasks = Vec::new();
        for (at, line) in lines.enumerate() {
            let task = document::read::<FleetTask>(line);
            let task =
                task.map_err(|source| Error::Plan { path: path.clone(), line: at + 1, source })?;
            if task.version != VERSION {
                return Err(Error::Version { path, found: task.version, own: VERSION });
            }
            // The name is a path, and says what was done.
            if task.task != super::plan::hash(&task) {
                return Err(Error::Changed { path, line: at + 1 });
            }
            tasks.push(task);
        }
        if tasks.is_empty() { Err(Error::NoPlan(self.0.clone())) } else { Ok(tasks) }
    }

    /// The row of a task that is done; nothing where it is to be done, or its row is damaged.
    pub(super) fn row(&self, task: &str) -> Option<FleetRow> {
        let row = document::read::<FleetRow>(&fs::read(self.row_path(task)).ok()?).ok()?;
        let is_whole = row.error.is_some() || self.summary_path(task).exists();
        (row.task == task && is_whole).then_some(row)
    }

    /// Writes the row of a task, after its summary.
    pub(super) fn write_row(&self, row: &FleetRow) -> Result<(), Error> {
        let path = self.row_path(&row.task);
        let text = document::write(row).map_err(|error| self.error("rows", error.into()))?;
        write(&path, text.as_bytes())
    }

    /// What a task left.
    pub(super) fn summary(&self, task: &str) -> Result<Vec<u8>, Error> {
        let path = self.summary_path(task);
        fs::read(&path).map_err(|source| Error::Folder { path, source })
    }

    /// Writes what a task leaves.
    pub(super) fn write_summary(&self, task: &str, bytes: &[u8]) -> Result<(), Error> {
        write(&self.summary_path(task), bytes)
    }

    fn error(&self, name: &str, source: io::Error) -> Error {
        Error::Folder { path: self.path(name), source }
    }
}

/// Writes a file of ours at once.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        let unfinished = Unfinished::create(path, Readers::Owner)?;
        unfinished.file().write_all(bytes)?;
        unfinished.replace()
    };
    write().map_err(|source| Error::Folder { path: path.to_owned(), source })
}

/// Whether a file begins with a task of any version.
fn first_line_is_ours(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else { return false };
    let mut line = Vec::new();
    if BufReader::new(file.take(LINE_BYTES_MAX)).read_until(b'\n', &mut line).is_err() {
        return false;
    }
    let value: Option<serde_json::Value> = serde_json::from_slice(&line).ok();
    value.is_some_and(|value| value["schema"] == FleetTask::SCHEMA)
}

/// Inputs of patterns, directories and names, in the order of their names, each once.
pub(super) fn expand(inputs: &[String]) -> Result<Vec<PathBuf>, Error> {
    let mut all = Vec::new();
    for input in inputs {
        let path = Path::new(input);
        if path.is_dir() {
            let mut found = Vec::new();
            walk(path, &mut found)?;
            if found.is_empty() {
                return Err(Error::NoMatch(format!("{}/*", path.display())));
            }
            all.extend(found);
        } else if !path.exists() && input.contains(['*', '?', '[']) {
            let paths = glob::glob(input);
            let paths =
                paths.map_err(|source| Error::Pattern { pattern: input.clone(), source })?;
            let before = all.len();
            for found in paths {
                let found = found.map_err(|error| Error::Input {
                    path: error.path().to_owned(),
                    source: error.into(),
                })?;
                if found.is_file() {
                    all.push(found);
                }
            }
            if all.len() == before {
                return Err(Error::NoMatch(input.clone()));
            }
        } else {
            all.push(path.to_owned());
        }
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// All regular files below a directory but those of fleets; names that begin with a dot are not of a trace.
fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let failed = |source| Error::Input { path: directory.to_owned(), source };
    if first_line_is_ours(&directory.join(TASKS)) {
        return Ok(());
    }
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            walk(&entry.path(), found)?;
        } else if entry.path().is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Bytes of an input, and when it was changed last, in nanoseconds since 1970.
pub(super) fn identity(path: &Path) -> Result<(u64, u64), Error> {
    let failed = |source| Error::Input { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(failed)?;
    let since = metadata.modified().map_err(failed)?.duration_since(std::time::UNIX_EPOCH);
    let nanoseconds = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
    Ok((metadata.len(), nanoseconds))
}

//! The folder of a fleet: its plan, and the results of its tasks.
//!
//! `tasks.jsonl` has the plan, `summaries/TASK` what a task leaves, `rows/TASK.json` its row, which is written
//! last. Every file gets its name when it is whole. Invariant: a folder that has other files and no plan of ours
//! is left alone.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::Error;
use crate::experiment::document::{self, DocumentError};
use crate::experiment::result::{FleetRow, FleetTask};
use crate::sys::publish::{Readers, Unfinished};

/// The name of the plan.
pub const TASKS: &str = "tasks.jsonl";

/// The folders of results.
const RESULTS: [&str; 2] = ["summaries", "rows"];

/// More than the beginning of a plan is not read to know it.
const HEAD_BYTES: u64 = 64;

/// What the schema of a plan begins with, of whatever version.
const SCHEMAS: &str = "nbuf.fleet-tasks/";

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
            Ok(mut entries) => {
                let is_begun =
                    |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| begun(&entry));
                if !is_ours && !entries.all(is_begun) {
                    return Err(Error::Foreign(path.to_owned()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::Folder { path: path.to_owned(), source }),
        }
        for name in RESULTS {
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
            Err(error) if error.kind() == io::ErrorKind::NotFound && path == self.path(TASKS) => {
                return Err(Error::NoPlan(self.0.clone()));
            }
            Err(source) => return Err(Error::Folder { path, source }),
        };
        let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let tasks = (1..).zip(lines).map(|(at, line)| read_task(&path, at, line));
        let tasks = tasks.collect::<Result<Vec<FleetTask>, Error>>()?;
        if tasks.is_empty() { Err(Error::NoPlan(self.0.clone())) } else { Ok(tasks) }
    }

    /// The row of a task that is done; nothing where it is to be done, or its row is damaged.
    pub(super) fn row(&self, task: &str) -> Option<FleetRow> {
        let row = document::read::<FleetRow>(&fs::read(self.row_path(task)).ok()?).ok()?;
        let is_whole = row.error.is_some() || self.summary_path(task).exists();
        (row.task == task && is_whole).then_some(row)
    }

    /// Whether a task is done.
    pub(super) fn has_done(&self, task: &str) -> bool {
        self.row(task).is_some_and(|row| row.error.is_none())
    }

    /// Writes the row of a task on which too many workers died.
    pub(super) fn write_poisoned(&self, task: &FleetTask, error: String) -> Result<(), Error> {
        let schema = FleetRow::SCHEMA.to_owned();
        let (task, input, error) = (task.task.clone(), task.input.path.clone(), Some(error));
        self.write_row(&FleetRow { schema, task, input, error, ..FleetRow::default() })
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

/// Reads a row of a plan, which this version has made.
pub(super) fn read_task(path: &Path, line: usize, text: &[u8]) -> Result<FleetTask, Error> {
    let path = || path.to_owned();
    let task = document::read::<FleetTask>(text);
    if let Err(DocumentError::Schema { found, .. }) = &task
        && found.starts_with(SCHEMAS)
    {
        return Err(Error::Shape { path: path(), found: found.clone(), own: FleetTask::SCHEMA });
    }
    let task = task.map_err(|source| Error::Plan { path: path(), line, source })?;
    if task.version != VERSION {
        return Err(Error::Version { path: path(), found: task.version, own: VERSION });
    }
    // The name is a path, and says what was done.
    if task.task != super::plan::hash(&task) {
        return Err(Error::Changed { path: path(), line });
    }
    Ok(task)
}

/// Whether an entry is what a plan leaves that was ended before it was written: folders without a file in
/// them, and the plan by another name.
fn begun(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let is_empty = || fs::read_dir(entry.path()).is_ok_and(|mut entries| entries.next().is_none());
    let is_part = name.to_str().is_some_and(|name| name.starts_with(&format!("{TASKS}.part-")));
    is_part || RESULTS.iter().any(|result| name == *result) && is_empty()
}

/// Writes a file of ours at once. The umask decides who may read it: other machines work under other accounts.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        let unfinished = Unfinished::create(path, Readers::All)?;
        unfinished.file().write_all(bytes)?;
        unfinished.replace()
    };
    write().map_err(|source| Error::Folder { path: path.to_owned(), source })
}

/// Whether a file begins with a task of any version.
pub(super) fn first_line_is_ours(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else { return false };
    let mut head = Vec::new();
    // The schema is written first; a line may have many inputs.
    let is_read = file.take(HEAD_BYTES).read_to_end(&mut head).is_ok();
    is_read && head.starts_with(format!("{{\"schema\":\"{SCHEMAS}").as_bytes())
}

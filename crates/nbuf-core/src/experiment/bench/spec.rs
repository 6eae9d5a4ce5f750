//! What `bench` measures: made by hand, from a command line, or read from a file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::measure::Effort;
use super::pair::Design;
use super::plan::Plan;
use super::table::{COURSE_BYTES, Test};
use super::test_files::Prepared;
use super::{Error, comparisons, history, model, select};
use crate::experiment::session::Session;
use crate::sys::input;

/// When a quick run begins nothing more: what is under way then, and the report, end within the minute.
const QUICK: Duration = Duration::from_secs(54);
/// Less than a page cannot be cold.
const LENT_BYTES_MIN: u64 = 4096;

/// The spec of a measurement. The default measures all tests, compares, and fits lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Tests, by name; `*` stands for anything.
    pub tests: Vec<String>,
    /// Groups of tests. All tests are measured where neither has one.
    pub groups: Vec<Group>,
    /// Whether all takes a minute at most: what is not reached is named.
    pub is_quick: bool,
    /// Whether rows are all: no comparisons, no lines, and so no noise floor.
    pub only_rows: bool,
    /// Where the files lie; by default the session's directory for logs where that has more than the history of runs,
    /// else `/var/tmp`.
    pub directory: Option<PathBuf>,
    /// Bytes of the files, instead of each test's own.
    pub size_bytes: Option<u64>,
    /// A file to be read instead of ours.
    pub file: Option<PathBuf>,
    /// A slowdown to plant in every sample, in percent, to see whether comparisons find it.
    pub slowdown_percent: f64,
    /// Whether earlier runs do not count, and this one is not kept for later ones.
    pub ignores_history: bool,
}

/// A selection of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The course's tests of single bytes, in its own order.
    Byte,
    /// The course's tests of blocks of 4096.
    #[serde(rename = "4096")]
    Page,
    /// The twenty-six of the course.
    Cs61,
    /// The ways that have come since.
    Modern,
}

impl Spec {
    /// What will be measured, on this file if there is one.
    pub(super) fn plan(
        &self,
        lent: Option<&Prepared>,
        session: &Session<'_>,
    ) -> Result<Plan, Error> {
        let is_all = self.tests.is_empty() && self.groups.is_empty();
        let has_rest = is_all && !self.only_rows && lent.is_none();
        let mut pairs = if has_rest { comparisons::all(self.size_bytes) } else { Vec::new() };
        let mut models = if has_rest { model::subjects() } else { Vec::new() };
        if self.is_quick {
            pairs.retain(|pair| !pair.needs_device());
            models.truncate(4);
        }
        Ok(Plan {
            directory: directory(self.directory.as_deref(), session),
            is_lent: lent.is_some(),
            tests: self.sized(self.selected(lent.is_some())?, lent)?,
            effort: if self.is_quick { Effort::QUICK } else { Effort::FULL },
            has_floor: !self.only_rows && lent.is_none(),
            comparisons: pairs,
            memory: if self.is_quick { Design::MEMORY.brief() } else { Design::MEMORY },
            device: Design::DEVICE,
            models,
            model_bytes: self.size_bytes.unwrap_or(COURSE_BYTES),
            time_max: self.is_quick.then_some(QUICK),
            slowdown_percent: self.slowdown_percent,
        })
    }

    /// The tests. A file of the caller's is only read.
    fn selected(&self, is_lent: bool) -> Result<Vec<Test>, Error> {
        let is_all = self.tests.is_empty() && self.groups.is_empty();
        let mut tests = if !is_all {
            select::chosen(&self.tests, &self.groups)?
        } else if self.is_quick {
            select::chosen(&[], &[Group::Cs61])?
        } else {
            select::all()
        };
        if is_lent {
            let is_named = !self.tests.is_empty();
            if let Some(test) = tests.iter().find(|test| is_named && test.is_write) {
                return Err(Error::WritesToLent(test.name.clone()));
            }
            tests.retain(|test| !test.is_write);
        }
        Ok(tests)
    }

    /// The tests on files of the size.
    fn sized(&self, mut tests: Vec<Test>, lent: Option<&Prepared>) -> Result<Vec<Test>, Error> {
        let size = match (self.size_bytes, lent) {
            (Some(size), Some(lent)) if size > lent.size_bytes => {
                return Err(Error::LargerThanLent(lent.size_bytes));
            }
            (size, lent) => size.or(lent.map(|lent| lent.size_bytes)),
        };
        let Some(size_bytes) = size else { return Ok(tests) };
        for test in &mut tests {
            test.size_bytes = size_bytes;
        }
        match tests.iter().find(|test| test.block_bytes > size_bytes) {
            Some(Test { name, block_bytes, .. }) => {
                Err(Error::Block { test: name.clone(), block_bytes: *block_bytes })
            }
            None => Ok(tests),
        }
    }
}

/// The directory that was asked for, or one on a disc.
pub(super) fn directory(given: Option<&Path>, session: &Session<'_>) -> PathBuf {
    let state = session.spool.clone().filter(|path| has_more_than_history(path));
    let kept = Some(PathBuf::from("/var/tmp")).filter(|path| path.is_dir());
    given.map(Path::to_owned).or(state).or(kept).unwrap_or_else(std::env::temp_dir)
}

/// Whether a directory is there for more than the history of runs: `bench` makes it for that by itself, and must not
/// go to another disc because it ran before.
fn has_more_than_history(directory: &Path) -> bool {
    let is_other = |name: &OsStr| !name.as_bytes().starts_with(history::file::NAME.as_bytes());
    let mut entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.any(|entry| is_other(&entry.file_name()))
}

/// A file of the caller's, to be read.
pub(super) fn lent(path: &Path) -> Result<Prepared, Error> {
    let unusable = |source| Error::Lent { path: path.to_owned(), source };
    let file = input::open(path)?;
    if !file.metadata().map_err(unusable)?.is_file() {
        return Err(Error::NotRegular(path.to_owned()));
    }
    let lent = Prepared::lent(file).map_err(unusable)?;
    if lent.size_bytes < LENT_BYTES_MIN {
        return Err(Error::Small(path.to_owned()));
    }
    Ok(lent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_from_a_file_and_written_again() {
        let text = r#"
            tests = ["r01-byte", "r1*"]
            groups = ["4096", "cs61"]
            only_rows = true
            size_bytes = 1048576
        "#;
        let spec: Spec = toml::from_str(text).unwrap();
        let plan = spec.plan(None, &Session::new(&())).unwrap();
        assert_eq!((plan.tests.len(), plan.has_floor), (26, false));
        assert!(plan.tests.iter().all(|test| test.size_bytes == 1 << 20));
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
    }

    #[test]
    fn the_history_of_runs_alone_is_no_reason_to_measure_next_to_it() {
        let place = tempfile::tempdir().unwrap();
        let session = Session { spool: Some(place.path().to_owned()), ..Session::new(&()) };
        for (name, want) in [("bench-history.jsonl", false), ("a.parquet", true)] {
            std::fs::write(place.path().join(name), "").unwrap();
            assert_eq!(directory(None, &session) == place.path(), want, "{name}");
        }
        assert_eq!(directory(Some(Path::new("/x")), &session), Path::new("/x"));
    }

    #[test]
    fn what_cannot_be_measured_is_refused_by_name() {
        let refused = |spec: Spec| {
            let error = spec.plan(None, &Session::new(&())).err();
            error.map(|error| error.to_string()).unwrap_or_default()
        };
        let tests = vec!["r99".to_owned()];
        let said = refused(Spec { tests, ..Spec::default() });
        assert!(said.starts_with("no test is called `r99`"), "{said}");
        let tests = vec!["r02-block4096".to_owned()];
        let said = refused(Spec { tests, size_bytes: Some(1024), ..Spec::default() });
        assert!(said.starts_with("r02-block4096 has blocks of 4096 bytes"), "{said}");
    }
}

//! The history of a load over versions, as the "Steps" of the notes: a line of JSON for each run, in a file that
//! has nothing else.
//!
//! ```
//! use std::path::Path;
//!
//! use nbuf::experiment::load::history::read;
//!
//! assert!(read(Path::new("steps.jsonl"))?.is_empty(), "no run so far");
//! # Ok::<(), nbuf::experiment::load::history::HistoryError>(())
//! ```

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::condition::Condition;
use crate::clock;
use crate::experiment::result::{LoadCarried, LoadCost, LoadDocument, LoadHistory, LoadStep};
use crate::sys::files::{self, Place};
use crate::sys::input::{self, Refused};
use crate::sys::publish::{Readers, Unfinished};

/// A longer history is no history of runs of a load.
const BYTES_MAX: u64 = 16 << 20;
/// How each of our lines begins.
const BEGIN: &[u8] = b"{\"schema\":\"nbuf.load-history/";

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// It cannot be opened, or is no file to read from.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be read or written.
    #[error("{}: cannot be read or written: {cause}; give another file to --history", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        cause: io::Error,
    },
    /// It is something else.
    #[error(
        "{}: line {line} is not of nbuf's history of a load: give another file to --history, so that nbuf does \
         not write into this one",
        .path.display()
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// The first line that is not.
        line: usize,
    },
    /// A writer was ended in the middle of a line.
    #[error(
        "{}: the last line, {line}, is cut off: remove it, or give another file to --history",
        .path.display()
    )]
    CutOff {
        /// The file.
        path: PathBuf,
        /// Its last line.
        line: usize,
    },
}

/// Reads a history; an absent or empty file is one without a run.
pub fn read(path: &Path) -> Result<Vec<LoadHistory>, HistoryError> {
    let failed = |cause| HistoryError::Io { path: path.to_owned(), cause };
    let file = match input::open(path) {
        Ok(file) => file,
        Err(refused) if refused.is_absent() => return Ok(Vec::new()),
        Err(refused) => return Err(refused.into()),
    };
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    let not_ours = |line| HistoryError::NotOurs { path: path.to_owned(), line };
    if bytes.len() as u64 > BYTES_MAX {
        return Err(not_ours(bytes.split(|&byte| byte == b'\n').count()));
    }
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').enumerate();
    lines
        .map(|(at, line)| {
            // What was cut off in the middle of a line cannot be added to.
            let is_whole = line.ends_with(b"\n");
            if !is_whole && (line.starts_with(BEGIN) || BEGIN.starts_with(line)) {
                return Err(HistoryError::CutOff { path: path.to_owned(), line: at + 1 });
            }
            let read = serde_json::from_slice::<LoadHistory>(line).ok();
            let is_ours = |run: &LoadHistory| is_whole && run.schema == LoadHistory::SCHEMA;
            read.filter(is_ours).ok_or_else(|| not_ours(at + 1))
        })
        .collect()
}

/// Refuses a history that cannot be read, or not be written to, while there is no run to lose. Changes nothing.
pub fn must_be_possible(path: &Path) -> Result<(), HistoryError> {
    read(path)?;
    let possible = match open_to_append(path, OFlags::empty(), Mode::empty()) {
        // A file without a name takes the same rights as one with.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Unfinished::create(path, Readers::All).map(drop)
        }
        opened => opened.map(drop),
    };
    possible.map_err(|cause| HistoryError::Io { path: path.to_owned(), cause })
}

/// Appends the run of a document, and gives all runs. The file is read again before: what others wrote stays.
pub fn append(
    path: &Path,
    document: &LoadDocument,
    label: Option<&str>,
) -> Result<Vec<LoadHistory>, HistoryError> {
    let mut runs = read(path)?;
    let run = run(document, label);
    let failed = |cause| HistoryError::Io { path: path.to_owned(), cause };
    let text = serde_json::to_string(&run).map_err(|error| failed(error.into()))? + "\n";
    let mode = Mode::from_raw_mode(0o666);
    let mut file = open_to_append(path, OFlags::CREATE, mode).map_err(failed)?;
    let before = file.metadata().map_err(failed)?.len();
    if let Err(error) = file.write_all(text.as_bytes()) {
        // Half a line would spoil the file.
        let _ = file.set_len(before);
        return Err(failed(error));
    }
    runs.push(run);
    Ok(runs)
}

fn open_to_append(path: &Path, flags: OFlags, mode: Mode) -> io::Result<File> {
    let place = Place::of(path)?;
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC | flags;
    Ok(files::open(place.directory(), Path::new(place.name()), flags, mode)?.into())
}

/// The figures of a run: those of the first condition, if there are several.
fn run(document: &LoadDocument, label: Option<&str>) -> LoadHistory {
    let condition = document.steps.first().map(Condition::of);
    let steps: Vec<&LoadStep> = document
        .steps
        .iter()
        .filter(|step| Some(Condition::of(step)) == condition && step.response.is_some())
        .collect();
    let mean = |step: &LoadStep| step.response.map(|times| times.mean_seconds);
    let knee = document.knee.as_ref().map(|knee| knee.users);
    let distance = |step: &LoadStep| (f64::from(step.users) - knee.unwrap_or(0.0)).abs();
    let nearest = steps.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let nearest = nearest.filter(|_| knee.is_some());
    let used = super::usage::of_steps(steps.iter().copied(), document.price.as_ref());
    LoadHistory {
        schema: LoadHistory::SCHEMA.to_owned(),
        unix_seconds: clock::unix_time().unwrap_or_default().as_secs(),
        label: label.map(str::to_owned),
        knee_users: knee,
        one_user_seconds: steps.iter().find(|step| step.users == 1).and_then(|step| mean(step)),
        near_knee_users: nearest.map(|step| step.users),
        near_knee_seconds: nearest.and_then(|step| mean(step)),
        cpu_seconds_each: used.map(|used| used.cpu_seconds_each),
        fills_each: used.map(|used| used.fills_each),
        price_per_thousand: used.and_then(|used| used.price_per_thousand),
        alone: condition.map_or_else(Vec::new, |condition| alone(document, condition)),
    }
}

/// N* of each class alone; nothing of a script with one class.
fn alone(document: &LoadDocument, condition: Condition) -> Vec<LoadCarried> {
    let of_first = |cost: &&LoadCost| {
        let LoadCost { limit_bytes, table, cpus, .. } = **cost;
        Condition { limit: limit_bytes, table, cpus } == condition
    };
    let own: Vec<&LoadCost> = document.costs.iter().filter(of_first).collect();
    let carried =
        |cost: &&LoadCost| Some(LoadCarried { name: cost.class.clone(), users: cost.alone? });
    if own.len() > 1 { own.iter().filter_map(carried).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::experiment::result::{LoadKnee, LoadTimes};

    fn document() -> LoadDocument {
        let step = |users, mean_seconds| LoadStep {
            users,
            response: Some(LoadTimes { mean_seconds, ..LoadTimes::default() }),
            ..LoadStep::default()
        };
        LoadDocument {
            steps: vec![step(1, 0.1), step(4, 0.4), step(8, 0.9)],
            knee: Some(LoadKnee { users: 4.5, ..LoadKnee::default() }),
            ..LoadDocument::default()
        }
    }

    #[test]
    fn runs_are_appended_and_read_back() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("history.jsonl");
        assert_eq!(append(&path, &document(), None).unwrap().len(), 1);
        let runs = append(&path, &document(), Some("v2")).unwrap();
        assert_eq!(runs, read(&path).unwrap());
        let last = &runs[1];
        assert_eq!((last.label.as_deref(), last.near_knee_users), (Some("v2"), Some(4)));
        assert_eq!((last.one_user_seconds, last.near_knee_seconds), (Some(0.1), Some(0.4)));
    }

    #[test]
    fn a_run_has_each_class_of_its_first_condition_and_runs_of_before_are_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("history.jsonl");
        append(&path, &document(), None).unwrap();
        let old = fs::read_to_string(&path).unwrap().replace(",\"alone\":[]", "");
        assert!(!old.contains("alone"), "{old}");
        fs::write(&path, old).unwrap();
        let mut mixed = document();
        let cost = |class: &str, table, alone| LoadCost {
            class: class.to_owned(),
            table,
            alone,
            ..LoadCost::default()
        };
        mixed.costs = vec![
            cost("heavy", None, Some(8)),
            cost("light", None, None),
            cost("a", Some(2), Some(3)),
        ];
        let runs = append(&path, &mixed, None).unwrap();
        assert_eq!(runs[0].alone, []);
        assert_eq!(runs[1].alone, [LoadCarried { name: "heavy".to_owned(), users: 8 }]);
        assert_eq!(runs, read(&path).unwrap());
    }

    #[test]
    fn what_is_not_ours_is_refused_and_stays() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("other");
        append(&path, &document(), None).unwrap();
        let own = fs::read_to_string(&path).unwrap();
        let other = own.replace("history/1", "history/9");
        for (text, line) in [
            ("precious\n".to_owned(), 1),
            ("{}\n".to_owned(), 1),
            (format!("{own}\n"), 2),
            (format!("{own}{other}"), 2),
            (format!("{own}precious"), 2),
        ] {
            fs::write(&path, &text).unwrap();
            let error = append(&path, &document(), None).unwrap_err();
            assert!(
                matches!(error, HistoryError::NotOurs { line: at, .. } if at == line),
                "{error}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert!(append(place.path(), &document(), None).is_err());
        for text in [format!("{own}{}", own.trim_end()), format!("{own}{{\"sch")] {
            fs::write(&path, &text).unwrap();
            let error = must_be_possible(&path).unwrap_err();
            assert!(matches!(error, HistoryError::CutOff { line: 2, .. }), "{error}");
        }
    }

    #[test]
    fn a_history_that_cannot_be_written_is_refused_before_there_is_a_run() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("history.jsonl");
        must_be_possible(&path).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing is left");
        append(&path, &document(), None).unwrap();
        let own = fs::read(&path).unwrap();
        must_be_possible(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), own);
        for wrong in [place.path().join("none/history.jsonl"), place.path().to_owned()] {
            assert!(must_be_possible(&wrong).is_err(), "{}", wrong.display());
        }
    }
}

//! The work: a row of the plan becomes a summary and a row, and nothing else.
//!
//! Invariant: the same row and input leave the same summary, wherever and however often. A bad input, too little
//! memory or a defect of ours is an error in the row.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use super::Error;
use super::folder::Folder;
use super::inputs;
use super::summary::{self, Entry};
use super::volume::Volume;
use crate::clock::Stopwatch;
use crate::experiment::notice::causes;
use crate::experiment::result::{FleetBy, FleetPiece, FleetRow, FleetTask};
use crate::trace::request::{Request, Unit};
use crate::units::{Bound, Bytes, TooLarge};
use crate::workload::format::{Batch, ParameterError, Parameters};
use crate::workload::source::{Options, Source, SourceError};

/// What to do where a task takes too much memory.
const LESS: &str = "plan with more --memory, fewer --workers, or --split hash:16";

/// Records that may be unreadable.
const PROBLEMS_MAX: u64 = 1000;

/// Why a task has no result.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    #[error(transparent)]
    Format(#[from] ParameterError),
    #[error(transparent)]
    Input(#[from] Error),
    #[error("{0} has changed since the plan: plan again")]
    Changed(String),
    #[error("{0} has no requests: nothing to measure")]
    Empty(String),
}

/// Does a task, unless it is done. What it leaves is in the folder when this returns; nothing where it was over
/// before it was done.
pub(super) fn work(
    task: &FleetTask,
    folder: &Folder,
    is_over: &dyn Fn() -> bool,
) -> Result<Option<FleetRow>, Error> {
    if let Some(row) = folder.row(&task.task).filter(|row| row.error.is_none()) {
        return Ok(Some(row));
    }
    let clock = Stopwatch::start();
    let mut row = FleetRow {
        schema: FleetRow::SCHEMA.to_owned(),
        task: task.task.clone(),
        input: task.input.path.clone(),
        ..FleetRow::default()
    };
    match guarded(|| count(task, &mut row, is_over)) {
        Ok(Some(entries)) => folder.write_summary(&task.task, &summary::write(&entries))?,
        Ok(None) => return Ok(None),
        Err(error) => row.error = Some(error),
    }
    row.seconds = clock.elapsed().as_secs_f64();
    folder.write_row(&row)?;
    Ok(Some(row))
}

/// A failure in words, and so is a panic.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failed>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| causes(&error)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("a defect of nbuf: {}; please report it", text.unwrap_or("no words")))
        }
    }
}

/// Reads the input, and counts what the task asks for.
fn count(
    task: &FleetTask,
    row: &mut FleetRow,
    is_over: &dyn Fn() -> bool,
) -> Result<Option<Vec<Entry>>, Failed> {
    if !inputs::is_unchanged(&task.input)? {
        return Err(Failed::Changed(task.input.path.clone()));
    }
    let path = PathBuf::from(&task.input.path);
    let bound = Bound { allowed: Bytes(task.memory_bytes), remedy: LESS };
    let format = task.format.as_deref().map(str::parse::<Parameters>).transpose()?;
    let options =
        Options { memory: bound, format, problems_max: PROBLEMS_MAX, ..Options::default() };
    let mut source = match Source::open(&[path], &options) {
        // An hour without requests is a part of a volume.
        Err(SourceError::Empty { .. }) if task.by != FleetBy::File => return Ok(Some(Vec::new())),
        opened => opened?,
    };
    let unit = source.detected().unit;
    let (from, to) = match task.piece {
        FleetPiece::Time { from, to } => (from, to),
        _ => (0, None),
    };
    let to = to.unwrap_or(u64::MAX);
    let mut volumes: BTreeMap<u32, Volume> = BTreeMap::new();
    let (mut batch, mut sorted) = (Batch::default(), BTreeMap::<u32, Vec<Request>>::new());
    let mut seen = 0_u64;
    while seen < to && source.next(&mut batch)? {
        if is_over() {
            return Ok(None);
        }
        let wanted = clip(&batch.requests, from.saturating_sub(seen), to - seen);
        seen += batch.requests.len() as u64;
        row.requests += wanted.len() as u64;
        let fresh = || Volume::new(unit, task.page_bytes, task.piece);
        if task.by == FleetBy::Volume {
            for request in wanted {
                // Another input numbers the same volume otherwise: a volume's pages have none of it.
                sorted.entry(request.object).or_default().push(Request { object: 0, ..*request });
            }
            for (&object, requests) in sorted.iter_mut().filter(|(_, own)| !own.is_empty()) {
                volumes.entry(object).or_insert_with(fresh).take(requests);
                requests.clear();
            }
        } else if !wanted.is_empty() {
            volumes.entry(0).or_insert_with(fresh).take(wanted);
        }
        let bytes = volumes.values().map(Volume::bytes).sum();
        bound.without(source.bytes()).allow("the distinct pages of this task", bytes)?;
    }
    row.problems = source.problems().count;
    if seen == 0 && task.by == FleetBy::File {
        return Err(Failed::Empty(task.input.path.clone()));
    }
    let names = source.objects().to_vec();
    let has_objects = task.by == FleetBy::Directory && unit == Unit::Bytes;
    let objects = if has_objects { names.clone() } else { Vec::new() };
    let entries = volumes.into_iter().map(|(object, volume)| Entry {
        objects: objects.clone(),
        ..entry(task, &names, object, volume)
    });
    let entries: Vec<Entry> = entries.collect();
    row.volumes = entries.len() as u64;
    row.accesses = entries.iter().map(|entry| entry.segment.accesses).sum();
    row.distinct_pages = entries.iter().map(|entry| entry.distinct).sum();
    Ok(Some(entries))
}

/// Those of some requests between two places.
fn clip(requests: &[Request], from: u64, to: u64) -> &[Request] {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(requests.len());
    &requests[place(from)..place(to).max(place(from))]
}

fn entry(task: &FleetTask, names: &[String], object: u32, volume: Volume) -> Entry {
    let name = match task.by {
        FleetBy::Volume => {
            names.get(object as usize).cloned().unwrap_or_else(|| format!("volume {object}"))
        }
        FleetBy::File | FleetBy::Directory => task.volume.clone(),
    };
    let (distinct, has_holes) = (volume.distinct(), volume.has_holes);
    let times_ns = volume.times_ns.unwrap_or_default();
    let mut segment = volume.finish();
    if task.is_alone {
        // Nothing is merged with it by time: its hits are all.
        (segment.first, segment.last) = (Vec::new(), Vec::new());
    }
    Entry { name, distinct, has_holes, times_ns, segment, objects: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_in_words() {
        let error = guarded::<()>(|| panic!("page {}", 7)).unwrap_err();
        assert_eq!(error, "a defect of nbuf: page 7; please report it");
        assert_eq!(guarded(|| Ok(7)), Ok(7));
    }
}

//! The work: a row of the plan becomes a summary and a row, and nothing else.
//!
//! Invariant: the same row and input leave the same summary, wherever and however often. A bad input, too little
//! memory or a defect of ours is an error in the row.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use super::Error;
use super::folder::Folder;
use super::inputs;
use super::policies;
use super::summary::{self, Entry};
use super::volume::Volume;
use crate::cache::policy::ChoiceError;
use crate::clock::Stopwatch;
use crate::experiment::notice::causes;
use crate::experiment::result::{FleetBy, FleetPiece, FleetRow, FleetTask};
use crate::trace::request::{Request, Unit};
use crate::units::{Bound, Bytes, SizeListError, TooLarge};
use crate::workload::format::{Batch, ParameterError, Parameters};
use crate::workload::source::{CancellationToken, Opening, Options, Source, SourceError};

/// What to do where a task takes too much memory.
const LESS: &str = "plan with more --memory, fewer --workers, or --split hash:16";

/// Records that may be unreadable.
const PROBLEMS_MAX: u64 = 1000;

/// Why a task has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
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
    #[error("{0} has no requests to measure: leave it out")]
    Empty(String),
    #[error("inputs of host {0} have no times, so they cannot be merged: give --by directory")]
    NoTimes(String),
    #[error(transparent)]
    Policy(#[from] ChoiceError),
    #[error(transparent)]
    Size(#[from] SizeListError),
}

/// Does a task, unless it is done. What it leaves is in the folder when this returns; nothing where it was over
/// before it was done.
pub(super) fn work(
    task: &FleetTask,
    folder: &Folder,
    token: &CancellationToken,
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
    match guarded(|| count(task, &mut row, token)) {
        Ok(Some(entries)) => folder.write_summary(&task.task, &summary::write(&entries))?,
        Ok(None) => return Ok(None),
        Err(_) if token.is_cancelled() => return Ok(None),
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
            Err(format!("a defect of nbuf: {}; please report it", text.unwrap_or("no message")))
        }
    }
}

/// Reads the inputs, and counts what the task asks for.
fn count(
    task: &FleetTask,
    row: &mut FleetRow,
    token: &CancellationToken,
) -> Result<Option<Vec<Entry>>, Failed> {
    for input in std::iter::once(&task.input).chain(&task.others) {
        if !inputs::is_unchanged(input, token)? {
            return Err(Failed::Changed(input.path.clone()));
        }
    }
    let entries = if task.piece == FleetPiece::Policies {
        policies::count(task, row, token)?
    } else {
        let Some(mut reader) = Reader::open(task, token)? else { return Ok(Some(Vec::new())) };
        curves(&mut reader, row)?
    };
    let Some(entries) = entries else { return Ok(None) };
    row.volumes = entries.len() as u64;
    let accesses = |entry: &Entry| {
        let early = entry.early.as_ref().filter(|_| !task.is_alone);
        entry.segment.accesses + early.map_or(0, |early| early.accesses)
    };
    row.accesses = entries.iter().map(accesses).sum();
    row.distinct_pages = entries.iter().map(|entry| entry.distinct).sum();
    Ok(Some(entries))
}

/// The hits of all sizes.
fn curves(reader: &mut Reader<'_>, row: &mut FleetRow) -> Result<Option<Vec<Entry>>, Failed> {
    let (task, unit) = (reader.task, reader.source.detected().unit);
    let (from, to) = match task.piece {
        FleetPiece::Time { from, to } => (from, to),
        _ => (0, None),
    };
    let mut volumes: BTreeMap<u32, Volume> = BTreeMap::new();
    let mut bytes = 0;
    let mut take = |object: u32, requests: &[Request], bound: Bound| {
        let before = volumes.get(&object).map_or(0, Volume::bytes);
        let volume = volumes.entry(object).or_insert_with(|| Volume::new(unit, task));
        volume.take(requests);
        bytes = bytes - before + volume.bytes();
        bound.allow("the distinct pages of this task", bytes)
    };
    let read = reader.read((from, to.unwrap_or(u64::MAX)), &mut take)?;
    let Some(requests) = read else { return Ok(None) };
    row.requests = requests;
    row.problems = reader.source.problems().count;
    let names = reader.source.objects().to_vec();
    reader.must_have_times()?;
    let has_objects = task.by == FleetBy::Directory && unit == Unit::Bytes;
    let objects = if has_objects { names.clone() } else { Vec::new() };
    let entries = volumes.into_iter().map(|(object, volume)| Entry {
        objects: objects.clone(),
        ..entry(task, &names, object, volume)
    });
    Ok(Some(entries.collect()))
}

/// What takes requests: those of a volume, with the memory that is left.
type Take<'a, E> = dyn FnMut(u32, &[Request], Bound) -> Result<(), E> + 'a;

/// The inputs of a task while they are read.
pub(super) struct Reader<'a> {
    task: &'a FleetTask,
    pub(super) source: Source,
    bound: Bound,
    token: CancellationToken,
    /// Whether a request that was read has a time.
    has_times: bool,
}

impl<'a> Reader<'a> {
    /// Opens the inputs; nothing where the only one has no requests and may have none.
    pub(super) fn open(
        task: &'a FleetTask,
        token: &CancellationToken,
    ) -> Result<Option<Self>, Failed> {
        let inputs = std::iter::once(&task.input).chain(&task.others);
        let paths: Vec<PathBuf> = inputs.map(|input| PathBuf::from(&input.path)).collect();
        let later = task.later_seconds.iter().map(|&seconds| nanoseconds(seconds));
        let bound = Bound { allowed: Bytes(task.memory_bytes), remedy: LESS };
        let options = Options {
            memory: bound,
            format: task.format.as_deref().map(str::parse::<Parameters>).transpose()?,
            problems_max: PROBLEMS_MAX,
            merge: task.by == FleetBy::Host,
            later_ns: later.collect(),
            ..Options::default()
        };
        // An hour without requests is a part of a volume. A packed one has a few bytes.
        let skips_empty = task.by != FleetBy::File;
        let opening = Opening { skips_empty, token: token.clone(), ..Opening::default() };
        match Source::open_with(&paths, &options, &opening) {
            Err(SourceError::Empty { .. }) if skips_empty => Ok(None),
            opened => Ok(Some(Self {
                task,
                source: opened?,
                bound,
                token: token.clone(),
                has_times: false,
            })),
        }
    }

    /// An error where inputs that were read to their end are merged by time and have none.
    pub(super) fn must_have_times(&self) -> Result<(), Failed> {
        let reads_all = !matches!(self.task.piece, FleetPiece::Time { to: Some(_), .. });
        if self.task.others.is_empty() || self.has_times || !reads_all {
            return Ok(());
        }
        Err(Failed::NoTimes(self.task.volume.clone()))
    }

    /// Hands over the requests between two places, sorted by volume, with the memory that is left. How many there
    /// were; nothing where it was over before.
    pub(super) fn read<E>(
        &mut self,
        (from, to): (u64, u64),
        take: &mut Take<'_, E>,
    ) -> Result<Option<u64>, Failed>
    where
        Failed: From<E>,
    {
        let (mut batch, mut sorted) = (Batch::default(), BTreeMap::<u32, Vec<Request>>::new());
        let (mut seen, mut wanted) = (0_u64, 0);
        while seen < to && self.source.next(&mut batch)? {
            if self.token.is_cancelled() {
                break;
            }
            let requests = clip(&batch.requests, from.saturating_sub(seen), to - seen);
            seen += batch.requests.len() as u64;
            self.has_times =
                self.has_times || batch.requests.iter().any(|request| request.time_ns != 0);
            wanted += requests.len() as u64;
            let bound = self.bound.without(self.source.bytes());
            if self.task.by != FleetBy::Volume {
                if !requests.is_empty() {
                    take(0, requests, bound)?;
                }
                continue;
            }
            for request in requests {
                // Another input numbers the same volume otherwise: a volume's pages have none of it.
                sorted.entry(request.object).or_default().push(Request { object: 0, ..*request });
            }
            for (&object, requests) in sorted.iter_mut().filter(|(_, own)| !own.is_empty()) {
                take(object, requests, bound)?;
                requests.clear();
            }
        }
        // A cancelled reading ends as one at the end of its inputs does.
        if self.token.is_cancelled() {
            return Ok(None);
        }
        if seen == 0 && self.task.by == FleetBy::File {
            return Err(Failed::Empty(self.task.input.path.clone()));
        }
        Ok(Some(wanted))
    }
}

fn nanoseconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000_000)
}

/// The name of a volume.
pub(super) fn name(task: &FleetTask, names: &[String], object: u32) -> String {
    match task.by {
        FleetBy::Volume => {
            names.get(object as usize).cloned().unwrap_or_else(|| format!("volume {object}"))
        }
        FleetBy::File | FleetBy::Directory | FleetBy::Host => task.volume.clone(),
    }
}

/// Those of some requests between two places.
fn clip(requests: &[Request], from: u64, to: u64) -> &[Request] {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(requests.len());
    &requests[place(from)..place(to).max(place(from))]
}

fn entry(task: &FleetTask, names: &[String], object: u32, volume: Volume) -> Entry {
    let name = name(task, names, object);
    let (mut distinct, has_holes) = (volume.distinct(), volume.has_holes);
    let is_cut = volume.is_cut();
    let times_ns = volume.times_ns.unwrap_or_default();
    let (mut segment, early) = volume.finish();
    if task.is_alone {
        // Nothing is merged with it by time: its hits are all.
        (segment.first, segment.last) = (Vec::new(), Vec::new());
    } else if is_cut && let Some(early) = &early {
        // Some pages are in both parts.
        let pages: BTreeSet<&u64> = early.first.iter().chain(&segment.first).collect();
        distinct = pages.len() as u64;
    }
    let policies = Vec::new();
    Entry { name, distinct, has_holes, times_ns, segment, early, policies, objects: Vec::new() }
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

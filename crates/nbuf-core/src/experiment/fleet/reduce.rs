//! The results of all tasks become one curve for each volume.
//!
//! Segments are merged in the order of their tasks, and hash parts are added. Invariant: the order in which tasks
//! ran, and where, changes nothing. Cost: the segments of one group at a time; a curve stays in 2 to 5 bytes a
//! step.

use std::collections::BTreeMap;

use super::Error;
use super::allocation::{Hull, hull};
use super::folder::Folder;
use super::plan::{FNV, fnv};
use super::summary::{self, Entry};
use crate::experiment::result::{FleetFailure, FleetPiece, FleetTask};
use crate::meter::hashed::{first_size, misses_band};
use crate::meter::segment::{NO_LIMIT, Segment};
use crate::meter::steps::{Hits, Steps};
use crate::workload::pages::PAGE_BITS;

/// The curve of a volume.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) accesses: u64,
    pub(super) distinct: u64,
    pub(super) hull: Hull,
    /// Hash parts that it was made of.
    pub(super) parts: Option<u32>,
    /// Whether its misses are an estimate.
    pub(super) is_estimate: bool,
    /// Its hits; and with hash parts those of the head.
    packed: Vec<u8>,
}

impl Curve {
    pub(super) fn new(
        name: String,
        accesses: u64,
        distinct: u64,
        hits: &Hits,
        parts: Option<(u32, Hits)>,
    ) -> Self {
        let mut packed = Vec::new();
        summary::hits(&mut packed, hits);
        let mut of_parts = None;
        if let Some((parts, head)) = parts {
            summary::hits(&mut packed, &head);
            of_parts = Some(parts);
        }
        let parts = of_parts;
        let (hull_later, is_estimate) = (Hull::new(), parts.is_some());
        let mut curve =
            Self { name, accesses, distinct, hull: hull_later, parts, is_estimate, packed };
        curve.hull = hull(&curve.steps());
        curve
    }

    /// Its misses by size.
    pub(super) fn steps(&self) -> Steps {
        let mut rest = &self.packed[..];
        let mut next = || summary::take_hits(&mut rest).unwrap_or_default().steps(self.accesses);
        let all = next();
        let Some(parts) = self.parts else { return all };
        let head = next();
        all.scaled(parts.into()).with_head(&head, first_size(parts))
    }

    /// The band of its misses at a size; nothing where they are exact.
    pub(super) fn band(&self, pages: u64) -> Option<(u64, u64)> {
        let parts = self.parts.filter(|&parts| pages >= first_size(parts))?;
        let mut rest = &self.packed[..];
        let all = summary::take_hits(&mut rest).unwrap_or_default().steps(self.accesses);
        Some(misses_band(&all.scaled(parts.into()), pages, parts))
    }
}

/// All curves, and what is missing.
#[derive(Default)]
pub(super) struct Reduced {
    /// By their names.
    pub(super) curves: Vec<Curve>,
    pub(super) failures: Vec<FleetFailure>,
    pub(super) missing: u64,
    /// Groups with a task that is not done, and so without a curve.
    pub(super) unfinished: Vec<String>,
    /// Groups or volumes with a task that failed.
    pub(super) failed: Vec<String>,
    /// Inputs without requests.
    pub(super) empty: Vec<String>,
    /// Volumes whose pieces overlap in time.
    pub(super) overlaps: Vec<String>,
    pub(super) problems: u64,
    pub(super) checksum: u64,
}

/// What the tasks of a group leave for one volume.
#[derive(Default)]
struct Pieces {
    segments: Vec<Segment>,
    /// How many parts there are, and the segments of each.
    parts: Option<(u32, BTreeMap<u32, Vec<Segment>>)>,
    head: Vec<Segment>,
    /// Numbers of objects, which are the same in all inputs.
    objects: BTreeMap<String, u64>,
    accesses: u64,
    distinct: u64,
    has_holes: bool,
    overlaps: bool,
    last_ns: Option<i64>,
}

/// Merges what all tasks left.
pub(super) fn reduce(tasks: &[FleetTask], folder: &Folder) -> Result<Reduced, Error> {
    let mut reduced = Reduced::default();
    let mut groups: BTreeMap<&str, Vec<(&FleetTask, u64)>> = BTreeMap::new();
    for (row, task) in (1..).zip(tasks) {
        groups.entry(&task.volume).or_default().push((task, row));
    }
    for (group, mut tasks) in groups {
        tasks.sort_by_key(|(task, _)| task.sequence);
        let missing = reduced.missing;
        if !is_whole(&tasks, folder, &mut reduced) {
            let is_missing = reduced.missing > missing;
            let list = if is_missing { &mut reduced.unfinished } else { &mut reduced.failed };
            list.push(group.to_owned());
            continue;
        }
        let mut volumes: BTreeMap<String, Pieces> = BTreeMap::new();
        for &(task, row) in &tasks {
            let Some(entries) = summary::read(&folder.summary(&task.task)?) else {
                let error = format!(
                    "its summary is damaged: remove {}/summaries/{} and work again",
                    folder.0.display(),
                    task.task
                );
                reduced.failures.push(FleetFailure { row, input: task.input.path.clone(), error });
                volumes.clear();
                reduced.failed.push(group.to_owned());
                break;
            };
            for entry in entries {
                let name = entry.name.clone();
                volumes.entry(name).or_default().take(entry, task.piece);
            }
        }
        for (name, pieces) in volumes {
            reduced.add(name, pieces, tasks[0]);
        }
    }
    reduced.curves.sort_by(|a, b| a.name.cmp(&b.name));
    reduced.sum();
    Ok(reduced)
}

/// Whether all tasks of a group are done.
fn is_whole(tasks: &[(&FleetTask, u64)], folder: &Folder, reduced: &mut Reduced) -> bool {
    let mut is_whole = true;
    // Every piece of an input reads it from its beginning, so the last one sees the problems of all.
    let mut problems: BTreeMap<&str, u64> = BTreeMap::new();
    for &(task, number) in tasks {
        match folder.row(&task.task) {
            None => reduced.missing += 1,
            Some(row) => {
                let most = problems.entry(&task.input.path).or_default();
                *most = row.problems.max(*most);
                let is_first = match task.piece {
                    FleetPiece::Whole | FleetPiece::Head { .. } => true,
                    FleetPiece::Time { from, .. } => from == 0,
                    FleetPiece::Hash { .. } => false,
                };
                let Some(error) = row.error else {
                    if is_first && row.requests == 0 {
                        reduced.empty.push(task.input.path.clone());
                    }
                    continue;
                };
                let input = task.input.path.clone();
                reduced.failures.push(FleetFailure { row: number, input, error });
            }
        }
        is_whole = false;
    }
    reduced.problems += problems.values().sum::<u64>();
    is_whole
}

impl Pieces {
    fn take(&mut self, entry: Entry, piece: FleetPiece) {
        let Entry { distinct, has_holes, times_ns: (first, last), mut segment, objects, .. } =
            entry;
        self.has_holes |= has_holes;
        self.renumber(&objects, &mut segment);
        if !matches!(piece, FleetPiece::Head { .. }) {
            self.accesses += segment.accesses;
            self.distinct += distinct;
        }
        match piece {
            FleetPiece::Hash { part, parts } => {
                let (_, segments) = self.parts.get_or_insert((parts, BTreeMap::new()));
                segments.entry(part).or_default().push(segment);
                return;
            }
            FleetPiece::Head { .. } => self.head.push(segment),
            FleetPiece::Whole | FleetPiece::Time { .. } => self.segments.push(segment),
        }
        self.overlaps |= self.last_ns.is_some_and(|before| before > first) && last > 0;
        self.last_ns = Some(last);
    }

    /// Numbers the objects of an input as those of the inputs before it.
    fn renumber(&mut self, objects: &[String], segment: &mut Segment) {
        let numbers: Vec<u64> = objects
            .iter()
            .map(|name| {
                let next = self.objects.len() as u64;
                *self.objects.entry(name.clone()).or_insert(next)
            })
            .collect();
        for page in segment.first.iter_mut().chain(&mut segment.last) {
            let object = usize::try_from(*page >> PAGE_BITS).unwrap_or(usize::MAX);
            if let Some(number) = numbers.get(object) {
                *page = number << PAGE_BITS | *page & ((1 << PAGE_BITS) - 1);
            }
        }
    }
}

/// Merges pieces in time: their hits, and distinct pages. One piece may have been kept without its pages.
fn merged(mut segments: Vec<Segment>, distinct: u64) -> (Hits, u64) {
    if segments.len() == 1
        && let Some(one) = segments.pop()
    {
        return (one.hits, distinct);
    }
    let all = Segment::merge_all(segments, NO_LIMIT);
    (all.hits, all.first.len() as u64)
}

impl Reduced {
    /// The checksum of its curves.
    pub(super) fn sum(&mut self) {
        let sum = |hash, curve: &Curve| {
            let hash = fnv(fnv(hash, curve.name.as_bytes()), &curve.accesses.to_le_bytes());
            fnv(hash, &curve.packed)
        };
        self.checksum = self.curves.iter().fold(FNV, sum);
    }

    /// Adds the curve of a volume, if its pieces can be merged.
    fn add(&mut self, name: String, pieces: Pieces, (task, row): (&FleetTask, u64)) {
        let Pieces { segments, parts, head, accesses, distinct, has_holes, .. } = pieces;
        if pieces.overlaps {
            self.overlaps.push(name.clone());
        }
        let is_merged = segments.len() > 1 || parts.is_some();
        if has_holes && is_merged {
            let error = format!(
                "{name} discards pages, so its pieces cannot be merged: plan with --split none, and one file a \
                 volume"
            );
            self.failures.push(FleetFailure { row, input: task.input.path.clone(), error });
            self.failed.push(name);
            return;
        }
        if let Some((parts, segments)) = parts {
            let is_one = segments.values().all(|part| part.len() == 1);
            let (mut hits, mut pages) = (Hits::default(), 0);
            for part in segments.into_values() {
                let (own, distinct) = merged(part, 0);
                hits.add(&own);
                pages += distinct;
            }
            let distinct = if is_one { distinct } else { pages };
            let head = Segment::merge_all(head, NO_LIMIT).hits;
            self.curves.push(Curve::new(name, accesses, distinct, &hits, Some((parts, head))));
            return;
        }
        let (hits, distinct) = merged(segments, distinct);
        self.curves.push(Curve::new(name, accesses, distinct, &hits, None));
    }
}

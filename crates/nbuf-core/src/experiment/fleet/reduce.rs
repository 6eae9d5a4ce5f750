//! The results of all tasks become one curve for each volume.
//!
//! Segments are merged in the order of their tasks, and hash parts are added. Invariant: the order in which tasks
//! ran, and where, changes nothing. Cost: the segments of one group at a time; a curve stays in 2 to 5 bytes a
//! step.

use std::collections::BTreeMap;

use super::Error;
use super::allocate::{Hull, hull};
use super::folder::Folder;
use super::plan::{FNV, fnv};
use super::summary::{self, Entry};
use crate::experiment::result::{FleetFailure, FleetPiece, FleetTask};
use crate::meter::hashed::{first_size, misses_band};
use crate::meter::segment::{NO_LIMIT, Segment};
use crate::meter::steps::{Hits, Steps};

/// The curve of a volume.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) accesses: u64,
    pub(super) distinct: u64,
    pub(super) hull: Hull,
    /// Hash parts that it was made of.
    pub(super) parts: Option<u32>,
    /// Its hits; and with hash parts those of the head.
    packed: Vec<u8>,
}

impl Curve {
    fn new(name: String, accesses: u64, distinct: u64, hits: &Hits, parts: Option<(u32, Hits)>) -> Self {
        let mut packed = Vec::new();
        summary::hits(&mut packed, hits);
        let mut of_parts = None;
        if let Some((parts, head)) = parts {
            summary::hits(&mut packed, &head);
            of_parts = Some(parts);
        }
        let hull = Hull::new();
        let mut curve = Self { name, accesses, distinct, hull, parts: of_parts, packed };
        curve.hull = hull_of(&curve.steps());
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

fn hull_of(steps: &Steps) -> Hull {
    hull(steps)
}

/// All curves, and what is missing.
#[derive(Default)]
pub(super) struct Reduced {
    /// By their names.
    pub(super) curves: Vec<Curve>,
    pub(super) failures: Vec<FleetFailure>,
    pub(super) missing: u64,
    /// Groups that are not whole, and so have no curve.
    pub(super) left_out: Vec<String>,
    /// Volumes whose pieces overlap in time.
    pub(super) overlaps: Vec<String>,
    pub(super) problems: u64,
    pub(super) checksum: u64,
}

/// What the tasks of a group leave for one volume.
#[derive(Default)]
struct Pieces {
    segments: Vec<Segment>,
    parts: Option<(u32, Hits)>,
    head: Vec<Segment>,
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
        if !is_whole(&tasks, folder, &mut reduced) {
            reduced.left_out.push(group.to_owned());
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
                reduced.left_out.push(group.to_owned());
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
    let sum = |hash, curve: &Curve| {
        let hash = fnv(fnv(hash, curve.name.as_bytes()), &curve.accesses.to_le_bytes());
        fnv(hash, &curve.packed)
    };
    reduced.checksum = reduced.curves.iter().fold(FNV, sum);
    Ok(reduced)
}

/// Whether all tasks of a group are done.
fn is_whole(tasks: &[(&FleetTask, u64)], folder: &Folder, reduced: &mut Reduced) -> bool {
    let mut is_whole = true;
    for &(task, number) in tasks {
        match folder.row(&task.task) {
            None => reduced.missing += 1,
            Some(row) => {
                reduced.problems += row.problems;
                let Some(error) = row.error else { continue };
                let input = task.input.path.clone();
                reduced.failures.push(FleetFailure { row: number, input, error });
            }
        }
        is_whole = false;
    }
    is_whole
}

impl Pieces {
    fn take(&mut self, entry: Entry, piece: FleetPiece) {
        let Entry { distinct, has_holes, times_ns: (first, last), segment, .. } = entry;
        self.has_holes |= has_holes && !matches!(piece, FleetPiece::Hash { .. });
        match piece {
            FleetPiece::Hash { parts, .. } => {
                self.accesses += segment.accesses;
                self.distinct += distinct;
                self.parts.get_or_insert((parts, Hits::default())).1.add(&segment.hits);
                return;
            }
            FleetPiece::Head { .. } => self.head.push(segment),
            FleetPiece::Whole | FleetPiece::Time { .. } => {
                self.accesses += segment.accesses;
                self.distinct += distinct;
                self.segments.push(segment);
            }
        }
        self.overlaps |= self.last_ns.is_some_and(|before| before > first) && last > 0;
        self.last_ns = Some(last);
    }
}

impl Reduced {
    /// Adds the curve of a volume, if its pieces can be merged.
    fn add(&mut self, name: String, pieces: Pieces, (task, row): (&FleetTask, u64)) {
        let Pieces { mut segments, parts, head, accesses, distinct, has_holes, .. } = pieces;
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
            self.left_out.push(name);
            return;
        }
        if let Some((parts, hits)) = parts {
            let head = Segment::merge_all(head, NO_LIMIT).hits;
            self.curves.push(Curve::new(name, accesses, distinct, &hits, Some((parts, head))));
            return;
        }
        let one = if segments.len() == 1 { segments.pop() } else { None };
        let (hits, distinct) = match one {
            Some(segment) => (segment.hits, distinct),
            None => {
                let all = Segment::merge_all(segments, NO_LIMIT);
                let distinct = all.first.len() as u64;
                (all.hits, distinct)
            }
        };
        self.curves.push(Curve::new(name, accesses, distinct, &hits, None));
    }
}

//! The results of all tasks become one curve for each volume.
//!
//! Segments are merged in the order of their tasks, and hash parts are added. Invariant: the order in which tasks
//! ran, and where, changes nothing. Cost: the segments of one group at a time; a curve stays in 2 to 5 bytes a
//! step.

use std::collections::BTreeMap;
use std::path::Path;

use super::Error;
use super::curve::Curve;
use super::folder::Folder;
use super::hosts;
use super::pieces::{Pieces, merged};
use super::plan::{FNV, fnv};
use super::sharing::Partitions;
use super::summary::{self, Entry};
use crate::experiment::result::{FleetBy, FleetFailure, FleetPiece, FleetPolicyMisses, FleetTask};
use crate::experiment::session::Session;
use crate::meter::segment::{NO_LIMIT, Segment};
use crate::meter::steps::Hits;

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
    /// Misses by policy, with the accesses, of each volume.
    pub(super) policies: BTreeMap<String, (u64, Vec<FleetPolicyMisses>)>,
    /// The curves of the volumes of hosts; none unless they were asked for.
    pub(super) partitions: Partitions,
}

/// A row of the plan, with its number from 1.
type Row<'a> = (u64, &'a FleetTask);

/// Merges what all tasks left.
pub(super) fn reduce(
    tasks: &[FleetTask],
    folder: &Folder,
    session: &Session<'_>,
) -> Result<Reduced, Error> {
    let has_hosts = tasks.iter().any(|task| task.by == FleetBy::Host);
    let is_partition = |row: &Row<'_>| has_hosts && row.1.by != FleetBy::Host;
    let (partitions, rows): (Vec<Row<'_>>, Vec<Row<'_>>) = (1..).zip(tasks).partition(is_partition);
    let mut reduced = of_rows(&rows, folder, session)?;
    if !partitions.is_empty() {
        let of = of_rows(&partitions, folder, session)?;
        reduced.add_partitions(of, &partitions);
    }
    Ok(reduced)
}

/// Merges what the tasks of these rows left.
fn of_rows(rows: &[Row<'_>], folder: &Folder, session: &Session<'_>) -> Result<Reduced, Error> {
    let mut reduced = Reduced::default();
    let mut groups: BTreeMap<&str, Vec<(&FleetTask, u64)>> = BTreeMap::new();
    for &(row, task) in rows {
        if task.piece == FleetPiece::Policies {
            reduced.add_policies(task, row, folder)?;
            continue;
        }
        groups.entry(&task.volume).or_default().push((task, row));
    }
    let mut steps = session.steps("merging (volumes)", groups.len());
    for (group, mut tasks) in groups {
        steps.next();
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
            let Some(entries) = reduced.entries(task, row, folder)? else {
                volumes.clear();
                reduced.failed.push(group.to_owned());
                break;
            };
            for entry in entries {
                let name = entry.name.clone();
                volumes.entry(name).or_default().take(entry, task);
            }
        }
        for (name, pieces) in volumes {
            reduced.add(name, pieces, tasks[0]);
        }
    }
    drop(steps);
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
                    FleetPiece::Hash { .. } | FleetPiece::Policies => false,
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

impl Reduced {
    /// The checksum of its curves.
    pub(super) fn sum(&mut self) {
        let sum = |hash, curve: &Curve| {
            let hash = fnv(fnv(hash, curve.name.as_bytes()), &curve.accesses.to_le_bytes());
            fnv(hash, &curve.packed)
        };
        self.checksum = self.curves.iter().fold(FNV, sum);
    }

    /// Adds the curves of the volumes of hosts, and what is missing of them. Unreadable records and inputs without
    /// requests are those of the hosts.
    fn add_partitions(&mut self, of: Self, rows: &[Row<'_>]) {
        let host = |task: &FleetTask| hosts::host(Path::new(&task.input.path));
        let hosts: BTreeMap<&str, String> =
            rows.iter().filter_map(|row| Some((&*row.1.volume, host(row.1)?))).collect();
        self.partitions.by = rows.first().map_or(FleetBy::File, |row| row.1.by);
        for curve in of.curves {
            if let Some(host) = hosts.get(&*curve.name) {
                self.partitions.hosts.entry(host.clone()).or_default().push(curve);
            }
        }
        // Some volumes of a host say nothing of its cache.
        for name in of.unfinished.iter().chain(&of.failed) {
            if let Some(host) = hosts.get(&**name) {
                self.partitions.hosts.remove(host);
            }
        }
        self.failures.extend(of.failures);
        self.missing += of.missing;
        self.unfinished.extend(of.unfinished);
        self.failed.extend(of.failed);
        self.overlaps.extend(of.overlaps);
    }

    /// What a task left; a failure where that is damaged.
    fn entries(
        &mut self,
        task: &FleetTask,
        row: u64,
        folder: &Folder,
    ) -> Result<Option<Vec<Entry>>, Error> {
        let entries = summary::read(&folder.summary(&task.task)?);
        if entries.is_none() {
            let error = format!(
                "its summary is damaged: remove {}/summaries/{} and work again",
                folder.0.display(),
                task.task
            );
            self.failures.push(FleetFailure { row, input: task.input.path.clone(), error });
        }
        Ok(entries)
    }

    /// Adds the misses of policies, if the task has been done.
    fn add_policies(&mut self, task: &FleetTask, row: u64, folder: &Folder) -> Result<(), Error> {
        match folder.row(&task.task).map(|row| row.error) {
            None => self.missing += 1,
            Some(Some(error)) => {
                self.failures.push(FleetFailure { row, input: task.input.path.clone(), error });
            }
            Some(None) => {
                let entries = self.entries(task, row, folder)?.unwrap_or_default();
                let of = |entry: Entry| (entry.name, (entry.segment.accesses, entry.policies));
                self.policies.extend(entries.into_iter().map(of));
            }
        }
        Ok(())
    }

    /// Adds the curve of a volume, if its pieces can be merged.
    fn add(&mut self, name: String, mut pieces: Pieces, (task, row): (&FleetTask, u64)) {
        let is_merged = pieces.segments.len() > 1 || pieces.parts.is_some();
        let early = pieces.early();
        let Pieces { segments, parts, head, accesses, distinct, has_holes, count, .. } = pieces;
        if pieces.overlaps {
            self.overlaps.push(name.clone());
        }
        if has_holes && is_merged {
            let remedy = if count == 1 {
                "without --until"
            } else {
                "with --split none, and one file a volume"
            };
            let error =
                format!("{name} discards pages, so its pieces cannot be merged: plan {remedy}");
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
        let mut curve = Curve::new(name, accesses, distinct, &hits, None);
        if let Some((accesses, hits)) = early {
            curve.keep_early(accesses, &hits);
        }
        self.curves.push(curve);
    }
}

//! Policies on the volumes of a task, at one size: the same grid as `nbuf curve --policy` fills.
//!
//! Policies do not merge, so a task has all inputs of its volumes. A size that is a share of the distinct pages
//! needs a second reading. Invariant: chance has one seed, so that a repeated task gives the same misses.
//! Cost: as a [`Grid`] for each volume.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;

use super::summary::Entry;
use super::work::{Failed, Reader, name};
use crate::cache::policy::Choice;
use crate::experiment::grid::{Grid, Names, Plan};
use crate::experiment::result::{FleetPolicyMisses, FleetRow, FleetTask, PolicyCurve};
use crate::meter::segment::{NO_LIMIT, Segment};
use crate::trace::request::Request;
use crate::units::{Bound, SizeListError};
use crate::workload::source::CancellationToken;
use crate::workload::within::{Growing as _, take_within};

/// What grows with a task.
const PAGES: &str = "the policies of this task";

/// The misses of each policy on each volume.
pub(super) fn count(
    task: &FleetTask,
    row: &mut FleetRow,
    token: &CancellationToken,
) -> Result<Option<Vec<Entry>>, Failed> {
    let Some(mut reader) = Reader::open(task, token)? else { return Ok(Some(Vec::new())) };
    let choices = task.policies.iter().map(|policy| policy.parse::<Choice>());
    let plan = Plan {
        policies: choices.collect::<Result<Vec<Choice>, _>>()?,
        sizes: task.policy_size.as_deref().map(str::parse).transpose()?,
        page_bytes: task.page_bytes,
        unit: reader.source.detected().unit,
        again: true,
        ..Plan::default()
    };
    let mut grids: BTreeMap<u32, Grid> = BTreeMap::new();
    let Some(requests) = feed(&mut reader, &plan, &mut grids)? else { return Ok(None) };
    let names = reader.source.objects().to_vec();
    (row.requests, row.problems) = (requests, reader.source.problems().count);
    reader.must_have_times()?;
    // Volumes that discard only have no pages.
    grids.retain(|_, grid| grid.distinct_pages() > 0);
    let mut again = false;
    for grid in grids.values_mut() {
        again |= match grid.again() {
            // A share of few pages is one page.
            Err(SizeListError::Zero) => {
                let sizes = Some("1p".parse()?);
                *grid = Grid::new(Plan { sizes, ..plan.clone() })?;
                true
            }
            other => other?,
        };
    }
    if again {
        let Some(mut reader) = Reader::open(task, token)? else { return Ok(Some(Vec::new())) };
        if feed(&mut reader, &plan, &mut grids)?.is_none() {
            return Ok(None);
        }
        grids.retain(|_, grid| grid.distinct_pages() > 0);
        for grid in grids.values_mut() {
            grid.again()?;
        }
    }
    let mut entries = Vec::new();
    for (object, grid) in grids {
        let distinct = grid.distinct_pages();
        let curves = grid.finish(&Names { objects: &[], target: None })?;
        let accesses = curves.iter().flat_map(|curve| &curve.points).map(|point| point.accesses);
        let accesses = accesses.max().unwrap_or_default();
        entries.push(Entry {
            name: name(task, &names, object),
            distinct,
            has_holes: false,
            times_ns: (0, 0),
            segment: Segment { accesses, ..Segment::empty(NO_LIMIT) },
            early: None,
            policies: curves.iter().filter_map(misses).collect(),
            objects: Vec::new(),
        });
    }
    Ok(Some(entries))
}

/// The misses at the one size.
fn misses(curve: &PolicyCurve) -> Option<FleetPolicyMisses> {
    let point = curve.points.first()?;
    let policy = curve.policy.clone();
    Some(FleetPolicyMisses { policy, pages: point.pages, misses: point.misses })
}

/// Reads all requests, each into the grid of its volume.
fn feed(
    reader: &mut Reader<'_>,
    plan: &Plan,
    grids: &mut BTreeMap<u32, Grid>,
) -> Result<Option<u64>, Failed> {
    // Memory of each grid, and of all.
    let (mut sizes, mut all) = (BTreeMap::<u32, u64>::new(), 0_u64);
    let mut take = |object: u32, requests: &[Request], bound: Bound| -> Result<(), Failed> {
        let grid = match grids.entry(object) {
            Slot::Occupied(slot) => slot.into_mut(),
            Slot::Vacant(slot) => slot.insert(Grid::new(plan.clone())?),
        };
        let grid = std::slice::from_mut(grid);
        let size = sizes.entry(object).or_default();
        take_within(grid, requests, PAGES, bound.without(all - *size))?;
        all -= *size;
        *size = grid.most(&[]);
        all += *size;
        Ok(())
    };
    reader.read((0, u64::MAX), &mut take)
}

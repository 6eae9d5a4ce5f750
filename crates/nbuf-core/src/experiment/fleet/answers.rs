//! The answers: what each volume and the whole need, and how a budget is split.

use super::Ask;
use super::allocation::{Hull, budget_for, by_hulls};
use super::curve::Curve;
use super::folder::VERSION;
use super::last::Halves;
use super::reduce::Reduced;
use super::{regret, split};
use crate::experiment::hull::MissCurve;
use crate::experiment::result::{
    FleetDocument, FleetPoint, FleetTask, FleetVolume, FleetWhole, Warning,
};
use crate::experiment::warning::FleetWarning;
use crate::meter::steps::Steps;
use crate::units::{Bytes, whole};

/// Sizes at which a curve is shown.
const SIZES: u32 = 24;
/// A volume is not worth a cache if even everything in memory hits less.
const UNCACHEABLE: f64 = 0.05;

/// The document of a fleet.
pub(super) fn answer(
    tasks: &[FleetTask],
    page_bytes: u64,
    reduced: Reduced,
    ask: &Ask,
) -> FleetDocument {
    let Reduced { curves, failures, missing, unfinished, failed, empty, .. } = reduced;
    let Reduced { overlaps, problems, checksum, policies, .. } = reduced;
    let mut volumes: Vec<FleetVolume> = curves.iter().map(|curve| volume(curve, ask)).collect();
    let all = all(&curves, &volumes, ask);
    let split = split::split(&curves, &mut volumes, page_bytes, ask);
    for volume in &mut volumes {
        volume.policies = policies.get(&volume.name).map(|of| of.1.clone()).unwrap_or_default();
    }
    let size = tasks.iter().find_map(|task| task.policy_size.as_deref());
    let until_us = tasks.iter().find_map(|task| task.until_us);
    let halves = Halves::of(&curves);
    let budget = ask.budget.map(|budget| budget.0 / page_bytes.max(1));
    let last = until_us.zip(budget).and_then(|(until, budget)| halves.last(until, budget));
    volumes.sort_by(|a, b| b.accesses.cmp(&a.accesses).then_with(|| a.name.cmp(&b.name)));
    let mut warnings = Vec::new();
    let mut warn = |names: Vec<String>, of: fn(Vec<String>) -> FleetWarning| {
        if !names.is_empty() {
            warnings.push(Warning::Fleet(of(names)));
        }
    };
    warn(unfinished, |volumes| FleetWarning::Unfinished { volumes });
    warn(failed, |volumes| FleetWarning::TaskFailed { volumes });
    warn(empty, |inputs| FleetWarning::Empty { inputs });
    warn(overlaps, |volumes| FleetWarning::Overlapping { volumes });
    let estimates: Vec<String> = curves
        .iter()
        .filter(|curve| curve.parts.is_some())
        .map(|curve| curve.name.clone())
        .collect();
    if until_us.is_some() {
        warn(halves.without, |volumes| FleetWarning::NotInTime { volumes });
    }
    warn(estimates, |volumes| FleetWarning::Estimated { volumes });
    warnings.extend((until_us.is_some() && last.is_none()).then(|| no_later(budget)));
    if problems > 0 {
        warnings.push(Warning::Fleet(FleetWarning::Unreadable { records: problems }));
    }
    FleetDocument {
        schema: FleetDocument::SCHEMA.to_owned(),
        version: VERSION.to_owned(),
        page_bytes,
        tasks: tasks.len() as u64,
        tasks_missing: missing,
        failures,
        checksum: format!("{checksum:016x}"),
        hit_ratio: ask.hit_ratio,
        whole: all,
        volumes,
        split,
        policies: size.and_then(|size| regret::policies(size, &policies)),
        last,
        warnings,
    }
}

/// Why nothing is said of a split that lasts.
fn no_later(budget: Option<u64>) -> Warning {
    Warning::Fleet(match budget {
        None => FleetWarning::NoBudget,
        Some(_) => FleetWarning::NothingLater,
    })
}

fn volume(curve: &Curve, ask: &Ask) -> FleetVolume {
    let steps = curve.steps();
    let (accesses, cold) = steps.ends();
    let most = misses_allowed(accesses, ask);
    let hits_all = accesses.saturating_sub(cold) as f64;
    FleetVolume {
        name: curve.name.clone(),
        accesses,
        distinct_pages: curve.distinct,
        cold_misses: cold,
        knee_pages: knee(&steps),
        hit_pages: steps.size_for(most),
        parts: curve.parts,
        is_uncacheable: hits_all < UNCACHEABLE * accesses as f64,
        points: points(curve, &steps),
        share: None,
        policies: Vec::new(),
    }
}

/// Misses at the most for the hit ratio that is asked for. A product of a share is off by less than a part of an access.
fn misses_allowed(accesses: u64, ask: &Ask) -> u64 {
    let hits = (accesses as f64 * ask.hit_ratio - 1e-6).ceil();
    accesses.saturating_sub(whole(hits.max(0.0)))
}

/// The knee of the three sizes that `nbuf curve` prints.
fn knee(steps: &Steps) -> Option<u64> {
    let pairs = steps.pairs().iter().map(|&(pages, misses)| (Bytes(pages), misses));
    let misses = MissCurve::from_steps(pairs);
    misses.gains().then(|| misses.0[misses.corners().knee].0.0)
}

fn points(curve: &Curve, steps: &Steps) -> Vec<FleetPoint> {
    let point = |pages| {
        let misses = steps.at(pages);
        let (misses_low, misses_high) = curve.band(pages).unwrap_or((misses, misses));
        FleetPoint { pages, misses, misses_low, misses_high }
    };
    sizes(steps.largest()).into_iter().map(point).collect()
}

/// Sizes in equal ratios, from one page to the largest that matters.
fn sizes(largest: u64) -> Vec<u64> {
    let ratio = |step: u32| (largest.max(1) as f64).powf(f64::from(step) / f64::from(SIZES - 1));
    let mut sizes: Vec<u64> = (0..SIZES).map(|step| whole(ratio(step))).collect();
    sizes.dedup();
    sizes
}

fn all(curves: &[Curve], volumes: &[FleetVolume], ask: &Ask) -> FleetWhole {
    let sum = |of: fn(&FleetVolume) -> u64| volumes.iter().map(of).sum::<u64>();
    let accesses = sum(|volume| volume.accesses);
    let hulls: Vec<Hull> = curves.iter().map(|curve| curve.hull.clone()).collect();
    let largest = hulls.iter().filter_map(|hull| hull.last()).map(|last| last.0).sum();
    let point = |pages| {
        let misses = whole(by_hulls(&hulls, pages).bound);
        FleetPoint { pages, misses, misses_low: misses, misses_high: misses }
    };
    FleetWhole {
        accesses,
        distinct_pages: sum(|volume| volume.distinct_pages),
        cold_misses: sum(|volume| volume.cold_misses),
        hit_pages: budget_for(&hulls, misses_allowed(accesses, ask) as f64),
        hit_pages_each: sum(|volume| volume.hit_pages.unwrap_or(0)),
        volumes_below: volumes.iter().filter(|volume| volume.hit_pages.is_none()).count() as u64,
        knee_pages: sum(|volume| volume.knee_pages.unwrap_or(0)),
        points: sizes(largest).into_iter().map(point).collect(),
    }
}

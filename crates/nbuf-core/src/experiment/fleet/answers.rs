//! The answers: what each volume and the whole need, and how a budget is split.

use super::Ask;
use super::allocation::{Hull, budget_for, by_hulls};
use super::curve::Curve;
use super::folder::VERSION;
use super::last::Halves;
use super::reduce::Reduced;
use super::representatives::{Shape, representatives};
use super::{regret, split};
use crate::experiment::hull::MissCurve;
use crate::experiment::result::{
    FleetDocument, FleetPoint, FleetSpread, FleetTask, FleetVolume, FleetWhole, Warning,
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
    let Reduced { overlaps, problems, checksum, policies, partitions, .. } = reduced;
    let (mut volumes, shapes): (Vec<FleetVolume>, Vec<Shape>) =
        curves.iter().map(|curve| volume(curve, ask)).unzip();
    let representatives = representatives(&mut volumes, &shapes);
    let all = all(&curves, &volumes, ask);
    let split = split::split(&curves, &mut volumes, page_bytes, ask);
    let sharing = partitions.sharing(&curves, &volumes);
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
        .chain(partitions.curves())
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
        sharing,
        representatives,
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

fn volume(curve: &Curve, ask: &Ask) -> (FleetVolume, Shape) {
    let steps = curve.steps();
    let (accesses, cold) = steps.ends();
    let most = misses_allowed(accesses, ask);
    let hits_all = accesses.saturating_sub(cold) as f64;
    let volume = FleetVolume {
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
        represented_by: None,
    };
    (volume, Shape::of(curve.distinct, &steps))
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
        hit_pages_spread: spread(volumes.iter().filter_map(|volume| volume.hit_pages)),
        volumes_below: volumes.iter().filter(|volume| volume.hit_pages.is_none()).count() as u64,
        knee_pages: sum(|volume| volume.knee_pages.unwrap_or(0)),
        knee_pages_spread: spread(volumes.iter().filter_map(|volume| volume.knee_pages)),
        points: sizes(largest).into_iter().map(point).collect(),
    }
}

/// Ranks of these sizes: the smallest one that a tenth, a half and nine tenths of them do not exceed.
fn spread(sizes: impl Iterator<Item = u64>) -> Option<FleetSpread> {
    let mut sizes: Vec<u64> = sizes.collect();
    sizes.sort_unstable();
    let max = *sizes.last()?;
    let rank = |tenths: usize| sizes[(sizes.len() * tenths).div_ceil(10).saturating_sub(1)];
    Some(FleetSpread { p10: rank(1), p50: rank(5), p90: rank(9), max })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::curve::tests::{curve, naive_misses};
    use super::*;

    /// More pages than a volume has.
    const MOST: usize = 10;
    /// More pages than three volumes have.
    const ALL: u64 = 30;
    const MEBIBYTE: u64 = 1 << 20;

    /// Misses of a list that keeps from no page to the most.
    fn naive(pages: &[u64]) -> Vec<u64> {
        (0..=MOST).map(|size| naive_misses(pages, 0, size)).collect()
    }

    fn at(misses: &[u64], pages: u64) -> u64 {
        misses[usize::try_from(pages).unwrap().min(MOST)]
    }

    /// The fewest misses of all splits.
    fn fewest(curves: &[Vec<u64>], budget: u64) -> u64 {
        match curves {
            [] => 0,
            [only] => at(only, budget),
            [first, rest @ ..] => {
                (0..=budget).map(|own| at(first, own) + fewest(rest, budget - own)).min().unwrap()
            }
        }
    }

    proptest! {
        #[test]
        fn answers_are_those_of_all_splits(
            volumes in prop::collection::vec(prop::collection::vec(0..9_u64, 1..40), 1..4),
            budget in 0..ALL,
            tenths in 1..10_u32,
        ) {
            let oracle: Vec<Vec<u64>> = volumes.iter().map(|pages| naive(pages)).collect();
            let curves = volumes.iter().enumerate();
            let curves = curves.map(|(at, pages)| curve(&at.to_string(), pages)).collect();
            let ask = Ask {
                hit_ratio: f64::from(tenths) / 10.0,
                budget: Some(Bytes(budget * MEBIBYTE)),
                miss_ms: Some(5.0),
                miss_price: Some(2.0),
                gib_price: Some(3.0),
            };
            let reduced = Reduced { curves, ..Reduced::default() };
            let found = answer(&[], MEBIBYTE, reduced, &ask);
            let allowed = |accesses: u64| accesses - (accesses * u64::from(tenths)).div_ceil(10);
            for volume in &found.volumes {
                let own = &oracle[volume.name.parse::<usize>().unwrap()];
                let most = allowed(volume.accesses);
                let size = own.iter().position(|&misses| misses <= most);
                prop_assert_eq!(volume.hit_pages, size.map(|size| size as u64));
                let hits = volume.accesses - own[MOST];
                prop_assert_eq!(volume.is_uncacheable, 20 * hits < volume.accesses);
                let share = volume.share.unwrap();
                prop_assert_eq!(share.misses, at(own, share.pages));
                prop_assert_eq!(share.equal_misses, at(own, share.equal_pages));
            }
            // The memory for the whole is a bound: no split of less memory is enough.
            let most = allowed(found.whole.accesses);
            for pages in 0..found.whole.hit_pages.unwrap_or(ALL) {
                prop_assert!(fewest(&oracle, pages) > most, "{} pages", pages);
            }
            let split = found.split.unwrap();
            let best = fewest(&oracle, budget);
            prop_assert_eq!(split.rules[0].misses, best);
            prop_assert!(split.bound_misses.unwrap() <= best as f64 + 1e-6, "{:?}", split);
            let is_close = |found: f64, want: f64| (found - want).abs() < 1e-9;
            for change in &split.changes {
                let other = change.budget_pages;
                prop_assert!(other.abs_diff(budget) <= budget / 10 + 1, "{:?}", change);
                let more = fewest(&oracle, other).cast_signed() - best.cast_signed();
                prop_assert_eq!(change.misses_more, more);
                let (misses, gibibytes) = (more as f64, (other as f64 - budget as f64) / 1024.0);
                prop_assert!(is_close(change.seconds_more.unwrap(), misses * 0.005));
                prop_assert!(is_close(change.miss_dollars_more.unwrap(), misses * 2e-6));
                prop_assert!(is_close(change.memory_dollars_more.unwrap(), gibibytes * 3.0));
            }
            let larger = &split.changes[1];
            let mebibytes = larger.budget_pages.saturating_sub(budget);
            let price = -(larger.misses_more as f64) / mebibytes.max(1) as f64;
            let price = if mebibytes > 0 { price } else { 0.0 };
            prop_assert!(is_close(split.misses_per_mebibyte, price));
        }
    }

    #[test]
    fn ranks_are_sizes_of_volumes() {
        let check = |sizes: &[u64], want: Option<[u64; 4]>| {
            let found = spread(sizes.iter().copied());
            assert_eq!(found.map(|of| [of.p10, of.p50, of.p90, of.max]), want, "{sizes:?}");
        };
        check(&[], None);
        check(&[7], Some([7; 4]));
        check(&[9, 1, 5], Some([1, 5, 9, 9]));
        let tens: Vec<u64> = (1..=10).rev().collect();
        check(&tens, Some([1, 5, 9, 10]));
    }
}

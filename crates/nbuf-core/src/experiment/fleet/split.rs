//! The split of a budget, compared with simple rules and with a little more or less.

use super::Ask;
use super::allocation::{Hull, by_hulls, by_numbers, programme};
use super::curve::Curve;
use crate::experiment::result::{
    FleetChange, FleetRule, FleetShare, FleetSplit, FleetVerdict, FleetVolume,
};
use crate::meter::steps::Steps;

/// Volumes for which the exact programme is worth its time, and the units of its grid.
const PROGRAMME_VOLUMES: usize = 50;
const PROGRAMME_UNITS: u64 = 512;
/// A change of the budget, as a share.
const CHANGE: f64 = 0.1;
const GIBIBYTE: f64 = (1_u64 << 30) as f64;
const MEBIBYTE: f64 = (1_u64 << 20) as f64;
/// Misses that a price is for.
const PRICED_MISSES: f64 = 1e6;

/// What a rule divides a budget by.
pub(super) type Number = fn(&Curve) -> u64;

/// Rules that need no curves.
const SIMPLE: [(&str, Number); 3] =
    [("equal", |_| 1), ("rate", |curve| curve.accesses), ("footprint", |curve| curve.distinct)];

/// Curves in the form that a split asks.
pub(super) struct Fleet<'a> {
    curves: &'a [Curve],
    hulls: Vec<Hull>,
    /// Steps of all, where there are few volumes; else they are unpacked when asked.
    steps: Vec<Steps>,
}

impl<'a> Fleet<'a> {
    /// Curves that are asked.
    pub(super) fn of(curves: &'a [Curve]) -> Self {
        let is_small = curves.len() < PROGRAMME_VOLUMES;
        let steps = if is_small { curves.iter().map(Curve::steps).collect() } else { Vec::new() };
        let hulls = curves.iter().map(|curve| curve.hull.clone()).collect();
        Self { curves, hulls, steps }
    }

    /// Misses of a volume with these pages.
    pub(super) fn at(&self, volume: usize, pages: u64) -> u64 {
        match self.steps.get(volume) {
            Some(steps) => steps.at(pages),
            None => self.curves[volume].steps().at(pages),
        }
    }

    /// Misses of all volumes, each with these pages.
    pub(super) fn misses(&self, pages: &[u64]) -> u64 {
        pages.iter().enumerate().map(|(volume, &pages)| self.at(volume, pages)).sum()
    }

    /// The best split that is known: of all rules here.
    pub(super) fn best(&self, budget: u64) -> (Vec<u64>, u64, &'static str) {
        let simple = SIMPLE.map(|(name, number)| {
            let pages = self.by(number, budget);
            let misses = self.misses(&pages);
            (pages, misses, name)
        });
        let computed = self.computed(budget);
        simple.into_iter().fold(computed, |best, rule| if rule.1 < best.1 { rule } else { best })
    }

    /// Misses that no split of the budget can be below; nothing where a curve is an estimate.
    pub(super) fn bound(&self, budget: u64) -> Option<f64> {
        let is_exact = !self.curves.iter().any(|curve| curve.is_estimate);
        is_exact.then(|| by_hulls(&self.hulls, budget).bound)
    }

    /// Each volume gets a share by this number of it.
    pub(super) fn by(&self, number: Number, budget: u64) -> Vec<u64> {
        by_numbers(&self.curves.iter().map(number).collect::<Vec<u64>>(), budget)
    }

    /// By hulls, or by the programme where that is better.
    fn computed(&self, budget: u64) -> (Vec<u64>, u64, &'static str) {
        let by_hull = by_hulls(&self.hulls, budget).pages;
        let misses = self.misses(&by_hull);
        if self.steps.is_empty() || budget == 0 {
            return (by_hull, misses, "hull");
        }
        let unit = budget.div_ceil(PROGRAMME_UNITS);
        let of = |steps: &Steps| (0..=budget / unit).map(|k| steps.at(k * unit)).collect();
        let units = programme(&self.steps.iter().map(of).collect::<Vec<Vec<u64>>>());
        let pages: Vec<u64> = units.into_iter().map(|units| units as u64 * unit).collect();
        let exact = self.misses(&pages);
        if exact < misses { (pages, exact, "programme") } else { (by_hull, misses, "hull") }
    }
}

/// Splits the budget that was asked for, and writes each share into its volume.
pub(super) fn split(
    curves: &[Curve],
    volumes: &mut [FleetVolume],
    page_bytes: u64,
    ask: &Ask,
) -> Option<FleetSplit> {
    let budget = ask.budget?.0 / page_bytes.max(1);
    let fleet = Fleet::of(curves);
    let (pages, misses, method) = fleet.best(budget);
    let equal = fleet.by(|_| 1, budget);
    let accesses: u64 = curves.iter().map(|curve| curve.accesses).sum();
    let rule = |name: &str, misses: u64| rule(name, accesses, misses);
    let simple = SIMPLE.map(|(name, number)| rule(name, fleet.misses(&fleet.by(number, budget))));
    let rules = std::iter::once(rule("best", misses)).chain(simple).collect();
    for (at, volume) in volumes.iter_mut().enumerate() {
        volume.share = Some(FleetShare {
            pages: pages[at],
            misses: fleet.at(at, pages[at]),
            equal_pages: equal[at],
            equal_misses: fleet.at(at, equal[at]),
            verdict: verdict(volume.is_uncacheable, pages[at], equal[at]),
        });
    }
    let changes = [1.0 - CHANGE, 1.0 + CHANGE].map(|times| {
        let other = crate::units::whole(budget as f64 * times);
        change(&fleet, (budget, misses), other, page_bytes, ask)
    });
    Some(FleetSplit {
        budget_pages: budget,
        method: method.to_owned(),
        bound_misses: fleet.bound(budget),
        rules,
        misses_per_mebibyte: price(&changes[1], budget, page_bytes),
        changes: changes.to_vec(),
    })
}

/// A rule with its misses.
pub(super) fn rule(name: &str, accesses: u64, misses: u64) -> FleetRule {
    let hits = accesses.saturating_sub(misses) as f64;
    FleetRule { rule: name.to_owned(), misses, hit_ratio: hits / accesses.max(1) as f64 }
}

/// Misses that each MiB of a larger budget saves.
fn price(larger: &FleetChange, budget: u64, page_bytes: u64) -> f64 {
    let mebibytes =
        larger.budget_pages.saturating_sub(budget) as f64 * page_bytes as f64 / MEBIBYTE;
    if mebibytes > 0.0 { -(larger.misses_more as f64) / mebibytes } else { 0.0 }
}

fn verdict(is_uncacheable: bool, best: u64, equal: u64) -> FleetVerdict {
    match (best, equal) {
        _ if is_uncacheable => FleetVerdict::Uncacheable,
        (best, equal) if best > equal.saturating_mul(2) => FleetVerdict::Starves,
        (best, equal) if best.saturating_mul(2) < equal => FleetVerdict::Wastes,
        _ => FleetVerdict::Fits,
    }
}

/// What another budget changes.
fn change(
    fleet: &Fleet<'_>,
    (budget, misses): (u64, u64),
    other: u64,
    page_bytes: u64,
    ask: &Ask,
) -> FleetChange {
    let (_, misses_then, _) = fleet.best(other);
    let misses_more = misses_then.cast_signed() - misses.cast_signed();
    let more = misses_more as f64;
    let gibibytes = (other as f64 - budget as f64) * page_bytes as f64 / GIBIBYTE;
    FleetChange {
        budget_pages: other,
        misses: misses_then,
        misses_more,
        seconds_more: ask.miss_ms.map(|ms| more * ms / 1e3),
        miss_dollars_more: ask.miss_price.map(|price| more * price / PRICED_MISSES),
        memory_dollars_more: ask.gib_price.map(|price| gibibytes * price),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_below_half_or_above_twice_has_a_verdict() {
        let check = |best, equal, want| {
            assert_eq!(verdict(false, best, equal), want, "{best} of {equal}");
            assert_eq!(verdict(true, best, equal), FleetVerdict::Uncacheable);
        };
        check(0, 1, FleetVerdict::Wastes);
        check(1, 3, FleetVerdict::Wastes);
        check(2, 4, FleetVerdict::Fits);
        check(8, 4, FleetVerdict::Fits);
        check(9, 4, FleetVerdict::Starves);
        check(0, 0, FleetVerdict::Fits);
    }
}

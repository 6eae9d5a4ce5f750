//! What it costs to support a user who does a particular job, and how many such users the machine carries.
//!
//! Source: Saltzer, "Multics Performance", 1969: "Real question is what does it cost to support a user doing a
//! particular job", and the table of heavy and light users. N* of one class follows from the demands of the class, by
//! the same bounds as N* of all users.

use super::condition::Condition;
use super::{bounds, usage};
use crate::experiment::result::{
    LoadBottleneck, LoadClass, LoadCost, LoadKnee, LoadPrice, LoadStep, LoadUse,
};
use crate::units::whole;

/// No machine carries more.
const MOST: f64 = 1e9;
const HOUR_SECONDS: f64 = 3600.0;
const THOUSAND: f64 = 1000.0;

/// The cost of each class whose commands were answered, in steps under one combination of conditions.
pub(super) fn of(
    rows: &[LoadStep],
    knee: Option<&LoadKnee>,
    processors: u32,
    price: Option<&LoadPrice>,
) -> Vec<LoadCost> {
    let Some(first) = rows.first() else { return Vec::new() };
    let Condition { limit, table, cpus } = Condition::of(first);
    let one = |(at, class): (usize, &LoadClass)| {
        let own = rows.iter().filter_map(|row| row.classes.get(at)?.used.as_ref());
        let used = usage::sum(own, price)?;
        let there = |row: &LoadStep| {
            let users = row.classes.get(at).map_or(0, |class| class.users);
            f64::from(users) * row.window_seconds / HOUR_SECONDS
        };
        let user_hours: f64 = rows.iter().map(there).sum();
        let each_hour = used.commands as f64 / user_hours;
        let price = used.price_per_thousand.map(|price| price / THOUSAND * each_hour);
        Some(LoadCost {
            limit_bytes: limit,
            table,
            cpus,
            class: class.name.clone(),
            used,
            user_hours,
            price_per_user_hour: price.filter(|_| user_hours > 0.0),
            alone: knee.and_then(|knee| alone(rows, at, &used, knee, processors)),
        })
    };
    first.classes.iter().enumerate().filter_map(one).collect()
}

/// N* with users of one class alone.
fn alone(
    rows: &[LoadStep],
    at: usize,
    used: &LoadUse,
    knee: &LoadKnee,
    processors: u32,
) -> Option<u32> {
    // A lock, say, whose share for each class was not measured.
    if knee.bottleneck == LoadBottleneck::Elsewhere {
        return None;
    }
    let own =
        || rows.iter().filter_map(move |row| row.classes.get(at)).filter(|of| of.interactions > 0);
    let all: f64 = own().map(|class| class.interactions as f64).sum();
    let thought = own().map(|class| Some(class.think_seconds? * class.interactions as f64));
    let think_seconds = thought.sum::<Option<f64>>()? / all;
    // Where it was shortest, the class waited least.
    let response_seconds = own()
        .filter_map(|class| class.response)
        .map(|times| times.mean_seconds)
        .fold(f64::INFINITY, f64::min);
    let processors = f64::from(rows.first()?.cpus.unwrap_or(processors).max(1));
    let cpu = used.cpu_seconds_each / processors;
    let disc = bounds::disc_demand(rows) * read_share(rows, used);
    let table =
        rows.first()?.table.map_or(0.0, |places| response_seconds / f64::from(places.max(1)));
    let largest = cpu.max(disc).max(table);
    let users = (think_seconds + response_seconds) / largest;
    // A quotient of measured times may be a hair below its whole number.
    let users = whole((users + 1e-6).floor().min(MOST));
    (largest > 0.0 && response_seconds.is_finite())
        .then(|| u32::try_from(users).unwrap_or(u32::MAX))
}

/// What a command of the class reads by what a command of any class reads; 1 where nothing is read.
fn read_share(rows: &[LoadStep], used: &LoadUse) -> f64 {
    let each = |used: &LoadUse| used.read_bytes.0 as f64 / used.commands.max(1) as f64;
    let all = usage::of_steps(rows.iter(), None).map_or(0.0, |all| each(&all));
    if all > 0.0 { each(used) / all } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::LoadTimes;
    use crate::units::Bytes;

    /// Each command of a class needs this much of a processor, and reads these bytes.
    fn class(name: &str, users: u32, cpu_seconds_each: f64, bytes_each: u64) -> LoadClass {
        let used = LoadUse {
            commands: 100,
            cpu_seconds: 100.0 * cpu_seconds_each,
            read_bytes: Bytes(100 * bytes_each),
            ..LoadUse::default()
        };
        LoadClass {
            name: name.to_owned(),
            users,
            interactions: 100,
            think_seconds: Some(1.0),
            response: Some(LoadTimes { mean_seconds: cpu_seconds_each, ..LoadTimes::default() }),
            used: Some(used),
            ..LoadClass::default()
        }
    }

    fn step(classes: Vec<LoadClass>) -> LoadStep {
        let used = classes.iter().filter_map(|class| class.used.as_ref());
        LoadStep {
            window_seconds: 1800.0,
            interactions: classes.iter().map(|class| class.interactions).sum(),
            throughput_per_second: 1.0,
            disc_busy: Some(0.1),
            used: usage::sum(used, None),
            classes,
            ..LoadStep::default()
        }
    }

    fn carried(rows: &[LoadStep], processors: u32) -> Vec<Option<u32>> {
        let knee = LoadKnee::default();
        of(rows, Some(&knee), processors, None).into_iter().map(|cost| cost.alone).collect()
    }

    /// N* = (think + response) / largest demand, of each class.
    #[test]
    fn each_class_alone_has_its_own_knee() {
        // On two processors a demand of 0.5 s is 0.25 s: 1.5 / 0.25; the light one has 1.1 / 0.05 without a disc.
        let heavy = class("heavy", 1, 0.5, 0);
        let light = class("light", 1, 0.1, 0);
        let mut rows = [step(vec![heavy, light])];
        rows[0].disc_busy = None;
        assert_eq!(carried(&rows, 2), [Some(6), Some(22)]);
        // On one processor both have half.
        rows[0].cpus = Some(1);
        assert_eq!(carried(&rows, 2), [Some(3), Some(11)]);
        // One place is taken for the whole response.
        rows[0].table = Some(1);
        assert_eq!(carried(&rows, 2), [Some(3), Some(11)]);
        // The queue is elsewhere.
        let knee = LoadKnee { bottleneck: LoadBottleneck::Elsewhere, ..LoadKnee::default() };
        assert!(of(&rows, Some(&knee), 2, None).iter().all(|cost| cost.alone.is_none()));
        assert!(of(&rows, None, 2, None).iter().all(|cost| cost.alone.is_none()));
        assert!(of(&[], None, 2, None).is_empty());
    }

    #[test]
    fn the_demand_on_a_disc_is_of_those_who_read() {
        // A command has 0.1 s of the disc on average: 0.2 s for the class that reads, and nothing for the other.
        let reads = class("reads", 1, 0.01, 8192);
        let computes = class("computes", 1, 0.01, 0);
        let rows = [step(vec![reads, computes])];
        assert_eq!(carried(&rows, 1), [Some(5), Some(101)]);
    }

    #[test]
    fn a_user_costs_what_the_commands_of_an_hour_cost() {
        let price = LoadPrice { cpu_per_hour: 3.6, ..LoadPrice::default() };
        let rows = [step(vec![class("a", 2, 0.5, 0)]), step(vec![class("a", 4, 0.5, 0)])];
        let costs = of(&rows, None, 1, Some(&price));
        let [cost] = &costs[..] else { panic!("{costs:?}") };
        // Two users and four users for half an hour, with 200 commands of half a second.
        assert_eq!((cost.used.commands, cost.user_hours.to_bits()), (200, 3.0_f64.to_bits()));
        let each = cost.price_per_user_hour.unwrap();
        assert!((each - 0.1 / 3.0).abs() < 1e-12, "{cost:?}");
    }
}

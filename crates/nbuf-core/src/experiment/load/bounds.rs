//! The number of users from which queues cannot be avoided.
//!
//! Source: P. J. Denning, J. P. Buzen, "The Operational Analysis of Queueing Network Models", *Computing
//! Surveys* 10(3), 1978: the use law (busy share = throughput x demand) gives the demands; a
//! throughput is at most `1/D_max` and at most `N/(Z + sum of D)`, and both meet at N*.

use crate::experiment::result::{LoadBottleneck, LoadKnee, LoadLabel, LoadStep};

/// The share of the time of all processors that commands of the step had, where it is known.
pub(super) fn own_share(step: &LoadStep, processors: u32) -> Option<f64> {
    let each = step.cpu_seconds_per_interaction?;
    Some(each * step.throughput_per_second / f64::from(processors.max(1)))
}

/// Whether the commands of a step used a disc, as far as that is known: its busy share is of the whole machine.
fn uses_disc(step: &LoadStep) -> bool {
    /// Shorter waits are no reads.
    const WAIT_SECONDS: f64 = 1e-6;
    // What servers outside of a group do is not known.
    let (Some(split), Some(_)) = (&step.split, step.cpu_seconds_per_interaction) else {
        return true;
    };
    let has_waited = split.disc_seconds > WAIT_SECONDS;
    has_waited
        || step.used.is_some_and(|used| {
            used.fills_each > 0.0 || used.disc_operations.is_none_or(|count| count > 0)
        })
}

/// The use law: busy share by throughput.
fn by_use(busy: Option<f64>, step: &LoadStep) -> Option<f64> {
    Some(busy? / step.throughput_per_second)
}

/// The mean over all interactions; nothing where a step with answers has no such figure.
fn mean(steps: &[LoadStep], of: &dyn Fn(&LoadStep) -> Option<f64>) -> Option<f64> {
    let all: f64 = steps.iter().map(|step| step.interactions as f64).sum();
    let parts: Option<Vec<f64>> = steps
        .iter()
        .filter(|step| step.interactions > 0)
        .map(|step| of(step).map(|value| value * step.interactions as f64))
        .collect();
    parts.filter(|_| all > 0.0).map(|parts| parts.iter().sum::<f64>() / all)
}

/// The mean demand of an interaction on the busiest disc.
pub(super) fn disc_demand(steps: &[LoadStep]) -> f64 {
    let of =
        |step: &LoadStep| if uses_disc(step) { by_use(step.disc_busy, step) } else { Some(0.0) };
    mean(steps, &of).unwrap_or(0.0)
}

/// N* of closed users, by the demands in all steps; not yet divided among classes.
pub(super) fn knee(steps: &[LoadStep], processors: u32) -> Option<LoadKnee> {
    let first = steps.first()?;
    let processors = first.cpus.unwrap_or(processors);
    let mean = |of: &dyn Fn(&LoadStep) -> Option<f64>| mean(steps, of);
    let processors = f64::from(processors.max(1));
    // Own processor time where it is known: the machine may do other work, too.
    let cpu = mean(&|step| step.cpu_seconds_per_interaction)
        .or_else(|| mean(&|step| Some(processors * by_use(step.processors_busy, step)?)))?;
    let disc = disc_demand(steps);
    let think_seconds = mean(&|step| step.think_seconds).unwrap_or(0.0);
    let best = steps.iter().map(|step| step.throughput_per_second).fold(0.0, f64::max);
    let is_elsewhere =
        |step: &LoadStep| matches!(step.label, LoadLabel::WaitsElsewhere | LoadLabel::LockBound);
    let waits = steps.iter().any(is_elsewhere);
    let device = (cpu / processors).max(disc);
    // Where no device explains the queue, the server is busy all the time at the highest throughput.
    let elsewhere = if waits && best > 0.0 { 1.0 / best } else { 0.0 };
    // One user alone waits for no other: the response is the sum of all demands.
    let alone = steps.iter().find(|step| step.users == 1).and_then(|step| step.response);
    let sum = cpu + disc + elsewhere;
    let demands_seconds = alone.map_or(sum, |times| times.mean_seconds);
    // A place is taken for the whole service.
    let table = first.table.map_or(0.0, |places| demands_seconds / f64::from(places.max(1)));
    let (demand_max_seconds, bottleneck) = if table >= elsewhere.max(device) {
        (table, LoadBottleneck::Table)
    } else if elsewhere > device {
        (elsewhere, LoadBottleneck::Elsewhere)
    } else if cpu / processors >= disc {
        (device, LoadBottleneck::Processors)
    } else {
        (device, LoadBottleneck::Disc)
    };
    let users = (think_seconds + demands_seconds) / demand_max_seconds;
    (demand_max_seconds > 0.0).then_some(LoadKnee {
        users,
        bottleneck,
        demand_max_seconds,
        demands_seconds,
        think_seconds,
        classes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::{LoadSplit, LoadTimes};

    fn step(users: u32, throughput: f64, response: f64, cpu: f64, disc: f64) -> LoadStep {
        LoadStep {
            users,
            interactions: 100,
            throughput_per_second: throughput,
            response: Some(LoadTimes { mean_seconds: response, ..LoadTimes::default() }),
            think_seconds: Some(1.0),
            processors_busy: Some(cpu),
            disc_busy: Some(disc),
            ..LoadStep::default()
        }
    }

    #[test]
    fn the_knee_is_where_both_bounds_meet() {
        // Two processors, each with half of 0.2 s; a disc with 0.05 s.
        let steps = [step(1, 0.8, 0.25, 0.08, 0.04), step(20, 10.0, 1.0, 1.0, 0.5)];
        let found = knee(&steps, 2).unwrap();
        assert_eq!(found.bottleneck, LoadBottleneck::Processors);
        assert!((found.demand_max_seconds - 0.1).abs() < 1e-9, "{found:?}");
        assert!((found.users - 12.5).abs() < 1e-9, "{found:?}");
        // A lock of 0.5 s, which no device sees.
        let mut steps = [step(1, 0.66, 0.5, 0.0, 0.0), step(9, 2.0, 3.5, 0.0, 0.0)];
        steps[1].label = LoadLabel::WaitsElsewhere;
        let found = knee(&steps, 2).unwrap();
        assert_eq!(found.bottleneck, LoadBottleneck::Elsewhere);
        assert!((found.users - 3.0).abs() < 1e-9, "{found:?}");
        assert_eq!(knee(&[], 2), None);
        // Others keep the disc busy: commands that never wait for it have no demand there.
        let mut steps = [step(1, 0.8, 0.25, 0.08, 0.9)];
        assert_eq!(knee(&steps, 2).unwrap().bottleneck, LoadBottleneck::Disc);
        steps[0].split = Some(LoadSplit { on_cpu_seconds: 0.2, ..LoadSplit::default() });
        assert_eq!(
            knee(&steps, 2).unwrap().bottleneck,
            LoadBottleneck::Disc,
            "by servers, perhaps"
        );
        steps[0].cpu_seconds_per_interaction = Some(0.2);
        assert_eq!(knee(&steps, 2).unwrap().bottleneck, LoadBottleneck::Processors);
        // Two places, each taken for the half second of a service: four interactions a second at most.
        let mut steps = [step(1, 0.66, 0.5, 0.0, 0.0)];
        steps[0].table = Some(2);
        let found = knee(&steps, 2).unwrap();
        assert_eq!(found.bottleneck, LoadBottleneck::Table);
        assert!((found.users - 6.0).abs() < 1e-9, "{found:?}");
    }
}

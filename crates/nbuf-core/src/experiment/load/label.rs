//! What a step is bound by, and the figures that say so.
//!
//! Source: Saltzer, "Multics Performance", 1969: "core bound", "CPU/core in balance". The rules are in
//! docs/load.md.

use super::bounds::own_share;
use super::condition::Condition;
use crate::experiment::result::{LoadEvidence, LoadFigure, LoadLabel, LoadSplit, LoadStep};

/// From this share of time on a processor or disc counts as busy.
const BUSY: f64 = 0.85;
/// Two busy shares as near as this are in balance, from the lower share on.
const BALANCE: f64 = 0.1;
const BALANCE_BUSY: f64 = 0.7;
/// Users have this share of busy processors at least, or others keep them busy.
const OWN: f64 = 0.5;
/// A response, or a processor time, rises if it is as much longer than the shortest.
const RISE: f64 = 1.5;
/// From this share of service on a wait is what commands are bound by.
const WAIT: f64 = 0.3;
/// From this share of pages that come back on, memory is too small.
const REFAULTS: f64 = 0.5;
/// Commands that read fewer pages are not bound by that.
const FILLS: f64 = 100.0;
/// Arrivals that no user took, at least.
const NOT_BEGUN: f64 = 1.0;

/// What all steps are compared with.
#[derive(Clone, Copy, Debug)]
struct Base {
    /// The shortest mean response of all steps.
    response_seconds: f64,
    /// The least processor time of a command.
    cpu_seconds: f64,
    /// What a command waits for other threads and programs where there is one user.
    lock_seconds: f64,
    processors: u32,
    /// Whether commands wait for servers that run below the same limit.
    has_servers: bool,
}

/// Gives each row its label.
pub(super) fn all(rows: &mut [LoadStep], processors: u32, has_servers: bool) {
    let least =
        |of: fn(&LoadStep) -> Option<f64>| rows.iter().filter_map(of).fold(f64::INFINITY, f64::min);
    let response_seconds = least(|row| row.response.map(|times| times.mean_seconds));
    let cpu_seconds = least(|row| row.cpu_seconds_per_interaction);
    let alone = |condition: Condition| {
        let row = rows.iter().find(|row| row.users == 1 && Condition::of(row) == condition);
        row.and_then(|row| row.split).map_or(0.0, |split| split.lock_seconds)
    };
    let labels: Vec<_> = rows
        .iter()
        .map(|row| {
            let lock_seconds = alone(Condition::of(row));
            let processors = row.cpus.unwrap_or(processors);
            label(
                row,
                Base { response_seconds, cpu_seconds, lock_seconds, processors, has_servers },
            )
        })
        .collect();
    for (row, (label, evidence)) in rows.iter_mut().zip(labels) {
        (row.label, row.evidence) = (label, evidence);
    }
}

/// The first rule that holds.
fn label(step: &LoadStep, base: Base) -> (LoadLabel, Vec<LoadEvidence>) {
    let rules = [core, busy, waits, table, silent, rose];
    rules.into_iter().find_map(|rule| rule(step, base)).unwrap_or_default()
}

type Labelled = Option<(LoadLabel, Vec<LoadEvidence>)>;

fn above(figure: LoadFigure, value: f64, above: f64) -> Option<LoadEvidence> {
    (value >= above).then_some(LoadEvidence { figure, value, above })
}

/// The share of service that some parts have.
fn share(split: &LoadSplit, of: impl Fn(&LoadSplit) -> f64) -> f64 {
    let sum = split.sum_seconds();
    if sum > 0.0 { of(split) / sum } else { 0.0 }
}

/// Memory is too small: reclaim is waited for, or pages come back, which takes waits or processor time.
fn core(step: &LoadStep, base: Base) -> Labelled {
    let split = step.split.unwrap_or_default();
    let memory = share(&split, |split| split.memory_seconds);
    let disc = share(&split, |split| split.disc_seconds);
    if let Some(one) = above(LoadFigure::MemoryWait, memory, WAIT).filter(|_| memory >= disc) {
        return Some((LoadLabel::CoreBound, vec![one]));
    }
    // A group that thrashes reads most for commands that are not answered.
    let fills = step.fills.or_else(|| Some(step.used?.fills))?;
    let back = step.refaults as f64 / fills.max(1) as f64;
    let fills = fills as f64 / step.interactions.max(1) as f64;
    let fills = above(LoadFigure::Fills, fills, FILLS)?;
    let back = above(LoadFigure::Refaults, back.min(1.0), REFAULTS)?;
    let wait = above(LoadFigure::DiscWait, memory + disc, WAIT);
    let busy = || above(LoadFigure::DiscBusy, step.disc_busy?, BUSY);
    let cpu =
        || above(LoadFigure::CpuRise, step.cpu_seconds_per_interaction? / base.cpu_seconds, RISE);
    let cost = wait.or_else(busy).or_else(cpu)?;
    Some((LoadLabel::CoreBound, vec![cost, back, fills]))
}

/// Processors or a disc are busy. Processors that other work keeps busy are not what users wait for, where their
/// own time is known.
fn busy(step: &LoadStep, base: Base) -> Labelled {
    let busy = step.processors_busy.unwrap_or(0.0);
    let own = own_share(step, base.processors).unwrap_or(busy);
    let cpu = if own >= OWN * busy { busy } else { own };
    let disc = step.disc_busy.unwrap_or(0.0);
    let at = |from| {
        let cpu = above(LoadFigure::ProcessorsBusy, cpu, from);
        let disc = above(LoadFigure::DiscBusy, disc, from);
        (cpu, disc)
    };
    if let ((Some(cpu), Some(disc)), true) = (at(BALANCE_BUSY), (cpu - disc).abs() <= BALANCE) {
        return Some((LoadLabel::InBalance, vec![cpu, disc]));
    }
    let (of_cpu, of_disc) = at(BUSY);
    match of_cpu.filter(|_| cpu >= disc) {
        Some(one) => Some((LoadLabel::CpuBound, vec![one])),
        None => Some((LoadLabel::DiscBound, vec![of_disc?])),
    }
}

/// Commands wait, for the longest of these.
fn waits(step: &LoadStep, base: Base) -> Labelled {
    let split = step.split?;
    let lock = |split: &LoadSplit| (split.lock_seconds - base.lock_seconds).max(0.0);
    // A wait for a socket is a wait for a server, whatever that waits for.
    let lock = if step.users == 1 || base.has_servers { 0.0 } else { share(&split, lock) };
    let waits = [
        (LoadLabel::LockBound, LoadFigure::LockWait, lock),
        (
            LoadLabel::CpuBound,
            LoadFigure::ProcessorWait,
            share(&split, |split| split.runnable_seconds),
        ),
        (
            LoadLabel::DiscBound,
            LoadFigure::DiscWait,
            share(&split, |split| split.disc_seconds + split.memory_seconds),
        ),
    ];
    let (label, figure, share) = waits.into_iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some((label, vec![above(figure, share, WAIT)?]))
}

/// Users wait for a place, and what they wait for there has no queue.
fn table(step: &LoadStep, _: Base) -> Labelled {
    let share = step.place_seconds? / step.response?.mean_seconds;
    Some((LoadLabel::TableBound, vec![above(LoadFigure::PlaceWait, share, WAIT)?]))
}

fn not_begun(step: &LoadStep) -> Option<LoadEvidence> {
    above(LoadFigure::NotBegun, step.not_begun as f64, NOT_BEGUN)
}

/// No interaction was answered, and nothing above says why.
fn silent(step: &LoadStep, _: Base) -> Labelled {
    let evidence = not_begun(step).into_iter().collect();
    (step.interactions == 0).then_some((LoadLabel::NoAnswer, evidence))
}

/// The response rose, or arrivals found no user, and nothing above says why.
fn rose(step: &LoadStep, base: Base) -> Labelled {
    let ratio = step.response.map_or(0.0, |times| times.mean_seconds / base.response_seconds);
    let rise = above(LoadFigure::ResponseRise, ratio, RISE);
    let not_begun = not_begun(step);
    if rise.is_none() && not_begun.is_none() {
        return None;
    }
    let idle = step
        .idle
        .filter(|_| step.split.is_none() || base.has_servers)
        .map_or(0.0, |idle| idle.disc_idle_share);
    let disc = above(LoadFigure::DiscIdle, idle, WAIT);
    let label = if disc.is_some() { LoadLabel::DiscBound } else { LoadLabel::WaitsElsewhere };
    Some((label, rise.into_iter().chain(not_begun).chain(disc).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::{LoadIdle, LoadTimes, LoadUse};

    const BASE: Base = Base {
        response_seconds: 1.0,
        cpu_seconds: 0.1,
        lock_seconds: 0.0,
        processors: 2,
        has_servers: false,
    };

    fn step(response: f64, cpu: f64, disc: f64) -> LoadStep {
        LoadStep {
            users: 2,
            interactions: 100,
            throughput_per_second: 1.0,
            response: Some(LoadTimes { mean_seconds: response, ..LoadTimes::default() }),
            processors_busy: Some(cpu),
            disc_busy: Some(disc),
            ..LoadStep::default()
        }
    }

    #[track_caller]
    fn check(step: &LoadStep, base: Base, want: LoadLabel, figures: &[LoadFigure]) {
        let (got, evidence) = label(step, base);
        let named: Vec<LoadFigure> = evidence.iter().map(|one| one.figure).collect();
        assert_eq!((got, named.as_slice()), (want, figures), "{evidence:?}");
        assert!(evidence.iter().all(|one| one.value >= one.above), "{evidence:?}");
    }

    #[test]
    fn a_step_is_labelled_by_what_was_busy() {
        use LoadFigure::{DiscBusy, ProcessorsBusy, ResponseRise};
        check(&step(1.1, 0.2, 0.1), BASE, LoadLabel::NoQueue, &[]);
        check(&step(2.0, 0.2, 0.1), BASE, LoadLabel::WaitsElsewhere, &[ResponseRise]);
        check(&step(2.0, 0.95, 0.1), BASE, LoadLabel::CpuBound, &[ProcessorsBusy]);
        check(&step(2.0, 0.1, 0.95), BASE, LoadLabel::DiscBound, &[DiscBusy]);
        check(&step(2.0, 0.8, 0.75), BASE, LoadLabel::InBalance, &[ProcessorsBusy, DiscBusy]);
        let mut strangers = step(2.0, 0.95, 0.1);
        strangers.cpu_seconds_per_interaction = Some(0.2);
        check(&strangers, BASE, LoadLabel::WaitsElsewhere, &[ResponseRise]);
    }

    #[test]
    fn arrivals_that_no_user_took_and_silence_have_labels_with_evidence() {
        use LoadFigure::{NotBegun, ResponseRise};
        let late = |response| LoadStep { not_begun: 7, ..step(response, 0.2, 0.1) };
        check(&late(1.1), BASE, LoadLabel::WaitsElsewhere, &[NotBegun]);
        check(&late(2.0), BASE, LoadLabel::WaitsElsewhere, &[ResponseRise, NotBegun]);
        let silent = LoadStep { interactions: 0, response: None, ..step(1.0, 0.2, 0.1) };
        check(&silent, BASE, LoadLabel::NoAnswer, &[]);
        let arrivals = LoadStep { not_begun: 7, ..silent };
        check(&arrivals, BASE, LoadLabel::NoAnswer, &[NotBegun]);
    }

    #[test]
    fn a_step_is_labelled_by_its_longest_wait() {
        use LoadFigure::ResponseRise;
        use LoadFigure::{DiscIdle, DiscWait, LockWait, MemoryWait, PlaceWait, ProcessorWait};
        let of = |change: fn(&mut LoadSplit)| {
            let mut split = LoadSplit { on_cpu_seconds: 0.4, ..LoadSplit::default() };
            change(&mut split);
            LoadStep { split: Some(split), ..step(2.0, 0.2, 0.1) }
        };
        let lock = of(|split| split.lock_seconds = 0.6);
        check(&lock, BASE, LoadLabel::LockBound, &[LockWait]);
        // As long as that a user alone waits, for programs of its own.
        let alone = Base { lock_seconds: 0.5, ..BASE };
        let served = Base { has_servers: true, ..BASE };
        check(&lock, served, LoadLabel::WaitsElsewhere, &[ResponseRise]);
        let waits = LoadIdle { disc_idle_share: 0.5, ..LoadIdle::default() };
        let disc = LoadStep { idle: Some(waits), ..lock.clone() };
        check(&disc, served, LoadLabel::DiscBound, &[ResponseRise, DiscIdle]);
        check(&lock, alone, LoadLabel::WaitsElsewhere, &[ResponseRise]);
        check(
            &of(|split| split.runnable_seconds = 0.6),
            BASE,
            LoadLabel::CpuBound,
            &[ProcessorWait],
        );
        check(&of(|split| split.disc_seconds = 0.6), BASE, LoadLabel::DiscBound, &[DiscWait]);
        check(&of(|split| split.memory_seconds = 0.6), BASE, LoadLabel::CoreBound, &[MemoryWait]);
        let table = LoadStep { place_seconds: Some(1.0), ..step(2.0, 0.2, 0.1) };
        check(&table, BASE, LoadLabel::TableBound, &[PlaceWait]);
        let idle = LoadIdle { disc_idle_share: 0.5, ..LoadIdle::default() };
        let requests = LoadStep { idle: Some(idle), ..step(2.0, 0.2, 0.1) };
        check(&requests, BASE, LoadLabel::DiscBound, &[ResponseRise, DiscIdle]);
    }

    #[test]
    fn pages_that_come_back_make_it_core_bound() {
        use LoadFigure::{CpuRise, DiscBusy, DiscWait, Fills, Refaults};
        let used = LoadUse { fills: 20_000, fills_each: 200.0, ..LoadUse::default() };
        let with = |refaults, disc_seconds, cpu_each, disc_busy| LoadStep {
            used: Some(used),
            interactions: 100,
            refaults,
            split: Some(LoadSplit { on_cpu_seconds: 0.5, disc_seconds, ..LoadSplit::default() }),
            cpu_seconds_per_interaction: Some(cpu_each),
            ..step(2.0, 0.2, disc_busy)
        };
        let core = LoadLabel::CoreBound;
        check(&with(19_000, 0.5, 0.1, 0.1), BASE, core, &[DiscWait, Refaults, Fills]);
        check(&with(19_000, 0.0, 0.1, 0.9), BASE, core, &[DiscBusy, Refaults, Fills]);
        check(&with(19_000, 0.0, 0.4, 0.1), BASE, core, &[CpuRise, Refaults, Fills]);
        check(&with(1000, 0.5, 0.1, 0.1), BASE, LoadLabel::DiscBound, &[DiscWait]);
        // Nothing was answered: what the group read counts.
        let thrashes = LoadStep {
            fills: Some(90_000),
            used: None,
            interactions: 0,
            ..with(90_000, 0.5, 0.1, 0.1)
        };
        check(&thrashes, BASE, core, &[DiscWait, Refaults, Fills]);
    }
}

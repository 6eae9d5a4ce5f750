//! Two readings, and what was seen between them, as a document.

use std::collections::HashMap;

use super::chosen::between;
use super::reading::{Reading, Samples};
use crate::clock;
use crate::experiment::result::{
    FigureStep, Warning, WatchCache, WatchCpu, WatchDisc, WatchDocument, WatchFaults, WatchMeter,
    WatchOwn, WatchPressure, WatchQueue, WatchStates, WatchTimes,
};
use crate::experiment::warning::WatchWarning;
use crate::meter::probe::counts::{Counts, Ticks};
use crate::meter::probe::disc_counts::DiscCounts;
use crate::meter::probe::tasks::{self, States};
use crate::meter::times::{Step, Times};
use crate::units::{Bytes, Nanos};
use crate::workload::observe::machine::MachineSeen;

/// What a record costs the thread that makes it.
const RECORD_SECONDS: f64 = 0.7e-6;

/// The document of an interval, except its number, its files, and why something was not seen.
pub(super) fn document(
    before: &Reading,
    now: &Reading,
    samples: &Samples,
    seen: Result<&MachineSeen, &String>,
) -> WatchDocument {
    let seen = seen.ok();
    let interval_seconds = seconds(now.time_ns - before.time_ns);
    let (old, new) = (&before.counts, &now.counts);
    let processors = new.idle_by_processor.len() as u64;
    let cpu = cpu(old, new, interval_seconds * processors as f64, samples, seen);
    let lost = seen.map_or(0, |seen| seen.lost);
    let records = seen.map_or(0, |seen| seen.records);
    let percent = |part: f64| 100.0 * part / interval_seconds;
    WatchDocument {
        schema: WatchDocument::SCHEMA.to_owned(),
        unix_seconds: clock::unix_time().unwrap_or_default().as_secs_f64(),
        number: 0,
        seconds: interval_seconds,
        processors,
        cpu,
        pressure: pressure(old, new, interval_seconds),
        queue: queue(old, new, samples, seen),
        states: states_of(&tasks::states(&tasks::processes())),
        faults: faults(old, new, cpu.user_seconds + cpu.system_seconds, seen),
        cache: cache(old, new),
        discs: discs(&before.discs, &now.discs, interval_seconds),
        service: seen.map(|seen| times(&seen.service)),
        files: Vec::new(),
        chosen: before.chosen.as_ref().zip(now.chosen.as_ref()).map(|(old, new)| between(old, new)),
        own: WatchOwn {
            cpu_percent: percent(seconds(now.own_ns.saturating_sub(before.own_ns))),
            records_percent: percent(records as f64 * RECORD_SECONDS),
            records,
            lost,
        },
        notes: (lost > 0)
            .then_some(Warning::Watch(WatchWarning::RecordsLost { records: lost }))
            .into_iter()
            .collect(),
    }
}

fn cpu(
    old: &Counts,
    new: &Counts,
    all_seconds: f64,
    samples: &Samples,
    seen: Option<&MachineSeen>,
) -> WatchCpu {
    let Ticks { user, system, interrupt, stolen, idle } = since(&old.times, &new.times);
    let busy = user + system + interrupt + stolen;
    let (idle_seconds, waiting_share) = match seen {
        Some(MachineSeen { idle, .. }) => {
            let share = ratio(idle.multiprogramming_ns, idle.all_ns);
            (seconds(idle.all_ns).min(all_seconds), share)
        }
        None => (
            all_seconds * ratio(idle, busy + idle),
            ratio(samples.idle_while_blocked, samples.idle),
        ),
    };
    // The scheduler's own times are exact, and ticks say what the rest was for.
    let part = |ticks: u64| match busy {
        0 => 0.0,
        _ => (all_seconds - idle_seconds) * ratio(ticks, busy),
    };
    let multiprogramming_idle_seconds = idle_seconds * waiting_share;
    WatchCpu {
        user_seconds: part(user),
        system_seconds: if busy == 0 { all_seconds - idle_seconds } else { part(system) },
        interrupt_seconds: part(interrupt),
        stolen_seconds: part(stolen),
        multiprogramming_idle_seconds,
        true_idle_seconds: idle_seconds - multiprogramming_idle_seconds,
        disc_wait_seconds: seen.map(|seen| seconds(seen.idle.waits_ns)),
        idle_by: if seen.is_some() { WatchMeter::Tracepoints } else { WatchMeter::Samples },
        interrupts: new.interrupts.saturating_sub(old.interrupts),
    }
}

fn since(old: &Ticks, new: &Ticks) -> Ticks {
    Ticks {
        user: new.user.saturating_sub(old.user),
        system: new.system.saturating_sub(old.system),
        interrupt: new.interrupt.saturating_sub(old.interrupt),
        stolen: new.stolen.saturating_sub(old.stolen),
        idle: new.idle.saturating_sub(old.idle),
    }
}

fn pressure(old: &Counts, new: &Counts, interval_seconds: f64) -> Option<WatchPressure> {
    let (old, new) = (old.pressure?, new.pressure?);
    let percent = |old: u64, new: u64| {
        (100.0 * new.saturating_sub(old) as f64 / 1e6 / interval_seconds).min(100.0)
    };
    Some(WatchPressure {
        cpu_some_percent: percent(old.cpu_some, new.cpu_some),
        io_some_percent: percent(old.io_some, new.io_some),
        io_full_percent: percent(old.io_full, new.io_full),
        memory_some_percent: percent(old.memory_some, new.memory_some),
        memory_full_percent: percent(old.memory_full, new.memory_full),
    })
}

fn queue(old: &Counts, new: &Counts, samples: &Samples, seen: Option<&MachineSeen>) -> WatchQueue {
    WatchQueue {
        length: samples.running_last,
        length_mean: ratio(samples.running, samples.count),
        samples: samples.count,
        entries: seen.map(|seen| seen.wakeups),
        exits: seen.map(|seen| seen.exits),
        switches: new.switches.saturating_sub(old.switches),
        created: new.forks.saturating_sub(old.forks),
    }
}

fn faults(
    old: &Counts,
    new: &Counts,
    running_seconds: f64,
    seen: Option<&MachineSeen>,
) -> WatchFaults {
    let all = new.memory.faults.saturating_sub(old.memory.faults);
    let major = new.memory.faults_major.saturating_sub(old.memory.faults_major);
    let mean = |faults: u64| (faults > 0).then(|| running_seconds / faults as f64);
    WatchFaults {
        major,
        minor: all.saturating_sub(major),
        running_between_major_mean_seconds: mean(major),
        running_between_mean_seconds: mean(all),
        between_major: seen.map(|seen| times(&seen.between_major)),
        between: seen.map(|seen| times(&seen.between_faults)),
    }
}

fn cache(old: &Counts, new: &Counts) -> WatchCache {
    let page_bytes = rustix::param::page_size() as u64;
    let (old, new) = (&old.memory, &new.memory);
    let evictions = new.evicted.saturating_sub(old.evicted);
    let grown = new.file_pages.abs_diff(old.file_pages);
    let has_shrunk = new.file_pages < old.file_pages;
    let grown_bytes = i64::try_from(grown * page_bytes).unwrap_or(i64::MAX);
    WatchCache {
        bytes: Bytes(new.file_pages * page_bytes),
        grown_bytes: if has_shrunk { -grown_bytes } else { grown_bytes },
        read_bytes: Bytes(new.read_kib.saturating_sub(old.read_kib) * 1024),
        fills_min: (new.file_pages + evictions).saturating_sub(old.file_pages),
        evictions,
        refaults: new.refaulted.saturating_sub(old.refaulted),
    }
}

fn discs(
    old: &HashMap<String, DiscCounts>,
    new: &HashMap<String, DiscCounts>,
    interval_seconds: f64,
) -> Vec<WatchDisc> {
    let changed = new.iter().filter_map(|(name, new)| {
        let old = old.get(name).copied().unwrap_or_default();
        (*new != old).then(|| disc(name, &old, new, interval_seconds))
    });
    let mut discs: Vec<WatchDisc> = changed.collect();
    discs.sort_by(|a, b| b.busy_percent.total_cmp(&a.busy_percent).then(a.name.cmp(&b.name)));
    discs
}

fn disc(name: &str, old: &DiscCounts, new: &DiscCounts, interval_seconds: f64) -> WatchDisc {
    let (reads, writes) =
        (new.reads.saturating_sub(old.reads), new.writes.saturating_sub(old.writes));
    let mean = |ms: u64, count: u64| (count > 0).then(|| ms as f64 / 1e3 / count as f64);
    WatchDisc {
        name: name.to_owned(),
        reads,
        read_bytes: Bytes(new.read_bytes.saturating_sub(old.read_bytes)),
        writes,
        written_bytes: Bytes(new.written_bytes.saturating_sub(old.written_bytes)),
        read_mean_seconds: mean(new.read_ms.saturating_sub(old.read_ms), reads),
        write_mean_seconds: mean(new.write_ms.saturating_sub(old.write_ms), writes),
        in_flight: new.in_flight,
        queue_mean: new.queue_ms.saturating_sub(old.queue_ms) as f64 / 1e3 / interval_seconds,
        busy_percent: (new.busy_ms.saturating_sub(old.busy_ms) as f64 / 10.0 / interval_seconds)
            .min(100.0),
    }
}

/// States as they are given.
pub(super) fn states_of(states: &States) -> WatchStates {
    WatchStates {
        running: states.running,
        sleeping: states.sleeping,
        disc: states.disc,
        stopped: states.stopped,
        zombies: states.zombies,
        kernel_idle: states.idle,
    }
}

/// How long something took.
pub(in crate::experiment) fn times(times: &Times) -> WatchTimes {
    let seconds = |time: Option<Nanos>| time.map(Nanos::seconds);
    let figure = |step: Step| FigureStep {
        from: step.from.seconds(),
        to: step.to.seconds(),
        count: step.count,
    };
    WatchTimes {
        count: times.count(),
        mean_seconds: seconds(times.mean()),
        p50_seconds: seconds(times.quantile(0.5)),
        p90_seconds: seconds(times.quantile(0.9)),
        p99_seconds: seconds(times.quantile(0.99)),
        longest_seconds: seconds(times.longest()),
        steps: times.steps().into_iter().map(figure).collect(),
    }
}

fn ratio(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// Nanoseconds as seconds.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

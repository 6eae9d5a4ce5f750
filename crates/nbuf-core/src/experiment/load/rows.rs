//! From interactions to the figures of a step.

use super::Spec;
use super::condition::Condition;
use super::step::Seen;
use super::usage;
use super::user::Interaction;
use crate::experiment::result::{
    LoadClass, LoadIdle, LoadLabel, LoadSplit, LoadStep, LoadTimes, LoadUse, WatchMeter,
};
use crate::meter::split::Part;
use crate::meter::times::Times;
use crate::sys::cgroup::GroupCounts;
use crate::units::{Nanos, PAGE_BYTES, whole};

impl Seen {
    /// Whether an answer came in the window.
    pub(super) fn has(&self, one: &Interaction) -> bool {
        one.ended_ns > self.from_ns && one.ended_ns <= self.to_ns
    }
}

/// The figures of a step, without its label.
pub(super) fn row(spec: &Spec, users: u32, condition: Condition, seen: &Seen) -> LoadStep {
    let script = &spec.script;
    let all = seen.kept.iter().flat_map(|kept| &kept.interactions).filter(|one| seen.has(one));
    let (failed, answered): (Vec<&Interaction>, Vec<&Interaction>) =
        all.partition(|one| one.has_failed);
    let window_seconds = Nanos(seen.to_ns.saturating_sub(seen.from_ns)).seconds();
    let rate = |count: u64| if window_seconds > 0.0 { count as f64 / window_seconds } else { 0.0 };
    let classes =
        script.classes.iter().zip(&seen.users).enumerate().map(|(at, (class, &users))| {
            let own: Vec<_> = answered.iter().copied().filter(|one| one.class == at).collect();
            let of_class = usage::of_class(&own, &answered, seen.charged, spec.price.as_ref());
            LoadClass {
                name: class.name.clone(),
                users,
                interactions: own.len() as u64,
                throughput_per_second: rate(own.len() as u64),
                response: times(&own, |one| one.intended_ns),
                think_seconds: mean(&own, |one| one.think_ns),
                used: of_class.filter(|_| script.servers.is_empty()),
            }
        });
    let whole_step = seen.kept.iter().map(|kept| kept.interactions.len()).sum::<usize>();
    // A group that thrashes may answer nothing at all: then the whole step counts.
    let ended = (answered.len() + failed.len()) as f64;
    let share = if whole_step == 0 { 1.0 } else { ended / whole_step as f64 };
    let used = used(spec, seen, &answered, share);
    let own = mean(&answered, |one| one.cpu_ns).filter(|_| !script.has_requests());
    let cpu_each = if script.servers.is_empty() { own } else { used.map(|of| of.cpu_seconds_each) };
    let part = |count: u64| whole((count as f64 * share).round());
    let of_group = |group: GroupCounts| part(group.refaults);
    let fills = seen.group.and_then(|group| Some(part(group.read?.0).div_ceil(PAGE_BYTES)));
    LoadStep {
        users,
        limit_bytes: condition.limit,
        table: condition.table,
        cpus: condition.cpus,
        warm_up_seconds: Nanos(seen.from_ns.saturating_sub(seen.begin_ns)).seconds(),
        window_seconds,
        interactions: answered.len() as u64,
        failed: failed.len() as u64,
        unfinished: seen.kept.iter().map(|kept| kept.unfinished).sum(),
        not_begun: seen.not_begun,
        failure: seen.kept.iter().find_map(|kept| kept.failure.clone()),
        throughput_per_second: rate(answered.len() as u64),
        response: times(&answered, |one| one.intended_ns),
        service: times(&answered, |one| one.began_ns),
        place_seconds: mean(&answered, |one| one.place_ns).filter(|_| condition.table.is_some()),
        think_seconds: mean(&answered, |one| one.think_ns),
        cpu_seconds_per_interaction: cpu_each,
        used,
        processors_busy: seen.busy.processors,
        disc_busy: seen.busy.disc.as_ref().map(|disc| disc.1),
        disc: seen.busy.disc.as_ref().map(|disc| disc.0.clone()),
        idle: idle(seen),
        split: split(seen),
        fills,
        refaults: seen.group.map_or(seen.busy.refaults, of_group),
        label: LoadLabel::default(),
        evidence: Vec::new(),
        classes: classes.collect(),
    }
}

/// What commands used, and servers with them. Without a group nothing is known of a server.
fn used(spec: &Spec, seen: &Seen, answered: &[&Interaction], share: f64) -> Option<LoadUse> {
    let price = spec.price.as_ref();
    let used = usage::of_window(answered, seen.charged, price);
    if spec.script.servers.is_empty() {
        return used;
    }
    usage::with_servers(used?, seen.group?, share, price)
}

/// What the processors did: by their switches, or else by samples.
fn idle(seen: &Seen) -> Option<LoadIdle> {
    let Some((idle, span_ns)) = seen.metered.idle(seen.from_ns, seen.to_ns) else {
        let (running_share, disc_idle_share) = seen.busy.sampled?;
        let true_idle_share = (1.0 - running_share - disc_idle_share).max(0.0);
        let by = WatchMeter::Samples;
        return Some(LoadIdle { running_share, true_idle_share, disc_idle_share, by });
    };
    let processors = seen.processors.max(1) as f64;
    let share = |ns: u64| (ns as f64 / (span_ns as f64 * processors)).min(1.0);
    let (all, disc_idle_share) = (share(idle.all_ns), share(idle.multiprogramming_ns));
    Some(LoadIdle {
        running_share: 1.0 - all,
        true_idle_share: all - disc_idle_share,
        disc_idle_share,
        by: WatchMeter::Tracepoints,
    })
}

/// Where the time of the commands went that ended in the window.
fn split(seen: &Seen) -> Option<LoadSplit> {
    let (commands, sums) = seen.metered.commands(seen.from_ns, seen.to_ns)?;
    let each = |part| sums.seconds(part) / commands as f64;
    Some(LoadSplit {
        commands,
        on_cpu_seconds: each(Part::OnCpu),
        runnable_seconds: each(Part::Runnable),
        disc_seconds: each(Part::Disc),
        memory_seconds: each(Part::Memory),
        lock_seconds: each(Part::LockOrPipe),
        asleep_seconds: each(Part::Asleep),
        unknown_seconds: each(Part::Unknown),
    })
}

/// Mean seconds; nothing where there are no interactions.
fn mean(answered: &[&Interaction], of: fn(&Interaction) -> u64) -> Option<f64> {
    let sum: u64 = answered.iter().map(|one| of(one)).sum();
    (!answered.is_empty()).then(|| Nanos(sum).seconds() / answered.len() as f64)
}

fn times(answered: &[&Interaction], from: fn(&Interaction) -> u64) -> Option<LoadTimes> {
    let mut times = Times::default();
    for one in answered {
        times.add(Nanos(one.ended_ns.saturating_sub(from(one))));
    }
    let quantile = |share| times.quantile(share).map(Nanos::seconds);
    Some(LoadTimes {
        mean_seconds: times.sum().seconds() / times.count() as f64,
        p50_seconds: quantile(0.5)?,
        p90_seconds: quantile(0.9)?,
        p99_seconds: quantile(0.99)?,
        max_seconds: times.longest()?.seconds(),
    })
}

//! From histograms to the meters of the document.

use std::collections::BTreeMap;

use crate::experiment::result::{RunMeter, RunMeterStep, RunMeters};
use crate::meter::activity::Kind;
use crate::meter::times::Times;
use crate::units::Nanos;

/// The meters of all kinds that were seen.
pub(super) fn meters(times: &BTreeMap<Kind, Times>) -> RunMeters {
    let of = |kind: Kind| times.get(&kind).map_or(0, Times::count);
    let mut meters = RunMeters::default();
    for (&kind, times) in times {
        let meter = meter(kind, times);
        match kind {
            Kind::Call(_) => meters.calls.push(meter),
            _ => meters.events.push(meter),
        }
    }
    meters.calls.sort_by(|a, b| b.total_seconds.total_cmp(&a.total_seconds));
    let calls: u64 = meters.calls.iter().map(|call| call.count).sum();
    meters.kernel_entries =
        calls + of(Kind::MajorFault) + of(Kind::MinorFault) + of(Kind::Interrupt);
    meters
}

fn meter(kind: Kind, times: &Times) -> RunMeter {
    let seconds = |time: Option<Nanos>| time.map_or(0.0, |time| super::seconds(time.0));
    let (name, step_of) = named(kind);
    let quantile = |share| seconds(times.quantile(share));
    RunMeter {
        name,
        step_of: step_of.map(str::to_owned),
        count: times.count(),
        total_seconds: super::seconds(times.sum().0),
        mean_seconds: times.sum().0 as f64 / times.count().max(1) as f64 / 1e9,
        p50_seconds: quantile(0.5),
        p90_seconds: quantile(0.9),
        p99_seconds: quantile(0.99),
        max_seconds: seconds(times.longest()),
        histogram: times
            .steps()
            .iter()
            .map(|step| RunMeterStep {
                from_seconds: super::seconds(step.from.0),
                to_seconds: super::seconds(step.to.0),
                count: step.count,
            })
            .collect(),
    }
}

/// Its name, and the kind that it is a step of.
pub(super) fn named(kind: Kind) -> (String, Option<&'static str>) {
    let step = |name| (name, Some("major fault"));
    let (name, step_of) = match kind {
        Kind::MajorFault => ("major fault", None),
        Kind::FaultFind => step("find the page"),
        Kind::FaultReclaim => step("reclaim a frame"),
        Kind::FaultQueue => step("queue"),
        Kind::FaultDevice => step("device"),
        Kind::FaultWakeup => step("wake-up to running"),
        Kind::FaultShared => step("wait for another read"),
        Kind::FaultMap => step("map the page"),
        Kind::MinorFault => ("minor fault", None),
        Kind::ReadQueue => ("disc read, queue", None),
        Kind::ReadDevice => ("disc read, device", None),
        Kind::WriteQueue => ("disc write, queue", None),
        Kind::WriteDevice => ("disc write, device", None),
        Kind::Reclaim => ("reclaim", None),
        Kind::Runnable => ("wait for a processor", None),
        Kind::Creation => ("process creation", None),
        Kind::Interrupt => ("interrupt", None),
        Kind::SoftInterrupt => ("soft interrupt", None),
        Kind::PathLookup => ("path look-up", None),
        Kind::FileTouch => ("first touch of a file", None),
        Kind::Linker => ("linker", None),
        Kind::LinkerFault => ("page fault", Some("linker")),
        Kind::LinkerCall => ("system call", Some("linker")),
        Kind::Call(number) => return (call_name(number), None),
    };
    (name.to_owned(), step_of)
}

/// As the manual names it; its number where it is younger than the list of names.
fn call_name(number: u64) -> String {
    let known = usize::try_from(number).ok().and_then(syscalls::Sysno::new);
    known.map_or_else(|| format!("call {number}"), |known| known.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ns: &[u64]) -> Times {
        let mut times = Times::default();
        for &ns in ns {
            times.add(Nanos(ns));
        }
        times
    }

    #[test]
    fn calls_come_by_their_time_and_entries_are_counted() {
        let read = u64::try_from(libc::SYS_read).unwrap();
        let seen = BTreeMap::from([
            (Kind::MajorFault, times(&[1_000_000])),
            (Kind::FaultDevice, times(&[900_000])),
            (Kind::MinorFault, times(&[500, 700])),
            (Kind::Interrupt, times(&[100])),
            (Kind::PathLookup, times(&[1000])),
            (Kind::Call(read), times(&[10, 20])),
            (Kind::Call(999_999), times(&[5000])),
        ]);
        let meters = meters(&seen);
        assert_eq!(meters.kernel_entries, 1 + 2 + 1 + 3);
        let names: Vec<&str> = meters.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["call 999999", "read"]);
        assert_eq!(meters.events[1].step_of.as_deref(), Some("major fault"));
        let minor = meters.events.iter().find(|meter| meter.name == "minor fault").unwrap();
        assert!((minor.mean_seconds - 600e-9).abs() < 1e-15 && minor.count == 2, "{minor:?}");
        assert!((minor.max_seconds - 700e-9).abs() < 1e-15);
        assert_eq!(minor.histogram.iter().map(|step| step.count).sum::<u64>(), 2);
    }
}

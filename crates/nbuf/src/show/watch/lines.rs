//! What of an interval takes a line, on paper and on the screen.

use nbuf::experiment::result::{
    WatchCpu, WatchDisc, WatchDocument, WatchMeter, WatchOwn, WatchPressure, WatchStates,
    WatchTimes,
};
use nbuf::units::{Nanos, grouped, whole};

use super::super::text::clean;

/// `07:56:23`, in UTC.
pub(crate) fn clock(unix_seconds: f64) -> String {
    let of_day = whole(unix_seconds.floor()) % 86_400;
    format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

/// The running time, and the idle time.
pub(crate) fn shares(cpu: &WatchCpu) -> [String; 2] {
    let all = cpu.sum_seconds();
    let of = |part: f64| if all > 0.0 { 100.0 * part / all } else { 0.0 };
    let (user, system) = (of(cpu.user_seconds), of(cpu.system_seconds));
    let (interrupts, stolen) = (of(cpu.interrupt_seconds), of(cpu.stolen_seconds));
    let (true_idle, waiting) = (of(cpu.true_idle_seconds), of(cpu.multiprogramming_idle_seconds));
    let how = match cpu.idle_by {
        WatchMeter::Tracepoints => "",
        WatchMeter::Samples => " (by samples)",
    };
    [
        format!(
            "user {user:.1} %, system {system:.1} %, interrupts {interrupts:.1} %, stolen {stolen:.1} %"
        ),
        format!("true {true_idle:.1} %, multiprogramming {waiting:.1} %{how}"),
    ]
}

/// Pressure by what is waited for.
pub(crate) fn pressed(pressure: &WatchPressure) -> String {
    let [cpu, some, full, memory_some, memory_full] = [
        pressure.cpu_some_percent,
        pressure.io_some_percent,
        pressure.io_full_percent,
        pressure.memory_some_percent,
        pressure.memory_full_percent,
    ]
    .map(|percent| format!("{percent:.0} %"));
    format!(
        "CPU {cpu}, disc {some} some and {full} full, memory {memory_some} some and {memory_full} full"
    )
}

/// Processes by their state; idle are threads of the kernel without work.
pub(crate) fn states(states: &WatchStates) -> String {
    let named = [
        (states.running, "running"),
        (states.sleeping, "sleeping"),
        (states.disc, "disc"),
        (states.stopped, "stopped"),
        (states.zombies, "zombies"),
        (states.kernel_idle, "idle"),
    ];
    named.map(|(number, name)| format!("{} {name}", grouped(number))).join(", ")
}

/// A count of the interval as a rate: `1,234/s`.
pub(crate) fn per_second(count: u64, seen: &WatchDocument) -> String {
    let rate = count as f64 / seen.seconds.max(1e-9);
    if rate > 0.0 && rate < 9.95 {
        return format!("{rate:.1}/s");
    }
    format!("{}/s", grouped(whole(rate.round())))
}

/// A line for each of the busiest discs.
pub(crate) fn discs(seen: &WatchDocument) -> Vec<String> {
    let mean = |mean: Option<f64>| mean.map_or_else(String::new, |mean| format!(" {}", time(mean)));
    let line = |disc: &WatchDisc| {
        let (reads, writes) = (per_second(disc.reads, seen), per_second(disc.writes, seen));
        let WatchDisc { busy_percent, queue_mean, .. } = disc;
        let (name, read) = (clean(&disc.name), mean(disc.read_mean_seconds));
        let written = mean(disc.write_mean_seconds);
        format!(
            "{name} {busy_percent:.0} % busy, queue {queue_mean:.2}; {reads} read{read}, {writes} written{written}"
        )
    };
    seen.discs.iter().take(4).map(line).collect()
}

/// Three significant digits.
pub(crate) fn time(seconds: f64) -> String {
    Nanos::from_seconds(seconds).to_string()
}

/// The distribution of times.
pub(crate) fn times(times: &WatchTimes) -> String {
    let parts = [
        ("mean", times.mean_seconds),
        ("p50", times.p50_seconds),
        ("p90", times.p90_seconds),
        ("p99", times.p99_seconds),
    ];
    let shown = parts.iter().filter_map(|(name, part)| Some(format!("{name} {}", time((*part)?))));
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() {
        return "none".to_owned();
    }
    format!("{}: {}", grouped(times.count), shown.join(", "))
}

/// What watching costs.
pub(crate) fn cost(own: &WatchOwn) -> String {
    let records = grouped(own.records);
    let (cpu, others) = (own.cpu_percent, own.records_percent);
    format!("{cpu:.1} % of a core here, {others:.1} % in others for {records} records")
}

/// The map of a file: a sign for the cached share of each part.
pub(crate) fn strip(map: &[f64]) -> String {
    let sign = |share: &f64| match *share {
        share if share <= 0.0 => ' ',
        share if share < 0.34 => '░',
        share if share < 0.67 => '▒',
        share if share < 1.0 => '▓',
        _ => '█',
    };
    map.iter().map(sign).collect()
}

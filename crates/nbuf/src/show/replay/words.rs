//! The sentences of a replay, for the terminal and the page alike.

use std::fmt::Write as _;

use nbuf::experiment::replay::CHARACTER_9600;
use nbuf::experiment::result::{ReplayDisc, ReplayDocument, ReplayResponse};
use nbuf::units::Bytes;

use super::super::text::{count, grouped};
pub(super) use super::super::watch::time as seconds;

/// A share with three digits at most.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// A size of the cache.
pub(super) fn size(document: &ReplayDocument, units: u64) -> String {
    if units == 0 {
        return "no cache".to_owned();
    }
    let bytes = Bytes(units.saturating_mul(document.unit_bytes));
    let unit = &document.unit;
    format!("{} ({bytes})", count(units, unit, &format!("{unit}s")))
}

/// Who asks, and what is behind.
pub(super) fn title(document: &ReplayDocument) -> (String, String) {
    let mut workload = document.workload.clone();
    if !document.format.is_empty() {
        let _ = write!(workload, " ({})", document.format);
    }
    let _ = write!(workload, ", {}", count(document.processes.into(), "process", "processes"));
    let unit = format!("{}s of {}", document.unit, Bytes(document.unit_bytes));
    let cache = match (document.size_units, document.sizes.is_empty()) {
        (0, true) => "without a cache".to_owned(),
        (units, true) => {
            let room = Bytes(units.saturating_mul(document.unit_bytes));
            format!("through {} with {} {unit}, {room}", document.policy, grouped(units))
        }
        _ => format!("through {} of {unit}", document.policy),
    };
    (workload, format!("{cache}, to {}", document.disc))
}

/// What came of it.
pub(super) fn facts(document: &ReplayDocument) -> Vec<String> {
    let requests = document.requests_total();
    let rate = requests as f64 / document.elapsed_seconds.max(1e-9);
    let mut facts = vec![format!(
        "elapsed: {} for {}{}",
        seconds(document.elapsed_seconds),
        count(requests, "request", "requests"),
        if document.elapsed_seconds > 0.0 {
            format!(", {} a second", grouped(nbuf::units::whole(rate)))
        } else {
            String::new()
        }
    )];
    if document.size_units > 0 {
        let mut hits = format!("hits: {} % of requests", percent(document.hit_ratio));
        if document.units > 0 {
            let share = document.unit_hits as f64 / document.units as f64;
            let _ = write!(hits, ", {} % of {}s looked for", percent(share), document.unit);
        }
        facts.push(hits);
    }
    facts.extend(document.response.map(|response| distribution("response", &response)));
    facts.extend(document.commands.map(|commands| {
        format!("{} commands, {}", grouped(commands.count), distribution("each", &commands))
    }));
    facts.push(disc(document));
    facts.extend(processor(document));
    facts
}

fn distribution(name: &str, times: &ReplayResponse) -> String {
    let [mean, p50, p90, p99, max] =
        [times.mean, times.p50, times.p90, times.p99, times.max].map(seconds);
    format!("{name}: mean {mean}, p50 {p50}, p90 {p90}, p99 {p99}, max {max}")
}

fn disc(document: &ReplayDocument) -> String {
    let ReplayDisc { requests, bytes, .. } = document.disc_work;
    let mut text = format!(
        "disc: {} % busy; {}, {}",
        percent(document.disc_utilisation),
        count(requests, "request", "requests"),
        Bytes(bytes)
    );
    let work = &document.disc_work;
    let parts = [
        ("queue", work.queued_seconds),
        ("overhead", work.overhead_seconds),
        ("seek", work.seek_seconds),
        ("rotation", work.rotation_seconds),
        ("transfer", work.transfer_seconds),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, time)| *time > 0.0)
        .map(|(name, time)| format!("{name} {}", seconds(time / requests.max(1) as f64)))
        .collect();
    if !parts.is_empty() {
        let _ = write!(text, "; per request: {}", parts.join(", "));
    }
    text
}

fn processor(document: &ReplayDocument) -> Vec<String> {
    let cpu = &document.cpu;
    let mut told = vec![format!(
        "processor ({}): {} % busy; computing {}, cache {}",
        cpu.name,
        percent(document.cpu_utilisation),
        seconds(cpu.computed_seconds),
        seconds(cpu.interrupts_off_seconds)
    )];
    // Times far shorter than a character interest no reader.
    if cpu.interrupts_off_max_seconds * 10.0 >= CHARACTER_9600.seconds() {
        told.push(format!(
            "interrupts off: {} times, at most {}; on a busy 9600-baud line, {} characters are late and {} lost",
            grouped(cpu.interrupts_off),
            seconds(cpu.interrupts_off_max_seconds),
            grouped(cpu.characters_late),
            grouped(cpu.characters_lost)
        ));
    }
    told
}

/// The three points of the S.
pub(super) fn points(document: &ReplayDocument) -> Vec<String> {
    let Some(points) = document.points else { return Vec::new() };
    let at = |word: &str, units: Option<u64>| match units {
        Some(units) => format!("{word} {}", size(document, units)),
        None => "at no size".to_owned(),
    };
    let worse = format!("slower than no cache: {}", at("up to", points.worse_to_units));
    let worth = format!("worth it: {}", at("from", points.worth_from_units));
    let enough = match (points.enough_from_units, document.sizes.last()) {
        (Some(units), _) => format!("saves nothing more: from {}", size(document, units)),
        (None, Some(last)) if points.worth_from_units.is_some() => {
            format!("saves nothing more: not seen up to {}", size(document, last.size_units))
        }
        (None, _) => return vec![worse, worth],
    };
    vec![worse, worth, enough]
}

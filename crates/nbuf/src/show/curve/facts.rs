//! What was read, in lines.

use std::fmt::Write as _;

use nbuf::experiment::result::{
    CurveDocument, ObjectFacts, PolicyCurve, SampleFacts, TraceSummary,
};
use nbuf::units::Bytes;

use super::super::scale::round_size;
use super::super::text::{count, grouped, listed};
use super::family::{Family, policy_name};
use super::prefetches;
use super::words::{Unit, percent, round_percent, time};

/// The files, as a title has room for them.
pub(super) fn files(trace: &TraceSummary) -> String {
    let first = trace.files.first().map_or("without a name", |name| file(name));
    match trace.files.len() {
        0 | 1 => first.to_owned(),
        many => format!("{first} and {}", count(many as u64 - 1, "more file", "more files")),
    }
}

/// One of them.
pub(super) fn file(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}

/// `arc, gzip`
pub(super) fn format(trace: &TraceSummary) -> String {
    match trace.packing.as_str() {
        "" | "none" | "not compressed" => trace.format.clone(),
        packing => format!("{}, {packing}", trace.format),
    }
}

/// Number of requests of which kind.
pub(super) fn requests(trace: &TraceSummary) -> String {
    let mut text = count(trace.requests, "request", "requests");
    let bytes = |bytes: u64| match bytes {
        0 => String::new(),
        some => format!(" ({})", Bytes(some)),
    };
    let kinds: Vec<String> = [
        (trace.reads, trace.read_bytes, "read", "reads"),
        (trace.writes, trace.written_bytes, "write", "writes"),
        (trace.discards, 0, "discard", "discards"),
        (trace.flushes, 0, "flush", "flushes"),
    ]
    .into_iter()
    .filter(|&(number, ..)| number > 0)
    .map(|(number, moved, one, many)| count(number, one, many) + &bytes(moved))
    .collect();
    match kinds.as_slice() {
        [] => {}
        [_] if trace.reads > 0 => {
            let _ = write!(text, ", all reads{}", bytes(trace.read_bytes));
        }
        kinds => {
            let _ = write!(text, ": {}", listed(kinds));
        }
    }
    if trace.span_ns > 0 {
        let _ = write!(text, ", in {}", time(trace.span_ns as f64));
    }
    text
}

/// What filled the caches beforehand, if anything did.
pub(super) fn warmup(trace: &TraceSummary) -> Option<String> {
    let requests = count(trace.warmup_requests?, "request", "requests");
    Some(format!("the first {requests} fill the caches, and do not count"))
}

/// What was left out of the requests, if anything was.
pub(super) fn left_out(trace: &TraceSummary) -> Option<String> {
    let parts = counts(&[
        (trace.problems, "unreadable record", "unreadable records"),
        (trace.empty, "request of no bytes", "requests of no bytes"),
        (trace.unplaced, "request out of any range", "requests out of any range"),
    ]);
    (!parts.is_empty()).then(|| format!("left out: {}", listed(&parts)))
}

/// In words, without those that are none.
fn counts(all: &[(u64, &str, &str)]) -> Vec<String> {
    let some = all.iter().filter(|(number, ..)| *number > 0);
    some.map(|(number, one, many)| count(*number, one, many)).collect()
}

/// Accesses to how many pages or keys.
pub(super) fn accesses(family: &Family<'_>) -> String {
    let (curve, unit) = (family.main(), family.unit);
    if curve.sample.as_ref().is_some_and(|sample| sample.followed_keys == 0) {
        return format!("none of the {} are in the sample", unit.plural());
    }
    let accesses = curve.points.first().map_or(0, |point| point.accesses);
    // Without a point nothing says how many there were.
    let mut text = match accesses {
        0 if curve.points.is_empty() => String::new(),
        some => count(some, "access", "accesses") + " to ",
    };
    let about = if curve.sample.is_some() { "about " } else { "" };
    let distinct = curve.distinct_pages;
    if let Some(facts) = &curve.objects {
        text += &objects(curve, facts);
    } else {
        let _ = write!(text, "{about}{}", unit.distinct(distinct));
        if let Some(bytes) = unit.bytes(distinct) {
            let _ = write!(text, " of {} ({bytes})", round_size(unit.page_bytes as f64));
        }
    }
    if let Some(cold) = curve.cold_misses
        && accesses > 0
    {
        let share = percent(cold as f64 / accesses as f64);
        let _ = write!(text, "; {share} % are first accesses, which miss in any cache");
    }
    text
}

/// `143,542 distinct objects, 33.5 MiB with 56 B of overhead each, the largest 1.20 KiB`
fn objects(curve: &PolicyCurve, facts: &ObjectFacts) -> String {
    let objects = count(facts.distinct, "distinct object", "distinct objects");
    let overhead = match facts.overhead_bytes {
        0 => String::new(),
        some => format!(" with {} of overhead each", Bytes(some)),
    };
    let memory = match facts.allocator.as_str() {
        "exact" => String::new(),
        other => format!(" in the memory of {other}"),
    };
    let (all, largest) = (Bytes(curve.distinct_pages), Bytes(facts.largest_bytes));
    format!("{objects}, {all}{memory}{overhead}, the largest {largest}")
}

/// How the objects changed, and whether LRU was counted at all sizes at once even so.
fn inconstant(curve: &PolicyCurve) -> Option<String> {
    let facts = curve.objects.as_ref()?;
    let changes = (facts.size_changes, "access changes", "accesses change");
    let removals = (facts.removals, "object is removed", "objects are removed");
    let reasons = counts(&[changes, removals]);
    let sizes =
        if facts.size_changes > 0 && facts.removals == 0 { " the size of an object" } else { "" };
    let then = match facts.exact_from_bytes {
        Some(_) => ", which only grows",
        None => ": every policy runs at each size",
    };
    (!reasons.is_empty()).then(|| format!("{}{sizes}{then}", listed(&reasons)))
}

/// Which objects come in, if not all do.
fn admission(curve: &PolicyCurve) -> Option<String> {
    let admissions = &curve.objects.as_ref()?.admissions;
    (!admissions.is_empty())
        .then(|| format!("an object that missed comes in by --admit {}", listed(admissions)))
}

/// What an object does that is larger than the cache, if it does anything.
fn oversized(curve: &PolicyCurve) -> Option<String> {
    let how = curve.objects.as_ref()?.oversized.as_ref()?;
    Some(format!("an object larger than the cache evicts all others in vain (--oversized {how})"))
}

/// How objects expire, if they do.
fn expiry(curve: &PolicyCurve) -> Option<String> {
    let facts = curve.objects.as_ref()?;
    let bytes = match facts.expired.as_deref() {
        Some("free") => "their bytes are free at once",
        _ => "their bytes are free when they are evicted, or found expired",
    };
    Some(format!("expired objects miss (--ttl {}), and {bytes}", facts.ttl.as_ref()?))
}

/// What a write does, where there are any.
pub(super) fn writes(trace: &TraceSummary) -> Option<&'static str> {
    if trace.writes == 0 {
        return None;
    }
    match trace.writes_do.as_str() {
        "allocate" => Some("a write puts its pages into the cache, as a read does"),
        "around" => Some("a write goes around the cache, and drops what it makes stale"),
        "ignore" => Some("writes are left out"),
        "store" => Some("a write brings its object in, and is not counted"),
        _ => None,
    }
}

/// How keys were sampled, in sentences without a full stop.
pub(super) fn sample(curve: &PolicyCurve, unit: Unit) -> Vec<String> {
    let Some(sample) = &curve.sample else { return Vec::new() };
    let SampleFacts { rate, seed, hot_keys, followed_keys, judged_from_pages } = *sample;
    let hot = match hot_keys {
        0 => String::new(),
        some => format!(" and the {} asked for most", grouped(some)),
    };
    let followed = if hot_keys > 0 && hot_keys == followed_keys {
        format!(
            "sampled: the {} asked for most are all that were followed: none of the others is among the {} % of --sample",
            format_args!("{} {}", grouped(hot_keys), unit.plural()),
            round_percent(rate)
        )
    } else {
        format!(
            "sampled: {} % of the {}{hot}, {} in all, seed {seed}",
            round_percent(rate),
            unit.plural(),
            grouped(followed_keys)
        )
    };
    let judged = match judged_from_pages {
        // There are none below.
        Some(0 | 1) => None,
        Some(pages) => {
            Some(format!("sizes below {} cannot be judged from this sample", unit.full(pages)))
        }
        None => Some("no size can be judged from this sample".to_owned()),
    };
    [Some(followed), judged].into_iter().flatten().collect()
}

/// Where the three sizes are known from, where they are not exact; without a full stop.
pub(super) fn three_sizes(curve: &PolicyCurve) -> Option<String> {
    curve.corners_between?;
    Some(if curve.sample.is_some() {
        "each of the three sizes is in the range next to it, with 95 % confidence".to_owned()
    } else {
        let sizes = count(curve.points.len() as u64, "size", "sizes");
        format!(
            "each of the three is in the range next to it: {} ran at {sizes}",
            policy_name(curve)
        )
    })
}

/// All of it for a family, as lines of a table.
pub(super) fn lines(document: &CurveDocument, family: Option<&Family<'_>>) -> Vec<String> {
    let trace = &document.trace;
    let mut lines = vec![requests(trace)];
    lines.extend(warmup(trace));
    lines.extend(left_out(trace));
    lines.extend(writes(trace).map(str::to_owned));
    lines.extend(family.map(accesses));
    let main = family.map(Family::main);
    lines.extend([inconstant, expiry, admission, oversized].iter().filter_map(|of| of(main?)));
    lines.extend(document.curves.first().and_then(prefetches::fact));
    lines
}

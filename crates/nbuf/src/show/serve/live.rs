//! An interval of a server that is watched: as text, and on the live display.

mod pages;

use nbuf::experiment::result::{ServeDocument, ServeSize, ServeTier, WatchTimes};
use nbuf::units::{Bytes, count, grouped, whole};

use super::super::text::{clean, rate, tail};
use super::super::watch::{Named, paragraph, time};
use super::costs;

/// Columns for a name of a disc.
const DISC: usize = 40;
/// Columns for a name of an export, in a page of its own and within a line.
const EXPORT: usize = 19;
const EXPORT_SHORT: usize = 16;

/// An interval.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    /// When it ended.
    unix_seconds: f64,
    /// What was counted in it.
    seen: ServeDocument,
    /// The hit ratio since the start.
    hit_ratio_ever: Option<f64>,
    /// The same of each export, by name.
    exports_ever: Vec<(String, Option<f64>)>,
    /// How long the server runs.
    up_seconds: f64,
}

impl Served {
    pub(crate) fn new(unix_seconds: f64, total: &ServeDocument, interval: &ServeDocument) -> Self {
        let (hit_ratio_ever, up_seconds) = (total.hit_ratio, total.seconds);
        let ever = |export: &ServeDocument| (export.name.clone(), export.hit_ratio);
        let exports_ever = total.exports.iter().map(ever).collect();
        Self { unix_seconds, seen: interval.clone(), hit_ratio_ever, exports_ever, up_seconds }
    }

    /// Each export, if there are several.
    fn exports(&self) -> Vec<Self> {
        let one = |((name, hit_ratio_ever), seen): (&(String, Option<f64>), &ServeDocument)| {
            debug_assert_eq!(*name, seen.name);
            Self {
                unix_seconds: self.unix_seconds,
                seen: seen.clone(),
                hit_ratio_ever: *hit_ratio_ever,
                exports_ever: Vec::new(),
                up_seconds: self.up_seconds,
            }
        };
        self.exports_ever.iter().zip(&self.seen.exports).map(one).collect()
    }

    /// The name of an export, as far as there is room.
    fn name(&self) -> String {
        export_name(&self.seen, EXPORT)
    }

    fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.seen.seconds.max(1e-9)
    }

    /// `1,234/s`.
    fn rate(&self, count: u64) -> String {
        let of_all = self.per_second(count);
        if of_all >= 999.5 {
            return format!("{}/s", grouped(whole(of_all.round())));
        }
        if count == 0 { "0/s".to_owned() } else { format!("{}/s", rate(of_all)) }
    }
}

/// A paragraph, with an empty line behind it.
pub(crate) fn text(served: &Served) -> String {
    paragraph(lines(served))
}

/// All figures, by name; further lines of a name have none.
fn lines(served: &Served) -> Vec<Named> {
    let d = &served.seen;
    let disc = tail(&clean(&d.disc), DISC);
    let (of, cache) = (Bytes(d.disc_bytes), Bytes(d.cache_bytes));
    let (policy, write, up) = (&d.policy, &d.write, time(served.up_seconds));
    let mut lines = vec![
        ("server", format!("{disc} of {of}, up {up}")),
        ("cache", format!("{cache}, {policy}, write {write}, {} used", Bytes(d.used_bytes))),
    ];
    lines.extend(requests(served));
    lines.extend(misses(served));
    lines.extend(disc_lines(served));
    lines.push(("dirty", format!("{} that the disc does not have", Bytes(d.owed_bytes))));
    let share = 100.0 * d.costs.work_seconds / d.seconds.max(1e-9);
    let all = costs::lines(&d.costs);
    lines.extend(all.into_iter().filter(|(name, _)| *name == "cost").map(|(name, text)| {
        let each = text.split(" a page").next().unwrap_or_default().to_owned();
        (name, format!("{each} a page; {share:.2} % of a core"))
    }));
    lines.push(("saved", costs::saved(&d.costs)));
    lines.extend(twice(d).map(|(name, other)| (name, would(served, other))));
    lines
}

fn requests(served: &Served) -> Vec<Named> {
    let d = &served.seen;
    let [reads, writes, flushes] = [d.reads, d.writes, d.flushes].map(|count| served.rate(count));
    let hits = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), percent);
    let clients = count(d.clients, "client", "clients");
    let waits = count(d.writes_throttled, "wait", "waits");
    let (now, ever) = (hits(d.hit_ratio), hits(served.hit_ratio_ever));
    vec![
        ("requests", format!("{reads} read, {writes} written, {flushes} flushes")),
        ("", format!("{clients}, {waits} for room")),
        ("hits", format!("{now} of {} pages; {ever} since the start", served.rate(d.pages))),
    ]
}

fn misses(served: &Served) -> Vec<Named> {
    let m = &served.seen.misses;
    let rate = |count: u64| served.rate(count);
    let twice = rate(m.evicted_would_hit_at_twice);
    vec![
        (
            "misses",
            format!("{} never seen, {} invalidated", rate(m.never_seen), rate(m.invalidated)),
        ),
        ("", format!("{} bypassed, {} written around", rate(m.bypassed), rate(m.written))),
        ("", format!("{} evicted, {twice} of them hit at twice the size", rate(m.evicted))),
    ]
}

fn disc_lines(served: &Served) -> Vec<Named> {
    let d = &served.seen;
    let line = |did: &str, count: u64, times: &WatchTimes| {
        let quantiles = [("mean", times.mean_seconds), ("p99 under", times.p99_seconds)];
        let quantiles = quantiles
            .iter()
            .filter_map(|(name, seconds)| Some(format!(", {name} {}", time((*seconds)?))));
        format!("{} {did}{}", served.rate(count), quantiles.collect::<String>())
    };
    let costs = &d.costs;
    let errors =
        if d.disc_errors > 0 { format!(", {} errors", d.disc_errors) } else { String::new() };
    let (ahead, bypass) = (&d.readahead, &d.bypass);
    let mut lines = vec![
        ("disc", line("read", d.disc_reads, &costs.disc_read)),
        ("", line("written", d.disc_writes, &costs.disc_write)),
        ("", line("flushed", d.disc_flushes, &costs.disc_flush) + &errors),
    ];
    if ahead.most_bytes > 0 {
        let [pages, used, useless] =
            [ahead.pages, ahead.used, ahead.useless].map(|count| served.rate(count));
        lines.push(("ahead", format!("{pages} pages read, {used} used, {useless} useless")));
    }
    lines.extend(tier_lines(served));
    if bypass.mode == "auto" {
        let now = if bypass.is_aside { "aside" } else { "not aside" };
        lines.push(("bypass", format!("{now}, {} went past the cache", served.rate(bypass.reads))));
    }
    lines
}

/// The second tier of each export that has one.
fn tier_lines(served: &Served) -> impl Iterator<Item = Named> {
    let line = |tier: &ServeTier| {
        let used = format!("{} of {}", Bytes(tier.used_bytes), Bytes(tier.size_bytes));
        let state = if tier.lost.is_some() { "not used any more".to_owned() } else { used };
        let [reads, hits] = [tier.reads, tier.read_hits].map(|count| served.rate(count));
        format!("{hits} of {reads} reads hit, {state}")
    };
    let d = &served.seen;
    let mut texts: Vec<String> = d.tier.iter().map(line).collect();
    let exports = d.exports.iter().filter_map(|export| Some((export, export.tier.as_ref()?)));
    texts
        .extend(exports.map(|(export, tier)| {
            format!("{}: {}", export_name(export, EXPORT_SHORT), line(tier))
        }));
    let names = std::iter::once("tier").chain(std::iter::repeat(""));
    names.zip(texts)
}

/// The name of an export, as far as there is room.
fn export_name(export: &ServeDocument, columns: usize) -> String {
    let name = if export.name.is_empty() { "(no name)" } else { &export.name };
    tail(&clean(name), columns)
}

/// The same policy with twice the size, and with half.
fn twice(d: &ServeDocument) -> impl Iterator<Item = (&'static str, &ServeSize)> {
    let of = |bytes: u64| {
        let is_same =
            move |other: &&ServeSize| other.policy == d.policy && other.cache_bytes == bytes;
        d.other_sizes.iter().find(is_same)
    };
    let is_less =
        |other: &&ServeSize| other.policy == d.policy && other.cache_bytes < d.cache_bytes;
    let half = d.other_sizes.iter().filter(is_less).max_by_key(|other| other.cache_bytes);
    let twice = of(2 * d.cache_bytes).map(|other| ("twice", other));
    twice.into_iter().chain(half.map(|other| ("half", other)))
}

/// What another size would have given since the start.
fn would(served: &Served, other: &ServeSize) -> String {
    let size = Bytes(other.cache_bytes);
    let ever = served.seen.compared_hit_ratio.unwrap_or(0.0);
    let more = 100.0 * (other.hit_ratio - ever);
    format!("{size} would hit {}{}, {more:+.1} points", percent(other.hit_ratio), band(other))
}

fn band(other: &ServeSize) -> String {
    let [low, high] = [other.hit_ratio_low, other.hit_ratio_high].map(|ratio| 100.0 * ratio);
    if low < high { format!(" ({low:.1} to {high:.1})") } else { String::new() }
}

fn percent(ratio: f64) -> String {
    format!("{:.1} %", 100.0 * ratio)
}

#[cfg(test)]
pub(crate) mod tests;

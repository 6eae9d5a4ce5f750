//! The figures of a server as `OpenMetrics`, since its start.
//!
//! Source: the `OpenMetrics` specification, version 1.0. Names begin with `nbuf_serve_`, and end with their unit.

use nbuf::experiment::result::{FigureStep, ServeDocument, ServeSize, WatchTimes};

use super::super::watch::metrics::{
    Family, Labels, Value, Values, bytes, counted, now, plain, ratio, seconds, text,
};

/// The text that is scraped. Several exports have their names as a label.
pub(crate) fn metrics(document: &ServeDocument) -> String {
    let mut families = server(document);
    if document.exports.is_empty() {
        families.extend(of(document));
    }
    for export in &document.exports {
        for mut family in of(export) {
            for (labels, _) in &mut family.values {
                labels.insert(0, ("export", export.name.clone()));
            }
            match families.iter_mut().find(|known| known.name == family.name) {
                Some(known) => known.values.append(&mut family.values),
                None => families.push(family),
            }
        }
    }
    families.retain(|family| !family.values.is_empty());
    text(families)
}

/// The families of an export.
fn of(document: &ServeDocument) -> Vec<Family> {
    let parts = [requests, misses, disc, tier, ahead, bypass, cache, costs, others];
    parts.iter().flat_map(|part| part(document)).collect()
}

/// The text where the server does not answer.
pub(crate) fn without() -> String {
    text(vec![plain("serve_up", "Whether the server answers").of(now(0.0))])
}

fn server(d: &ServeDocument) -> Vec<Family> {
    vec![
        plain("serve_up", "Whether the server answers").of(now(1.0)),
        plain("serve_clients", "Connected clients").of(now(d.clients as f64)),
        plain("serve_connections", "Clients since the start").of(counted(d.clients_ever)),
    ]
}

fn requests(d: &ServeDocument) -> Vec<Family> {
    let read_write = |read, write| by("op", [("read", read), ("write", write)]);
    let seen = d.figures.as_ref().map_or(&[][..], |figures| &figures.service);
    vec![
        plain("serve_requests", "Requests by clients")
            .of(by("op", [("read", d.reads), ("write", d.writes), ("flush", d.flushes)])),
        bytes("serve_request", "Bytes of these").of(read_write(d.read_bytes, d.write_bytes)),
        plain("serve_read_hits", "Reads that the cache served without the disc")
            .of(counted(d.read_hits)),
        plain("serve_writes_absorbed", "Writes complete when the cache had them")
            .of(counted(d.writes_absorbed)),
        plain("serve_writes_throttled", "Writes that waited: half of the cache was dirty")
            .of(counted(d.writes_throttled)),
        seconds("serve_service", "Time from asking to having, of a sample of requests")
            .of(steps(seen)),
    ]
}

fn misses(d: &ServeDocument) -> Vec<Family> {
    let m = &d.misses;
    let causes = [
        ("never_seen", m.never_seen),
        ("evicted", m.evicted),
        ("invalidated", m.invalidated),
        ("bypassed", m.bypassed),
        ("written", m.written),
    ];
    vec![
        plain("serve_page_lookups", "Pages that reads looked up").of(counted(d.pages)),
        plain("serve_page_hits", "Pages of these that were in the cache").of(counted(d.page_hits)),
        plain("serve_page_misses", "The other pages, by cause").of(by("cause", causes)),
        plain(
            "serve_evicted_would_hit_at_twice",
            "Misses of evicted pages that twice the size would have had, an estimate",
        )
        .of(now(m.evicted_would_hit_at_twice as f64)),
        plain("serve_evictions", "Pages that the policy evicted").of(counted(d.evictions)),
    ]
}

fn disc(d: &ServeDocument) -> Vec<Family> {
    let requests = [("read", d.disc_reads), ("write", d.disc_writes), ("flush", d.disc_flushes)];
    let costs = &d.costs;
    let times =
        [("read", &costs.disc_read), ("write", &costs.disc_write), ("flush", &costs.disc_flush)];
    let times = times.into_iter().filter(|(_, times)| times.count > 0);
    let times = times.map(|(op, times)| (label("op", op), Value::histogram(times)));
    let moved = [("read", d.disc_read_bytes), ("write", d.disc_write_bytes)];
    vec![
        plain("serve_disc_requests", "Requests to the disc").of(by("op", requests)),
        bytes("serve_disc", "Bytes of these").of(by("op", moved)),
        plain("serve_disc_errors", "Requests that the disc refused").of(counted(d.disc_errors)),
        seconds("serve_disc_time", "From submission to completion").of(times.collect()),
    ]
}

fn tier(d: &ServeDocument) -> Vec<Family> {
    let Some(t) = &d.tier else { return Vec::new() };
    let is_used = f64::from(u8::from(t.lost.is_none()));
    vec![
        plain("serve_tier_up", "Whether the second tier is used").of(now(is_used)),
        bytes("serve_tier", "Bytes that the tier has room for").of(now(t.size_bytes as f64)),
        bytes("serve_tier_used", "Bytes in the tier").of(now(t.used_bytes as f64)),
        plain("serve_tier_reads", "Reads that the cache asked of the tier").of(counted(t.reads)),
        plain("serve_tier_read_hits", "Reads of these that the tier served")
            .of(counted(t.read_hits)),
        bytes("serve_tier_hit", "Bytes that the tier served").of(counted(t.hit_bytes)),
        plain("serve_tier_disc_reads", "Reads of the disc behind the tier")
            .of(counted(t.disc_reads)),
        plain("serve_tier_fills", "Writes that filled the tier").of(counted(t.fills)),
        bytes("serve_tier_fill", "Bytes of these").of(counted(t.fill_bytes)),
        plain("serve_tier_evictions", "Blocks that left for others").of(counted(t.evictions)),
        plain("serve_tier_errors", "Requests that the tier refused or broke").of(counted(t.errors)),
        plain("serve_tier_overdue", "Requests that the tier had not answered when it was given up")
            .of(counted(t.overdue)),
    ]
}

fn ahead(d: &ServeDocument) -> Vec<Family> {
    let r = &d.readahead;
    let time =
        if r.times.count > 0 { vec![(Vec::new(), Value::histogram(&r.times))] } else { Vec::new() };
    vec![
        plain("serve_readahead_requests", "Requests to the disc ahead of clients")
            .of(counted(r.requests)),
        plain("serve_readahead_pages", "Pages of these").of(counted(r.pages)),
        plain(
            "serve_readahead_ended_pages",
            "Pages of these that a read wanted, or that left before",
        )
        .of(by("end", [("used", r.used), ("useless", r.useless)])),
        seconds("serve_readahead_time", "From submission to completion").of(time),
    ]
}

fn bypass(d: &ServeDocument) -> Vec<Family> {
    let b = &d.bypass;
    vec![
        plain("serve_aside", "Whether the cache steps aside now")
            .of(now(f64::from(u8::from(b.is_aside)))),
        plain("serve_aside_changes", "How often it stepped aside or was back")
            .of(counted(b.changes)),
        plain("serve_past_reads", "Reads that went past the cache").of(counted(b.reads)),
        bytes("serve_past_read", "Bytes of these").of(counted(b.read_bytes)),
    ]
}

fn cache(d: &ServeDocument) -> Vec<Family> {
    let gauge = |bytes: u64| now(bytes as f64);
    vec![
        bytes("serve_cache", "The size of the cache").of(gauge(d.cache_bytes)),
        bytes("serve_used", "Bytes in the cache").of(gauge(d.used_bytes)),
        bytes("serve_dirty", "Bytes that the disc does not have").of(gauge(d.owed_bytes)),
    ]
}

fn costs(d: &ServeDocument) -> Vec<Family> {
    let work = [("lookup", &d.costs.lookup), ("copy", &d.costs.copy), ("fill", &d.costs.fill)];
    let all = work.map(|(name, work)| (label("work", name), Value::Counter(work.seconds)));
    let saved = d.costs.saved_seconds.map(now).unwrap_or_default();
    vec![
        seconds("serve_work", "Processor time of the cache, from samples").of(all.into()),
        seconds("serve_saved", "Time that reads did not wait for the disc, less that time")
            .of(saved),
    ]
}

fn others(d: &ServeDocument) -> Vec<Family> {
    let edges = |other: &ServeSize| {
        [("low", other.hit_ratio_low), ("best", other.hit_ratio), ("high", other.hit_ratio_high)]
            .map(|(edge, value)| (other.clone(), edge, value))
    };
    let values = d.other_sizes.iter().flat_map(edges).map(|(other, edge, value)| {
        let labels = vec![
            ("policy", other.policy),
            ("size", format!("{}", other.cache_bytes as f64 / d.cache_bytes.max(1) as f64)),
            ("edge", edge.to_owned()),
        ];
        (labels, Value::Gauge(value))
    });
    let help = "Hit ratio with another policy or size, in sizes of the cache, and its band of 95 %";
    vec![ratio("serve_other_hit", help).of(values.collect())]
}

fn label(name: &'static str, value: &str) -> Labels {
    vec![(name, value.to_owned())]
}

fn by<const N: usize>(name: &'static str, counts: [(&str, u64); N]) -> Values {
    counts.map(|(value, count)| (label(name, value), Value::Counter(count as f64))).into()
}

/// A histogram of a sample; its sum is of the middles of the steps.
fn steps(steps: &[FigureStep]) -> Values {
    let count = steps.iter().map(|step| step.count).sum::<u64>();
    if count == 0 {
        return Values::new();
    }
    let sum: f64 = steps.iter().map(|step| step.from.midpoint(step.to) * step.count as f64).sum();
    let mean_seconds = Some(sum / count as f64);
    let times = WatchTimes { count, mean_seconds, steps: steps.to_vec(), ..WatchTimes::default() };
    vec![(Vec::new(), Value::histogram(&times))]
}

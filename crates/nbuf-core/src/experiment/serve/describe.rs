//! The document of a server: what was asked, and what was counted.

use super::Spec;
use crate::cache::cached::OtherSize;
use crate::experiment::result::{ServeDocument, ServeMisses, ServeSize};
use crate::path::nbd::Snapshot;

pub(super) fn describe(spec: &Spec, size_bytes: u64, snapshot: &Snapshot) -> ServeDocument {
    let counts = snapshot.counts;
    let page_bytes = u64::from(snapshot.settings.page_bytes);
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    ServeDocument {
        schema: ServeDocument::SCHEMA.to_owned(),
        disc: spec.disc.to_string(),
        disc_bytes: size_bytes,
        cache_bytes: u64::from(snapshot.settings.pages) * page_bytes,
        page_bytes,
        policy: snapshot.policy.to_string(),
        write: snapshot.settings.writes.to_string(),
        seconds: snapshot.up.seconds(),
        clients: snapshot.clients,
        clients_ever: snapshot.clients_ever,
        used_bytes: snapshot.used_pages * page_bytes,
        owed_bytes: snapshot.owed_bytes,
        reads: counts.reads,
        read_hits: counts.read_hits,
        read_bytes: counts.read_bytes,
        pages: counts.lookups,
        page_hits: counts.hits,
        hit_ratio: ratio(counts.hits, counts.lookups),
        misses: ServeMisses {
            never_seen: counts.misses_new,
            evicted: counts.misses_evicted,
            evicted_would_hit_at_twice: snapshot.would_hit_at_twice,
            invalidated: counts.misses_invalidated,
            bypassed: counts.misses_bypassed,
            written: counts.misses_written,
            joined: counts.joined,
        },
        other_sizes: snapshot.others.iter().map(|other| size(other, page_bytes)).collect(),
        evictions: counts.evictions,
        writes: counts.writes,
        write_bytes: counts.write_bytes,
        writes_absorbed: counts.writes_absorbed,
        writes_throttled: counts.throttled,
        flushes: counts.flushes,
        disc_reads: counts.disc_reads,
        disc_read_bytes: counts.disc_read_bytes,
        disc_writes: counts.disc_writes,
        disc_write_bytes: counts.disc_write_bytes,
        disc_flushes: counts.disc_flushes,
        disc_errors: counts.disc_errors,
        error: None,
    }
}

fn size(other: &OtherSize, page_bytes: u64) -> ServeSize {
    ServeSize {
        policy: other.policy.clone(),
        cache_bytes: other.pages * page_bytes,
        hit_ratio: other.hit_ratio,
        hit_ratio_low: other.low,
        hit_ratio_high: other.high,
    }
}

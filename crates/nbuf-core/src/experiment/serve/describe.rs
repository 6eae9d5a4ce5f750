//! The document of a server: what was asked, and what was counted.

use super::{ExportSpec, Spec, TierSpec};
use crate::cache::cached::{Measured, OtherSize, Work};
use crate::experiment::replay::rate_steps;
use crate::experiment::result::{
    FigureTracks, ReplayFigures, ServeBypass, ServeCosts, ServeDocument, ServeMisses,
    ServeReadahead, ServeSize, ServeTier, ServeWork,
};
use crate::experiment::watch::times;
use crate::path::nbd::{Snapshot, Snapshots, TierSnapshot};

pub(super) fn describe(spec: &Spec, sizes_bytes: &[u64], server: &Snapshots) -> ServeDocument {
    let discs = spec.exports.iter().zip(sizes_bytes).zip(&server.discs);
    let mut exports: Vec<ServeDocument> =
        discs.map(|((export, &size_bytes), seen)| of(export, size_bytes, seen)).collect();
    let (clients, clients_ever) = (server.clients, server.clients_ever);
    let one = if exports.len() == 1 { exports.pop() } else { None };
    let document = one.unwrap_or_else(|| ServeDocument::sum(exports));
    ServeDocument { clients, clients_ever, ..document }
}

fn of(export: &ExportSpec, size_bytes: u64, snapshot: &Snapshot) -> ServeDocument {
    let counts = snapshot.counts;
    let page_bytes = u64::from(snapshot.settings.page_bytes);
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    ServeDocument {
        schema: ServeDocument::SCHEMA.to_owned(),
        name: export.name.clone(),
        disc: export.disc.to_string(),
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
        compared_pages: snapshot.compared.0,
        compared_hit_ratio: ratio(snapshot.compared.1, snapshot.compared.0),
        other_sizes: snapshot.others.iter().map(|other| size(other, page_bytes)).collect(),
        costs: costs(&snapshot.measured, counts.read_hits),
        readahead: ServeReadahead {
            most_bytes: snapshot.settings.readahead_bytes.into(),
            requests: counts.aheads,
            pages: counts.ahead_pages,
            used: counts.ahead_used,
            useless: counts.ahead_useless,
            times: times(&snapshot.measured.disc_aheads),
        },
        bypass: ServeBypass {
            mode: snapshot.settings.bypass.to_string(),
            is_aside: snapshot.aside.0,
            changes: snapshot.aside.1,
            reads: counts.past_reads,
            read_bytes: counts.past_read_bytes,
        },
        tier: export.tier.as_ref().zip(snapshot.tier.as_ref()).map(|(file, seen)| tier(file, seen)),
        figures: Some(figures(snapshot, page_bytes)),
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
        exports: Vec::new(),
        error: None,
    }
}

fn tier(spec: &TierSpec, seen: &TierSnapshot) -> ServeTier {
    let counts = seen.counts;
    ServeTier {
        file: spec.path.display().to_string(),
        size_bytes: seen.size_bytes,
        used_bytes: seen.used_bytes,
        lost: seen.lost.clone(),
        reads: counts.reads,
        read_hits: counts.hits,
        hit_bytes: counts.hit_bytes,
        disc_reads: counts.backing_reads,
        disc_read_bytes: counts.backing_read_bytes,
        fills: counts.fills,
        fill_bytes: counts.fill_bytes,
        fills_skipped: counts.skipped,
        evictions: counts.evictions,
        errors: counts.errors,
        overdue: counts.overdue,
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

fn costs(measured: &Measured, read_hits: u64) -> ServeCosts {
    let work = |work: Work| {
        let sampled = measured.of(work);
        let (count, seconds) = (sampled.count, sampled.seconds());
        ServeWork { count, seconds, times: times(&sampled.times) }
    };
    let work_seconds = measured.work_seconds();
    let mean = measured.disc_reads.mean();
    ServeCosts {
        lookup: work(Work::Lookup),
        copy: work(Work::Copy),
        fill: work(Work::Fill),
        work_seconds,
        disc_read: times(&measured.disc_reads),
        disc_write: times(&measured.disc_writes),
        disc_flush: times(&measured.disc_flushes),
        saved_seconds: mean.map(|mean| mean.seconds() * read_hits as f64 - work_seconds),
    }
}

/// Those of the six figures that a cache without hash lists has.
fn figures(snapshot: &Snapshot, page_bytes: u64) -> ReplayFigures {
    let seen = &snapshot.figures;
    let places = &snapshot.places;
    let held = places.iter().filter(|&&pages| pages > 0).count();
    ReplayFigures {
        tracks: FigureTracks {
            tracks: places.len() as u64,
            track_bytes: snapshot.place_pages * page_bytes,
            is_track: false,
            tracks_held: held as u64,
            units_held: snapshot.used_pages,
            units_management: None,
            cell_tracks: 1,
            cells_management: 0,
            cells: places.iter().copied().map(u64::from).collect(),
        },
        lists: None,
        period_seconds: seen.reads.period().seconds(),
        hit_rates: seen.reads.hit_rates().to_vec(),
        idle_periods: seen.requests.idle(),
        service: times(&seen.service).steps,
        rates: rate_steps(&seen.requests),
    }
}

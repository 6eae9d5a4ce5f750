//! A document of a server with several exports: their sums.

use super::{
    FigureStep, ServeBypass, ServeCosts, ServeDocument, ServeMisses, ServeReadahead, ServeWork,
    WatchTimes,
};

impl ServeDocument {
    /// The sums over the discs of a server. Figures and other sizes are those of each export alone.
    pub(in crate::experiment) fn sum(exports: Vec<Self>) -> Self {
        let all = |of: fn(&Self) -> u64| exports.iter().map(of).sum::<u64>();
        let (pages, page_hits) = (all(|d| d.pages), all(|d| d.page_hits));
        let named = |of: fn(&Self) -> &String| {
            let mut names: Vec<&str> = exports.iter().map(|d| of(d).as_str()).collect();
            names.dedup();
            names.join(", ")
        };
        let first = exports.first();
        Self {
            schema: Self::SCHEMA.to_owned(),
            disc: named(|d| &d.disc),
            disc_bytes: all(|d| d.disc_bytes),
            cache_bytes: all(|d| d.cache_bytes),
            page_bytes: first.map_or(0, |d| d.page_bytes),
            policy: named(|d| &d.policy),
            write: named(|d| &d.write),
            seconds: first.map_or(0.0, |d| d.seconds),
            clients: all(|d| d.clients),
            clients_ever: all(|d| d.clients_ever),
            used_bytes: all(|d| d.used_bytes),
            owed_bytes: all(|d| d.owed_bytes),
            reads: all(|d| d.reads),
            read_hits: all(|d| d.read_hits),
            read_bytes: all(|d| d.read_bytes),
            pages,
            page_hits,
            hit_ratio: (pages > 0).then(|| page_hits as f64 / pages as f64),
            misses: exports.iter().fold(ServeMisses::default(), |sum, d| sum.plus(&d.misses)),
            costs: exports.iter().fold(ServeCosts::default(), |sum, d| sum.plus(&d.costs)),
            bypass: exports.iter().fold(ServeBypass::default(), |sum, d| sum.plus(&d.bypass)),
            readahead: exports
                .iter()
                .fold(ServeReadahead::default(), |sum, d| sum.plus(&d.readahead)),
            evictions: all(|d| d.evictions),
            writes: all(|d| d.writes),
            write_bytes: all(|d| d.write_bytes),
            writes_absorbed: all(|d| d.writes_absorbed),
            writes_throttled: all(|d| d.writes_throttled),
            flushes: all(|d| d.flushes),
            disc_reads: all(|d| d.disc_reads),
            disc_read_bytes: all(|d| d.disc_read_bytes),
            disc_writes: all(|d| d.disc_writes),
            disc_write_bytes: all(|d| d.disc_write_bytes),
            disc_flushes: all(|d| d.disc_flushes),
            disc_errors: all(|d| d.disc_errors),
            exports,
            ..Self::default()
        }
    }
}

impl ServeMisses {
    fn plus(&self, other: &Self) -> Self {
        Self {
            never_seen: self.never_seen + other.never_seen,
            evicted: self.evicted + other.evicted,
            evicted_would_hit_at_twice: self.evicted_would_hit_at_twice
                + other.evicted_would_hit_at_twice,
            invalidated: self.invalidated + other.invalidated,
            bypassed: self.bypassed + other.bypassed,
            written: self.written + other.written,
            joined: self.joined + other.joined,
        }
    }
}

impl ServeCosts {
    fn plus(&self, other: &Self) -> Self {
        let saved = [self.saved_seconds, other.saved_seconds].into_iter().flatten();
        Self {
            lookup: self.lookup.plus(&other.lookup),
            copy: self.copy.plus(&other.copy),
            fill: self.fill.plus(&other.fill),
            work_seconds: self.work_seconds + other.work_seconds,
            disc_read: self.disc_read.plus(&other.disc_read),
            disc_write: self.disc_write.plus(&other.disc_write),
            disc_flush: self.disc_flush.plus(&other.disc_flush),
            saved_seconds: saved.reduce(|sum, saved| sum + saved),
        }
    }
}

impl ServeWork {
    fn plus(&self, other: &Self) -> Self {
        Self {
            count: self.count + other.count,
            seconds: self.seconds + other.seconds,
            times: self.times.plus(&other.times),
        }
    }
}

impl WatchTimes {
    pub(super) fn plus(&self, other: &Self) -> Self {
        let count = self.count + other.count;
        let mut steps: Vec<FigureStep> = self.steps.clone();
        for step in &other.steps {
            match steps.iter_mut().find(|known| known.from.total_cmp(&step.from).is_eq()) {
                Some(known) => known.count += step.count,
                None => steps.push(*step),
            }
        }
        steps.sort_by(|a, b| a.from.total_cmp(&b.from));
        let longest = [self.longest_seconds, other.longest_seconds].into_iter().flatten();
        Self {
            longest_seconds: longest.reduce(f64::max),
            ..Self::of_steps(count, self.sum_seconds() + other.sum_seconds(), steps)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_the_sums_of_its_exports() {
        let step = |from: f64, count| FigureStep { from, to: from + 1.0, count };
        let export = |name: &str, reads: u64, from: f64| ServeDocument {
            name: name.to_owned(),
            reads,
            pages: reads,
            page_hits: 1,
            policy: "lru".to_owned(),
            costs: ServeCosts {
                disc_read: WatchTimes::of_steps(2, 3.0, vec![step(from, 2)]),
                saved_seconds: (from > 0.0).then_some(1.5),
                ..ServeCosts::default()
            },
            ..ServeDocument::default()
        };
        let all = ServeDocument::sum(vec![export("a", 3, 0.0), export("b", 5, 1.0)]);
        assert_eq!((all.reads, all.hit_ratio, all.policy.as_str()), (8, Some(0.25), "lru"));
        let disc = &all.costs.disc_read;
        assert_eq!((disc.count, disc.mean_seconds, disc.steps.len()), (4, Some(1.5), 2));
        assert_eq!((disc.p50_seconds, disc.p99_seconds), (Some(1.0), Some(2.0)));
        assert_eq!(all.costs.saved_seconds, Some(1.5));
        let later = ServeDocument::sum(vec![export("a", 4, 0.0), export("b", 9, 1.0)]);
        let seen = later.since(&all);
        assert_eq!((seen.reads, seen.exports[0].reads, seen.exports[1].reads), (5, 1, 4));
    }
}

//! What a server did between two of its documents.

use super::{FigureStep, ServeCosts, ServeDocument, ServeMisses, ServeWork, WatchTimes};

impl ServeDocument {
    /// What was counted since another document of the same server: counts, times and seconds of the interval
    /// alone. Sizes, figures and other sizes are those of this one. If the server was started again in
    /// between, the interval begins at its start.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let none =
            Self { exports: self.exports.iter().map(Self::at_start).collect(), ..Self::default() };
        let was = if before.seconds > self.seconds { &none } else { before };
        let less = |of: fn(&Self) -> u64| of(self).saturating_sub(of(was));
        let (pages, page_hits) = (less(|d| d.pages), less(|d| d.page_hits));
        let read_hits = less(|d| d.read_hits);
        Self {
            seconds: self.seconds - was.seconds,
            clients_ever: less(|d| d.clients_ever),
            reads: less(|d| d.reads),
            read_hits,
            read_bytes: less(|d| d.read_bytes),
            pages,
            page_hits,
            hit_ratio: (pages > 0).then(|| page_hits as f64 / pages as f64),
            misses: self.misses.since(&was.misses),
            costs: self.costs.since(&was.costs, read_hits),
            bypass: self.bypass.since(&was.bypass),
            readahead: self.readahead.since(&was.readahead),
            tier: self.tier.as_ref().map(|tier| {
                let was = was.tier.clone().unwrap_or_default();
                tier.since(&was)
            }),
            evictions: less(|d| d.evictions),
            writes: less(|d| d.writes),
            write_bytes: less(|d| d.write_bytes),
            writes_absorbed: less(|d| d.writes_absorbed),
            writes_throttled: less(|d| d.writes_throttled),
            flushes: less(|d| d.flushes),
            disc_reads: less(|d| d.disc_reads),
            disc_read_bytes: less(|d| d.disc_read_bytes),
            disc_writes: less(|d| d.disc_writes),
            disc_write_bytes: less(|d| d.disc_write_bytes),
            disc_flushes: less(|d| d.disc_flushes),
            disc_errors: less(|d| d.disc_errors),
            exports: self.exports.iter().map(|export| export.since(was.export(export))).collect(),
            ..self.clone()
        }
    }

    /// An export that has done nothing.
    fn at_start(&self) -> Self {
        Self { name: self.name.clone(), ..Self::default() }
    }

    /// What was known of an export; the export itself, if it was not there then.
    fn export<'a>(&'a self, same: &'a Self) -> &'a Self {
        self.exports.iter().find(|export| export.name == same.name).unwrap_or(same)
    }
}

impl ServeMisses {
    fn since(&self, was: &Self) -> Self {
        let less = |of: fn(&Self) -> u64| of(self).saturating_sub(of(was));
        Self {
            never_seen: less(|m| m.never_seen),
            evicted: less(|m| m.evicted),
            evicted_would_hit_at_twice: less(|m| m.evicted_would_hit_at_twice),
            invalidated: less(|m| m.invalidated),
            bypassed: less(|m| m.bypassed),
            written: less(|m| m.written),
            joined: less(|m| m.joined),
        }
    }
}

impl ServeCosts {
    /// The mean read of the disc is over all time: in a short interval there may be none.
    fn since(&self, was: &Self, read_hits: u64) -> Self {
        let work_seconds = (self.work_seconds - was.work_seconds).max(0.0);
        let mean = self.disc_read.mean_seconds;
        Self {
            lookup: self.lookup.since(&was.lookup),
            copy: self.copy.since(&was.copy),
            fill: self.fill.since(&was.fill),
            work_seconds,
            disc_read: self.disc_read.since(&was.disc_read),
            disc_write: self.disc_write.since(&was.disc_write),
            disc_flush: self.disc_flush.since(&was.disc_flush),
            saved_seconds: mean.map(|mean| mean * read_hits as f64 - work_seconds),
        }
    }
}

impl ServeWork {
    fn since(&self, was: &Self) -> Self {
        Self {
            count: self.count.saturating_sub(was.count),
            seconds: (self.seconds - was.seconds).max(0.0),
            times: self.times.since(&was.times),
        }
    }
}

impl WatchTimes {
    /// The times that came after others: quantiles are the ends of steps, and the longest is not known.
    pub(super) fn since(&self, was: &Self) -> Self {
        let new = |step: &FigureStep| {
            let is_same = |old: &&FigureStep| old.from.total_cmp(&step.from).is_eq();
            let old = was.steps.iter().find(is_same).map_or(0, |old| old.count);
            FigureStep { count: step.count.saturating_sub(old), ..*step }
        };
        let sum = (self.sum_seconds() - was.sum_seconds()).max(0.0);
        let steps = self.steps.iter().map(new).collect();
        Self::of_steps(self.count.saturating_sub(was.count), sum, steps)
    }

    /// All of them together.
    pub(super) fn sum_seconds(&self) -> f64 {
        self.mean_seconds.unwrap_or(0.0) * self.count as f64
    }

    /// Times of which only steps are known.
    pub(super) fn of_steps(count: u64, sum_seconds: f64, steps: Vec<FigureStep>) -> Self {
        let quantile = |share: f64| {
            let mut left = (share * count as f64).ceil().max(1.0);
            steps.iter().find_map(|step| {
                left -= step.count as f64;
                (left <= 0.0).then_some(step.to)
            })
        };
        Self {
            count,
            mean_seconds: (count > 0).then(|| sum_seconds / count as f64),
            p50_seconds: quantile(0.5),
            p90_seconds: quantile(0.9),
            p99_seconds: quantile(0.99),
            longest_seconds: None,
            steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(counts: [u64; 3], mean: f64) -> WatchTimes {
        let ends = [1e-3, 2e-3, 3e-3, 5e-3];
        let step = |at: usize| FigureStep { from: ends[at], to: ends[at + 1], count: counts[at] };
        WatchTimes {
            count: counts.iter().sum(),
            mean_seconds: Some(mean),
            steps: (0..3).map(step).collect(),
            ..WatchTimes::default()
        }
    }

    #[test]
    fn an_interval_has_what_came_in_it() {
        let at = |seconds: f64, reads: u64, disc_read: WatchTimes| ServeDocument {
            seconds,
            reads,
            read_hits: reads / 2,
            pages: reads,
            page_hits: reads / 2,
            cache_bytes: reads,
            costs: ServeCosts { disc_read, ..ServeCosts::default() },
            ..ServeDocument::default()
        };
        let (first, second) =
            (at(5.0, 10, times([5, 0, 0], 1.5e-3)), at(7.0, 30, times([5, 4, 6], 3e-3)));
        let seen = second.since(&first);
        assert_eq!((seen.seconds, seen.reads, seen.hit_ratio), (2.0, 20, Some(0.5)));
        assert_eq!(seen.cache_bytes, 30);
        let disc = &seen.costs.disc_read;
        assert_eq!((disc.count, disc.p50_seconds, disc.p99_seconds), (10, Some(5e-3), Some(5e-3)));
        assert!((disc.mean_seconds.unwrap() - 3.75e-3).abs() < 1e-9, "{disc:?}");
        assert!((seen.costs.saved_seconds.unwrap() - 10.0 * 3e-3).abs() < 1e-9);
        assert_eq!(second.since(&second).costs.disc_read.p50_seconds, None);
        // It was started again.
        assert_eq!((first.since(&second).reads, first.since(&second).seconds), (10, 5.0));
        let with_export = |document: &ServeDocument| ServeDocument {
            exports: vec![ServeDocument { name: "a".to_owned(), ..document.clone() }],
            ..document.clone()
        };
        let exports = [with_export(&first), with_export(&second)];
        let reads = |new: usize, old: usize| exports[new].since(&exports[old]).exports[0].reads;
        assert_eq!((reads(1, 0), reads(0, 1)), (20, 10));
    }
}

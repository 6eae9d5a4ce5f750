//! How long a program would wait for its discs at each size of its cache: misses a second, times the time of a read.
//!
//! The time of a read is the machine's own, of the window, or since its start where the window has few reads. So the
//! discs are taken together: what only one of them serves is not known of a page that was a hit. A miss counts as a
//! read of its own, although readahead brings several pages at once, and reads of several threads overlap. So the
//! program waits at most as long.

use super::Spec;
use crate::experiment::result::{LiveDocument, LivePoint, LiveService};
use crate::meter::probe::disc_counts::{self, DiscCounts};

/// Fewer reads say little of the next.
const READS_MIN: u64 = 100;
/// Devices whose requests another device, or memory, serves.
const OTHERS: [&str; 6] = ["loop", "ram", "zram", "dm-", "md", "fd"];

/// The reads of all discs since the machine started; none if the kernel does not say.
pub(super) fn reads_so_far() -> DiscCounts {
    let all = disc_counts::read().unwrap_or_default();
    let is_disc = |name: &str| !OTHERS.iter().any(|other| name.starts_with(other));
    all.iter().filter(|(name, _)| is_disc(name)).fold(DiscCounts::default(), |sum, (_, disc)| {
        DiscCounts {
            reads: sum.reads + disc.reads,
            read_ms: sum.read_ms + disc.read_ms,
            ..DiscCounts::default()
        }
    })
}

/// What a read took in the window, by what was read before and after it.
pub(super) fn service(before: &DiscCounts, after: &DiscCounts) -> Option<LiveService> {
    let within = DiscCounts {
        reads: after.reads.saturating_sub(before.reads),
        read_ms: after.read_ms.saturating_sub(before.read_ms),
        ..DiscCounts::default()
    };
    // The kernel's count of milliseconds has 32 bits, and begins again.
    let is_of_window = within.reads >= READS_MIN && after.read_ms >= before.read_ms;
    let counts = if is_of_window { &within } else { after };
    (counts.reads >= READS_MIN).then(|| LiveService {
        read_seconds: counts.read_ms as f64 / 1e3 / counts.reads as f64,
        reads: counts.reads,
        is_of_window,
    })
}

/// Adds what each size would wait, and gives the answer if that was asked for.
pub(super) fn add(document: &mut LiveDocument, spec: &Spec, service: Option<LiveService>) {
    document.service = service;
    if let Some(service) = service {
        for point in &mut document.points {
            point.stall = Some(point.misses_per_second * service.read_seconds);
        }
    }
    document.stall_target = spec.stall;
    // Without a time of reads no size is known to be enough.
    if let Some(most) = spec.stall {
        let meets = |point: &&LivePoint| point.stall.is_some_and(|stall| stall <= most);
        document.answer = document.points.iter().find(meets).copied();
    } else if let Some(answer) = &mut document.answer {
        let same = document.points.iter().find(|point| point.cache_bytes == answer.cache_bytes);
        if let Some(same) = same {
            *answer = *same;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn counts(reads: u64, read_ms: u64) -> DiscCounts {
        DiscCounts { reads, read_ms, ..DiscCounts::default() }
    }

    #[test]
    fn the_window_counts_if_it_has_reads_enough() {
        let check = |after, want: Option<(f64, bool)>| {
            let service = service(&counts(1000, 5000), &after);
            assert_eq!(service.map(|it| (it.read_seconds, it.is_of_window)), want);
        };
        check(counts(1200, 5400), Some((0.002, true)));
        check(counts(1050, 5250), Some((0.005, false)));
        assert_eq!(service(&counts(0, 0), &counts(99, 99)), None);
        // A disc that was taken away has fewer.
        check(counts(500, 500), Some((0.001, false)));
    }

    #[test]
    fn the_smallest_size_that_waits_little_enough_is_the_answer() {
        let point = |mib: u64, misses_per_second| LivePoint {
            cache_bytes: Bytes(mib << 20),
            misses_per_second,
            ..LivePoint::default()
        };
        let points = vec![point(1, 1000.0), point(2, 8.0), point(4, 1.0)];
        let mut document =
            LiveDocument { answer: Some(points[0]), points, ..LiveDocument::default() };
        let service = Some(LiveService { read_seconds: 0.001, reads: 500, is_of_window: true });
        let answer = |document: &LiveDocument| document.answer.map(|it| it.cache_bytes.0 >> 20);
        add(&mut document, &Spec::default(), service);
        assert_eq!((answer(&document), document.answer.unwrap().stall), (Some(1), Some(1.0)));
        add(&mut document, &Spec { stall: Some(0.01), ..Spec::default() }, service);
        assert_eq!((answer(&document), document.answer.unwrap().stall), (Some(2), Some(0.008)));
        add(&mut document, &Spec { stall: Some(0.0001), ..Spec::default() }, service);
        assert_eq!(answer(&document), None);
        add(&mut document, &Spec { stall: Some(2.0), ..Spec::default() }, None);
        assert_eq!(document.service, None);
    }
}

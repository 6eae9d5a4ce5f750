//! How much cache a running server needs, by what its small caches saw.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Error, stats};
use crate::experiment::result::{
    ServeAnswer, ServeDocument, ServeNeed, ServeNeedSize, ServeNeeds, ServeSize,
};
use crate::experiment::session::Session;
use crate::experiment::target::{MONTH_SECONDS, Target};
use crate::experiment::watch::wait;

/// How often a signal is looked for in a window.
const TICK: Duration = Duration::from_millis(100);
/// Fewer pages than that tell nothing: one in a hundred would be ten.
const PAGES_MIN: u64 = 1000;
/// Without a target, what a larger cache must add to the hit ratio.
const GAIN: f64 = 0.01;
const GIB: f64 = (1_u64 << 30) as f64;

/// Which server is asked, and what is wanted of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NeedSpec {
    /// Its control socket, or its socket if the control socket has the usual name.
    pub server: PathBuf,
    /// The window of which rates are taken. Without one, all time since the server started.
    pub duration: Option<Duration>,
    /// What is wanted. Without it, the smallest size that misses at most one page in a hundred more than the largest.
    pub target: Option<Target>,
}

/// Asks a running server. A signal ends the window earlier. Fails for a target of time, which no hit ratio tells.
pub fn need(spec: &NeedSpec, session: &mut Session<'_>) -> Result<ServeNeeds, Error> {
    if let Some(Target::Slowdown(_) | Target::Stall(_)) = spec.target {
        return Err(Error::Target);
    }
    session.cancellation.listen().map_err(Error::Signals)?;
    let mut total = stats(&spec.server)?;
    let mut interval = total.clone();
    if let Some(duration) = spec.duration {
        let end = session.clock.elapsed() + duration;
        while session.clock.elapsed() < end && session.cancellation.poll().is_none() {
            let left = end.saturating_sub(session.clock.elapsed()).min(TICK);
            wait(session, u64::try_from(left.as_nanos()).unwrap_or(u64::MAX))
                .map_err(Error::Signals)?;
        }
        let before = std::mem::replace(&mut total, stats(&spec.server)?);
        interval = total.since(&before);
    }
    let each = |document: &ServeDocument| match &document.exports[..] {
        [] => vec![document.clone()],
        all => all.to_vec(),
    };
    let seen = each(&total).into_iter().zip(each(&interval));
    let exports = seen.map(|(total, now)| {
        let rate = if interval.seconds > 0.0 { now.pages as f64 / interval.seconds } else { 0.0 };
        of(&total, rate, spec.target)
    });
    Ok(ServeNeeds {
        schema: ServeNeeds::SCHEMA.to_owned(),
        server: spec.server.display().to_string(),
        seconds: interval.seconds,
        exports: exports.collect(),
    })
}

/// What an export needs that is asked for this many pages a second.
fn of(seen: &ServeDocument, pages_per_second: f64, target: Option<Target>) -> ServeNeed {
    let misses = seen.pages.saturating_sub(seen.page_hits) as f64;
    let read = &seen.costs.disc_read;
    let busy_seconds = read.mean_seconds.map(|mean| mean * read.count as f64);
    let per_miss = busy_seconds.filter(|_| misses > 0.0).map(|seconds| seconds / misses);
    let size = |size: &ServeSize| {
        let misses_per_second = (1.0 - size.hit_ratio) * pages_per_second;
        ServeNeedSize {
            cache_bytes: size.cache_bytes,
            hit_ratio: size.hit_ratio,
            hit_ratio_low: size.hit_ratio_low,
            hit_ratio_high: size.hit_ratio_high,
            misses_per_second,
            disc_busy: per_miss.map(|seconds| seconds * misses_per_second),
        }
    };
    let (own, others): (Vec<&ServeSize>, Vec<&ServeSize>) =
        seen.other_sizes.iter().partition(|other| other.policy == seen.policy);
    let mut sizes: Vec<ServeNeedSize> = own.into_iter().map(size).collect();
    // The running one is known exactly.
    let is_enough = seen.compared_pages >= PAGES_MIN;
    if !is_enough {
        sizes.clear();
    }
    if let Some(hit_ratio) = seen.compared_hit_ratio.filter(|_| is_enough) {
        let now = ServeSize {
            policy: seen.policy.clone(),
            cache_bytes: seen.cache_bytes,
            hit_ratio,
            hit_ratio_low: hit_ratio,
            hit_ratio_high: hit_ratio,
        };
        sizes.push(size(&now));
    }
    sizes.sort_by_key(|size| size.cache_bytes);
    sizes.dedup_by_key(|size| size.cache_bytes);
    // The whole disc is the last size that can help.
    let whole = sizes.iter().map(|size| size.cache_bytes).find(|&bytes| bytes >= seen.disc_bytes);
    let is_known = |bytes: u64| bytes == seen.cache_bytes || whole.is_none_or(|all| bytes <= all);
    sizes.retain(|size| is_known(size.cache_bytes));
    let need = Demand { cache_bytes: seen.cache_bytes, has_all: whole.is_some(), pages_per_second };
    let (answer, needed_bytes) = answer(&sizes, &need, target);
    ServeNeed {
        name: seen.name.clone(),
        disc: seen.disc.clone(),
        policy: seen.policy.clone(),
        cache_bytes: seen.cache_bytes,
        used_bytes: seen.used_bytes,
        pages: seen.compared_pages,
        pages_per_second,
        disc_seconds_per_miss: per_miss,
        disc_errors: seen.disc_errors,
        sizes,
        others: others
            .into_iter()
            .filter(|other| other.cache_bytes == seen.cache_bytes)
            .cloned()
            .collect(),
        answer,
        needed_bytes,
    }
}

/// What an answer goes by.
struct Demand {
    cache_bytes: u64,
    /// Whether a size that is known has all of the disc.
    has_all: bool,
    pages_per_second: f64,
}

fn answer(
    sizes: &[ServeNeedSize],
    need: &Demand,
    target: Option<Target>,
) -> (ServeAnswer, Option<u64>) {
    let &Demand { cache_bytes, has_all, pages_per_second } = need;
    let Some(largest) = sizes.last() else { return (ServeAnswer::Unknown, None) };
    // Without reads any size costs nothing.
    let goes_by_rate = matches!(target, Some(Target::Fills(_) | Target::Price { .. }));
    if goes_by_rate && pages_per_second <= 0.0 {
        return (ServeAnswer::Unknown, None);
    }
    let best = sizes.iter().map(|size| size.hit_ratio).fold(0.0, f64::max);
    let bill = |size: &ServeNeedSize, memory: f64, fills: f64| {
        size.cache_bytes as f64 / GIB * memory
            + size.misses_per_second * MONTH_SECONDS / 1e6 * fills
    };
    let cheapest = |memory: f64, fills: f64| {
        let bills = sizes.iter().map(|size| bill(size, memory, fills));
        bills.fold(f64::INFINITY, f64::min)
    };
    let meets = |size: &&ServeNeedSize| match target {
        Some(Target::Hit(share)) => size.hit_ratio_low >= share,
        Some(Target::Fills(rate)) => (1.0 - size.hit_ratio_low) * pages_per_second <= rate,
        Some(Target::Price { memory, fills }) => {
            bill(size, memory, fills) <= cheapest(memory, fills)
        }
        _ => size.hit_ratio >= best - GAIN,
    };
    let Some(needed) = sizes.iter().find(meets) else {
        return (if has_all { ServeAnswer::NotYet } else { ServeAnswer::Beyond }, None);
    };
    // The largest one gained on all others, so a larger one may gain on it.
    let is_open = matches!(target, None | Some(Target::Price { .. }));
    if is_open && !has_all && needed.cache_bytes == largest.cache_bytes && sizes.len() > 1 {
        return (ServeAnswer::Beyond, None);
    }
    let answer = match needed.cache_bytes.cmp(&cache_bytes) {
        _ if needed.cache_bytes == sizes[0].cache_bytes && sizes.len() > 1 => ServeAnswer::AtMost,
        std::cmp::Ordering::Less => ServeAnswer::Less,
        std::cmp::Ordering::Equal => ServeAnswer::Enough,
        std::cmp::Ordering::Greater => ServeAnswer::More,
    };
    (answer, Some(needed.cache_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server of 64 KiB that looked up 1,000 pages a second, with these hit ratios from an eighth to four times.
    fn seen(ratios: [f64; 6]) -> ServeDocument {
        let [.., now, _, _] = ratios;
        let bytes = |at: usize| (8 << 10) << at;
        let size = |at: usize| ServeSize {
            policy: "lru".to_owned(),
            cache_bytes: bytes(at),
            hit_ratio: ratios[at],
            hit_ratio_low: ratios[at] - 0.005,
            hit_ratio_high: ratios[at] + 0.005,
        };
        let other = ServeSize { policy: "sieve".to_owned(), ..size(3) };
        let mut document = ServeDocument {
            policy: "lru".to_owned(),
            cache_bytes: bytes(3),
            disc_bytes: 1 << 30,
            pages: 10_000,
            page_hits: crate::units::whole(now * 1e4),
            compared_pages: 10_000,
            compared_hit_ratio: Some(now),
            other_sizes: [0, 1, 2, 4, 5].map(size).into_iter().chain([other]).collect(),
            ..ServeDocument::default()
        };
        document.costs.disc_read.count = 100;
        document.costs.disc_read.mean_seconds = Some(0.01);
        document
    }

    #[test]
    fn the_smallest_size_that_meets_the_target_is_needed() {
        let rising = [0.1, 0.2, 0.4, 0.6, 0.8, 0.805];
        let check = |ratios, target: Option<&str>, want: (ServeAnswer, Option<u64>)| {
            let target = target.map(|text| text.parse().unwrap());
            let need = of(&seen(ratios), 1000.0, target);
            let needed = need.needed_bytes.map(|bytes| bytes >> 10);
            assert_eq!((need.answer, needed), want, "{ratios:?} {target:?}");
            assert!(need.sizes.is_sorted_by_key(|size| size.cache_bytes) && need.sizes.len() == 6);
            assert_eq!(need.others.len(), 1);
        };
        check(rising, None, (ServeAnswer::More, Some(128)));
        check(rising, Some("hit=0.3"), (ServeAnswer::Less, Some(32)));
        // The lower edge of the band counts, except of the size that runs.
        check(rising, Some("hit=0.6"), (ServeAnswer::Enough, Some(64)));
        check(rising, Some("hit=0.796"), (ServeAnswer::More, Some(256)));
        check(rising, Some("hit=0.9"), (ServeAnswer::Beyond, None));
        check(rising, Some("hit=0.05"), (ServeAnswer::AtMost, Some(8)));
        check(rising, Some("fills=400/s"), (ServeAnswer::Enough, Some(64)));
        check(rising, Some("price=1000000000,1"), (ServeAnswer::AtMost, Some(8)));
        check(rising, Some("price=0,1"), (ServeAnswer::Beyond, None));
        check([0.5; 6], None, (ServeAnswer::AtMost, Some(8)));
        check([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], None, (ServeAnswer::Beyond, None));
        // The disc is as large as twice the cache.
        let small = ServeDocument { disc_bytes: 100 << 10, ..seen([0.1, 0.2, 0.3, 0.4, 0.5, 0.5]) };
        let check_small = |target: Option<&str>, want| {
            let need = of(&small, 1000.0, target.map(|text| text.parse().unwrap()));
            assert_eq!((need.answer, need.needed_bytes.map(|bytes| bytes >> 10)), want);
            assert_eq!(need.sizes.last().unwrap().cache_bytes, 128 << 10);
        };
        check_small(None, (ServeAnswer::More, Some(128)));
        check_small(Some("hit=0.6"), (ServeAnswer::NotYet, None));
        // Nothing is read now, so no rate tells a size.
        for target in ["fills=1/s", "price=3.5,0.4"] {
            let need = of(&seen(rising), 0.0, Some(target.parse().unwrap()));
            assert_eq!((need.answer, need.needed_bytes), (ServeAnswer::Unknown, None));
        }
        let few = of(&ServeDocument { compared_pages: 999, ..seen(rising) }, 1000.0, None);
        assert_eq!((few.answer, few.sizes.len()), (ServeAnswer::Unknown, 0));
        let nothing = of(&ServeDocument::default(), 0.0, None);
        assert_eq!((nothing.answer, nothing.needed_bytes), (ServeAnswer::Unknown, None));
    }

    #[test]
    fn misses_cost_what_the_disc_took_for_each() {
        let need = of(&seen([0.1, 0.2, 0.4, 0.6, 0.8, 0.9]), 1000.0, None);
        // A second of the disc for 4,000 misses.
        assert_eq!(need.disc_seconds_per_miss, Some(0.00025));
        let largest = need.sizes.last().unwrap();
        assert!((largest.misses_per_second - 100.0).abs() < 1e-9);
        assert!((largest.disc_busy.unwrap() - 0.025).abs() < 1e-9);
    }
}

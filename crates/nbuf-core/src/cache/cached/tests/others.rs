//! What other sizes would give, against caches that run with them.

use super::super::{Cached, Counts, Others, Settings, Writes};
use crate::cache::policy::{AnyPolicy, Choice};
use crate::clock::Random;
use crate::disc::Disc;
use crate::disc::null::Null;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

const REQUESTS: u64 = 60_000;

/// A cache of this size after reads of single pages: some of few pages, some of all, and a loop.
fn after(policy: &str, pages: u32, disc_pages: u64, compares: bool) -> Cached<dyn AnyPolicy, Null> {
    let choice: Choice = policy.parse().unwrap();
    let disc = Null::new(disc_pages * 4096);
    let settings = Settings::new(pages, Writes::Through);
    let mut cache = Cached::new(disc, choice.build(pages, 0), settings);
    if compares {
        cache.compare_with(Others::new(choice, pages, Counts::default()));
    }
    let mut random = Random::new(7);
    for at in 0..REQUESTS {
        let part = random.below(disc_pages) * random.below(1000) / 1000;
        let page = match at % 4 {
            0 => at / 4 % (disc_pages / 8),
            1 => random.below(8),
            _ => part * part / disc_pages,
        };
        let op = if at % 16 == 0 { Op::Write } else { Op::Read };
        cache.submit(Nanos::ZERO, Request::new(op, page * 4096, 4096), vec![0; 4096]);
        assert!(cache.next_completion(Nanos::MAX).unwrap().outcome.is_ok());
    }
    cache
}

fn ratio(counts: Counts) -> f64 {
    counts.hits as f64 / counts.lookups as f64
}

/// Other sizes and policies within their bands of what they really give; exact where all pages are followed.
fn check(policy: &str, pages: u32, disc_pages: u64, slack: f64) {
    let cache = after(policy, pages, disc_pages, true);
    let sizes = cache.other_sizes();
    assert_eq!(sizes.len(), 9);
    for other in &sizes {
        let other_pages = u32::try_from(other.pages).unwrap();
        let real = ratio(after(&other.policy, other_pages, disc_pages, false).counts());
        let is_inside = other.low - slack <= real && real <= other.high + slack;
        assert!(is_inside, "{policy} {pages}: {other:?}, really {real}");
        assert!(
            other.high - other.low < 0.05,
            "a band that holds everything says nothing: {other:?}"
        );
    }
    let twice = sizes.iter().find(|other| other.pages == u64::from(pages) * 2).unwrap();
    let more = (twice.hit_ratio - ratio(cache.counts())) * cache.counts().lookups as f64;
    let would = cache.would_hit_at_twice() as f64;
    assert!(would > 0.0 && would <= cache.counts().misses_evicted as f64);
    // Some hits of the larger cache are misses of pages never evicted, and the reverse; most are these.
    assert!((would - more).abs() < more.abs() * 0.2 + 200.0, "{policy}: {would} {more}");
}

#[test]
fn another_size_gives_what_was_said_of_it() {
    check("s3-fifo", 500, 5000, 0.0005);
    check("lru", 500, 5000, 0.0005);
    check("lru", 5000, 50_000, 0.004);
}

#[test]
fn nothing_is_said_before_the_first_read() {
    let choice: Choice = "lru".parse().unwrap();
    let mut cache =
        Cached::new(Null::new(1 << 20), choice.build(10, 0), Settings::new(10, Writes::Through));
    assert_eq!((cache.other_sizes(), cache.would_hit_at_twice()), (Vec::new(), 0));
    cache.compare_with(Others::new(choice, 10, Counts::default()));
    assert_eq!(cache.other_sizes(), []);
}

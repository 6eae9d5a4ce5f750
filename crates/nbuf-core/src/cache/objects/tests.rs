//! Each policy over objects against a naive twin that keeps lists and adds up bytes from end to end.

use proptest::prelude::*;

use super::{Object, ObjectCount};
use crate::cache::policy::{POLICIES, find};

/// An object in the cache of the twin.
#[derive(Clone, Copy)]
struct Kept {
    number: u32,
    charge: u64,
    uses: u32,
    /// When it was used last, or came.
    used: usize,
    is_marked: bool,
    worth: f64,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    Access(u32, u64),
    Remove(u32),
}

/// The object that a policy evicts: its place in the list, the first of which came first. CLOCK moves
/// objects before it decides.
fn victim(policy: &str, cache: &mut Vec<Kept>, age: &mut f64) -> usize {
    let least = |cache: &[Kept], key: fn(&Kept) -> (f64, usize)| {
        let order = |a: &usize, b: &usize| key(&cache[*a]).partial_cmp(&key(&cache[*b])).unwrap();
        (0..cache.len()).min_by(order).unwrap()
    };
    match policy {
        "lru" => least(cache, |kept| (0.0, kept.used)),
        "mru" => least(cache, |kept| (-(kept.used as f64), 0)),
        "fifo" => 0,
        "clock" => {
            while cache[0].is_marked {
                let mut spared = cache.remove(0);
                spared.is_marked = false;
                cache.push(spared);
            }
            0
        }
        "lfu" => least(cache, |kept| (f64::from(kept.uses), kept.used)),
        "lfu-da" | "gdsf" => {
            let at = least(cache, |kept| (kept.worth, kept.used));
            *age = age.max(cache[at].worth);
            at
        }
        _ => panic!("no twin of {policy}"),
    }
}

fn used(cache: &[Kept]) -> u64 {
    cache.iter().map(|kept| kept.charge).sum()
}

fn twin(policy: &str, events: &[Event], cache_bytes: u64, overhead: u64) -> ObjectCount {
    let mut count = ObjectCount { cache_bytes, ..ObjectCount::default() };
    let (mut cache, mut age): (Vec<Kept>, f64) = (Vec::new(), 0.0);
    for (time, &event) in events.iter().enumerate() {
        let (Event::Access(number, _) | Event::Remove(number)) = event;
        let at = cache.iter().position(|kept| kept.number == number);
        let Event::Access(_, bytes) = event else {
            at.map(|at| cache.remove(at));
            continue;
        };
        let charge = bytes + overhead;
        let worth = |uses: u32, age: f64| match policy {
            "gdsf" => age + f64::from(uses) * 1e6 / charge.max(1) as f64,
            _ => age + f64::from(uses),
        };
        count.requests += 1;
        count.bytes += bytes;
        if let Some(at) = at {
            let kept = &mut cache[at];
            (kept.charge, kept.used, kept.is_marked) = (charge, time, true);
            kept.uses += 1;
            kept.worth = worth(kept.uses, age);
            if charge > cache_bytes {
                cache.remove(at);
            }
            while used(&cache) > cache_bytes {
                let at = victim(policy, &mut cache, &mut age);
                cache.remove(at);
            }
            continue;
        }
        count.misses += 1;
        count.miss_bytes += bytes;
        if charge > cache_bytes {
            continue;
        }
        while used(&cache) + charge > cache_bytes {
            let at = victim(policy, &mut cache, &mut age);
            cache.remove(at);
        }
        let worth = worth(1, age);
        cache.push(Kept { number, charge, uses: 1, used: time, is_marked: false, worth });
    }
    count
}

const TWINS: [&str; 7] = ["lru", "mru", "fifo", "clock", "lfu", "lfu-da", "gdsf"];
const SIZES: [u64; 7] = [1, 2, 7, 20, 55, 150, 400];

fn counts(policy: &str, events: &[Event], overhead: u64) -> Vec<ObjectCount> {
    let mut engine = (find(policy).unwrap().objects.unwrap())(&SIZES, 1);
    for &event in events {
        match event {
            Event::Access(number, bytes) => {
                engine.access(&[Object { number, bytes, charge: bytes + overhead }]);
            }
            Event::Remove(number) => engine.remove(&[number]),
        }
    }
    engine.finish()
}

fn event() -> impl Strategy<Value = Event> {
    let bytes = prop_oneof![0..4_u64, 0..30_u64, 0..200_u64];
    prop_oneof![
        20 => (0..12_u32, bytes).prop_map(|(number, bytes)| Event::Access(number, bytes)),
        1 => (0..12_u32).prop_map(Event::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_policy_counts_what_its_twin_counts_whatever_the_sizes_do(
        events in prop::collection::vec(event(), 0..250),
        overhead in 0..9_u64,
    ) {
        for policy in TWINS {
            let want = SIZES.map(|size| twin(policy, &events, size, overhead));
            prop_assert_eq!(counts(policy, &events, overhead), want, "{}", policy);
        }
    }
}

#[test]
fn batches_and_the_beginning_of_counting_change_nothing_of_the_caches() {
    // Large enough for slabs.
    let object =
        |at: u32| Object { number: at * at % 31, bytes: 1 + u64::from(at) % 7, charge: 360_000 };
    let all: Vec<Object> = (0..500).map(object).collect();
    for row in POLICIES {
        let Some(engine) = row.objects else { continue };
        let (mut one, mut other) =
            (engine(&[3_600_000, 8_000_000], 1), engine(&[3_600_000, 8_000_000], 1));
        one.access(&all);
        for batch in all.chunks(17) {
            other.access(batch);
        }
        one.start_counting();
        other.start_counting();
        one.access(&all);
        other.access(&all);
        let counts = one.finish();
        assert_eq!(counts, other.finish(), "{}", row.name);
        assert_eq!(counts[0].requests, 500, "{}", row.name);
        assert!(counts[0].misses > counts[1].misses, "{}", row.name);
    }
}

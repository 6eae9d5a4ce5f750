//! Each policy over objects against a naive twin that keeps lists and adds up bytes from end to end.

use proptest::prelude::*;

use super::{Expired, Layers, NEVER_NS, Object, ObjectCount, Oversized};
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
    ends: i64,
}

/// An access to an object that does not expire.
pub(super) fn object(number: u32, bytes: u64, charge: u64) -> Object {
    let (cost, now_ns, ends_ns) = (1.0, 0, NEVER_NS);
    Object { number, is_write: false, is_counted: true, bytes, charge, cost, now_ns, ends_ns }
}

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    Access(Object),
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

/// What the twins have in common: the policy, the cache, and what is around it.
struct Twin<'a> {
    policy: &'a str,
    cache_bytes: u64,
    expired: Option<Expired>,
    oversized: Oversized,
    cache: Vec<Kept>,
    age: f64,
}

impl Twin<'_> {
    fn evict_until(&mut self, bytes: u64) {
        while used(&self.cache) > bytes {
            let at = victim(self.policy, &mut self.cache, &mut self.age);
            self.cache.remove(at);
        }
    }

    fn exceed(&mut self) {
        if self.oversized == Oversized::Clear {
            self.evict_until(0);
        }
    }

    fn worth(&self, uses: u32, charge: u64, cost: f64) -> f64 {
        match self.policy {
            "gdsf" => self.age + f64::from(uses) * 1e6 / (charge.max(1) as f64 / cost),
            _ => self.age + f64::from(uses),
        }
    }

    /// Whether the access hits.
    fn access(&mut self, time: usize, object: Object) -> bool {
        let Object { number, charge, cost, now_ns, ends_ns: ends, .. } = object;
        let is_over = |kept: &Kept| match self.expired {
            None => false,
            Some(Expired::Free) => kept.ends < now_ns,
            Some(Expired::Evict) => kept.number == number && kept.ends < now_ns,
        };
        self.cache.retain(|kept| !is_over(kept));
        if let Some(at) = self.cache.iter().position(|kept| kept.number == number) {
            let worth = self.worth(self.cache[at].uses + 1, charge, cost);
            let kept = &mut self.cache[at];
            (kept.charge, kept.used, kept.is_marked, kept.worth) = (charge, time, true, worth);
            kept.uses += 1;
            if object.is_write {
                kept.ends = ends;
            }
            if charge > self.cache_bytes {
                self.cache.remove(at);
                self.exceed();
            }
            self.evict_until(self.cache_bytes);
            return true;
        }
        if charge <= self.cache_bytes {
            self.evict_until(self.cache_bytes - charge);
            let worth = self.worth(1, charge, cost);
            let is_marked = false;
            self.cache.push(Kept { number, charge, uses: 1, used: time, is_marked, worth, ends });
        } else {
            self.exceed();
        }
        false
    }
}

fn twin(policy: &str, events: &[Event], cache_bytes: u64, layers: &Layers) -> ObjectCount {
    let mut count = ObjectCount::of(cache_bytes);
    let &Layers { expired, oversized, .. } = layers;
    let mut twin = Twin { policy, cache_bytes, expired, oversized, cache: Vec::new(), age: 0.0 };
    for (time, &event) in events.iter().enumerate() {
        match event {
            Event::Remove(number) => twin.cache.retain(|kept| kept.number != number),
            Event::Access(object) => {
                let missed = !twin.access(time, object);
                count.requests += 1;
                count.bytes += object.bytes;
                count.misses += u64::from(missed);
                count.miss_bytes += if missed { object.bytes } else { 0 };
                count.cost += object.cost;
                count.miss_cost += if missed { object.cost } else { 0.0 };
            }
        }
    }
    count
}

const TWINS: [&str; 7] = ["lru", "mru", "fifo", "clock", "lfu", "lfu-da", "gdsf"];
const SIZES: [u64; 7] = [1, 2, 7, 20, 55, 150, 400];

fn counts(policy: &str, events: &[Event], layers: &Layers) -> Vec<ObjectCount> {
    let mut engine = (find(policy).unwrap().objects.unwrap())(&SIZES, layers);
    for &event in events {
        match event {
            Event::Access(object) => engine.access(&[object]),
            Event::Remove(number) => engine.remove(&[number]),
        }
    }
    engine.finish()
}

/// Accesses of which one in four writes, some time apart, and with some time to live.
fn event() -> impl Strategy<Value = (Event, i64)> {
    let bytes = prop_oneof![0..4_u64, 0..30_u64, 0..200_u64];
    let lives = prop_oneof![Just(None), (0..40_i64).prop_map(Some), (0..400_i64).prop_map(Some)];
    let access = (0..12_u32, bytes, 0..4_u8, lives, (0..6_i64, 0..4_u8));
    let access = access.prop_map(|(number, bytes, kind, lives, (passes, cost))| {
        let ends_ns = lives.unwrap_or(NEVER_NS);
        let cost = f64::from(cost) / 2.0;
        let object = Object { is_write: kind == 0, ends_ns, cost, ..object(number, bytes, bytes) };
        (Event::Access(object), passes)
    });
    prop_oneof![20 => access, 1 => (0..12_u32).prop_map(|number| (Event::Remove(number), 0))]
}

/// Puts times and an overhead to events.
fn timed(events: Vec<(Event, i64)>, overhead: u64) -> Vec<Event> {
    let mut now_ns = 0;
    let timed = |(event, passes)| {
        now_ns += passes;
        let Event::Access(object) = event else { return event };
        let ends_ns = object.ends_ns.saturating_add(now_ns);
        Event::Access(Object { charge: object.bytes + overhead, now_ns, ends_ns, ..object })
    };
    events.into_iter().map(timed).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_policy_counts_what_its_twin_counts_whatever_sizes_and_times_do(
        events in prop::collection::vec(event(), 0..250),
        overhead in 0..9_u64,
        expired in prop_oneof![Just(None), Just(Some(Expired::Evict)), Just(Some(Expired::Free))],
        oversized in prop_oneof![Just(Oversized::Bypass), Just(Oversized::Clear)],
    ) {
        let layers = Layers { seed: 1, expired, oversized, ..Layers::default() };
        let events = timed(events, overhead);
        for policy in TWINS {
            let want = SIZES.map(|size| twin(policy, &events, size, &layers));
            prop_assert_eq!(counts(policy, &events, &layers), want, "{}", policy);
        }
    }
}

#[test]
fn batches_and_the_beginning_of_counting_change_nothing_of_the_caches() {
    // Large enough for slabs.
    let all: Vec<Object> =
        (0..500).map(|at| object(at * at % 31, 1 + u64::from(at) % 7, 360_000)).collect();
    let layers = Layers { seed: 1, ..Layers::default() };
    for row in POLICIES {
        let Some(engine) = row.objects else { continue };
        let (mut one, mut other) =
            (engine(&[3_600_000, 8_000_000], &layers), engine(&[3_600_000, 8_000_000], &layers));
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
        // Objects as large as these it rarely admits.
        let is_fewer = counts[0].misses > counts[1].misses || row.name == "adaptsize";
        assert!(is_fewer, "{}", row.name);
    }
}

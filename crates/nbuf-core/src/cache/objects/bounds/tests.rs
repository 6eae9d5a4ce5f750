//! Bounds of the optimum: against all choices of intervals, against every policy, and with one size against OPT.

use proptest::prelude::*;

use super::super::tests::object;
use super::*;
use crate::cache::engine::Accesses;
use crate::cache::policy::{Choice, POLICIES};

const SIZES: [u64; 6] = [1, 3, 8, 20, 60, 200];

fn counts(objects: &[Object], removed: u32) -> Vec<ObjectCount> {
    let mut engine = bounds(&SIZES, &Layers::default());
    let (first, second) = objects.split_at(objects.len() / 2);
    engine.access(first);
    engine.remove(&[removed]);
    engine.access(second);
    engine.finish()
}

/// The most hits of any schedule, and the most bytes: all choices of intervals that fit.
fn best(intervals: &[Interval], kept: &[Interval], cache_bytes: u64) -> (u64, u64) {
    let Some((first, rest)) = intervals.split_first() else { return (0, 0) };
    let without = best(rest, kept, cache_bytes);
    let mut all = kept.to_vec();
    all.push(*first);
    let at = |moment: u64| -> u64 {
        let there = all.iter().filter(|kept| (kept.start..kept.end).contains(&moment));
        there.map(|kept| kept.charge).sum()
    };
    if (first.start..first.end).any(|moment| at(moment) > cache_bytes) {
        return without;
    }
    let (requests, bytes) = best(rest, &all, cache_bytes);
    (without.0.max(requests + 1), without.1.max(bytes + first.bytes))
}

fn trace(keys: u32, most: usize) -> impl Strategy<Value = Vec<Object>> {
    let bytes = prop_oneof![0..4_u64, 1..20_u64, 1..90_u64];
    let access = (0..keys, bytes).prop_map(|(number, bytes)| object(number, bytes, bytes + 1));
    prop::collection::vec(access, 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_best_of_all_schedules_is_between_the_bounds(objects in trace(5, 16)) {
        let mut found = Bounds::default();
        found.access(&objects);
        for count in counts(&objects, 11) {
            let (hits, bytes) = best(&found.intervals, &[], count.cache_bytes);
            let least = count.least.unwrap();
            let (misses, miss_bytes) = (count.requests - hits, count.bytes - bytes);
            prop_assert!(least.misses <= misses && misses <= count.misses, "{count:?} {misses}");
            prop_assert!(least.miss_bytes <= miss_bytes && miss_bytes <= count.miss_bytes, "{count:?}");
        }
    }

    #[test]
    fn no_policy_misses_less(objects in trace(12, 200), removed in 0..12_u32) {
        let least = counts(&objects, removed);
        let layers = Layers::default();
        // memcached gives each class a slab, whatever its limit.
        let rows = POLICIES.iter().filter(|row| row.name != "memcached");
        for row in rows {
            let Some(make) = row.objects else { continue };
            let mut engine = make(&SIZES, &layers);
            let (first, second) = objects.split_at(objects.len() / 2);
            engine.access(first);
            engine.remove(&[removed]);
            engine.access(second);
            for (count, bound) in engine.finish().into_iter().zip(&least) {
                let bound = bound.least.unwrap();
                prop_assert!(count.misses >= bound.misses, "{} {count:?} {bound:?}", row.name);
                prop_assert!(count.miss_bytes >= bound.miss_bytes, "{} {count:?}", row.name);
            }
        }
    }

    #[test]
    fn with_one_size_the_attained_misses_are_those_of_opt(
        keys in prop::collection::vec(0..20_u32, 0..300),
    ) {
        let objects: Vec<Object> = keys.iter().map(|&key| object(key, 1, 1)).collect();
        let choice: Choice = "opt:bypass".parse().unwrap();
        let mut engine = choice.engine(&SIZES, 0);
        engine.access(&Accesses { pages: &keys, request_ends: None });
        for (count, opt) in counts(&objects, 25).into_iter().zip(engine.finish()) {
            prop_assert_eq!(count.misses, opt.misses, "{}", opt.pages);
            prop_assert!(count.least.unwrap().misses <= opt.misses, "{count:?}");
        }
    }
}

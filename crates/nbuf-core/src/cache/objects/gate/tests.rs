//! Admissions in front of policies: against naive twins, against what the papers say, and together.

use proptest::prelude::*;

use super::super::adapt_size::Model;
use super::super::tests::object;
use super::super::{Layers, Object, ObjectCount};
use crate::cache::admission::{Admission, Tuning};
use crate::cache::policy::{Choice, POLICIES};
use crate::clock::Random;

fn counts(policy: &str, admit: &[&str], sizes: &[u64], objects: &[Object]) -> Vec<ObjectCount> {
    let admissions = admit.iter().map(|text| text.parse().unwrap()).collect();
    let layers = Layers { seed: 3, admissions, ..Layers::default() };
    let mut engine = policy.parse::<Choice>().unwrap().objects(sizes, &layers).unwrap();
    engine.access(objects);
    engine.finish()
}

/// Zipf's law over a number of objects, whose sizes grow with their numbers mixed, from 1 to some thousands of bytes.
fn zipf(objects: u32, requests: usize) -> Vec<Object> {
    let mut chance = Random::new(5);
    let sums: Vec<f64> = (1..=objects)
        .scan(0.0, |sum, rank| {
            *sum += f64::from(rank).powf(-0.9);
            Some(*sum)
        })
        .collect();
    let one = || {
        let drawn = chance.unit() * sums[sums.len() - 1];
        let number = u32::try_from(sums.partition_point(|&sum| sum < drawn)).unwrap();
        let bytes = 1_u64 << ((number.wrapping_mul(2_654_435_761) >> 7) % 13);
        object(number, bytes, bytes)
    };
    std::iter::repeat_with(one).take(requests).collect()
}

/// The oracle of `TinyLFU` in front of LRU: lists from end to end, and counts that are all halved at once.
fn tiny_lfu(objects: &[Object], cache_bytes: u64, sample: usize) -> u64 {
    let (mut cache, mut misses) = (Vec::<Object>::new(), 0);
    let mut uses = std::collections::HashMap::<u32, u32>::new();
    let (mut added, mut most) = (0, 1);
    for &one in objects {
        most = most.max(cache.len());
        let count = uses.entry(one.number).or_default();
        if *count < 15 {
            *count += 1;
            added += 1;
        }
        if added >= sample * most {
            for count in uses.values_mut() {
                *count /= 2;
            }
            added /= 2;
        }
        let held = |cache: &[Object]| cache.iter().map(|kept| kept.charge).sum::<u64>();
        if let Some(at) = cache.iter().position(|kept| kept.number == one.number) {
            cache.remove(at);
            if one.charge <= cache_bytes {
                cache.push(one);
            }
            while held(&cache) > cache_bytes {
                cache.remove(0);
            }
            continue;
        }
        misses += 1;
        let fits = held(&cache) + one.charge <= cache_bytes;
        if one.charge <= cache_bytes && (fits || uses[&one.number] > uses[&cache[0].number]) {
            while held(&cache) + one.charge > cache_bytes {
                cache.remove(0);
            }
            cache.push(one);
        }
    }
    misses
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn tinylfu_and_a_threshold_decide_as_their_twins(
        keys in prop::collection::vec((0..14_u32, 1..5_u64), 0..300),
        sample in 1..12_usize,
    ) {
        const SIZES: [u64; 4] = [3, 11, 20, 45];
        let objects: Vec<Object> =
            keys.iter().map(|&(number, odd)| object(number, odd, u64::from(number) % 5 + odd)).collect();
        let found = counts("lru", &[&format!("tinylfu:sample={sample}")], &SIZES, &objects);
        for (count, size) in found.iter().zip(SIZES) {
            // The cache of the twin keeps what an object took at its last access, as all engines do.
            prop_assert_eq!(count.misses, tiny_lfu(&objects, size, sample), "{}", size);
        }
        // What a threshold refuses is as if it took more than the cache, while sizes are constant.
        let constant = |one: &Object| Object { bytes: u64::from(one.number) % 7, ..*one };
        let objects: Vec<Object> = objects.iter().map(constant).collect();
        let too_large =
            |one: &Object| Object { charge: if one.bytes > 3 { 1 << 40 } else { one.charge }, ..*one };
        let refused: Vec<Object> = objects.iter().map(too_large).collect();
        for policy in ["lru", "fifo", "gdsf"] {
            let found = counts(policy, &["threshold:bytes=3"], &SIZES, &objects);
            prop_assert_eq!(found, counts(policy, &[], &SIZES, &refused), "{}", policy);
        }
    }
}

#[test]
fn every_policy_takes_every_admission() {
    let objects = zipf(300, 1500);
    let sizes = [1 << 12, 1 << 15, 24 << 20];
    for row in POLICIES.iter().filter(|row| row.objects.is_some() && row.name != "opt") {
        let plain = counts(row.name, &[], &sizes, &objects);
        let all = counts(row.name, &["probability:p=1", "threshold:bytes=9999"], &sizes, &objects);
        assert_eq!(plain, all, "{}", row.name);
        let none = counts(row.name, &["tinylfu", "probability:p=0"], &sizes, &objects);
        assert!(none.iter().all(|count| count.misses == count.requests), "{}", row.name);
        let tiny = counts(row.name, &["tinylfu"], &sizes, &objects);
        assert!(tiny.iter().all(|count| count.misses < count.requests), "{}", row.name);
        assert_eq!(tiny[2], plain[2], "what fits is not refused: {}", row.name);
    }
}

#[test]
fn a_probability_admits_about_as_many() {
    // Each object twice in a row: the second hits where the first came in.
    let objects: Vec<Object> = (0..20_000).map(|at| object(at / 2, 1, 1)).collect();
    let found = counts("fifo", &["probability:p=0.3"], &[1000], &objects);
    let hits = found[0].requests - found[0].misses;
    assert!((2850..3150).contains(&hits), "{hits}");
}

/// The model of `AdaptSize` and what it chooses, against caches that admit with a fixed size: the paper reports that it
/// is near the best of these.
#[test]
fn adaptsize_predicts_hits_and_comes_near_the_best_size() {
    let (objects, cache_bytes) = (zipf(300, 60_000), 6_000_u64);
    let mut asked = std::collections::BTreeMap::<u32, (f64, f64)>::new();
    for one in &objects {
        let entry = asked.entry(one.number).or_insert((0.0, one.charge as f64));
        // A tenth of the trace is a period.
        entry.0 += 0.1;
    }
    let model = Model { objects: asked.into_values().collect(), cache_bytes: cache_bytes as f64 };
    let with = |bytes: f64| {
        let mut chance = Random::new(9);
        let mut cache = Vec::<(u32, u64)>::new();
        let (mut used, mut hits) = (0, 0);
        for one in &objects {
            if let Some(at) = cache.iter().rposition(|kept| kept.0 == one.number) {
                let kept = cache.remove(at);
                cache.push(kept);
                hits += 1;
            } else if one.charge <= cache_bytes
                && chance.unit() < (-(one.charge as f64) / bytes).exp()
            {
                while used + one.charge > cache_bytes {
                    used -= cache.remove(0).1;
                }
                cache.push((one.number, one.charge));
                used += one.charge;
            }
        }
        f64::from(hits)
    };
    let fixed: Vec<(f64, f64)> = (6..14)
        .step_by(2)
        .map(|log| (f64::from(log).exp2(), with(f64::from(log).exp2())))
        .collect();
    for &(bytes, hits) in &fixed {
        let predicted = 10.0 * model.hits(bytes);
        assert!(
            (predicted - hits).abs() < 0.04 * objects.len() as f64,
            "{bytes}: {predicted} of {hits}"
        );
    }
    let best = fixed.iter().map(|one| one.1).fold(0.0, f64::max);
    assert!(with(model.best()) > 0.98 * best, "{} of {best}", with(model.best()));
    let tuned = counts("adaptsize:every=6000", &[], &[cache_bytes], &objects)[0];
    let hits = (tuned.requests - tuned.misses) as f64;
    let lru = counts("lru", &[], &[cache_bytes], &objects)[0];
    assert!(hits > 0.9 * best, "{hits} of {best}");
    assert!(tuned.misses < lru.misses, "{tuned:?} {lru:?}");
    let layer = Admission::AdaptSize(Tuning { every: 6_000, decay: 30 }).to_string();
    assert_eq!(counts("lru", &[&layer], &[cache_bytes], &objects)[0], tuned);
}

/// LHD learns that small objects, and those that come back soon, are worth more: it hits more than LRU and random, which
/// the paper reports of every trace.
#[test]
fn lhd_learns_what_to_keep() {
    let mut objects = zipf(1000, 20_000);
    // A scan of objects that never come back.
    objects.extend((0..10_000).map(|at| object(10_000 + at, 256, 256)));
    objects.extend(zipf(1000, 20_000));
    let hits = |policy: &str| {
        let found = counts(policy, &[], &[30_000], &objects)[0];
        found.requests - found.misses
    };
    let lhd = hits("lhd:every=2048:ages=2000");
    assert!(lhd > hits("lru") && lhd > hits("random"), "{lhd} {} {}", hits("lru"), hits("random"));
    let untaught = hits("lhd:samples=1:recent=0:explore=0:every=1000000:ages=2000");
    assert!(lhd > untaught, "{lhd} {untaught}");
}

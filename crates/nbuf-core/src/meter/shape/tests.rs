//! The meters of a trace's shape against slow twins, and on traces whose truth is known.

use std::collections::HashSet;

use proptest::prelude::*;

use super::runs::RUN_MIN;
use super::{
    Columns, FirstUses, Loops, Powers, Scans, WorkingSet, bounds, deciles, fit, ranks, row,
};
use crate::clock::Random;
use crate::meter::distance::Distances;

/// Keys and the ticks at which they are used, which never fall.
fn uses() -> impl Strategy<Value = Vec<(u8, u64)>> {
    let step = prop_oneof![8 => 0_u64..3, 1 => 0_u64..300, 1 => 0_u64..1 << 40];
    prop::collection::vec((0_u8..20, step), 1..200).prop_map(|uses| {
        let mut tick = 0;
        let later = |(key, step)| {
            tick += step;
            (key, tick)
        };
        uses.into_iter().map(later).collect()
    })
}

/// The tick of the last use of each key before this use.
fn before(uses: &[(u8, u64)], at: usize) -> Option<u64> {
    uses[..at].iter().rev().find(|(key, _)| *key == uses[at].0).map(|(_, tick)| *tick)
}

proptest! {
    #[test]
    fn the_working_set_is_what_a_set_of_each_piece_holds(uses in uses()) {
        let mut working_set = WorkingSet::default();
        for (at, &(_, tick)) in uses.iter().enumerate() {
            working_set.add(tick, before(&uses, at));
        }
        let width = working_set.width();
        let mut sets: Vec<HashSet<u8>> = Vec::new();
        for &(key, tick) in &uses {
            let piece = usize::try_from(tick / width).unwrap();
            sets.resize(sets.len().max(piece + 1), HashSet::new());
            sets[piece].insert(key);
        }
        let want: Vec<u64> = sets.iter().map(|set| set.len() as u64).collect();
        prop_assert_eq!(working_set.pieces(), want);
        let end = uses.last().unwrap().1;
        prop_assert!(width == 1 || (33..=64).contains(&(end / width + 1)));
    }

    #[test]
    fn columns_and_powers_count_what_a_slow_count_does(uses in uses()) {
        let mut columns = Columns::new(3);
        let mut powers = Powers::default();
        for &(key, tick) in &uses {
            columns.add(tick, usize::from(key % 3));
            powers.add(tick);
        }
        let width = columns.width();
        for wanted in 0..3 {
            let of = |column: usize| {
                let here = |(key, tick): &&(u8, u64)| key % 3 == wanted && tick / width == column as u64;
                uses.iter().filter(here).count() as u64
            };
            let want: Vec<u64> = (0..columns.len()).map(of).collect();
            prop_assert_eq!(columns.row(wanted.into()), want);
        }
        for (from, below, count) in powers.rows() {
            let here = uses.iter().filter(|(_, tick)| (from..below).contains(tick)).count();
            prop_assert_eq!(count, here as u64);
        }
        prop_assert_eq!(powers.count(), uses.len() as u64);
    }

    #[test]
    fn a_number_is_within_the_bounds_of_its_row(number: u64) {
        let (from, below) = bounds(row(number));
        prop_assert!(from <= number && (number < below || number == u64::MAX));
    }
}

/// Loops and scans of these keys.
fn patterns(keys: impl Iterator<Item = u64>) -> (Vec<super::Loop>, super::Runs, super::Runs) {
    let (mut distances, mut loops) = (Distances::new(), Loops::default());
    let (mut scans, mut first_uses) = (Scans::default(), FirstUses::default());
    for key in keys {
        let distance = distances.access(u32::try_from(key).unwrap()).map(u64::from);
        loops.push(distance);
        scans.push(key, distance.is_none());
        first_uses.push(distance.is_none());
    }
    (loops.finish(), scans.finish(), first_uses.finish())
}

#[test]
fn a_loop_is_found_with_its_length_and_its_rounds() {
    let (loops, scans, first) = patterns((0..5000).map(|at| at * 7 % 1000));
    assert_eq!(loops.len(), 1);
    assert_eq!((loops[0].keys, loops[0].accesses, loops[0].runs), (1000, 4000, 1));
    assert_eq!((scans.count, first.count, first.longest), (0, 1, 1000), "keys are out of order");
    // Half a round more is no loop, nor are keys that come back once after a fixed time.
    assert!(patterns((0..1500).map(|at| at % 1000)).0.is_empty());
    let again = (0..5000).map(|at| if at % 2 == 0 { at / 2 + 1000 } else { at / 2 });
    assert!(patterns(again).0.is_empty());
}

#[test]
fn a_loop_is_found_among_others() {
    let mut random = Random::new(1);
    let mut at = 0;
    let keys = (0..20_000).map(move |_| {
        if random.below(6) == 0 {
            return 100_000 + random.below(8);
        }
        at += 1;
        at % 2000
    });
    let (loops, ..) = patterns(keys);
    assert!((1980..2030).contains(&loops[0].keys) && loops[0].accesses > 10_000, "{loops:?}");
}

#[test]
fn chance_is_no_loop_and_no_scan() {
    let mut random = Random::new(2);
    let (loops, scans, first) = patterns((0..50_000).map(|_| random.below(3000)));
    assert!(loops.is_empty() && scans.count == 0, "{loops:?} {scans:?}");
    assert!(first.accesses < 3000);
}

#[test]
fn scans_are_found_side_by_side_and_short_ones_are_not() {
    let two = (0..1000).map(|at| if at % 2 == 0 { at / 2 } else { 10_000 + at / 2 });
    let (_, scans, first) = patterns(two);
    assert_eq!(
        (scans.count, scans.accesses, scans.longest, scans.first_uses),
        (2, 1000, 500, 1000)
    );
    assert_eq!((first.count, first.longest), (1, 1000));
    let short = RUN_MIN - 1;
    let hops = (0..100).flat_map(|hop| (0..short).map(move |at| hop * 1000 + at));
    assert_eq!(patterns(hops).1.count, 0);
}

#[test]
fn ranks_and_tenths_are_those_of_the_counts() {
    let counts: Vec<u32> = (1..=100).rev().collect();
    let ranks = ranks(&counts);
    assert_eq!((ranks[0], ranks[1], *ranks.last().unwrap()), ((1, 100), (2, 99), (100, 1)));
    assert!(ranks.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let deciles = deciles(&counts);
    assert_eq!((deciles[0], deciles[9]), ((91..=100).sum(), (1..=10).sum()));
    assert_eq!(deciles.iter().sum::<u64>(), 5050);
    assert_eq!(super::deciles(&[7]).iter().sum::<u64>(), 7);
}

#[test]
fn few_uses_have_no_law_and_equal_ones_are_flat() {
    assert_eq!(fit(&[(1, 0); 1000]), None);
    assert_eq!(fit(&[(1_000_000, 500_000); 15]), None);
    let flat = fit(&[(100, 50); 1000]).unwrap();
    assert!(flat.exponent.abs() <= flat.error && flat.factor < 1.01, "{flat:?}");
}

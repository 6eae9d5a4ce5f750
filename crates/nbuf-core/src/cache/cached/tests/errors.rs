//! An error at every operation of a run, once and from then on.

use super::work::{SIZE, Work, delayed, small};
use super::{report, scale, seed};
use crate::clock::Random;
use crate::disc::{Disc, Faults, Faulty, Ram};

/// Runs a seed with these faults; returns how many operations its disc had.
fn run(seed: u64, faults: Faults) -> u64 {
    let mut random = Random::new(seed);
    let ram = Ram::zeroed(usize::try_from(SIZE).unwrap());
    let disc = Faulty::new(ram, faults, true, true, random.next());
    let mut cache = small(delayed(disc, &mut random), &mut random);
    let mut work = Work::new(random);
    work.run(&mut cache, 40, 8);
    cache.disc_mut().disc_mut().set(Faults::None);
    work.settle(&mut cache);
    work.moment += 1;
    for (byte, &value) in (0..).zip(cache.disc().disc().disc().image()) {
        let permitted = work.history.permits(byte, value, work.moment, work.moment);
        assert!(permitted, "seed {seed}, {faults:?}: byte {byte} is {value}");
    }
    assert_eq!(cache.disc().under_way(), 0);
    cache.disc().disc().operations()
}

#[test]
fn an_error_at_any_operation_loses_nothing() {
    let seeds = 10 * scale();
    let mut runs = 0;
    for seed in seed()..seed() + seeds {
        let operations = run(seed, Faults::None);
        for at in 0..operations {
            run(seed, Faults::Once(at));
            run(seed, Faults::From(at));
        }
        runs += 2 * operations;
    }
    report("runs with an error at the Nth operation, once and from then on", runs);
}

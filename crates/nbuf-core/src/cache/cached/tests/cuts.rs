//! Power cuts: at every moment of a run, with what was not flushed torn and reordered.

use super::super::{Cached, Settings};
use super::work::{SIZE, Work, delayed, small};
use super::{report, scale, seed};
use crate::cache::policy::AnyPolicy;
use crate::clock::Random;
use crate::disc::{Disc, Ram, Recorded, after_power_cut};
use crate::units::Nanos;

/// What was seen at the clients, in moments of the disc: how many events it had had.
fn run(seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let ram = Ram::zeroed(usize::try_from(SIZE).unwrap());
    let recorded = Recorded::new(delayed(ram, &mut random));
    let mut cache = small(recorded, &mut random);
    let mut work = Work::new(random);
    let mut operations = 0;
    // A moment is the number of events of the disc, twice: what arrives then is before what is complete.
    let moment = |cache: &Cached<dyn AnyPolicy, _>| events(cache) * 2 + 2;
    while operations < 60 || work.under_way() > 0 {
        let is_full = work.under_way() as u64 > work.random.below(8);
        if operations == 60 || is_full {
            let completion = cache.next_completion(Nanos::MAX).expect("something is under way");
            work.now = work.now.max(completion.at);
            work.take(&completion, moment(&cache) + 1);
        } else {
            operations += 1;
            let at = moment(&cache);
            work.ask(&mut cache, at);
            work.step_aside(&mut cache);
        }
    }
    let settings: Settings = cache.settings();
    assert!(settings.pages > 0);
    cut_everywhere(cache.disc().events(), &mut work)
}

fn events<D: Disc>(cache: &Cached<dyn AnyPolicy, Recorded<D>>) -> u64 {
    cache.disc().events().len() as u64
}

fn cut_everywhere(events: &[crate::disc::Event], work: &mut Work) -> u64 {
    const CUTS: u64 = 3;
    let before = vec![0; usize::try_from(SIZE).unwrap()];
    for length in 0..=events.len() {
        let cut = length as u64 * 2 + 3;
        let flushes = work.flushes.iter().filter(|&&(_, ended)| ended <= cut);
        let until = flushes.map(|&(began, _)| began).max().unwrap_or(0);
        for _ in 0..CUTS {
            let image = after_power_cut(&before, &events[..length], &mut work.random);
            for (byte, &value) in (0..).zip(&image).step_by(61) {
                let permitted = work.history.survives(byte, value, until, cut);
                assert!(permitted, "byte {byte} is {value} after {length} events");
            }
        }
    }
    (events.len() as u64 + 1) * CUTS
}

#[test]
fn a_power_cut_takes_nothing_that_was_flushed() {
    // A hundred times as many are a million power cuts.
    let seeds = 41 * scale();
    let cuts: u64 = (seed()..seed() + seeds).map(run).sum();
    assert!(cuts > 100 * seeds);
    report("power cuts", cuts);
}

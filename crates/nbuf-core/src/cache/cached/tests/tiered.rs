//! The same work with a second tier behind the cache, on discs that reorder and fail, against a plain array.

use super::work::{SIZE, Work, delayed, small};
use super::{report, scale, seed};
use crate::cache::tiered::{Geometry, TierCounts, Tiered};
use crate::clock::Random;
use crate::disc::{Delayed, Disc, Faults, Faulty, Ram};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Runs one seed: how many requests failed, and what the tier did.
fn case(seed: u64, backing_faults: Faults, tier_faults: Faults) -> (u64, TierCounts) {
    let mut random = Random::new(seed);
    let slots = 1 + u32::try_from(random.below(4)).unwrap();
    let geometry = Geometry { size_bytes: SIZE, part_bytes: 512, slots, first_byte: 100 };
    let tier_bytes = 100 + u64::from(slots) * geometry.block_bytes();
    let mut disc = |bytes: u64, faults| {
        let ram = Ram::zeroed(usize::try_from(bytes).unwrap());
        let failing = Faulty::new(ram, faults, true, true, random.next());
        delayed(failing, &mut random)
    };
    let backing: Delayed<Faulty<Ram>> = disc(SIZE, backing_faults);
    let mut tiered = Tiered::new(backing, disc(tier_bytes, tier_faults), geometry);
    if matches!(tier_faults, Faults::HangFrom(_)) {
        // Longer than any answer takes.
        tiered.give_up_after(Nanos(20_000));
    }
    let mut cache = small(tiered, &mut random);
    let depth = 1 + random.below(32);
    let mut work = Work::new(random);
    work.run(&mut cache, 150, depth);
    cache.disc_mut().backing_mut().disc_mut().set(Faults::None);
    work.settle(&mut cache);
    let came = (work.errors, cache.disc().counts());
    // With all written and nothing under way, the disc has the bytes of the history, and reads give the disc's.
    let image = cache.disc().backing().disc().disc().image().to_vec();
    for (at, want) in image.chunks(500).enumerate() {
        let read = Request::new(Op::Read, at as u64 * 500, want.len() as u64);
        cache.submit(work.now, read, vec![0xEE; want.len()]);
        let read = cache.next_completion(Nanos::MAX).unwrap();
        assert!(read.outcome.is_ok() && read.data == want, "part {at}, seed {seed}");
    }
    work.moment += 1;
    for (byte, &value) in (0..).zip(&image) {
        let permitted = work.history.permits(byte, value, work.moment, work.moment);
        assert!(permitted, "byte {byte} of the disc is {value}, seed {seed}");
    }
    came
}

#[test]
fn reads_see_what_was_written_with_a_tier() {
    let cases = 300 * scale();
    let (mut hits, mut evictions, mut lost, mut errors) = (0, 0, 0, 0);
    for case_seed in seed()..seed() + cases {
        let tier_faults = [Faults::None, Faults::PerThousand(4), Faults::From(case_seed % 60)];
        let tier_faults = tier_faults[usize::try_from(case_seed % 3).unwrap()];
        let is_sound = case_seed % 2 == 0;
        let backing_faults = if is_sound { Faults::None } else { Faults::PerThousand(100) };
        let (failed, counts) = case(case_seed, backing_faults, tier_faults);
        assert!(failed == 0 || !is_sound, "{failed} errors, seed {case_seed}");
        hits += counts.hits;
        evictions += counts.evictions;
        lost += u64::from(counts.errors > 0);
        errors += failed;
    }
    assert!(hits > 5 * cases && evictions > cases, "{hits} hits, {evictions} evictions");
    assert!(lost > cases / 4 && errors > cases / 2, "{lost} tiers were lost, {errors} errors");
    report("histories with a tier, each of 150 requests", cases);
}

#[test]
fn reads_see_what_was_written_with_a_tier_that_hangs() {
    let cases = 200 * scale();
    let (mut hits, mut lost, mut errors) = (0, 0, 0);
    for case_seed in seed()..seed() + cases {
        let is_sound = case_seed % 2 == 0;
        let backing_faults = if is_sound { Faults::None } else { Faults::PerThousand(100) };
        let tier_faults = Faults::HangFrom(case_seed % 60);
        let (failed, counts) = case(case_seed, backing_faults, tier_faults);
        assert!(failed == 0 || !is_sound, "{failed} errors, seed {case_seed}");
        hits += counts.hits;
        lost += u64::from(counts.overdue > 0);
        errors += failed;
    }
    assert!(hits > cases && lost > cases / 2, "{hits} hits, {lost} tiers were lost");
    assert!(errors > cases / 2, "{errors} errors");
    report("histories with a tier that hangs, each of 150 requests", cases);
}

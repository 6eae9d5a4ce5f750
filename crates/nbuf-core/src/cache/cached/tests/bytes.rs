//! Random operations at random depths, on a disc that reorders and fails, against a plain array.

use super::super::Cached;
use super::work::{SIZE, Work, delayed, small};
use super::{report, scale, seed};
use crate::cache::policy::AnyPolicy;
use crate::clock::Random;
use crate::disc::{Delayed, Disc, Faults, Faulty, Ram};
use crate::trace::request::{Op, Request};

/// Runs one seed. Returns how many requests failed, how many pages were read ahead and used,
/// and how many reads went past the cache.
fn case(seed: u64, faults: Faults, tears: bool) -> (u64, u64, u64) {
    let mut random = Random::new(seed);
    let ram = Ram::zeroed(usize::try_from(SIZE).unwrap());
    let disc = Faulty::new(ram, faults, true, tears, random.next());
    let mut cache = small(delayed(disc, &mut random), &mut random);
    let depth = 1 + random.below(32);
    let mut work = Work::new(random);
    work.run(&mut cache, 150, depth);
    cache.disc_mut().disc_mut().set(Faults::None);
    work.settle(&mut cache);
    let counts = cache.counts();
    let came = (work.errors, counts.ahead_used, counts.past_reads);
    same_as_disc(&mut cache, &mut work);
    came
}

/// With all written and nothing under way, what the cache serves is what the disc holds.
fn same_as_disc(cache: &mut Cached<dyn AnyPolicy, Delayed<Faulty<Ram>>>, work: &mut Work) {
    let image = cache.disc().disc().disc().image().to_vec();
    for (at, want) in image.chunks(500).enumerate() {
        let offset = at as u64 * 500;
        let read = Request::new(Op::Read, offset, want.len() as u64);
        cache.submit(work.now, read, vec![0xEE; want.len()]);
        let read = cache.next_completion(crate::units::Nanos::MAX).unwrap();
        assert!(read.outcome.is_ok() && read.data == want, "at byte {offset}");
    }
    work.moment += 1;
    for (byte, &value) in (0..).zip(&image) {
        let permitted = work.history.permits(byte, value, work.moment, work.moment);
        assert!(permitted, "byte {byte} of the disc is {value}");
    }
}

#[test]
fn reads_see_what_was_written() {
    let cases = 300 * scale();
    let (mut ahead, mut past) = (0, 0);
    for case_seed in seed()..seed() + cases {
        let seen = case(case_seed, Faults::None, false);
        assert_eq!(seen.0, 0, "seed {case_seed}");
        (ahead, past) = (ahead + seen.1, past + seen.2);
    }
    assert!(
        ahead > cases / 2 && past > 3 * cases,
        "{ahead} read ahead and used, {past} past the cache"
    );
    report("histories without errors, each of 150 requests", cases);
}

#[test]
fn reads_see_what_was_written_also_on_a_disc_that_fails() {
    let cases = 300 * scale();
    let (mut errors, mut ahead, mut past) = (0, 0, 0);
    for case_seed in seed()..seed() + cases {
        let share = [20, 100, 400][usize::try_from(case_seed % 3).unwrap()];
        let seen = case(case_seed, Faults::PerThousand(share), case_seed % 2 == 0);
        (errors, ahead, past) = (errors + seen.0, ahead + seen.1, past + seen.2);
    }
    assert!(errors > cases, "{errors} errors");
    assert!(ahead > cases / 2 && past > 3 * cases, "{ahead} read ahead and used, {past} past");
    report("histories with errors, each of 150 requests", cases);
}

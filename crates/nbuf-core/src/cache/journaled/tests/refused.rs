//! Discs that refuse some of what a journal owes, at a start and while it runs; and signals that end a start.

use std::cell::Cell;

use super::*;

/// After this time a disc that refused something is asked again.
const LATER: Nanos = Nanos(1_000_000_000);
/// What the disc has before.
const BEFORE: u8 = 0xEE;

/// A request at a time.
fn asked<D: Disc, J: Disc>(
    disc: &mut Journaled<D, J>,
    now: Nanos,
    request: Request,
    value: u8,
) -> Result<(), DiscError> {
    let has_data = request.op == Op::Write;
    let data = if has_data { vec![value; place(request.length_bytes)] } else { Vec::new() };
    disc.submit(now, request, data);
    // A look may end between two tries to write back.
    (0..9).find_map(|_| disc.next_completion(Nanos::MAX)).unwrap().outcome
}

const FLUSH: Request = Request::new(Op::Flush, 0, 0);

/// A write of up to 1500 bytes, or zeros.
fn some_write(random: &mut Random) -> Request {
    let offset = random.below(SIZE - 1);
    let length = (1 + random.below(1500)).min(SIZE - offset);
    let is_zeros = random.below(4) == 0;
    let op = if is_zeros { Op::Discard } else { Op::Write };
    Request { zeros: is_zeros, ..Request::new(op, offset, length) }
}

fn range(request: &Request) -> std::ops::Range<usize> {
    place(request.offset)..place(request.offset + request.length_bytes)
}

fn apply(image: &mut [u8], request: &Request, value: u8) {
    image[range(request)].fill(if request.zeros { 0 } else { value });
}

/// Lets all go on that can.
fn settle<D: Disc, J: Disc>(disc: &mut Journaled<D, J>) {
    while disc.next_completion(Nanos::MAX).is_some() {}
}

fn refusing(image: Vec<u8>, faults: Faults) -> Faulty<Ram> {
    Faulty::new(Ram::new(image), faults, false, true, 1)
}

/// A journal that owes some writes, the disc with them, and which request has each byte: adjacent data is one.
fn owing(random: &mut Random) -> (Vec<u8>, Vec<u8>, Vec<u64>) {
    let mut disc = quick(Faults::HangFrom(0));
    let (mut whole, mut owed) = (vec![BEFORE; place(SIZE)], vec![0; place(SIZE)]);
    for number in 1..=1 + random.below(6) {
        let (write, value) = (some_write(random), u8::try_from(number).unwrap());
        asked(&mut disc, Nanos(1), write, value).unwrap();
        apply(&mut whole, &write, value);
        owed[range(&write)].fill(if write.zeros { 1 + number } else { 1 });
    }
    asked(&mut disc, Nanos(1), FLUSH, 0).unwrap();
    (disc.journal().image().to_vec(), whole, owed)
}

/// Which bytes stay owed where a disc refuses a range: those of all parts of requests within a sector that touch it.
fn stays(owed: &[u64], from: u64, to: u64) -> Vec<bool> {
    let mut stays = vec![false; owed.len()];
    let mut at = 0;
    while at < owed.len() {
        let ends = |&end: &usize| end == owed.len() || owed[end] != owed[at] || end % 512 == 0;
        let end = (at + 1..=owed.len()).find(ends).unwrap();
        let is_touched = (at as u64) < to && from < end as u64;
        stays[at..end].fill(owed[at] > 0 && is_touched);
        at = end;
    }
    stays
}

#[test]
fn a_disc_that_refuses_some_sectors_gets_the_rest_and_these_later() {
    let mut random = Random::new(seed());
    let (rounds, mut partial) = (200 * scale(), 0);
    for round in 0..rounds {
        let (journal, mut whole, owed) = owing(&mut random);
        let from = random.below(SIZE);
        let to = from + 1 + random.below(700);
        let stays = stays(&owed, from, to);
        let mut found = replayed(&journal).unwrap();
        let mut disc = refusing(vec![BEFORE; place(SIZE)], Faults::Within(from, to));
        let refused = bring(&mut disc, &found.owed).unwrap();
        assert_eq!(refused.error().is_some(), stays.contains(&true), "round {round}");
        found.settle(&refused);
        for (at, &stays) in (0..).zip(&stays) {
            assert_eq!(
                !found.owed.within(at, at + 1).is_empty(),
                stays,
                "round {round}: byte {at}"
            );
            assert!(stays || disc.disc().image()[place(at)] == whole[place(at)], "round {round}");
        }
        if refused.error().is_none() {
            continue;
        }
        partial += 1;
        let count = stays.iter().filter(|&&stays| stays).count();
        let mut disc = Journaled::new(disc, Ram::new(journal), found);
        assert_eq!(disc.owed_bytes(), count as u64);
        assert!(ask(&mut disc, Op::Read, 0, vec![9; place(SIZE)]).unwrap() == whole);
        let error = asked(&mut disc, LATER, FLUSH, 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the disc lacks {count} B of the last run, which the journal keeps")
        );
        assert!(matches!(error, DiscError::Owed { .. }));
        let write = some_write(&mut random);
        asked(&mut disc, LATER, write, 99).unwrap();
        apply(&mut whole, &write, 99);
        settle(&mut disc);
        // A kill now: the next start brings all to a disc that takes it.
        let owed = replayed(disc.journal().image()).unwrap().owed;
        let mut copy = disc.backing().disc().clone();
        bring_all(&mut copy, &owed);
        assert!(copy.image() == whole, "round {round}");
        // The disc takes it.
        disc.backing_mut().set(Faults::None);
        settle(&mut disc);
        assert_eq!(asked(&mut disc, LATER * 9, FLUSH, 0), Ok(()), "round {round}");
        disc.end();
        assert_eq!(asked(&mut disc, LATER * 9, FLUSH, 0), Ok(()));
        assert!(disc.owed_bytes() == 0 && disc.backing().disc().image() == whole, "round {round}");
        assert!(replayed(disc.journal().image()).unwrap().owed.is_empty());
    }
    assert!(partial > rounds / 8 && partial < rounds, "{partial} of {rounds}");
    report("starts with a disc that refuses sectors", rounds);
}

/// Runs that go on, and runs that begin, each after a power cut and with a disc that refuses another place.
#[test]
fn power_cuts_of_runs_that_go_on_lose_nothing() {
    let seeds = 40 * scale();
    let (mut cuts, mut gone_on) = (0, 0);
    for seed in seed()..seed() + seeds {
        let mut random = Random::new(seed);
        let (mut image, mut journal) = (vec![0; place(SIZE)], journal_of(&checkpoint(1)));
        let mut states = vec![image.clone()];
        for generation in 2..8 {
            let mut found = replayed(&journal).expect("no safe record is torn");
            let mut whole = Ram::new(image.clone());
            bring_all(&mut whole, &found.owed);
            assert!(states.contains(&whole.image().to_vec()), "seed {seed}, run {generation}");
            states = vec![whole.into_image()];
            let from = random.below(SIZE);
            let faults = Faults::Within(from, from + 1 + random.below(900));
            let mut disc = Recorded::new(refusing(image.clone(), faults));
            let refused = bring(&mut disc, &found.owed).unwrap();
            if refused.error().is_some() {
                gone_on += 1;
                found.settle(&refused);
                for &byte in found.late() {
                    journal[place(byte)..][..place(PAGE_BYTES)].fill(0);
                }
            } else {
                let number = found.checkpoint.number + 2;
                let next = Checkpoint { number, ..checkpoint(generation) };
                put(&mut journal, &Checkpoint { number: number - 1, ..next.clone() });
                put(&mut journal, &next);
                found = next.into();
            }
            let recorded = Recorded::new(Ram::new(journal.clone()));
            let mut run = Journaled::new(disc, recorded, found);
            let safe = work(&mut run, &mut states, &mut random);
            states.drain(..safe);
            image = after_power_cut(&image, run.backing().events(), &mut random);
            journal = after_power_cut(&journal, run.journal().events(), &mut random);
            cuts += 1;
        }
    }
    assert!(gone_on > cuts / 20 && gone_on < cuts, "{gone_on} of {cuts}");
    report("power cuts of runs with a disc that refuses sectors", cuts);
}

/// Writes and flushes, until one write is refused. The number of the state that is safe.
fn work<D: Disc, J: Disc>(
    run: &mut Journaled<D, J>,
    states: &mut Vec<Vec<u8>>,
    random: &mut Random,
) -> usize {
    let mut safe = 0;
    for step in 1..=random.below(20) {
        let now = LATER * step;
        if random.below(4) == 0 {
            if asked(run, now, FLUSH, 0).is_ok() {
                safe = states.len() - 1;
            }
        } else {
            let (write, value) = (some_write(random), u8::try_from(1 + random.below(250)).unwrap());
            let mut state = states[states.len() - 1].clone();
            apply(&mut state, &write, value);
            states.push(state);
            if asked(run, now, write, value).is_err() {
                return safe;
            }
        }
        if random.below(3) == 0 {
            settle(run);
        }
    }
    safe
}

#[test]
fn a_disc_that_refuses_a_place_while_it_runs_gets_the_rest() {
    let bad = (3 * 512 + 7, 3 * 512 + 9);
    let mut disc = quick(Faults::Within(bad.0, bad.1));
    let mut whole = vec![0; place(SIZE)];
    let mut write = |disc: &mut Journaled<Faulty<Ram>, Ram>, step: u64, offset, length| {
        let value = u8::try_from(step).unwrap();
        let write = Request::new(Op::Write, offset, length);
        let done = asked(disc, LATER * step, write, value);
        if done.is_ok() {
            apply(&mut whole, &write, value);
        }
        settle(disc);
        (done, whole.clone())
    };
    // Nothing is in the way of the ring.
    for step in 1..=40 {
        assert_eq!(write(&mut disc, step, 8 * 512, 2000).0, Ok(()), "{step}");
        assert_eq!(disc.owed_bytes(), 0);
    }
    assert_eq!(write(&mut disc, 41, 0, 10 * 512).0, Ok(()));
    assert_eq!(disc.owed_bytes(), 512, "the sector of the place alone");
    assert_eq!(asked(&mut disc, LATER * 42, FLUSH, 0), Ok(()), "the journal has it");
    // From here on the journal keeps all records, until it is full.
    let full = (43..1000).find(|&step| write(&mut disc, step, 8 * 512, 512).0.is_err()).unwrap();
    assert!((46..60).contains(&full), "{full}");
    assert_eq!(disc.owed_bytes(), 512);
    disc.backing_mut().set(Faults::None);
    settle(&mut disc);
    let (done, whole) = write(&mut disc, full + 1, 0, 100);
    assert_eq!(done, Ok(()));
    assert!(disc.owed_bytes() == 0 && disc.backing().disc().image() == whole);
}

#[test]
fn a_record_that_came_too_late_counts_behind_no_new_one() {
    for is_removed in [true, false] {
        let mut disc = quick(Faults::HangFrom(0));
        for number in 1..=4_u8 {
            let write = Request::new(Op::Write, u64::from(number) * 2000, 1000);
            asked(&mut disc, Nanos(1), write, number).unwrap();
            if number == 1 {
                asked(&mut disc, Nanos(1), FLUSH, 0).unwrap();
            }
        }
        // Each record takes two pages. A power cut has torn the second one, and left those behind it.
        let mut journal = disc.journal().image().to_vec();
        journal[place(RING_BYTE + 3 * PAGE_BYTES) + 40] ^= 1;
        let mut found = replayed(&journal).unwrap();
        assert_eq!((found.owed.bytes(), found.late().len()), (1000, 3));
        let mut disc = refusing(vec![0; place(SIZE)], Faults::Within(2000, 3000));
        let refused = bring(&mut disc, &found.owed).unwrap();
        found.settle(&refused);
        for &byte in found.late().iter().filter(|_| is_removed) {
            journal[place(byte)..][..place(PAGE_BYTES)].fill(0);
        }
        let mut disc = Journaled::new(disc, Ram::new(journal), found);
        asked(&mut disc, Nanos(1), Request::new(Op::Write, 10_000, 1000), 9).unwrap();
        let owed = replayed(disc.journal().image()).unwrap().owed;
        let mut seen = Ram::zeroed(place(SIZE));
        bring_all(&mut seen, &owed);
        let seen = [2000, 4000, 6000, 8000, 10_000].map(|at: usize| seen.image()[at]);
        let late = if is_removed { [1, 0, 0, 0, 9] } else { [1, 0, 3, 4, 9] };
        assert_eq!(seen, late);
    }
}

/// What a start makes of a disc that owes 1000 bytes.
#[test]
fn a_disc_that_cannot_be_read_either_is_not_there() {
    let mut disc = quick(Faults::HangFrom(0));
    asked(&mut disc, Nanos(1), Request::new(Op::Write, 0, 1000), 5).unwrap();
    let found = replayed(disc.journal().image()).unwrap();
    let refused = DiscError::Failed { what: "refused by a test".to_owned() };
    for (faults, reads_fail, want) in [
        (Faults::None, true, Ok(0)),
        (Faults::From(0), false, Ok(1000)),
        (Faults::From(0), true, Err(WriteBackError::Unreachable(refused.clone()))),
        // The flush alone, behind the one write.
        (Faults::Once(1), true, Ok(1000)),
        (Faults::From(1), true, Err(WriteBackError::Unreachable(refused))),
    ] {
        let mut found = found.clone();
        let mut disc = Faulty::new(Ram::zeroed(place(SIZE)), faults, reads_fail, false, 1);
        let left = bring(&mut disc, &found.owed).map(|refused| {
            found.settle(&refused);
            found.owed.bytes()
        });
        assert_eq!(left, want, "{faults:?} {reads_fail}");
    }
    let mut hangs = refusing(vec![0; place(SIZE)], Faults::HangFrom(0));
    let why = bring(&mut hangs, &found.owed).unwrap_err();
    assert_eq!(why.to_string(), "the disc does not answer");
}

#[test]
fn a_signal_ends_a_start_between_its_writes_and_nothing_is_lost() {
    // A clock that each look moves.
    let clock = Cell::new(0);
    let now = || {
        clock.set(clock.get() + 25_000_000);
        Nanos(clock.get())
    };
    // Many small writes, as every second sector is owed.
    let mut disc = quick(Faults::HangFrom(0));
    for number in 0..8 {
        let write = Request::new(Op::Write, number * 1024, 100);
        asked(&mut disc, Nanos(1), write, 5).unwrap();
    }
    let owed = replayed(disc.journal().image()).unwrap().owed;
    let mut lefts = Vec::new();
    for looks in 0..40 {
        let seen = Cell::new(0);
        let ends = || {
            seen.set(seen.get() + 1);
            u32::from(seen.get() > looks)
        };
        let mut disc = Ram::zeroed(place(SIZE));
        match write_back(&mut disc, &owed, Watch { now: &now, ends: &ends }) {
            Ok(refused) => {
                assert_eq!(refused.error(), None);
                lefts.push(None);
            }
            Err(WriteBackError::Ended(left)) => lefts.push(Some(left)),
            Err(other) => panic!("{other}"),
        }
        let written: u64 = disc.image().iter().map(|&byte| u64::from(byte) / 5).sum();
        assert_eq!(written, 800 - lefts[lefts.len() - 1].unwrap_or(0));
        bring_all(&mut disc, &owed);
        assert_eq!(disc.image().iter().map(|&byte| u64::from(byte) / 5).sum::<u64>(), 800);
    }
    // The later the signal, the less is left, until the start succeeds.
    assert_eq!((lefts[0], lefts[39]), (Some(800), None));
    let is_less = |pair: &[Option<u64>]| match (pair[0], pair[1]) {
        (Some(one), Some(next)) => next <= one,
        (one, None) => one.unwrap_or(0) == 0,
        (None, Some(_)) => false,
    };
    assert!(lefts.windows(2).all(is_less), "{lefts:?}");
    // A disc that hangs is waited for after the first signal, and not after the second one.
    for (signals, seconds) in [(1, 10..12), (2, 0..1)] {
        let begun = clock.get();
        let looks = Cell::new(0);
        let ends = || {
            looks.set(looks.get() + 1);
            if looks.get() > 9 { signals } else { 0 }
        };
        let mut disc = refusing(vec![0; place(SIZE)], Faults::HangFrom(0));
        let ended = write_back(&mut disc, &owed, Watch { now: &now, ends: &ends });
        assert_eq!(ended.unwrap_err(), WriteBackError::Ended(800));
        assert!(seconds.contains(&((clock.get() - begun) / 1_000_000_000)), "{signals}");
    }
}

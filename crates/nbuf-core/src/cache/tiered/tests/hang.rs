//! A tier that hangs: reads have the disc's bytes in time, and late answers change nothing.

use super::*;

/// Longer than a sound tier takes.
const LIMIT: Nanos = Nanos(20_000);
/// What the backing takes, and the looks of the client.
const MORE: Nanos = Nanos(4_000);

/// Some tiers hang for ever, some come back, some are sound.
#[test]
fn no_request_takes_much_longer_than_the_limit() {
    let (mut given_up, mut came_back, mut overdue) = (0, 0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let slots = 1 + u32::try_from(random.below(12)).unwrap();
        let ram = Ram::zeroed(usize::try_from(SIZE).unwrap());
        let backing = Delayed::new(ram, Nanos(100), Nanos(1000), random.next());
        let faults = if seed % 3 == 0 { Faults::None } else { Faults::HangFrom(random.below(150)) };
        // The delay is behind the fault: what hangs keeps no other answer.
        let delayed = Delayed::new(tier_ram(slots), Nanos(1), Nanos(400), random.next());
        let tier = Faulty::new(delayed, faults, true, false, random.next());
        let mut disc = Tiered::new(backing, tier, geometry(slots));
        disc.give_up_after(LIMIT);
        let mut client = client(&mut random);
        client.longest = LIMIT + MORE;
        let depth = 1 + random.below(8);
        let returns = random.below(400);
        for round in 0..200 {
            client.ask(&mut disc);
            while client.going.len() as u64 >= depth {
                client.take(&mut disc);
            }
            if round == returns {
                release(&mut disc, client.now);
            }
            disc.blocks.check();
        }
        client.finish(&mut disc);
        let counts = disc.counts();
        let is_lost = disc.lost().is_some();
        assert_eq!((is_lost, counts.errors), (counts.overdue > 0, 0), "seed {seed}");
        assert!(!is_lost || disc.lost() == Some("it has not answered for 20.0 us"));
        assert!(!is_lost || seed % 3 > 0, "a sound tier is lost, seed {seed}");
        given_up += u64::from(is_lost);
        came_back += u64::from(is_lost && returns < 200);
        overdue += counts.overdue;
        // In the end all of it comes back.
        release(&mut disc, client.now);
        assert_eq!(disc.next_completion(Nanos::MAX), None, "seed {seed}");
        assert_eq!((disc.moves.len(), disc.filling_bytes), (0, 0), "seed {seed}");
        assert!(!is_lost || disc.used_bytes() == 0);
        disc.blocks.check();
        assert!(disc.backing.disc().image() == client.model, "seed {seed}");
        assert!(read_all(&mut disc, client.now, PART) == client.model, "seed {seed}");
    }
    assert!(given_up > 100 && came_back > 20, "{given_up} were given up, {came_back} came back");
    assert!(overdue > 2 * given_up, "{overdue} requests were overdue");
}

/// The tier answers again.
fn release<D: Disc, T: Disc>(disc: &mut Tiered<D, Faulty<T>>, now: Nanos) {
    disc.tier.set(Faults::None);
    disc.tier.release(now);
}

/// A tier that has byte 5 in its first part, with this limit.
fn limited(limit: Nanos) -> Script {
    let mut disc = script();
    ask(&mut disc, Op::Write, 5);
    disc.backing.answer(Op::Write);
    assert_eq!(first_byte(&mut disc), Some(5));
    disc.tier.answer(Op::Write);
    assert_eq!((first_byte(&mut disc), disc.used_bytes()), (None, PART));
    disc.give_up_after(limit);
    disc
}

#[test]
fn a_read_that_is_not_answered_goes_to_the_disc() {
    let mut disc = limited(Nanos(5000));
    ask(&mut disc, Op::Read, 0xEE);
    assert_eq!((disc.next_completion(Nanos(4999)), disc.lost()), (None, None));
    assert_eq!((disc.tier.waiting.len(), disc.backing.waiting.len()), (1, 0));
    assert!(!disc.settle(Nanos(4999)), "the read is not answered");
    disc.is_settling = false;
    assert!(!disc.is_due(Nanos(4999)) && disc.is_due(Nanos(5000)));
    assert_eq!(disc.next_completion(Nanos(5000)), None);
    assert_eq!(disc.lost(), Some("it has not answered for 5.00 us"));
    assert_eq!((disc.tier.waiting.len(), disc.backing.waiting.len()), (1, 1));
    // The next ones do not wait for it.
    ask(&mut disc, Op::Read, 0xEE);
    for _ in 0..2 {
        disc.backing.answer(Op::Read);
        assert_eq!(first_byte(&mut disc), Some(5));
    }
    assert_eq!(disc.under_way(), 0);
    // The bytes that come late are old.
    ask(&mut disc, Op::Write, 9);
    disc.backing.answer(Op::Write);
    assert_eq!(first_byte(&mut disc), Some(9));
    disc.tier.answer(Op::Read);
    assert_eq!((first_byte(&mut disc), disc.moves.len()), (None, 0));
    disc.blocks.check();
    let counts = disc.counts();
    assert_eq!((counts.overdue, counts.errors), (1, 0));
    assert_eq!((read_now(&mut disc), disc.counts().hits), (9, 0), "the disc served all reads");
}

#[test]
fn an_answer_in_time_and_an_owner_who_was_away_lose_no_tier() {
    let mut disc = limited(Nanos(5000));
    ask(&mut disc, Op::Read, 0xEE);
    disc.pardon_until(Nanos(9000));
    assert_eq!((disc.next_completion(Nanos(8999)), disc.lost()), (None, None));
    disc.tier.answer(Op::Read);
    assert_eq!((first_byte(&mut disc), disc.lost()), (Some(5), None));
    // It fails, and another request hangs nevertheless.
    ask(&mut disc, Op::Read, 0xEE);
    disc.lose("pulled".to_owned());
    assert_eq!(disc.next_completion(Nanos(9000)), None);
    assert_eq!((disc.lost(), disc.backing.waiting.len()), (Some("pulled"), 1));
    disc.backing.answer(Op::Read);
    assert_eq!((first_byte(&mut disc), disc.counts().overdue), (Some(5), 1));
    assert_eq!((disc.counts().reads, disc.counts().hits), (2, 1));
}

#[test]
fn a_late_start_is_not_held_against_the_tier() {
    let mut disc = limited(Nanos(5000));
    disc.begin_at(Nanos(70_000));
    // The owner has not looked at its clock yet.
    ask(&mut disc, Op::Read, 0xEE);
    assert!(!disc.is_due(Nanos(74_999)) && disc.is_due(Nanos(75_000)));
    assert_eq!((disc.next_completion(Nanos(74_999)), disc.lost()), (None, None));
    disc.tier.answer(Op::Read);
    assert_eq!((first_byte(&mut disc), disc.lost()), (Some(5), None));
}

//! A tier against a plain disc, byte for byte; orders of answers that chance seldom brings; and what comes back.

mod hang;

use super::*;
use crate::clock::Random;
use crate::disc::{Delayed, Faults, Faulty, Ram};

/// No whole number of parts.
const SIZE: u64 = 9 * 1024 + 333;
const PART: u64 = 64;
const BLOCK: u64 = PART * PARTS as u64;

fn geometry(slots: u32) -> Geometry {
    let part_bytes = u32::try_from(PART).unwrap();
    Geometry { size_bytes: SIZE, part_bytes, slots, first_byte: 17 }
}

fn tier_ram(slots: u32) -> Ram {
    Ram::zeroed(17 + usize::try_from(u64::from(slots) * BLOCK).unwrap())
}

/// A disc that answers some reads with a wrong byte, and says nothing.
struct Lying<D> {
    disc: D,
    per_thousand: u64,
    random: Random,
}

impl<D: Disc> Disc for Lying<D> {
    fn size_bytes(&self) -> u64 {
        self.disc.size_bytes()
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        self.disc.submit(now, request, data);
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        let mut completion = self.disc.next_completion(until)?;
        let is_read = completion.request.op == Op::Read;
        if is_read && self.random.below(1000) < self.per_thousand {
            let at = self.random.below(completion.data.len() as u64);
            completion.data[usize::try_from(at).unwrap()] ^= 0x10;
        }
        Some(completion)
    }

    fn under_way(&self) -> usize {
        self.disc.under_way()
    }
}

type Tier = Lying<Delayed<Faulty<Ram>>>;

fn tier(slots: u32, faults: Faults, per_thousand: u64, random: &mut Random) -> Tier {
    let failing = Faulty::new(tier_ram(slots), faults, true, true, random.next());
    let disc = Delayed::new(failing, Nanos(1), Nanos(400), random.next());
    Lying { disc, per_thousand, random: Random::new(random.next()) }
}

/// A request under way, and what it is to bring.
struct Going {
    request: Request,
    want: Vec<u8>,
}

/// A client that keeps several requests under way, of which none meets a change by another.
struct Client {
    model: Vec<u8>,
    going: Vec<Going>,
    random: Random,
    now: Nanos,
    task: u32,
    /// How long a request may take.
    longest: Nanos,
}

impl Client {
    fn ask<D: Disc, T: Disc>(&mut self, disc: &mut Tiered<D, T>) {
        let random = &mut self.random;
        let unit = [PART, PART, 4 * PART, 1][usize::try_from(random.below(4)).unwrap()];
        let offset = random.below(SIZE.div_ceil(unit)) * unit;
        let length = ((1 + random.below(1 + 2 * BLOCK / unit)) * unit).min(SIZE - offset);
        let op = match random.below(20) {
            0..=11 => Op::Read,
            12..=17 => Op::Write,
            18 => Op::Discard,
            _ => Op::Flush,
        };
        let zeros = op == Op::Discard && random.below(2) == 0;
        let meets = |other: &Going| {
            let changes = |op| matches!(op, Op::Write | Op::Discard);
            let at = other.request.offset;
            let meets = at < offset + length && offset < at + other.request.length_bytes;
            meets && (changes(op) || changes(other.request.op))
        };
        if op != Op::Flush && self.going.iter().any(meets) {
            return;
        }
        self.task += 1;
        let (offset, length) = if op == Op::Flush { (0, 0) } else { (offset, length) };
        let request = Request { task: self.task, zeros, ..Request::new(op, offset, length) };
        let range = usize::try_from(offset).unwrap()..usize::try_from(offset + length).unwrap();
        let mut data = Vec::new();
        match op {
            Op::Read => data = vec![0xEE; range.len()],
            Op::Write => {
                data = range.clone().map(|_| u8::try_from(random.below(256)).unwrap()).collect();
                self.model[range.clone()].copy_from_slice(&data);
            }
            Op::Discard if zeros => self.model[range.clone()].fill(0),
            Op::Discard | Op::Flush => {}
        }
        self.going.push(Going { request, want: self.model[range].to_vec() });
        disc.submit(self.now, request, data);
    }

    /// Takes an answer, if one comes now.
    fn take<D: Disc, T: Disc>(&mut self, disc: &mut Tiered<D, T>) {
        self.now += Nanos(self.random.below(200));
        let Some(done) = disc.next_completion(self.now) else { return };
        assert_eq!(done.outcome, Ok(()));
        let took = done.breakdown.total();
        assert!(took <= self.longest, "{took} for {:?}", done.request);
        let at = self.going.iter().position(|going| going.request == done.request);
        let going = self.going.swap_remove(at.expect("it was asked for, as it is"));
        if going.request.op == Op::Read {
            assert!(done.data == going.want, "{:?}", going.request);
        }
    }

    fn finish<D: Disc, T: Disc>(&mut self, disc: &mut Tiered<D, T>) {
        while !self.going.is_empty() {
            self.take(disc);
        }
        assert_eq!(disc.under_way(), 0);
    }
}

fn client(random: &mut Random) -> Client {
    let model = vec![0; usize::try_from(SIZE).unwrap()];
    let random = Random::new(random.next());
    Client { model, going: Vec::new(), random, now: Nanos::ZERO, task: 0, longest: Nanos::MAX }
}

/// All of the disc, piece by piece.
fn read_all<D: Disc, T: Disc>(disc: &mut Tiered<D, T>, now: Nanos, length: u64) -> Vec<u8> {
    let mut all = Vec::new();
    while (all.len() as u64) < SIZE {
        let offset = all.len() as u64;
        let length = length.min(SIZE - offset);
        let room = vec![0xEE; usize::try_from(length).unwrap()];
        disc.submit(now, Request::new(Op::Read, offset, length), room);
        let done = disc.next_completion(Nanos::MAX).unwrap();
        assert_eq!(done.outcome, Ok(()));
        all.extend(done.data);
    }
    all
}

/// Some tiers fail, some return wrong bytes, some are sound. What a sound one holds at the end serves a second run alone.
#[test]
fn it_is_the_disc_byte_for_byte() {
    let (mut hits, mut lost, mut served, mut held) = (0, 0, 0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let slots = 1 + u32::try_from(random.below(12)).unwrap();
        let (faults, lies) = match seed % 4 {
            0 => (Faults::PerThousand(10), 0),
            1 => (Faults::None, 20),
            _ => (Faults::None, 0),
        };
        let ram = Ram::zeroed(usize::try_from(SIZE).unwrap());
        let backing = Delayed::new(ram, Nanos(100), Nanos(1000), random.next());
        let mut disc =
            Tiered::new(backing, tier(slots, faults, lies, &mut random), geometry(slots));
        let mut client = client(&mut random);
        let depth = 1 + random.below(8);
        for _ in 0..200 {
            client.ask(&mut disc);
            while client.going.len() as u64 >= depth {
                client.take(&mut disc);
            }
            disc.blocks.check();
        }
        client.finish(&mut disc);
        let counts = disc.counts();
        assert_eq!(disc.lost().is_some(), counts.errors > 0, "seed {seed}");
        assert!(seed % 4 < 2 || counts.errors == 0, "seed {seed}");
        hits += counts.hits;
        lost += u64::from(counts.errors > 0);
        assert!(disc.settle(Nanos::MAX));
        disc.blocks.check();
        // What is written to a tier is whole: a new one over the same bytes serves it without the backing.
        let (used, entries) = (disc.used_bytes(), disc.held());
        let Tiered { backing, tier, .. } = disc;
        assert!(backing.disc().image() == client.model, "seed {seed}");
        if seed % 4 < 2 {
            continue;
        }
        let mut disc = Tiered::new(backing, tier, geometry(slots));
        assert_eq!(disc.restore(&entries).min(SIZE), used, "seed {seed}");
        disc.blocks.check();
        assert!(read_all(&mut disc, client.now, PART) == client.model, "seed {seed}");
        assert_eq!(disc.counts().errors, 0);
        // Blocks that the reads need may push others out before those are read.
        served += disc.counts().hit_bytes;
        held += used;
    }
    assert!(hits > 4000 && lost > 50, "{hits} hits, {lost} lost");
    assert!(served > held / 4, "{served} B of {held} B");
}

/// A disc whose answers the test gives.
struct Scripted {
    ram: Ram,
    waiting: Vec<(Request, Vec<u8>)>,
    done: VecDeque<Completion>,
}

impl Scripted {
    fn new(ram: Ram) -> Self {
        Self { ram, waiting: Vec::new(), done: VecDeque::new() }
    }

    /// Serves the oldest request of this kind now, with the bytes of now, and reports it at once.
    fn answer(&mut self, op: Op) {
        let served = self.serve(op);
        self.done.push_back(served);
    }

    /// Serves it now, and reports it when the test says so.
    fn serve(&mut self, op: Op) -> Completion {
        let at = self.waiting.iter().position(|(request, _)| request.op == op);
        let (request, data) = self.waiting.remove(at.expect("it was asked for"));
        self.ram.submit(Nanos::ZERO, request, data);
        self.ram.next_completion(Nanos::MAX).unwrap()
    }
}

impl Disc for Scripted {
    fn size_bytes(&self) -> u64 {
        self.ram.size_bytes()
    }

    fn submit(&mut self, _: Nanos, request: Request, data: Vec<u8>) {
        self.waiting.push((request, data));
    }

    fn next_completion(&mut self, _: Nanos) -> Option<Completion> {
        self.done.pop_front()
    }

    fn under_way(&self) -> usize {
        self.waiting.len() + self.done.len()
    }
}

type Script = Tiered<Scripted, Scripted>;

fn script() -> Script {
    let backing = Scripted::new(Ram::zeroed(usize::try_from(SIZE).unwrap()));
    Tiered::new(backing, Scripted::new(tier_ram(2)), geometry(2))
}

fn ask(disc: &mut Script, op: Op, byte: u8) {
    let length = if op == Op::Flush { 0 } else { PART };
    let data = vec![byte; usize::try_from(length).unwrap()];
    disc.submit(Nanos::ZERO, Request::new(op, 0, length), data);
}

fn first_byte(disc: &mut Script) -> Option<u8> {
    let done = disc.next_completion(Nanos::MAX)?;
    assert_eq!(done.outcome, Ok(()));
    Some(done.data.first().copied().unwrap_or(0))
}

/// Reads with all answers at once.
fn read_now(disc: &mut Script) -> u8 {
    ask(disc, Op::Read, 0xEE);
    for side in [&mut disc.tier, &mut disc.backing] {
        if side.waiting.iter().any(|(request, _)| request.op == Op::Read) {
            side.answer(Op::Read);
        }
    }
    first_byte(disc).unwrap()
}

#[test]
fn a_write_that_meets_a_fill_makes_its_bytes_old() {
    let mut disc = script();
    ask(&mut disc, Op::Read, 0);
    disc.backing.answer(Op::Read);
    assert_eq!(first_byte(&mut disc), Some(0));
    // The fill is under way when the write comes, and ends after it.
    ask(&mut disc, Op::Write, 7);
    disc.backing.answer(Op::Write);
    assert_eq!(first_byte(&mut disc), Some(7));
    assert_eq!(disc.tier.waiting.len(), 1, "a part is in one fill at a time");
    disc.tier.answer(Op::Write);
    assert_eq!(first_byte(&mut disc), None);
    assert_eq!((read_now(&mut disc), disc.counts().hits), (7, 0));
    disc.tier.answer(Op::Write);
    assert_eq!(first_byte(&mut disc), None);
    assert_eq!((read_now(&mut disc), disc.counts().hits), (7, 1));
    assert_eq!(disc.counts().errors, 0);
}

#[test]
fn a_read_that_meets_a_write_fills_nothing() {
    for read_first in [true, false] {
        let mut disc = script();
        let ops = if read_first { [Op::Read, Op::Write] } else { [Op::Write, Op::Read] };
        for op in ops {
            ask(&mut disc, op, 7);
        }
        // The read has the old bytes, and is reported last.
        let old = disc.backing.serve(Op::Read);
        disc.backing.answer(Op::Write);
        assert_eq!(first_byte(&mut disc), Some(7));
        let after_write = disc.tier.waiting.len();
        disc.backing.done.push_back(old);
        assert_eq!(first_byte(&mut disc), Some(0));
        assert_eq!(disc.tier.waiting.len(), after_write, "the old bytes do not go to the tier");
        while !disc.tier.waiting.is_empty() {
            disc.tier.answer(Op::Write);
        }
        assert_eq!(first_byte(&mut disc), None);
        assert_eq!(read_now(&mut disc), 7);
    }
}

#[test]
fn of_two_writes_at_once_the_tier_keeps_neither() {
    let mut disc = script();
    ask(&mut disc, Op::Write, 1);
    ask(&mut disc, Op::Write, 2);
    // The second one first: the first one's bytes are on the disc in the end.
    let second = disc.backing.waiting.remove(1);
    disc.backing.waiting.insert(0, second);
    disc.backing.answer(Op::Write);
    disc.backing.answer(Op::Write);
    assert_eq!([first_byte(&mut disc), first_byte(&mut disc)], [Some(2), Some(1)]);
    assert!(disc.tier.waiting.is_empty());
    assert_eq!(read_now(&mut disc), 1);
}

#[test]
fn a_part_is_filled_once_and_not_while_it_is_read() {
    let mut disc = script();
    for _ in 0..3 {
        ask(&mut disc, Op::Read, 0);
    }
    for _ in 0..3 {
        disc.backing.answer(Op::Read);
        assert_eq!(first_byte(&mut disc), Some(0));
    }
    assert_eq!((disc.counts().fills, disc.tier.waiting.len()), (1, 1));
    disc.tier.answer(Op::Write);
    assert_eq!(first_byte(&mut disc), None);
    // A read of the tier is under way while its bytes are written: its slot keeps the old ones until it is over.
    ask(&mut disc, Op::Read, 0);
    ask(&mut disc, Op::Write, 9);
    disc.backing.answer(Op::Write);
    assert_eq!(first_byte(&mut disc), Some(9));
    assert_eq!(disc.counts().fills, 1);
    disc.tier.answer(Op::Read);
    assert_eq!(first_byte(&mut disc), Some(0));
    assert_eq!((read_now(&mut disc), disc.counts().errors), (9, 0));
}

#[test]
fn a_trim_and_a_loss_leave_nothing_behind() {
    let mut disc = script();
    ask(&mut disc, Op::Write, 5);
    disc.backing.answer(Op::Write);
    assert_eq!(first_byte(&mut disc), Some(5));
    disc.tier.answer(Op::Write);
    assert_eq!((first_byte(&mut disc), disc.used_bytes()), (None, PART));
    ask(&mut disc, Op::Discard, 0);
    assert_eq!(disc.used_bytes(), 0);
    disc.backing.answer(Op::Discard);
    first_byte(&mut disc);
    read_now(&mut disc);
    disc.tier.answer(Op::Write);
    assert_eq!((first_byte(&mut disc), disc.used_bytes()), (None, PART));
    // A read of the tier is under way when the tier is lost: what it brings is still right.
    ask(&mut disc, Op::Read, 0);
    disc.lose("pulled".to_owned());
    disc.tier.answer(Op::Read);
    assert_eq!(first_byte(&mut disc), Some(5));
    assert!(disc.held().is_empty());
    assert_eq!((disc.used_bytes(), disc.lost()), (0, Some("pulled")));
    let fills = disc.counts().fills;
    assert_eq!((read_now(&mut disc), disc.counts().fills), (5, fills));
}

#[test]
fn entries_that_do_not_fit_are_left_out() {
    let sums = [0; PARTS as usize];
    let entry = |slot, block, valid| Entry { slot, block, valid, sums };
    let last = SIZE / BLOCK;
    let entries = [
        entry(1, 0, 3),
        entry(1, 1, 1),
        entry(0, 0, 1),
        entry(2, 2, 1),
        entry(0, last + 1, 1),
        entry(0, last, 1 << 15),
        entry(0, 3, 0),
        entry(0, 4, 7),
    ];
    let mut disc = script();
    assert_eq!(disc.restore(&entries), 5 * PART);
    disc.blocks.check();
    let mut held = disc.held();
    held.sort_unstable_by_key(|entry| entry.block);
    assert_eq!(held, [entry(1, 0, 3), entry(0, 4, 7)]);
}

#[test]
fn a_disc_that_refuses_to_store_and_does_not_keep_it_ends_the_tier() {
    for (op, is_durable, keeps) in [
        (Op::Flush, false, false),
        (Op::Flush, false, true),
        (Op::Write, true, false),
        (Op::Write, false, false),
    ] {
        let mut disc = script();
        assert_eq!(read_now(&mut disc), 0);
        disc.tier.answer(Op::Write);
        assert_eq!(first_byte(&mut disc), None);
        let length = if op == Op::Flush { 0 } else { PART };
        let request = Request { durable: is_durable, ..Request::new(op, 2 * PART, length) };
        disc.submit(Nanos::ZERO, request, vec![1; usize::try_from(length).unwrap()]);
        let what = "fdatasync: EIO".to_owned();
        let refusal = if keeps { DiscError::Owed { what } } else { DiscError::Failed { what } };
        let served = disc.backing.serve(op);
        disc.backing.done.push_back(Completion { outcome: Err(refusal.clone()), ..served });
        assert_eq!(disc.next_completion(Nanos::MAX).unwrap().outcome, Err(refusal));
        // A plain write that is refused says nothing of what was stored before.
        let is_lost = (op == Op::Flush || is_durable) && !keeps;
        assert_eq!(disc.lost().is_some(), is_lost, "{op:?} {is_durable} {keeps}");
        assert_eq!((read_now(&mut disc), disc.counts().hits), (0, u64::from(!is_lost)));
    }
}

#[test]
fn parts_that_a_block_lacks_are_no_uses_of_it() {
    let plain = || Ram::zeroed(usize::try_from(SIZE).unwrap());
    let mut disc = Tiered::new(plain(), tier_ram(2), geometry(2));
    let mut read = |at: u64| {
        let room = vec![0; usize::try_from(PART).unwrap()];
        disc.submit(Nanos::ZERO, Request::new(Op::Read, at, PART), room);
        while disc.next_completion(Nanos::MAX).is_some() {}
        disc.counts()
    };
    // The block of byte 0 is used again and again.
    for _ in 0..4 {
        read(0);
    }
    let before = read(0).hits;
    // A scan reads each part of other blocks once.
    for at in (BLOCK..SIZE - PART).step_by(usize::try_from(PART).unwrap()) {
        read(at);
    }
    assert_eq!(read(0).hits, before + 1, "the scan has not evicted it");
}

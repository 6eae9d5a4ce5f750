//! A journal against the writes that came, in their order: power cuts at many moments, errors, a full ring, and the end.

mod refused;

use std::collections::{BTreeMap, BTreeSet};

use super::note::NOTE_BYTE;
use super::replay::ReplayError;
use super::*;
use crate::clock::Random;
use crate::disc::{Delayed, Event, Faults, Faulty, Ram, Recorded, after_power_cut, wait_for};

/// Bytes of the disc: no whole number of sectors.
const SIZE: u64 = 24 * 512 + 100;
/// Bytes for records: they are used again and again in a run.
const RING: u64 = 16 * PAGE_BYTES;

/// A disc that remembers what was written, takes a while, and may fail.
type Sim = Recorded<Delayed<Faulty<Ram>>>;

/// How many times the usual number of cases are run: `NBUF_FAULTS`, or 1.
fn scale() -> u64 {
    std::env::var("NBUF_FAULTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The seed of all cases: `NBUF_FAULTS_SEED`, or one that stays.
fn seed() -> u64 {
    std::env::var("NBUF_FAULTS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_129)
}

/// Says what a large run has done.
#[expect(clippy::print_stdout, reason = "`cargo xtask faults` shows it")]
fn report(what: &str, count: u64) {
    if std::env::var_os("NBUF_FAULTS").is_some() {
        println!("faults: {count} {what}, seed {}", seed());
    }
}

fn place(byte: u64) -> usize {
    usize::try_from(byte).unwrap()
}

fn checkpoint(generation: u64) -> Checkpoint {
    let (number, id, owner) = (generation, 0xABCD_EF01_2345_6789, b"a disc".to_vec());
    Checkpoint { number, generation, seq: 1, place: 0, ring_bytes: RING, id, owner }
}

/// A journal with nothing but this checkpoint.
fn journal_of(checkpoint: &Checkpoint) -> Vec<u8> {
    let mut image = vec![0; place(RING_BYTE + RING)];
    put(&mut image, checkpoint);
    image
}

fn put(image: &mut [u8], checkpoint: &Checkpoint) {
    let (at, bytes) = (place(checkpoint.byte()), checkpoint.to_bytes());
    image[at..at + bytes.len()].copy_from_slice(&bytes);
}

fn replayed(journal: &[u8]) -> Result<Replayed, ReplayError> {
    replay(&mut |at, room| {
        let found = journal.get(place(at)..place(at) + room.len());
        room.copy_from_slice(found.ok_or("past the end")?);
        Ok(())
    })
}

/// Writes back with a clock that stands, and without signals.
fn bring<D: Disc>(disc: &mut D, owed: &Owed) -> Result<Refused, WriteBackError> {
    write_back(disc, owed, Watch { now: &|| Nanos::ZERO, ends: &|| 0 })
}

/// The same with a disc that takes all.
fn bring_all<D: Disc>(disc: &mut D, owed: &Owed) {
    assert_eq!(bring(disc, owed).unwrap().error(), None);
}

fn sim(image: Vec<u8>, faults: Faults, random: &mut Random) -> Sim {
    let failing = Faulty::new(Ram::new(image), faults, false, true, random.next());
    Recorded::new(Delayed::new(failing, Nanos(10), Nanos(1000), random.next()))
}

/// What was asked for.
#[derive(Debug)]
enum Asked {
    /// By the number of the write, and whether it is to be safe.
    Write(usize, bool),
    /// After this many writes.
    Flush(usize),
    /// From this byte, when this many writes were complete.
    Read(u64, usize),
}

/// What a power cut may find.
#[derive(Clone, Copy, Debug)]
struct Moment {
    disc_events: usize,
    journal_events: usize,
    /// Writes that are safe, and writes that came.
    safe: usize,
    came: usize,
}

/// A client that keeps several requests under way.
struct Run {
    disc: Journaled<Sim, Sim>,
    random: Random,
    now: Nanos,
    task: u32,
    asked: BTreeMap<u32, Asked>,
    /// The disc after each number of writes.
    states: Vec<Vec<u8>>,
    /// Writes that are complete: all up to a number, and others.
    complete: usize,
    others: BTreeSet<usize>,
    safe: usize,
    errors: u64,
    moments: Vec<Moment>,
}

impl Run {
    fn new(seed: u64, journal_faults: Faults) -> Self {
        let mut random = Random::new(seed);
        let disc = sim(vec![0; place(SIZE)], Faults::None, &mut random);
        let journal = sim(journal_of(&checkpoint(1)), journal_faults, &mut random);
        Self {
            disc: Journaled::new(disc, journal, checkpoint(1)),
            random,
            now: Nanos(0),
            task: 0,
            asked: BTreeMap::new(),
            states: vec![vec![0; place(SIZE)]],
            complete: 0,
            others: BTreeSet::new(),
            safe: 0,
            errors: 0,
            moments: Vec::new(),
        }
    }

    /// This many requests; all are complete at the end.
    fn work(&mut self, count: u64) {
        let (mut came, mut turns) = (0, 0);
        while came < count || !self.asked.is_empty() {
            self.now += Nanos(self.random.below(200));
            if came < count && self.asked.len() as u64 <= self.random.below(8) {
                came += 1;
                self.ask();
            }
            while let Some(completion) = self.disc.next_completion(self.now) {
                self.now = self.now.max(completion.at);
                self.take(&completion);
            }
            self.moments.push(Moment {
                disc_events: self.disc.backing().events().len(),
                journal_events: self.disc.journal().events().len(),
                safe: self.safe,
                came: self.states.len() - 1,
            });
            turns += 1;
            assert!(turns < 100_000, "{:?} hang", self.asked);
        }
    }

    fn ask(&mut self) {
        let unit = [512, 1][usize::from(self.random.below(2) == 0)];
        let offset = self.random.below(SIZE / unit) * unit;
        let length = ((1 + self.random.below(1500 / unit + 1)) * unit).min(SIZE - offset);
        self.task += 1;
        let writes = self.states.len();
        let (op, asked) = match self.random.below(12) {
            0..=2 => (Op::Read, Asked::Read(offset, self.complete)),
            3..=4 => (Op::Flush, Asked::Flush(writes - 1)),
            5 => (Op::Discard, Asked::Write(writes, self.random.below(5) == 0)),
            _ => (Op::Write, Asked::Write(writes, self.random.below(5) == 0)),
        };
        let (zeros, durable) = (op == Op::Discard, matches!(asked, Asked::Write(_, true)));
        let request = Request::new(op, offset, length);
        let request = Request { task: self.task, zeros, durable, ..request };
        let mut data = Vec::new();
        if let Asked::Write(number, _) = asked {
            let value = if zeros { 0 } else { u8::try_from(number % 251 + 1).unwrap() };
            let mut state = self.states[number - 1].clone();
            state[place(offset)..place(offset + length)].fill(value);
            self.states.push(state);
            if !zeros {
                data = vec![value; place(length)];
            }
        } else if op == Op::Read {
            data = vec![0xEE; place(length)];
        }
        self.asked.insert(self.task, asked);
        self.disc.submit(self.now, request, data);
    }

    fn take(&mut self, completion: &Completion) {
        let asked = self.asked.remove(&completion.request.task).expect("it was asked for");
        if completion.outcome.is_err() {
            self.errors += 1;
            return;
        }
        match asked {
            Asked::Write(number, is_safe) => {
                self.others.insert(number);
                while self.others.remove(&(self.complete + 1)) {
                    self.complete += 1;
                }
                if is_safe {
                    self.safe = self.safe.max(number);
                }
            }
            Asked::Flush(writes) => self.safe = self.safe.max(writes),
            Asked::Read(from, complete) => {
                is_of(&self.states[complete..], from, &completion.data, "a read");
            }
        }
    }
}

/// Asserts that each byte is the one of one of these states.
fn is_of(states: &[Vec<u8>], from: u64, seen: &[u8], what: &str) {
    for (at, &value) in (place(from)..).zip(seen) {
        assert!(states.iter().any(|state| state[at] == value), "{what}: byte {at} is {value}");
    }
}

/// The disc after a power cut and what follows: a second power cut while the first one's journal is written back.
fn after_cuts(disc: &[Event], journal: &[Event], random: &mut Random) -> Vec<u8> {
    let image = after_power_cut(&vec![0; place(SIZE)], disc, random);
    let journal = after_power_cut(&journal_of(&checkpoint(1)), journal, random);
    let owed = replayed(&journal).expect("no safe record is torn").owed;
    let mut disc = sim(image.clone(), Faults::None, random);
    bring_all(&mut disc, &owed);
    let events = disc.events();
    let cut = place(random.below(events.len() as u64 + 1));
    let mut disc = Ram::new(after_power_cut(&image, &events[..cut], random));
    bring_all(&mut disc, &owed);
    disc.into_image()
}

/// Cuts the power at moments of a run; how many times.
fn cut(run: &mut Run, is_exact: bool) -> u64 {
    let mut cuts = 0;
    for &Moment { disc_events, journal_events, safe, came } in run.moments.iter().step_by(3) {
        let disc = &run.disc.backing().events()[..disc_events];
        let journal = &run.disc.journal().events()[..journal_events];
        let image = after_cuts(disc, journal, &mut run.random);
        let states = &run.states[safe..=came];
        is_of(states, 0, &image, "after a power cut");
        // All writes up to one, and none of those behind it.
        assert!(!is_exact || states.contains(&image), "no state of {safe} to {came}");
        cuts += 1;
    }
    cuts
}

#[test]
fn a_power_cut_leaves_the_state_after_some_write_that_no_flushed_one_is_behind() {
    let seeds = 16 * scale();
    let (mut cuts, mut laps) = (0, 0);
    for seed in seed()..seed() + seeds {
        let mut run = Run::new(seed, Faults::None);
        run.work(100);
        assert_eq!((run.errors, run.complete), (0, run.states.len() - 1));
        let starts = |event: &&Event| matches!(event, Event::Came(r, _) if r.offset == RING_BYTE);
        laps += run.disc.journal().events().iter().filter(starts).count();
        cuts += cut(&mut run, true);
        // All of it comes to the disc.
        while run.disc.next_completion(Nanos::MAX).is_some() {}
        assert_eq!(run.disc.owed_bytes(), 0);
        let image = run.disc.backing().disc().disc().disc().image();
        assert!(image == run.states[run.complete]);
    }
    assert!(cuts > 20 * seeds && laps as u64 > seeds + seeds / 2, "{cuts} cuts, {laps} laps");
    report("power cuts of a disc with a journal", cuts);
}

#[test]
fn without_its_journal_a_disc_refuses_writes_and_keeps_what_it_promised() {
    let seeds = 12 * scale();
    let (mut lost, mut cuts, mut errors) = (0, 0, 0);
    for seed in seed()..seed() + seeds {
        let mut run = Run::new(seed, Faults::From(seed % 40));
        run.work(80);
        cuts += cut(&mut run, false);
        if run.disc.lost().is_none() {
            continue;
        }
        lost += 1;
        errors += run.errors;
        for op in [Op::Write, Op::Flush, Op::Discard] {
            let request = Request::new(op, 0, 512);
            let data = vec![7; if op == Op::Write { 512 } else { 0 }];
            let done = wait_for(&mut run.disc, run.now, request, data).unwrap();
            let why = done.outcome.unwrap_err().to_string();
            assert!(why.contains("the journal has failed"), "{why}");
        }
        // What it has in memory still comes to the disc, and reads see it before.
        let read = Request::new(Op::Read, 0, SIZE);
        let read = wait_for(&mut run.disc, run.now, read, vec![0; place(SIZE)]).unwrap();
        is_of(&run.states[run.complete..], 0, &read.data, "a read without a journal");
        while run.disc.next_completion(Nanos::MAX).is_some() {}
        assert_eq!(run.disc.owed_bytes(), 0);
        let image = run.disc.backing().disc().disc().disc().image();
        is_of(&run.states[run.complete..], 0, image, "the disc at the end");
    }
    assert!(lost > seeds / 2 && errors > lost && cuts > 10 * seeds, "{lost}, {errors}, {cuts}");
    report("power cuts of a disc whose journal fails", cuts);
}

/// A journal in front of a disc that answers at once.
fn quick(faults: Faults) -> Journaled<Faulty<Ram>, Ram> {
    let disc = Faulty::new(Ram::zeroed(place(SIZE)), faults, false, true, 1);
    Journaled::new(disc, Ram::new(journal_of(&checkpoint(1))), checkpoint(1))
}

fn ask<D: Disc, J: Disc>(
    disc: &mut Journaled<D, J>,
    op: Op,
    offset: u64,
    data: Vec<u8>,
) -> Result<Vec<u8>, String> {
    let request = Request::new(op, offset, data.len() as u64);
    let done = wait_for(disc, Nanos(1), request, data).unwrap();
    done.outcome.map_err(|error| error.to_string())?;
    Ok(done.data)
}

#[test]
fn a_disc_that_refuses_all_costs_writes_when_the_ring_is_full_and_nothing_before() {
    let mut disc = quick(Faults::From(0));
    let mut model = vec![0; place(SIZE)];
    let mut written = 0;
    let refused = loop {
        let (at, value) = (written % 3 * 4096, u8::try_from(written + 1).unwrap());
        if let Err(why) = ask(&mut disc, Op::Write, at, vec![value; 4096]) {
            break why;
        }
        model[place(at)..place(at) + 4096].fill(value);
        written += 1;
    };
    assert!(refused.contains("refused by a test") && (4..=8).contains(&written), "{written}");
    assert_eq!(ask(&mut disc, Op::Flush, 0, Vec::new()), Ok(Vec::new()), "the journal has all");
    assert_eq!(disc.owed_bytes(), 3 * 4096);
    assert!(ask(&mut disc, Op::Read, 0, vec![1; place(SIZE)]).unwrap() == model);
    // At the end a flush tells that the disc does not have it.
    disc.end();
    let error = ask(&mut disc, Op::Flush, 0, Vec::new()).unwrap_err();
    assert!(error.contains("refused by a test"), "{error}");
    let owed = replayed(disc.journal().image()).unwrap().owed;
    let mut copy = Ram::zeroed(place(SIZE));
    bring_all(&mut copy, &owed);
    assert!(copy.image() == model);
    // And that it has it.
    disc.backing_mut().set(Faults::None);
    assert_eq!(ask(&mut disc, Op::Flush, 0, Vec::new()), Ok(Vec::new()));
    assert!(disc.backing().disc().image() == model);
    let again = replayed(disc.journal().image()).unwrap();
    assert!(again.owed.is_empty() && disc.owed_bytes() == 0);
}

#[test]
fn a_write_that_is_larger_than_the_ring_goes_through_it_in_parts() {
    let ring = Ram::new(journal_of(&checkpoint(1)));
    let mut disc = Journaled::new(Ram::zeroed(200_000), ring, checkpoint(1));
    let data: Vec<u8> = (0..150_000_u32).map(|at| u8::try_from(at % 249).unwrap()).collect();
    assert_eq!(ask(&mut disc, Op::Write, 777, data.clone()), Ok(data.clone()));
    assert!(ask(&mut disc, Op::Read, 777, vec![0; data.len()]).unwrap() == data);
    disc.end();
    ask(&mut disc, Op::Flush, 0, Vec::new()).unwrap();
    assert!(disc.backing().image()[777..][..data.len()] == data);
    // Requests that no disc serves.
    let past = ask(&mut disc, Op::Write, 199_999, vec![1; 2]).unwrap_err();
    assert!(past.contains("past the end"), "{past}");
    assert!(ask(&mut disc, Op::Read, 199_999, vec![1; 2]).is_err());
    let short = Request::new(Op::Write, 0, 9);
    assert!(wait_for(&mut disc, Nanos(1), short, vec![1; 8]).unwrap().outcome.is_err());
}

#[test]
fn a_safe_record_that_is_damaged_is_no_end_of_the_journal() {
    // Nothing comes to the disc, so that the journal needs all records.
    let mut disc = quick(Faults::HangFrom(0));
    let mut states = vec![vec![0; place(SIZE)]];
    for number in 1..=5_u8 {
        let at = u64::from(number) * 700;
        ask(&mut disc, Op::Write, at, vec![number; 1000]).unwrap();
        ask(&mut disc, Op::Flush, 0, Vec::new()).unwrap();
        let mut state = states[states.len() - 1].clone();
        state[place(at)..place(at) + 1000].fill(number);
        states.push(state);
    }
    let journal = disc.journal().image().to_vec();
    let on_disc = |owed: &Owed| {
        let mut disc = Ram::zeroed(place(SIZE));
        bring_all(&mut disc, owed);
        disc.into_image()
    };
    assert!(on_disc(&replayed(&journal).unwrap().owed) == states[5]);
    assert_eq!(disc.owed_within(0, SIZE), [(700, 4500)]);
    // A disc that lacks the last byte gets none of the others.
    let mut short = Ram::zeroed(4499);
    let owed = replayed(&journal).unwrap().owed;
    let refused = bring(&mut short, &owed).unwrap_err();
    let is_past = |error: &DiscError| matches!(error, DiscError::PastTheEnd { .. });
    assert!(matches!(&refused, WriteBackError::TooSmall(why) if is_past(why)), "{refused}");
    assert!(short.image().iter().all(|&byte| byte == 0));
    // Each record takes two pages.
    for number in 0..5 {
        for page in 0..2 {
            let mut damaged = journal.clone();
            damaged[place(RING_BYTE + (2 * number + page) * PAGE_BYTES) + 40] ^= 1;
            assert!(matches!(replayed(&damaged), Err(ReplayError::Damaged)), "{number} {page}");
        }
    }
    // Without the note, as after a power cut, the last one may be missed. With a torn note the journal is as it was.
    let last = place(RING_BYTE + 8 * PAGE_BYTES);
    for (change, want) in [(1, 4), (0, 5)] {
        let mut cut = journal.clone();
        cut[place(NOTE_BYTE) + 9] ^= 1;
        cut[last + 40] ^= change;
        assert!(on_disc(&replayed(&cut).unwrap().owed) == states[want]);
    }
    let mut random = Random::new(seed());
    for _ in 0..300 {
        let mut damaged = journal.clone();
        damaged[place(random.below(journal.len() as u64))] ^= 1 << random.below(8);
        if let Ok(found) = replayed(&damaged) {
            assert!(states.contains(&on_disc(&found.owed)));
        }
        // A journal that was cut.
        let _ = replayed(&journal[..place(random.below(journal.len() as u64))]);
    }
    // The next run needs none of them, and takes none of them for its own.
    let mut next = journal;
    put(&mut next, &checkpoint(2));
    assert!(replayed(&next).unwrap().owed.is_empty());
    let nothing = replayed(&vec![0; next.len()]);
    assert!(matches!(nothing, Err(ReplayError::Damaged)));
}

#[test]
fn a_damaged_checkpoint_does_not_lead_back_to_the_run_before() {
    for other_owner in [false, true] {
        let mut second = checkpoint(2);
        if other_owner {
            second.owner = b"another disc".to_vec();
        }
        let mut journal = journal_of(&checkpoint(1));
        put(&mut journal, &second);
        let slow = Faulty::new(Ram::zeroed(place(SIZE)), Faults::HangFrom(0), false, true, 1);
        let mut disc = Journaled::new(slow, Ram::new(journal), second.clone());
        ask(&mut disc, Op::Write, 0, vec![7; 1000]).unwrap();
        ask(&mut disc, Op::Flush, 0, Vec::new()).unwrap();
        let mut journal = disc.journal().image().to_vec();
        assert_eq!(replayed(&journal).unwrap().owed.bytes(), 1000);
        journal[place(second.byte()) + 20] ^= 1;
        assert!(matches!(replayed(&journal), Err(ReplayError::Damaged)));
        // The records show it, and the note.
        let mut one = journal.clone();
        one[place(NOTE_BYTE) + 20] ^= 1;
        assert!(matches!(replayed(&one), Err(ReplayError::Damaged)));
        one = journal.clone();
        one[place(RING_BYTE) + 20] ^= 1;
        assert!(matches!(replayed(&one), Err(ReplayError::Damaged)));
        // Records of another journal, which a disc may have as its bytes, show nothing.
        let mut of_other = checkpoint(1);
        of_other.id = 77 << 40;
        put(&mut journal, &of_other);
        assert!(replayed(&journal).unwrap().owed.is_empty());
    }
}

#[test]
fn what_is_trimmed_or_zeroed_comes_to_the_disc_in_order() {
    let mut disc = quick(Faults::HangFrom(0));
    ask(&mut disc, Op::Write, 0, vec![1; 3000]).unwrap();
    for (op, zeros, offset, length) in
        [(Op::Discard, true, 500, 1000), (Op::Discard, false, 2000, 500), (Op::Flush, false, 0, 0)]
    {
        let request = Request { zeros, ..Request::new(op, offset, length) };
        assert_eq!(wait_for(&mut disc, Nanos(1), request, Vec::new()).unwrap().outcome, Ok(()));
    }
    ask(&mut disc, Op::Write, 600, vec![2; 100]).unwrap();
    let mut model = [1_u8; 3000];
    model[500..1500].fill(0);
    model[600..700].fill(2);
    model[2000..2500].fill(0);
    assert!(ask(&mut disc, Op::Read, 0, vec![9; 3000]).unwrap() == model);
    assert_eq!(disc.owed_bytes(), 2500, "a trim owes no bytes");
    assert_eq!(disc.owed_within(0, 2100), [(0, 500), (600, 700), (1500, 2000)]);
    disc.backing_mut().set(Faults::None);
    disc.backing_mut().release(Nanos(1));
    disc.end();
    ask(&mut disc, Op::Flush, 0, Vec::new()).unwrap();
    let image = disc.backing().disc().image();
    // What is trimmed may be anything.
    assert!(image[..2000] == model[..2000] && image[2500..3000] == model[2500..]);
}

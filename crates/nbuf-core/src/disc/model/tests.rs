//! Compares the model with the arithmetic of its sources and with a slower model, and tests its
//! invariants.

use proptest::prelude::*;

use super::super::{AnyDisc, DISCS, Disc, named};
use super::*;
use crate::clock::Random;

fn disc(name: &str) -> AnyDisc {
    named(name).unwrap().build(1)
}

/// Without bytes: only the time is asked.
fn wait_for(disc: &mut impl Disc, now: Nanos, request: Request) -> Option<Completion> {
    super::super::wait_for(disc, now, request, Vec::new())
}

/// Runs reads one after the other, and returns when the last completes.
fn read_all(disc: &mut AnyDisc, reads: impl IntoIterator<Item = (u64, u64)>) -> Nanos {
    reads.into_iter().fold(Nanos::ZERO, |now, (offset, length)| {
        let done = wait_for(disc, now, Request::new(Op::Read, offset, length)).unwrap();
        assert_eq!(done.outcome, Ok(()));
        done.at
    })
}

/// Files start at tracks; these are forty tracks apart.
const FILES_APART: u64 = 40 * 42 * 256;

/// Section 1 of the paper. It rounds 72.6 to 72. For 40 kB it has 75 ms, without rotation and with
/// a seek of 25 ms; its own table gives 28 + 8 + 50.
#[test]
fn the_arithmetic_of_the_paper_comes_out() {
    let file = |number: u64| (0..4).map(move |sector| (number * FILES_APART + sector * 256, 256));
    let check = |reads: Vec<(u64, u64)>, want_ms: f64| {
        let took = read_all(&mut disc("modcomp-4138:mean"), reads).millis();
        assert!((took - want_ms).abs() < 0.05, "{took} ms, not {want_ms}");
    };
    check(file(1).collect(), 36.3);
    check(file(1).chain(file(2)).collect(), 72.6);
    let in_turn = file(1).zip(file(2)).flat_map(|(one, other)| [one, other]);
    check(in_turn.collect(), 288.0);
    check(vec![(FILES_APART, 40_000)], 85.9);
}

/// Reads sector by sector in floating point, for a disc of one zone without memory or overheads.
fn slow_read(drive: &Drive, arm: &mut (u64, u64), at_ms: f64, first: u64, count: u64) -> f64 {
    let (surfaces, per_track) =
        (u64::from(drive.geometry.surfaces()), u64::from(drive.geometry.track_sectors()));
    let turn = drive.rotation.millis();
    let one = turn / per_track as f64;
    let mut now = at_ms;
    for sector in first..first + count {
        let track = sector / per_track;
        let place = (track / surfaces, track % surfaces);
        if place != *arm {
            let far = u32::try_from(place.0.abs_diff(arm.0)).unwrap();
            now += drive.seek.time(far).millis();
            *arm = place;
        }
        let begins = (sector % per_track) as f64 * one;
        let ahead = (begins - now).rem_euclid(turn);
        // A head that is late only by rounding is in time.
        now += if ahead > turn - 1e-4 { 0.0 } else { ahead };
        now += one;
    }
    now
}

#[test]
fn a_track_in_one_step_is_as_good_as_sector_by_sector() {
    for name in ["rk05", "rk03", "modcomp-4134", "ibm-2314", "rs11"] {
        let choice = named(name).unwrap();
        let AnyDisc::Model(model) = choice.build(1) else { panic!("{name} turns") };
        let drive = model.drive().clone();
        let (mut fast, mut arm, mut random) = (model, (0, 0), Random::new(3));
        let sectors = drive.geometry.sectors();
        let mut now = Nanos::ZERO;
        for _ in 0..300 {
            let count = 1 + random.below(40);
            let first = random.below(sectors - count);
            now += Nanos(random.below(30_000_000));
            let slow = slow_read(&drive, &mut arm, now.millis(), first, count);
            let bytes = u64::from(drive.sector_bytes);
            let read = Request::new(Op::Read, first * bytes, count * bytes);
            let done = wait_for(&mut *fast, now, read).unwrap();
            let apart = (done.at.millis() - slow).abs();
            assert!(apart < 1e-3, "{name}: {} and {slow} ms", done.at.millis());
            now = done.at;
        }
    }
}

/// The published totals follow from the published parts.
#[test]
fn published_means_follow() {
    let check = |name: &str, length: u64, want_ms: f64| {
        let mut disc = disc(name);
        let (mut random, mut now, mut breakdown) = (Random::new(5), Nanos::ZERO, Nanos::ZERO);
        let places = disc.size_bytes() / 512;
        for _ in 0..4_000 {
            now += Nanos(random.below(50_000_000));
            let read = Request::new(Op::Read, random.below(places) * 512, length);
            let done = wait_for(&mut disc, now, read).unwrap();
            breakdown += done.breakdown.seek + done.breakdown.rotation;
            now = done.at;
        }
        let mean = breakdown.millis() / 4_000.0;
        assert!((mean / want_ms - 1.0).abs() < 0.02, "{name}: {mean} ms, not {want_ms}");
    };
    check("rs11", 2, 16.7);
    check("rk05", 512, 70.0);
    check("rk03", 512, 90.0);
    check("sata-hdd", 512, 8.5 + 8.333 / 2.0);
    // 64.8 MB/s over the first cylinders of the SATA disc.
    let mebibyte = 1 << 20;
    let reads = (0..200).map(|at| (at * mebibyte, mebibyte));
    let took = read_all(&mut disc("sata-hdd"), reads);
    let rate = 200.0 * mebibyte as f64 / took.seconds() / 1e6;
    assert!((rate / 64.8 - 1.0).abs() < 0.02, "{rate} MB/s");
}

#[test]
fn the_buffer_serves_what_it_has_and_what_it_reads_on() {
    let mut disc = disc("sata-hdd");
    let mut ask = |now, op, offset, length| {
        wait_for(&mut disc, Nanos::from_micros(now), Request::new(op, offset, length)).unwrap()
    };
    let miss = ask(0, Op::Read, 1 << 30, 4_096);
    assert!(miss.breakdown.seek > Nanos::ZERO);
    let hit = ask(1_000_000, Op::Read, 1 << 30, 4_096);
    assert_eq!(hit.breakdown.service(), Nanos::from_micros(100) + Nanos(8 * 1_707));
    let ahead = ask(2_000_000, Op::Read, (1 << 30) + 65_536, 4_096);
    assert_eq!(ahead.breakdown.service(), hit.breakdown.service());
    let write = ask(3_000_000, Op::Write, 5 << 30, 4_096);
    assert_eq!(write.breakdown.service(), hit.breakdown.service(), "done when it is in the buffer");
    let flush = ask(3_000_200, Op::Flush, 0, 0);
    assert!(flush.breakdown.queued > Nanos::from_micros(1_000), "{:?}", flush.breakdown);
    let again = ask(4_000_000, Op::Flush, 0, 0);
    assert_eq!(again.breakdown.queued, Nanos::ZERO);
}

#[test]
fn a_scheduler_that_knows_the_arm_saves_time() {
    let batch = |name: &str| {
        let (mut disc, mut random) = (disc(name), Random::new(9));
        for _ in 0..64 {
            let place = random.below(disc.size_bytes() / 512) * 512;
            disc.submit(Nanos::ZERO, Request::new(Op::Read, place, 512), Vec::new());
        }
        std::iter::from_fn(|| disc.next_completion(Nanos::MAX)).last().unwrap().at
    };
    let fifo = batch("rk05:scheduler=fifo");
    for better in ["rk05:scheduler=sstf", "rk05:scheduler=elevator"] {
        let took = batch(better);
        assert!(took.0 * 3 < fifo.0 * 2, "{better}: {took} of {fifo}");
    }
}

const WAYS: [&str; 9] = [
    "modcomp-4138",
    "modcomp-4138:mean",
    "modcomp-4134:scheduler=sstf",
    "ibm-2314:scheduler=elevator",
    "rs11",
    "rk03:mean,scheduler=sstf",
    "sata-hdd",
    "sata-hdd:scheduler=fifo",
    "sata-hdd:mean",
];

proptest! {
    /// Every request completes once and in order, its parts add up, and a second run is equal.
    #[test]
    fn every_request_ends_once_and_adds_up(
        way in 0..WAYS.len(),
        steps in prop::collection::vec((0..40_000_000_u64, 0..7_u8, 0..1_u64 << 44, 0..300_000_u64, 0..4_u8), 1..60),
    ) {
        let run = || {
            let mut disc = disc(WAYS[way]);
            let size = disc.size_bytes();
            let (mut now, mut came, mut done) = (Nanos::ZERO, Vec::new(), Vec::new());
            for (task, &(gap, kind, place, length, drain)) in (0..).zip(&steps) {
                now += Nanos(gap);
                let op = match kind { 0 => Op::Flush, 1..=3 => Op::Write, _ => Op::Read };
                // Some requests leave the disc, most follow each other closely.
                let offset = if drain == 0 { place % (size + 1) } else { place % 600_000 };
                let request = Request { task, ..Request::new(op, offset, length) };
                disc.submit(now, request, Vec::new());
                came.push(now);
                if drain == 1 {
                    done.extend(std::iter::from_fn(|| disc.next_completion(now)));
                }
            }
            assert_eq!(disc.under_way(), came.len() - done.len());
            done.extend(std::iter::from_fn(|| disc.next_completion(Nanos::MAX)));
            (came, done)
        };
        let (came, done) = run();
        prop_assert_eq!(&done, &run().1);
        let size = disc(WAYS[way]).size_bytes();
        let mut seen = vec![false; came.len()];
        let mut last = Nanos::ZERO;
        for one in &done {
            let task = one.request.task as usize;
            prop_assert!(!std::mem::replace(&mut seen[task], true));
            prop_assert!(one.at >= last);
            prop_assert_eq!(came[task] + one.breakdown.total(), one.at);
            prop_assert_eq!(&one.outcome, &DiscError::check(&one.request, size));
            last = one.at;
        }
        prop_assert!(seen.iter().all(|&seen| seen));
    }
}

/// No disc of the table takes negative or endless time for requests that cross its zones.
#[test]
fn every_disc_can_be_read_to_its_end() {
    for row in DISCS.iter().filter(|row| row.name != "null") {
        let mut disc = disc(row.name);
        let piece = (row.size_bytes / 64).min(1 << 30);
        let last = row.size_bytes - piece;
        let took = read_all(&mut disc, [(last, piece), (0, piece), (last, piece)]);
        assert!(took > Nanos::ZERO && took < Nanos::from_seconds(600.0), "{}: {took}", row.name);
    }
}

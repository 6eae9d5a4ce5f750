//! The users in turn, straight through the cache, without time: the shape of the paper's section 3.2.

use super::*;
use crate::cache::layer::{Addressing, Layer, Sectors};
use crate::cache::max_iv::Rules;
use crate::trace::request::{Op, Request};
use crate::workload::process::{Process, Step};

/// The disc of the paper.
const DISC_BYTES: u64 = 80_000_000;
/// Requests before the cache is looked at.
const WARM: u64 = 3_000;
/// Requests from one look at the lists to the next.
const LOOK: u64 = 500;

/// The paper's: 42 sectors to a track.
const SECTOR_LOW: Addressing = Addressing::SectorLow { track_sectors: 42 };
const TRACK_LOW: Addressing = Addressing::TrackLow { track_sectors: 42 };

/// What came of a run; shares of 1.
#[derive(Debug, Default)]
struct Shape {
    hits: f64,
    /// Reads, writes and EOFs among the misses.
    misses: [f64; 3],
    /// Its share of the sectors in the cache.
    management: f64,
    /// The share of lists that are short.
    short_lists: f64,
    list_mean: f64,
    list_longest: f64,
}

fn next_request(user: &mut User) -> Option<Request> {
    std::iter::from_fn(|| user.step()).find_map(|step| match step {
        Step::Request(request) => Some(request),
        _ => None,
    })
}

fn run(parameters: Parameters, sectors: u32, rules: Rules, addressing: Addressing) -> Shape {
    let (layout, mut users) = users(parameters, DISC_BYTES).unwrap();
    let mut cache = Sectors::new(sectors, rules, addressing);
    let (mut seen, mut hits, mut misses, mut looks) = (0_u64, 0_u64, [0_u64; 3], 0.0);
    let mut shape = Shape::default();
    while !users.is_empty() {
        users.retain_mut(|user| {
            let Some(request) = next_request(user) else { return false };
            let hit = cache.initiate(&request).is_hit();
            if !hit {
                cache.terminate(&request, true);
            }
            seen += 1;
            if seen > WARM {
                hits += u64::from(hit);
                let kind = match (request.op, request.length_bytes) {
                    (Op::Read, _) => 0,
                    (_, 1..) => 1,
                    (_, 0) => 2,
                };
                misses[kind] += u64::from(!hit);
                if seen.is_multiple_of(LOOK) {
                    looks += 1.0;
                    look(&mut shape, &cache, &layout);
                }
            }
            true
        });
    }
    let all_misses = misses.iter().sum::<u64>() as f64;
    shape.hits = hits as f64 / (seen - WARM) as f64;
    shape.misses = misses.map(|count| count as f64 / all_misses);
    for sum in [
        &mut shape.management,
        &mut shape.short_lists,
        &mut shape.list_mean,
        &mut shape.list_longest,
    ] {
        *sum /= looks;
    }
    shape
}

fn look(shape: &mut Shape, cache: &Sectors, layout: &Layout) {
    let held = cache.addresses();
    let management = held.iter().filter(|&&offset_bytes| layout.is_management(offset_bytes));
    shape.management += management.count() as f64 / held.len() as f64;
    let lengths = cache.list_lengths();
    let lists = lengths.len() as f64;
    shape.short_lists += lengths.iter().filter(|&&length| length <= 3).count() as f64 / lists;
    shape.list_mean += f64::from(lengths.iter().sum::<u32>()) / lists;
    shape.list_longest += f64::from(*lengths.iter().max().unwrap());
}

#[test]
fn the_shape_is_that_of_section_3_2() {
    for seed in [42, 7] {
        let parameters = Parameters { seed, ..Parameters::DEFAULT };
        let [small, right, large] =
            [256, 512, 768].map(|sectors| run(parameters, sectors, Rules::DEFAULT, SECTOR_LOW));
        let check = |what: &str, got: f64, want: f64, tolerance: f64| {
            assert!((got - want).abs() <= tolerance, "{what}: {got:.3}, not {want}; {right:.3?}");
        };
        check("hits of 256", small.hits, 0.30, 0.04);
        check("hits of 512", right.hits, 0.70, 0.05);
        check("gain of 768", large.hits - right.hits, 0.0, 0.02);
        check("reads of the misses", right.misses[0], 0.70, 0.05);
        check("writes of the misses", right.misses[1], 0.25, 0.05);
        check("EOFs of the misses", right.misses[2], 0.05, 0.02);
        check("the management space", right.management, 0.30, 0.06);
        check("the mean of the lists", right.list_mean, 2.0, 0.1);
        check("lists of three or fewer", right.short_lists, 0.85, 0.04);
        check("the longest list", right.list_longest, 8.0, 1.5);
        let turned = run(parameters, 512, Rules::DEFAULT, TRACK_LOW);
        assert!(turned.short_lists > right.short_lists + 0.01, "{turned:.3?} {right:.3?}");
    }
}

#[test]
fn one_user_alone_is_served_by_half_the_cache() {
    let alone = Parameters { users: 1, commands: 120, ..Parameters::DEFAULT };
    let [small, right] =
        [256, 512].map(|sectors| run(alone, sectors, Rules::DEFAULT, SECTOR_LOW).hits);
    assert!(right - small < 0.02, "{small:.3} {right:.3}");
}

#[test]
fn to_keep_big_files_out_costs_hits() {
    // The paper dropped this filter: what lay behind was worth keeping.
    let kept = |positions| {
        run(Parameters::DEFAULT, 512, Rules { positions, ..Rules::DEFAULT }, SECTOR_LOW).hits
    };
    assert!(kept(Some(4)) < kept(None) - 0.05, "{:.3} {:.3}", kept(Some(4)), kept(None));
}

#[test]
fn files_begin_with_tracks_and_stay_on_the_disc() {
    let (layout, users) = users(Parameters::DEFAULT, DISC_BYTES).unwrap();
    for mut user in users {
        while let Some(request) = next_request(&mut user) {
            assert!(request.offset + request.length_bytes <= DISC_BYTES, "{request:?}");
            let is_single = request.length_bytes <= 256;
            if is_single && !layout.is_management(request.offset) {
                let within = request.offset / SECTOR_BYTES % TRACK_SECTORS;
                assert_eq!(within, u64::from(request.position), "{request:?}");
            }
        }
    }
}

#[test]
fn the_same_seed_asks_the_same() {
    let steps = |seed| {
        let parameters = Parameters { seed, commands: 3, ..Parameters::DEFAULT };
        let mut user = users(parameters, DISC_BYTES).unwrap().1.remove(1);
        std::iter::from_fn(|| user.step()).collect::<Vec<Step>>()
    };
    assert_eq!(steps(1), steps(1));
    assert_ne!(steps(1), steps(2));
    let count = |step| steps(1).iter().filter(|&&s| s == step).count();
    assert_eq!([count(Step::Begin), count(Step::Done)], [3, 3]);
}

#[test]
fn the_smallest_disc_that_is_offered_is_enough() {
    let check = |parameters| {
        let needed = users(parameters, 0).err().unwrap().needed_bytes;
        assert!(users(parameters, needed - 1).is_err());
        let (_, users) = users(parameters, needed).unwrap();
        for request in users
            .into_iter()
            .flat_map(|mut user| std::iter::from_fn(move || next_request(&mut user)))
        {
            assert!(request.offset + request.length_bytes <= needed, "{request:?}");
        }
    };
    check(Parameters::DEFAULT);
    check(Parameters { users: 1, tools: 1, ..Parameters::DEFAULT });
}

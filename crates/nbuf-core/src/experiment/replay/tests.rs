//! Time adds up, nothing is lost between cache, processor and disc, and the paper's own words hold.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::cache::layer::{Addressing, Layer, Lookup, NoCache, Sectors, Units, Writes};
use crate::cache::max_iv::Rules;
use crate::cache::policy;
use crate::clock::Random;
use crate::disc::{Breakdown, Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
use crate::workload::process::Step;

const SECTOR: u64 = 256;
const DISC_BYTES: u64 = 1 << 24;

/// One request after the other, each as long as the last; fails those of some sector.
struct Steady {
    service: Nanos,
    free_at: Nanos,
    queue: VecDeque<Completion>,
    bad_sector: Option<u64>,
}

impl Steady {
    fn new(service: Nanos) -> Self {
        Self { service, free_at: Nanos::ZERO, queue: VecDeque::new(), bad_sector: None }
    }
}

impl Disc for Steady {
    fn size_bytes(&self) -> u64 {
        DISC_BYTES
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        let begin = self.free_at.max(now);
        self.free_at = begin + self.service;
        let breakdown =
            Breakdown { queued: begin - now, seek: self.service, ..Breakdown::default() };
        let bad = self.bad_sector == Some(request.offset / SECTOR);
        let outcome = if bad { Err(DiscError::Failed { what: "worn out".into() }) } else { Ok(()) };
        self.queue.push_back(Completion { request, data, at: self.free_at, breakdown, outcome });
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        if self.queue.front()?.at <= until { self.queue.pop_front() } else { None }
    }

    fn under_way(&self) -> usize {
        self.queue.len()
    }
}

fn machine(cpu: &str) -> Machine {
    let cpu = Cpu::named(cpu).expect("a row of the table");
    Machine { cpu, sector_bytes: 256, moves_bytes: false }
}

fn ask(op: Op, sector: u64, length_bytes: u64) -> Step {
    Step::Request(Request::new(op, sector * SECTOR, length_bytes))
}

fn read(sector: u64) -> Step {
    ask(Op::Read, sector, 256)
}

fn max_iv(sectors: u32) -> Sectors {
    Sectors::new(sectors, Rules::DEFAULT, Addressing::SectorLow { track_sectors: 42 })
}

fn lru(sectors: u32) -> Units {
    let row = policy::find("lru").expect("a row of the table");
    Units::new((row.build)(sectors, 0), SECTOR, DISC_BYTES, Writes::Fill)
}

fn run(cpu: &str, cache: &mut dyn Layer, service: Nanos, clients: &[Vec<Step>]) -> Stats {
    let mut clients: Vec<_> = clients.iter().map(|steps| steps.clone().into_iter()).collect();
    replay(&machine(cpu), cache, &mut Steady::new(service), &mut clients, &mut ()).unwrap()
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..5_000_000_u64).prop_map(|time| Step::Compute(Nanos(time))),
        (0..5_000_000_u64).prop_map(|time| Step::Think(Nanos(time))),
        (0..60_u64).prop_map(read),
        (0..60_u64).prop_map(|sector| ask(Op::Write, sector, 256)),
        (0..60_u64).prop_map(|sector| ask(Op::Write, sector, 0)),
        Just(Step::Begin),
        Just(Step::Done),
    ]
}

/// Adds up what happens to the requests.
#[derive(Default)]
struct Sum {
    requests: u64,
    responses: Nanos,
    breakdown: Nanos,
    at: Nanos,
    ticks: Vec<Nanos>,
}

impl Observer for Sum {
    fn initiated(&mut self, at: Nanos, _: u32, _: &Request, _: &Lookup) {
        assert!(at >= self.at);
        self.at = at;
        self.requests += 1;
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        assert!(finished.at >= self.at && finished.at >= finished.requested_at);
        assert_eq!(finished.breakdown.is_none(), finished.lookup.is_hit());
        self.at = finished.at;
        self.responses += finished.at - finished.requested_at;
        self.breakdown += finished.breakdown.map_or(Nanos::ZERO, |breakdown| breakdown.total());
    }

    fn period(&self) -> Option<Nanos> {
        Some(Nanos(1_000_000))
    }

    fn tick(&mut self, at: Nanos, _: &dyn Layer) {
        assert!(at >= self.at, "a report comes before its period is over");
        self.ticks.push(at);
    }
}

proptest! {
    /// Without other processes, a process takes the time of its steps.
    #[test]
    fn alone_the_parts_add_up(steps in vec(any_step(), 0..60), sectors in 1..40_u32) {
        let (service, cpu) = (Nanos(7_000_000), machine("modcomp-400us").cpu);
        let mut want = Nanos::ZERO;
        let mut reference = max_iv(sectors);
        for step in &steps {
            match step {
                Step::Compute(time) | Step::Think(time) => want += *time,
                Step::Request(request) => {
                    let lookup = reference.initiate(request);
                    want += cpu.price(lookup.work);
                    if !lookup.is_hit() {
                        want += service + cpu.price(reference.terminate(request, true));
                    }
                }
                _ => {}
            }
        }
        let stats = run("modcomp-400us", &mut max_iv(sectors), service, &[steps]);
        prop_assert_eq!(stats.elapsed, want);
    }

    #[test]
    fn nothing_is_lost_among_many(clients in vec(vec(any_step(), 0..40), 0..6), sectors in 1..40_u32) {
        let again = || {
            let (mut sum, mut cache) = (Sum::default(), lru(sectors));
            let mut steps: Vec<_> = clients.iter().map(|steps| steps.clone().into_iter()).collect();
            let mut disc = Steady::new(Nanos(3_000_000));
            let machine = machine("modcomp-320us");
            (replay(&machine, &mut cache, &mut disc, &mut steps, &mut sum).unwrap(), sum)
        };
        let (stats, sum) = again();
        prop_assert_eq!(&stats, &again().0);
        let all = clients.iter().flatten().filter(|step| matches!(step, Step::Request(_))).count() as u64;
        prop_assert_eq!((stats.requests(), sum.requests, stats.responses.count()), (all, all, all));
        prop_assert_eq!(stats.hits() + stats.disc_requests, all);
        prop_assert_eq!(stats.responses.sum(), sum.responses);
        prop_assert_eq!(stats.breakdown.total(), sum.breakdown);
        prop_assert_eq!(stats.disc_busy, Nanos(3_000_000) * stats.disc_requests);
        prop_assert!(stats.computed + stats.interrupts_off.total <= stats.elapsed);
        prop_assert!(stats.disc_busy <= stats.elapsed);
        let computing: Nanos = clients.iter().flatten().map(|step| match step {
            Step::Compute(time) => *time,
            _ => Nanos::ZERO,
        }).sum();
        prop_assert_eq!(stats.computed, computing);
        let ticks: Vec<_> = (1..=stats.elapsed.0 / 1_000_000).map(|tick| Nanos(tick * 1_000_000)).collect();
        prop_assert_eq!(sum.ticks, ticks);
    }
}

#[test]
fn what_the_cache_does_prolongs_computing() {
    // One computes for 10 ms; the other reads a sector that is not there, twice, meanwhile.
    let computing = vec![Step::Compute(Nanos::from_millis(10.0))];
    let reading = vec![Step::Begin, read(1), Step::Done, Step::Begin, read(1), Step::Done];
    let stats =
        run("modcomp-400us", &mut max_iv(4), Nanos::from_millis(2.0), &[computing, reading]);
    // Searching an empty list costs nothing; filling copies, and so does the hit, which compares once.
    assert_eq!(stats.interrupts_off.total, Nanos(400_000 + 400_000 + 10_000));
    assert_eq!(stats.elapsed, Nanos(10_810_000));
    assert_eq!((stats.computed, stats.disc_busy), (Nanos(10_000_000), Nanos(2_000_000)));
    assert_eq!(stats.commands.longest(), Some(Nanos(2_400_000)));
    assert!((stats.cpu_utilisation() - 1.0).abs() < 1e-12);
}

#[test]
fn computing_is_first_come_first_served() {
    let compute = |millis| Step::Compute(Nanos::from_millis(millis));
    let clients = [
        vec![Step::Begin, compute(3.0), Step::Done],
        vec![Step::Begin, compute(4.0), Step::Done],
        vec![Step::Begin, Step::Think(Nanos::from_millis(20.0)), compute(1.0), Step::Done],
    ];
    let stats = run("free", &mut NoCache, Nanos::ZERO, &clients);
    assert_eq!((stats.elapsed, stats.computed), (Nanos(21_000_000), Nanos(8_000_000)));
    assert_eq!(stats.commands.sum(), Nanos(3_000_000 + 7_000_000 + 21_000_000));
}

#[test]
fn a_hash_is_searched_in_a_tenth_of_a_millisecond_and_a_list_in_two() {
    // 400 sectors, each read once, and then once more: only hits, so that the rest is searching.
    let search = |lists| {
        let rules = Rules { lists, ..Rules::DEFAULT };
        let mut cache = Sectors::new(400, rules, Addressing::SectorLow { track_sectors: 42 });
        let fill: Vec<Step> = (0..400).map(|file| read(file / 4 * 42 + file % 4)).collect();
        let filled = run("modcomp-320us", &mut cache, Nanos::ZERO, &[fill]);
        assert_eq!(filled.hits(), 0);
        let again = (0..400).map(|file| read(file / 4 * 42 + file % 4)).collect();
        let stats = run("modcomp-320us", &mut cache, Nanos::ZERO, &[again]);
        assert_eq!(stats.hits(), 400);
        let copying = Nanos::from_micros(320) * 400;
        (stats.interrupts_off.total - copying).millis() / 400.0
    };
    let (hashed, linear) = (search(251), search(1));
    assert!(hashed < 0.1, "{hashed} ms, where the paper has less than 100 us");
    assert!(linear > 2.0 && linear < 2.01, "{linear} ms, where the paper has at least 2 ms");
}

#[test]
fn the_first_loop_locks_out_for_a_millisecond() {
    // Ten sectors that share a hash list: the one read first is behind all others.
    let sectors: Vec<u64> = (0..10).map(|at| at * 251).collect();
    let mut cache = Sectors::new(256, Rules::DEFAULT, Addressing::Plain);
    let mut steps: Vec<Step> = sectors.iter().map(|&sector| read(sector + 1)).collect();
    steps.push(read(1));
    let stats = run("modcomp-900us", &mut cache, Nanos::from_millis(36.0), &[steps]);
    assert_eq!((stats.hits(), stats.interrupts_off.longest), (1, Nanos::from_millis(1.0)));
    // One character comes each 1.04 ms: nearly all that come then are late, none is lost yet.
    assert_eq!(
        (stats.interrupts_off.characters_lost, CHARACTER_9600 > stats.interrupts_off.longest),
        (0, true)
    );
    assert_eq!(
        stats.interrupts_off.characters_late(),
        stats.interrupts_off.total.0 / CHARACTER_9600.0
    );
    // A longer list, and characters are lost.
    let sectors = (0..20).map(|at| read(at * 251 + 1)).chain([read(1)]).collect();
    let mut cache = Sectors::new(256, Rules::DEFAULT, Addressing::Plain);
    let stats = run("modcomp-900us", &mut cache, Nanos::from_millis(36.0), &[sectors]);
    assert!(stats.interrupts_off.characters_lost > 0, "{:?}", stats.interrupts_off);
}

#[test]
fn a_larger_cache_trades_the_disc_for_the_processor() {
    // Five users read 60 sectors each, again and again, and compute a little in between.
    let clients: Vec<Vec<Step>> = (0..5)
        .map(|user| {
            let mut random = Random::new(user);
            let pair = |_| [read(user * 2_000 + random.below(60)), Step::Compute(Nanos(3_000_000))];
            (0..4_000).flat_map(pair).collect()
        })
        .collect();
    let at =
        |cache: &mut dyn Layer| run("modcomp-320us", cache, Nanos::from_millis(36.0), &clients);
    let none = at(&mut NoCache);
    assert!(none.disc_utilisation() > 0.99 && none.cpu_utilisation() < 0.3);
    let sizes = [8, 64, 128, 192, 256, 320];
    let stats: Vec<Stats> = sizes.iter().map(|&size| at(&mut max_iv(size))).collect();
    for pair in stats.windows(2) {
        assert!(pair[1].elapsed < pair[0].elapsed);
        assert!(pair[1].disc_utilisation() <= pair[0].disc_utilisation());
        assert!(pair[1].cpu_utilisation() > pair[0].cpu_utilisation());
    }
    let largest = &stats[5];
    assert!(largest.cpu_utilisation() > 0.8 && largest.disc_utilisation() < 0.2, "{largest:?}");
}

#[test]
fn a_request_past_the_end_ends_the_replay() {
    let mut clients =
        vec![vec![read(DISC_BYTES / SECTOR - 1), read(DISC_BYTES / SECTOR)].into_iter()];
    let mut disc = Steady::new(Nanos(1));
    let error =
        replay(&machine("free"), &mut NoCache, &mut disc, &mut clients, &mut ()).unwrap_err();
    assert!(error.to_string().contains("runs past the end of the disc"), "{error}");
}

#[test]
fn a_failure_is_counted_and_evicts() {
    let steps = vec![read(5), ask(Op::Write, 5, 256), read(5), read(6), read(6)];
    let mut clients = vec![steps.into_iter()];
    let mut disc = Steady { bad_sector: Some(5), ..Steady::new(Nanos(1)) };
    let stats = replay(&machine("free"), &mut max_iv(4), &mut disc, &mut clients, &mut ()).unwrap();
    assert_eq!(stats.kinds[0], Kind { count: 4, hits: 1, failed: 2 });
    assert_eq!(stats.kinds[1], Kind { count: 1, hits: 0, failed: 1 });
    assert_eq!(stats.failure.as_deref(), Some("worn out"));
}

/// Two processes of which each waits for the other to make a request.
struct Turns(u32);

impl Clients for Turns {
    fn count(&self) -> u32 {
        2
    }

    fn next(&mut self, process: u32) -> Next {
        match self.0 {
            10.. => Next::End,
            turn if turn % 2 == process => {
                self.0 += 1;
                Next::Step(read(turn.into()))
            }
            _ => Next::Later,
        }
    }
}

#[test]
fn who_waits_for_others_goes_on_when_they_have_asked() {
    let mut disc = Steady::new(Nanos(1_000));
    let mut turns = Turns(0);
    let stats = replay(&machine("free"), &mut NoCache, &mut disc, &mut turns, &mut ()).unwrap();
    assert_eq!((stats.requests(), stats.elapsed), (10, Nanos(10_000)));
}

//! The two scenarios of the MAX-IV paper, replayed on its disc, and the meters they wear.

use super::*;
use crate::cache::layer::{Addressing, Layer, NoCache, Sectors, Units, Writes};
use crate::cache::max_iv::Rules;
use crate::cache::policy;
use crate::disc::{self, wait_for};
use crate::experiment::result::ReplayFigures;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
use crate::workload::synthetic::shot;
use crate::workload::synthetic::tools::{Parameters, users};

fn max_iv(sectors: u32, rules: Rules) -> Box<dyn Layer> {
    match sectors {
        0 => Box::new(NoCache),
        _ => Box::new(Sectors::new(sectors, rules, Addressing::SectorLow { track_sectors: 42 })),
    }
}

fn machine() -> Machine {
    let cpu = Cpu::named("modcomp-320us").expect("a row of the table");
    Machine { cpu, sector_bytes: 256, moves_bytes: false }
}

fn use_tools(parameters: Parameters, mut cache: Box<dyn Layer>) -> (Stats, ReplayFigures) {
    let disc = disc::named("modcomp-4138").unwrap();
    let (layout, mut clients) = users(parameters, disc.size_bytes()).unwrap();
    let track_bytes = Some(disc.shape().track_bytes);
    let management = Some(layout.management_bytes());
    let mut figures = Figures::new(disc.size_bytes(), track_bytes, management);
    let mut made = disc.build(0);
    let stats = replay(&machine(), &mut *cache, &mut made, &mut clients, &mut figures).unwrap();
    (stats, figures.result())
}

#[test]
fn users_of_the_tools_wait_for_the_disc_and_the_cache_gives_it_back() {
    for count in [5, 6] {
        let parameters = Parameters { users: count, ..Parameters::DEFAULT };
        let run = |sectors| use_tools(parameters, max_iv(sectors, Rules::DEFAULT));
        let [(none, _), (small, _), (right, figures), (large, _)] = [0, 256, 512, 768].map(run);
        // Section 0: under 30 % of the processor with 5 or 6 users, limited by disc saturation.
        assert!(none.cpu_utilisation() < 0.30 && none.disc_utilisation() > 0.85, "{none:?}");
        // Section 3.2, now with time.
        assert!((small.hit_ratio() - 0.30).abs() < 0.06, "{}", small.hit_ratio());
        assert!((right.hit_ratio() - 0.69).abs() < 0.05, "{}", right.hit_ratio());
        assert!(large.hit_ratio() - right.hit_ratio() < 0.05, "{}", large.hit_ratio());
        assert!(right.elapsed < small.elapsed && small.elapsed < none.elapsed);
        assert!(right.disc_utilisation() < 0.65 * none.disc_utilisation());
        let lists = figures.lists.unwrap();
        assert!((lists.mean - 2.04).abs() < 0.01 && (5..=10).contains(&lists.longest));
    }
}

#[test]
fn after_a_shot_the_disc_is_waited_for_or_the_processor() {
    let run = |sectors, positions| {
        let disc = disc::named("modcomp-4138:mean").unwrap();
        let mut clients = shot::workers(0, disc.size_bytes()).unwrap();
        let mut cache = max_iv(sectors, Rules { positions, ..Rules::DEFAULT });
        replay(&machine(), &mut *cache, &mut disc.build(0), &mut clients, &mut ()).unwrap()
    };
    let (none, cached, filtered) = (run(0, None), run(512, None), run(512, Some(200)));
    let near = |got: Nanos, want: f64| (got.seconds() - want).abs() < 0.5;
    assert!(near(none.elapsed, 22.0) && none.disc_utilisation() > 0.98, "{none:?}");
    assert!(near(cached.elapsed, 18.0) && cached.cpu_utilisation() > 0.98, "{cached:?}");
    assert!((cached.hit_ratio() - 0.60).abs() < 0.05, "{}", cached.hit_ratio());
    // The tables fail the test on the position, and the gain is gone.
    assert!(filtered.hit_ratio() < 0.01 && near(filtered.elapsed, 22.0), "{filtered:?}");
}

#[test]
fn a_spawn_takes_800_ms_on_a_2314() {
    // 64K words out and in again.
    let mut disc = disc::named("ibm-2314:mean").unwrap().build(0);
    let mut ask =
        |op, now| wait_for(&mut disc, now, Request::new(op, 0, 131_072), Vec::new()).unwrap().at;
    let written = ask(Op::Write, Nanos::ZERO);
    let read = ask(Op::Read, written).seconds();
    assert!((0.8..1.1).contains(&read), "{read}");
}

#[test]
fn any_cache_wears_the_meters() {
    let parameters = Parameters { users: 2, commands: 5, ..Parameters::DEFAULT };
    let lru = policy::find("lru").expect("a row of the table");
    let bytes = disc::named("modcomp-4138").unwrap().size_bytes();
    let lru = Box::new(Units::new((lru.build)(200, 0), 256, bytes, Writes::Fill));
    let caches: [(Box<dyn Layer>, bool); 3] =
        [(max_iv(200, Rules::DEFAULT), true), (lru, false), (max_iv(0, Rules::DEFAULT), false)];
    for (cache, has_lists) in caches {
        let has_units = cache.unit_bytes() > 0;
        let (stats, figures) = use_tools(parameters, cache);
        let periods: u64 = figures.hit_rates.iter().sum();
        assert_eq!(periods + figures.idle_periods, stats.elapsed.0 / PERIOD.0);
        assert_eq!(figures.rates.iter().map(|step| step.count).sum::<u64>(), periods);
        assert!(figures.rates.windows(2).all(|pair| pair[0].to.total_cmp(&pair[1].from).is_eq()));
        let requests: u64 = figures.service.iter().map(|step| step.count).sum();
        assert_eq!(requests, stats.requests());
        assert_eq!(figures.tracks.units_held, if has_units { 200 } else { 0 });
        assert_eq!(figures.tracks.cells.iter().sum::<u64>(), figures.tracks.units_held);
        assert!(figures.tracks.units_management <= Some(figures.tracks.units_held));
        let lists = figures.lists;
        assert_eq!(lists.is_some(), has_lists);
        assert_eq!(lists.map_or(0, |lists| lists.lengths.iter().sum()), 200 * u32::from(has_lists));
    }
}

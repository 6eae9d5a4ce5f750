//! How often the truth is in the band of a sampled curve: many seeds against the exact curve.
//!
//! `cargo run --release -p nbuf-core --example sampling_trials -- TRACE [RATE] [SEEDS] [POLICY]`; without
//! arguments a small loop with noise, so that it runs anywhere. Needs 8 bytes an access for LRU. Another
//! policy is drawn as `nbuf curve --sample` draws it.

#![expect(clippy::print_stdout, reason = "an example prints for the user who runs it")]

use nbuf::experiment::curve::{self, Rate, Spec};
use nbuf::experiment::result::{CurvePoint, PolicyCurve};
use nbuf::experiment::session::Session;
use nbuf::internal::cache::interner::Interner;
use nbuf::internal::meter::distance::{Distances, Misses};
use nbuf::internal::meter::sampled::{Estimate, Frequent, Sampled};
use nbuf::internal::workload::pages::{Pages, Step, Whole, Writes};
use nbuf::workload::format::Batch;
use nbuf::workload::source::{Options, Source};
use rayon::prelude::*;

/// Keys that are followed exactly, and the part of the accesses in which they are looked for: as
/// the program does it.
const HOT_KEYS: usize = 8192;
const HOT_CHUNK: usize = 4096;
const HOT_PART: usize = 8;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if let [trace, rate, seeds, policy] = &given[..] {
        return of_policy(trace, rate, seeds.parse().expect("a number"), policy);
    }
    let mut arguments = given.into_iter();
    let keys = arguments.next().map_or_else(noisy_loop, |path| read(&path));
    let mut number =
        |default: f64| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (rate, seeds) = (number(0.01), nbuf::units::whole(number(20.0)));
    let exact = exact(&keys);
    let mut frequent = Frequent::new(HOT_KEYS);
    keys.chunks(HOT_CHUNK).step_by(HOT_PART).for_each(|keys| frequent.access(keys));
    let hot = frequent.finish();
    let estimates: Vec<Estimate> =
        (0..seeds).into_par_iter().map(|seed| sample(&keys, rate, seed, &hot)).collect();
    println!("{} accesses, {} keys, rate {rate}, {seeds} seeds", keys.len(), exact.distinct);
    println!("{:>10} {:>8} {:>8} {:>8} {:>10}", "size", "hits", "judged", "inside", "band (±)");
    for bits in 6..32 {
        let size = 1u64 << bits;
        if size > exact.distinct {
            break;
        }
        tell(size, 1.0 - exact.at(size) as f64 / exact.accesses as f64, &estimates);
    }
}

/// Small caches of any policy, against its caches of the whole trace.
fn of_policy(trace: &str, rate: &str, seeds: u64, policy: &str) {
    let spec = Spec {
        traces: vec![trace.into()],
        policies: vec![policy.parse().expect("a policy")],
        sizes: Some("4096,8192,16384,32768,65536,131072,262144,524288".parse().expect("sizes")),
        ..Spec::default()
    };
    let draw = |spec: &Spec, seed| {
        let mut session = Session::new(&());
        session.seed = seed;
        curve::run(spec, &mut session).expect("a trace").curves.remove(0)
    };
    let exact = draw(&spec, 0);
    let spec = Spec { sample: Some(Rate::Fixed(rate.parse().expect("a rate"))), ..spec };
    let samples: Vec<PolicyCurve> = (0..seeds).map(|seed| draw(&spec, seed)).collect();
    println!("{policy}, rate {rate}, {seeds} seeds");
    println!(
        "{:>10} {:>8} {:>8} {:>8} {:>10} {:>9}",
        "size", "hits", "judged", "inside", "band (±)", "bias"
    );
    for point in &exact.points {
        let all = samples.iter().flat_map(|sample| &sample.points);
        let all: Vec<_> = all.filter(|sample| sample.pages == point.pages).collect();
        let range = |sample: &CurvePoint| sample.misses_low..=sample.misses_high;
        let inside =
            all.iter().filter(|sample| range(sample).contains(&Some(point.misses))).count();
        let width: f64 = all.iter().map(|sample| sample.half_width()).sum();
        let bias: f64 = all.iter().map(|sample| sample.hit_ratio() - point.hit_ratio()).sum();
        let count = all.len().max(1) as f64;
        println!(
            "{:>10} {:>8.4} {:>8} {:>7.1}% {:>10.4} {:>9.4}",
            point.pages,
            point.hit_ratio(),
            all.len(),
            inside as f64 * 100.0 / count,
            width / count,
            bias / count
        );
    }
}

fn tell(size: u64, truth: f64, estimates: &[Estimate]) {
    let bands: Vec<_> = estimates.iter().filter_map(|estimate| estimate.at(size)).collect();
    let inside = bands.iter().filter(|band| (band.low..=band.high).contains(&truth)).count();
    let width = bands.iter().map(|band| (band.high - band.low) / 2.0).sum::<f64>();
    let count = bands.len().max(1) as f64;
    println!(
        "{size:>10} {truth:>8.4} {:>8} {:>7.1}% {:>10.4}",
        bands.len(),
        inside as f64 * 100.0 / count,
        width / count
    );
}

fn read(path: &str) -> Vec<u64> {
    let mut source = Source::open(&[path.into()], &Options::default()).expect("a trace");
    let unit = source.detected().unit;
    let mut pages = Pages::new(unit, 4096, Writes::Allocate, Whole::No);
    let (mut batch, mut step, mut keys) = (Batch::default(), Step::default(), Vec::new());
    while source.next(&mut batch).expect("a whole trace") {
        let mut requests = &batch.requests[..];
        while !requests.is_empty() {
            let taken = pages.step(requests, &mut step);
            keys.extend_from_slice(&step.keys);
            requests = &requests[taken..];
        }
    }
    keys
}

fn exact(keys: &[u64]) -> Misses {
    let (mut interner, mut pages) = (Interner::new(), Vec::new());
    interner.intern(keys, &mut pages);
    let mut distances = Distances::new();
    for page in pages {
        distances.access(page);
    }
    distances.finish()
}

fn sample(keys: &[u64], rate: f64, seed: u64, hot: &[u64]) -> Estimate {
    let mut sampled = Sampled::new(rate, seed, hot);
    sampled.access(keys);
    sampled.finish()
}

/// Every key of a loop in turn, and between them keys that come by chance.
fn noisy_loop() -> Vec<u64> {
    let mut state = 1u64;
    let mut chance = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    };
    (0..400_000).map(|at| if at % 2 == 0 { at / 2 % 20_000 } else { chance() % 100_000 }).collect()
}

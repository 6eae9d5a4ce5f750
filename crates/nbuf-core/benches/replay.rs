//! What a request costs a replay: dealing, cache, processor and a modelled disc, one thread.
//!
//! `cargo bench -p nbuf-core --bench replay`; `cargo test` runs each once. The figures are in
//! `docs/performance.md`.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nbuf::cache::layer::{Addressing, Layer, NoCache, Sectors, Units, Writes};
use nbuf::cache::policy;
use nbuf::disc;
use nbuf::experiment::replay::{Cpu, Dispatcher, Layout, Machine, Pace, replay};
use nbuf::internal::cache::max_iv::Rules;
use nbuf::trace::request::{Op, Request, Unit};
use nbuf::units::Nanos;
use nbuf::workload::synthetic::{Keys, Pattern};

const REQUESTS: usize = 100_000;
/// As many as a disc of 80 MB has room for.
const KEYS: u32 = 16_000;
/// Units of the cache: about half of the requests hit.
const SIZE: u32 = 200;

/// Whole units, one in ten of them written.
fn requests(unit_bytes: u64) -> Vec<Request> {
    let keys = Keys::new(Pattern::Zipf { alpha: 1.0 }, KEYS, 42).take(REQUESTS);
    let request = |(at, key): (usize, u64)| {
        let op = if at % 10 == 9 { Op::Write } else { Op::Read };
        Request::new(op, key * 9_887 % u64::from(KEYS) * unit_bytes, unit_bytes)
    };
    keys.enumerate().map(request).collect()
}

fn layer(name: &str, disc_bytes: u64) -> Box<dyn Layer> {
    match policy::find(name) {
        Some(row) => Box::new(Units::new((row.build)(SIZE, 0), 4096, disc_bytes, Writes::Fill)),
        None if name == "max-iv" => Box::new(Sectors::new(SIZE, Rules::DEFAULT, Addressing::Plain)),
        None => Box::new(NoCache),
    }
}

fn replays(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replay");
    group.throughput(Throughput::Elements(REQUESTS as u64));
    group.sample_size(20).measurement_time(Duration::from_secs(2));
    group.warm_up_time(Duration::from_millis(300));
    for name in ["null", "sata-ssd", "modcomp-4138", "sata-hdd"] {
        let Ok(choice) = disc::named(name) else { continue };
        for cache in ["none", "lru", "s3-fifo", "max-iv"] {
            let unit_bytes = if cache == "max-iv" { 256 } else { 4096 };
            let requests = requests(unit_bytes);
            if unit_bytes * u64::from(KEYS) > choice.size_bytes() {
                continue;
            }
            let cpu = Cpu::named("modern").expect("a row of the table");
            let sector_bytes = choice.shape().sector_bytes;
            let machine = Machine { cpu, sector_bytes, moves_bytes: false };
            for processes in [1, 16] {
                let id = BenchmarkId::new(format!("{cache}, {name}"), processes);
                group.bench_function(id, |bencher| {
                    bencher.iter(|| {
                        let mut cache = layer(cache, choice.size_bytes());
                        let layout = Layout::blind(Unit::Bytes, unit_bytes);
                        let pace = Pace::Closed { think: Nanos::ZERO };
                        let feed = requests.chunks(4096);
                        let mut dispatcher = Dispatcher::new(feed, layout, pace, processes, false);
                        let mut disc = choice.build(0);
                        let stats =
                            replay(&machine, &mut *cache, &mut disc, &mut dispatcher, &mut ());
                        stats.expect("nothing runs past the end").requests()
                    });
                });
            }
        }
    }
    group.finish();
}

criterion_group!(benches, replays);
criterion_main!(benches);

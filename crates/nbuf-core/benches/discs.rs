//! What a request costs a modelled disc, by disc, place and depth.
//!
//! `cargo bench -p nbuf-core --bench discs`; `cargo test` runs each piece once. A quarter of the requests
//! are writes, all of 4 KiB. What is in `docs/performance.md` comes from here.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nbuf::disc::{DISCS, Disc, named};
use nbuf::internal::clock::Random;
use nbuf::trace::request::{Op, Request};
use nbuf::units::Nanos;

const REQUESTS: u64 = 20_000;
const LENGTH_BYTES: u64 = 4_096;

/// Serves the requests from `begun` on, `depth` of them under way at once. Returns the time when
/// all are done.
fn serve(disc: &mut impl Disc, begun: Nanos, places: &[u64], depth: usize) -> Nanos {
    let request = |(at, &place): (usize, &u64)| {
        let op = if at % 4 == 0 { Op::Write } else { Op::Read };
        Request::new(op, place, LENGTH_BYTES)
    };
    let mut requests = places.iter().enumerate().map(request);
    requests.by_ref().take(depth).for_each(|request| disc.submit(begun, request, Vec::new()));
    let mut now = begun;
    while let Some(done) = disc.next_completion(Nanos::MAX) {
        now = done.at;
        if let Some(request) = requests.next() {
            disc.submit(now, request, Vec::new());
        }
    }
    now
}

fn models(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("discs");
    group.throughput(Throughput::Elements(REQUESTS));
    group.sample_size(10).measurement_time(Duration::from_secs(1));
    group.warm_up_time(Duration::from_millis(200));
    for row in DISCS {
        let Ok(choice) = named(row.name) else { continue };
        let pieces = row.size_bytes / LENGTH_BYTES;
        let mut random = Random::new(1);
        let bytes = |piece: u64| piece * LENGTH_BYTES;
        let scattered: Vec<u64> = (0..REQUESTS).map(|_| bytes(random.below(pieces))).collect();
        let in_order: Vec<u64> = (0..REQUESTS).map(|piece| bytes(piece % pieces)).collect();
        for (name, places) in [("random", &scattered), ("in order", &in_order)] {
            for depth in [1, 32] {
                let id = BenchmarkId::new(row.name, format!("{name}, {depth} deep"));
                group.bench_with_input(id, places, |bencher, places| {
                    let mut disc = choice.build(1);
                    let mut begun = Nanos::ZERO;
                    // The disc goes on where it was, so that making it is not measured.
                    bencher.iter(|| {
                        begun = serve(&mut disc, begun, places, depth);
                        begun
                    });
                });
            }
        }
    }
    group.finish();
}

criterion_group!(benches, models);
criterion_main!(benches);

//! What a curve costs, piece by piece, on a small skewed trace.
//!
//! `cargo bench -p nbuf-core --bench curves`; `cargo test` runs each piece once. The figures of
//! `docs/performance.md` come from the example `policies` on twenty million requests.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nbuf::cache::policy::POLICIES;
use nbuf::internal::cache::engine::{Accesses, engine};
use nbuf::internal::cache::interner::Interner;
use nbuf::internal::clock::Random;
use nbuf::internal::meter::distance::Distances;

const REQUESTS: u32 = 100_000;

/// Keys of which one in `n` is wanted about as often as the first `n` together.
fn keys() -> Vec<u64> {
    let mut random = Random::new(42);
    let mut key = || {
        // As likely in each power of two.
        let power = random.below(16) + 1;
        random.below(1 << power)
    };
    (0..REQUESTS).map(|_| key()).collect()
}

fn pieces(criterion: &mut Criterion) {
    let keys = keys();
    let mut pages = Vec::new();
    Interner::new().intern(&keys, &mut pages);
    let mut group = criterion.benchmark_group("curves");
    group.throughput(Throughput::Elements(REQUESTS.into()));
    group.sample_size(10).measurement_time(Duration::from_secs(1));
    group.warm_up_time(Duration::from_millis(200));
    group.bench_function("intern", |bencher| {
        bencher.iter(|| {
            let mut ids = Vec::new();
            Interner::new().intern(black_box(&keys), &mut ids);
            ids
        });
    });
    group.bench_function("LRU at all sizes", |bencher| {
        bencher.iter(|| {
            let mut distances = Distances::new();
            distances.access_all(black_box(&pages), |_| ());
            distances.finish()
        });
    });
    let sixteen: Vec<u64> = (0..16).map(|power| 16 << (power / 2)).map(|size| size + 1).collect();
    for (name, sizes) in [("one size", &[1000][..]), ("sixteen sizes", &sixteen)] {
        for row in POLICIES {
            let id = BenchmarkId::new(row.name, name);
            group.bench_with_input(id, sizes, |bencher, sizes| {
                bencher.iter(|| {
                    let mut engine = engine(row, sizes, 1);
                    for batch in pages.chunks(1 << 14) {
                        engine.access(&Accesses { pages: batch, request_ends: None });
                    }
                    engine.finish()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, pieces);
criterion_main!(benches);

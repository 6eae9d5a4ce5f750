//! How long the exact LRU curve takes: ten million accesses of two kinds.
//!
//! `cargo run --release -p nbuf-core --example distances`

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement: it prints, and times real work"
)]

use std::time::Instant;

use nbuf::internal::clock::Random;
use nbuf::internal::meter::distance::Distances;

const ACCESSES: u32 = 10_000_000;

fn main() {
    measure("zipf-like over 1 M pages", zipf_like(1_000_000, 1));
    measure("the same, 1 % removed", zipf_like(1_000_000, 100));
    measure("loop over 60 k pages", (0..ACCESSES).map(|n| (n % 60_000, false)));
}

/// Pages and whether they are removed rather than accessed.
fn measure(name: &str, events: impl Iterator<Item = (u32, bool)>) {
    let events: Vec<_> = events.collect();
    let start = Instant::now();
    let mut distances = Distances::new();
    for &(page, removed) in &events {
        if removed {
            distances.remove(page);
        } else {
            distances.access(page);
        }
    }
    let misses = distances.finish();
    let seconds = start.elapsed().as_secs_f64();
    let half = misses.at(misses.distinct / 2);
    println!(
        "{name}: {seconds:.2} s, {:.0} ns an access; {} distinct, {} cold, {half} misses at half",
        seconds * 1e9 / f64::from(ACCESSES),
        misses.distinct,
        misses.cold,
    );
}

/// Ranks that fall off as 1 / rank, scattered over the page numbers; one event in `remove_every`
/// removes its page (never, when that is 1).
fn zipf_like(pages: u32, remove_every: u64) -> impl Iterator<Item = (u32, bool)> {
    let mut random = Random::new(1);
    (0..ACCESSES).map(move |_| {
        // The inverse of the distribution function ln(rank) / ln(pages).
        let rank = f64::from(pages).powf(random.unit());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and the number of pages"
        )]
        let rank = rank as u64;
        let page = rank.wrapping_mul(2_654_435_761) % u64::from(pages);
        let removed = remove_every > 1 && random.below(remove_every) == 0;
        (u32::try_from(page).expect("below the number of pages"), removed)
    })
}

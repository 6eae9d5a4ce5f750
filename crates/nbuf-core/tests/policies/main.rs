//! Every policy of the table: legal (a referee), itself (strips, naive twins, counts of other
//! programs), sound under whatever a cache may ask of it, and counted rightly by its engine.

mod caffeine;
mod engines;
mod naive;
mod operations;
mod referee;
mod reference;
mod strips;
#[path = "../support/mod.rs"]
mod support;

use nbuf::cache::policy::{Access, NEVER, POLICIES};
use nbuf::experiment::curve::PREFETCHERS;

/// Values of parameters that a policy must survive.
const TUNED: &[&str] = &[
    "2q:in=0",
    "2q:in=1:out=0",
    "lecar:discount=0",
    "lecar:rate=100",
    "lirs:high=1",
    "lirs:high=0.5:stack=0",
    "lirs:stack=5",
    "s3-fifo:promote=0",
    "s3-fifo:small=0.5:ghosts=0:promote=3",
    "s3-fifo:small=1:ghosts=3:promote=1",
    "slru:protected=1",
    "slru:protected=0",
    "w-tinylfu:climb",
    "w-tinylfu:window=0:protected=1",
    "w-tinylfu:window=0.5:protected=0:climb",
    "w-tinylfu:window=1:climb",
];

/// Every policy, and some with other values than the usual ones.
fn all() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|row| row.name).chain(TUNED.iter().copied())
}

/// The next number of a small generator (G. Steele, D. Lea, C. Flood, 2014).
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// 100,000 keys that anybody can make again: 750 hot ones, 1,250 cold ones.
fn tiny() -> Vec<u64> {
    let mut state = 7;
    let mut key = || {
        let drawn = splitmix(&mut state) >> 8;
        if drawn.is_multiple_of(4) { 1000 + drawn % 5000 } else { drawn % 1000 }
    };
    (0..100_000).map(|_| key()).collect()
}

/// Dense numbers in order of first appearance, by a map.
fn dense(keys: &[u64]) -> Vec<u32> {
    let mut numbers = std::collections::HashMap::new();
    let number = |key: &u64| {
        let next = u32::try_from(numbers.len()).unwrap();
        *numbers.entry(*key).or_insert(next)
    };
    keys.iter().map(number).collect()
}

/// Accesses that know when their page is wanted again.
fn with_future(pages: &[u32]) -> Vec<Access> {
    let mut next = std::collections::HashMap::new();
    let numbered = pages.iter().enumerate().rev();
    let mut accesses: Vec<Access> = numbered
        .map(|(at, &page)| {
            let at = u64::try_from(at).unwrap();
            Access { page, next_use: next.insert(page, at).unwrap_or(NEVER) }
        })
        .collect();
    accesses.reverse();
    accesses
}

#[test]
fn the_tiny_trace_is_the_one_that_was_counted_elsewhere() {
    let keys = tiny();
    assert_eq!(keys[..5], [837, 46, 474, 625, 201]);
    assert_eq!(keys.iter().sum::<u64>(), 125_378_834);
}

#[test]
fn the_document_has_a_line_for_each_policy() {
    let document = include_str!("../../../../docs/policies.md");
    for row in POLICIES {
        let bytes = match (row.once_bytes, row.page_bytes) {
            (0, each) => each.to_string(),
            (once, 0) => format!("{once} once"),
            (once, each) => format!("{once} once, {each}"),
        };
        let line = format!("| {} | {} | {} | {bytes} |\n", row.name, row.summary, row.citation);
        assert!(document.contains(&line), "docs/policies.md lacks {line}");
        for parameter in row.settable.map_or(&[][..], |settable| settable.parameters) {
            let (name, summary) = (parameter.name, parameter.summary);
            let usually = parameter.text(parameter.default);
            let line = format!("| `{}:{name}` | {summary} | {usually} |\n", row.name);
            assert!(document.contains(&line), "docs/policies.md lacks {line}");
        }
    }
}

#[test]
fn the_document_has_a_line_for_each_prefetcher() {
    let document = include_str!("../../../../docs/curve.md");
    for row in PREFETCHERS {
        let line = format!("| `{}` | {} | {} |\n", row.name, row.summary, row.citation);
        assert!(document.contains(&line), "docs/curve.md lacks {line}");
        for (parameter, summary) in row.parameters {
            let line = format!("| `{}:{parameter}` | {summary} |\n", row.name);
            assert!(document.contains(&line), "docs/curve.md lacks {line}");
        }
    }
}

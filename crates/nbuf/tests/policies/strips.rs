//! A line for each policy that shows which it is: a page, `+` where it was there, `/` and what went.

use expect_test::{Expect, expect};
use nbuf::cache::policy::{Access, Outcome, POLICIES, find};

use super::with_future;

fn strip(name: &str, capacity: u32, pages: &[u32]) -> String {
    let mut policy = (find(name).unwrap().build)(capacity, 1);
    let step = |access: Access| match policy.access(access) {
        Outcome::Hit => format!("{}+", access.page),
        Outcome::Filled { evicted: None } => access.page.to_string(),
        Outcome::Filled { evicted: Some(victim) } => format!("{}/{victim}", access.page),
        Outcome::Bypassed => format!("{}-", access.page),
    };
    with_future(pages).into_iter().map(step).collect::<Vec<_>>().join(" ")
}

/// One stream for all: found by a search for one that hardly any two policies answer alike.
fn check(name: &str, want: &Expect) {
    let pages = [4, 2, 3, 1, 1, 4, 5, 3, 7, 5, 6, 4, 1, 3, 2, 5, 2, 6, 1, 4, 1, 4, 3, 6];
    want.assert_eq(&strip(name, 5, &pages));
}

#[test]
fn every_policy_has_a_strip() {
    let source = include_str!("strips.rs");
    for row in POLICIES {
        let named = format!("{:?},", row.name);
        assert!(source.contains(&named), "no strip of {}", row.name);
    }
}

#[test]
fn strips() {
    check(
        "lru",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+"],
    );
    check(
        "fifo",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/4 5+ 6/2 4/3 1+ 3/1 2/5 5/7 2+ 6+ 1/6 4+ 1+ 4+ 3+ 6/4"],
    );
    check(
        "clock",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/4 4/7 1+ 3+ 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+"],
    );
    check(
        "sieve",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/5 5/6 2+ 6/5 1+ 4+ 1+ 4+ 3+ 6+"],
    );
    check(
        "random",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/3 5+ 6/1 4+ 1/6 3/5 2+ 5/1 2+ 6/7 1/6 4+ 1+ 4+ 3+ 6/3"],
    );
    check(
        "mru",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/3 5+ 6/5 4+ 1+ 3/1 2+ 5/2 2/5 6+ 1/6 4+ 1+ 4+ 3+ 6/3"],
    );
    check(
        "lfu",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/2 1+ 4+ 1+ 4+ 3+ 6+"],
    );
    check(
        "lfu-da",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/1 1/3 4+ 1+ 4+ 3/5 6+"],
    );
    check(
        "slru",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/4 1+ 4/6 1+ 4+ 3+ 6/5"],
    );
    check(
        "s4lru",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/7 3+ 2/6 5+ 2+ 6/1 1/4 4/3 1+ 4+ 3/5 6+"],
    );
    check(
        "2q",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/4 5+ 6/2 4/3 1+ 3/1 2/5 5/7 2+ 6+ 1/4 4/3 1+ 4+ 3/6 6/4"],
    );
    check(
        "lru-2",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/1 1/4 4/3 1+ 4+ 3/5 6+"],
    );
    check(
        "arc",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+"],
    );
    check(
        "car",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+"],
    );
    check(
        "lirs",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/5 5/7 6/2 4+ 1+ 3+ 2/6 5+ 2+ 6/4 1+ 4/6 1+ 4+ 3+ 6/3"],
    );
    check(
        "clock-pro",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/4 4/7 1+ 3+ 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/6 6/3"],
    );
    check(
        "s3-fifo",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/4 5+ 6/7 4/6 1+ 3+ 2+ 5+ 2+ 6/4 1+ 4/6 1+ 4+ 3+ 6/4"],
    );
    check(
        "w-tinylfu",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/5 5/7 6/2 4+ 1+ 3+ 2/6 5+ 2+ 6/2 1+ 4+ 1+ 4+ 3+ 6+"],
    );
    check(
        "two-lists",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/7 3+ 2/4 5+ 2+ 6+ 1+ 4/3 1+ 4+ 3/5 6+"],
    );
    check(
        "v1",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+"],
    );
    check(
        "opt",
        &expect!["4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/3 5+ 2+ 6+ 1+ 4+ 1+ 4+ 3/1 6+"],
    );
}

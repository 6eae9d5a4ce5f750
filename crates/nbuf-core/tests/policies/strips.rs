//! A line for each policy that shows which it is: a page, `+` where it was there, `/` and what went.

use expect_test::expect;
use nbuf::cache::policy::{Access, Outcome, POLICIES, Row};

use super::with_future;

fn strip(row: &Row, capacity: u32, pages: &[u32]) -> String {
    let mut policy = (row.build)(capacity, 1);
    let step = |access: Access| match policy.access(access) {
        Outcome::Hit => format!("{}+", access.page),
        Outcome::Filled { evicted: None } => access.page.to_string(),
        Outcome::Filled { evicted: Some(victim) } => format!("{}/{victim}", access.page),
        Outcome::Bypassed => format!("{}-", access.page),
    };
    with_future(pages).into_iter().map(step).collect::<Vec<_>>().join(" ")
}

/// One stream for all: found by a search for one that hardly any two policies answer alike.
const PAGES: [u32; 24] = [4, 2, 3, 1, 1, 4, 5, 3, 7, 5, 6, 4, 1, 3, 2, 5, 2, 6, 1, 4, 1, 4, 3, 6];

#[test]
fn every_policy_has_its_strip() {
    let strips = POLICIES.iter().map(|row| format!("{:16}{}", row.name, strip(row, 5, &PAGES)));
    let strips = strips.collect::<Vec<_>>().join("\n");
    expect![[r#"
        lru             4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+
        fifo            4 2 3 1 1+ 4+ 5 3+ 7/4 5+ 6/2 4/3 1+ 3/1 2/5 5/7 2+ 6+ 1/6 4+ 1+ 4+ 3+ 6/4
        clock           4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/4 4/7 1+ 3+ 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+
        sieve           4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/5 5/6 2+ 6/5 1+ 4+ 1+ 4+ 3+ 6+
        random          4 2 3 1 1+ 4+ 5 3+ 7/3 5+ 6/1 4+ 1/6 3/5 2+ 5/1 2+ 6/7 1/6 4+ 1+ 4+ 3+ 6/3
        mru             4 2 3 1 1+ 4+ 5 3+ 7/3 5+ 6/5 4+ 1+ 3/1 2+ 5/2 2/5 6+ 1/6 4+ 1+ 4+ 3+ 6/3
        lfu             4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/2 1+ 4+ 1+ 4+ 3+ 6+
        lfu-da          4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/1 1/3 4+ 1+ 4+ 3/5 6+
        gdsf            4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/1 1/3 4+ 1+ 4+ 3/5 6+
        lhd             4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/3 5+ 2+ 6+ 1+ 4+ 1+ 4+ 3/5 6+
        adaptsize       4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+
        redis           4 2 3 1 1+ 4+ 5 3+ 7/1 5+ 6/2 4+ 1/5 3+ 2/6 5/4 2+ 6/7 1+ 4/1 1/6 4+ 3+ 6/1
        memcached       4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+
        slru            4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/4 1+ 4/6 1+ 4+ 3+ 6/5
        s4lru           4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/7 3+ 2/6 5+ 2+ 6/1 1/4 4/3 1+ 4+ 3/5 6+
        2q              4 2 3 1 1+ 4+ 5 3+ 7/4 5+ 6/2 4/3 1+ 3/1 2/5 5/7 2+ 6+ 1/4 4/3 1+ 4+ 3/6 6/4
        lru-2           4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/1 1/4 4/3 1+ 4+ 3/5 6+
        arc             4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+
        car             4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+
        lirs            4 2 3 1 1+ 4+ 5 3+ 7/5 5/7 6/2 4+ 1+ 3+ 2/6 5+ 2+ 6/4 1+ 4/6 1+ 4+ 3+ 6/3
        clock-pro       4 2 3 1 1+ 4+ 5 3+ 7/5 5/7 6/2 4+ 1+ 3+ 2/5 5/6 2+ 6/5 1+ 4+ 1+ 4+ 3+ 6+
        s3-fifo         4 2 3 1 1+ 4+ 5 3+ 7/4 5+ 6/7 4/6 1+ 3+ 2+ 5+ 2+ 6/4 1+ 4/6 1+ 4+ 3+ 6/4
        w-tinylfu       4 2 3 1 1+ 4+ 5 3+ 7/5 5/7 6/2 4+ 1+ 3+ 2/6 5+ 2+ 6/2 1+ 4+ 1+ 4+ 3+ 6+
        lecar           4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/6 5+ 2+ 6/4 1+ 4/3 1+ 4+ 3/2 6+
        active-inactive 4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/7 3+ 2/4 5+ 2+ 6+ 1+ 4/3 1+ 4+ 3/5 6+
        v1              4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/1 4+ 1/3 3/7 2/5 5/6 2+ 6/4 1+ 4/3 1+ 4+ 3/5 6+
        opt             4 2 3 1 1+ 4+ 5 3+ 7/2 5+ 6/7 4+ 1+ 3+ 2/3 5+ 2+ 6+ 1+ 4+ 1+ 4+ 3/1 6+"#]]
    .assert_eq(&strips);
}

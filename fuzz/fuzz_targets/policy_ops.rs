//! Any lookups, fills, refusals and removals, in any order, to any policy with any values of its parameters: it
//! stays sound, and says what happened.

#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use nbuf::cache::policy::{Access, Cause, Choice, NEVER, Outcome, POLICIES, Row};

/// The row with values for its parameters, in eighths of the largest of each, which is 2 at the most.
fn tuned(row: &'static Row, values: u8) -> Choice {
    let parameters = row.settable.map_or(&[][..], |settable| settable.parameters);
    let mut text = row.name.to_owned();
    for (at, parameter) in parameters.iter().enumerate().take(3) {
        let eighths = u64::from(values.rotate_left(3 * u32::try_from(at).unwrap()) % 8 + 1);
        let value = eighths * u64::from(parameter.most.min(2_000_000)) / 8;
        text += &format!(":{}={}", parameter.name, parameter.text(u32::try_from(value).unwrap()));
    }
    text.parse().unwrap()
}

fuzz_target!(|input: (u8, u8, u8, Vec<(u8, u8, u8)>)| {
    let (row, values, capacity, steps) = input;
    let row = &POLICIES[row as usize % POLICIES.len()];
    let capacity = u32::from(capacity % 32) + 1;
    // Densities of LHD are tables that large values make huge.
    let is_usual = values == 0 || row.name == "lhd";
    let choice = if is_usual { Choice::from(row) } else { tuned(row, values) };
    let mut policy = choice.build(capacity, 1);
    let mut there = BTreeSet::new();
    for (kind, page, busy) in steps {
        let page = u32::from(page % 64);
        let next_use = if busy > 200 { NEVER } else { u64::from(busy) };
        let access = Access { page, next_use };
        let is_free = |page: u32| busy % 8 != 7 && page % 8 != u32::from(busy % 8);
        let outcome = match kind % 5 {
            0 => {
                assert_eq!(policy.touch(access), there.contains(&page), "{}", row.name);
                None
            }
            1 => {
                assert_eq!(policy.remove(page), there.remove(&page), "{}", row.name);
                None
            }
            2 => Some(policy.access(access)),
            _ => {
                let cause = if kind % 5 == 3 { Cause::Demand } else { Cause::Readahead };
                Some(policy.fill(access, cause, &mut |victim| is_free(victim)))
            }
        };
        match outcome {
            Some(Outcome::Hit) => assert!(there.contains(&page), "{}", row.name),
            Some(Outcome::Filled { evicted }) => {
                if let Some(victim) = evicted {
                    assert!(there.remove(&victim), "{}", row.name);
                    assert!(kind % 5 == 2 || is_free(victim), "{}", row.name);
                }
                assert!(there.insert(page), "{}", row.name);
            }
            Some(Outcome::Bypassed) => {
                assert!(there.iter().all(|&page| !is_free(page)), "{}", row.name);
            }
            None => {}
        }
        assert!(there.len() <= capacity as usize, "{}", row.name);
        policy.check().unwrap();
    }
});

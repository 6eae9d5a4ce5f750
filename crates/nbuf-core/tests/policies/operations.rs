//! Whatever a cache in front of a disc may ask of a policy, in any order: fills that come late, fail,
//! or come unasked, pages that may not go, pages that are no more.

use std::collections::BTreeSet;

use nbuf::cache::policy::{Access, Cause, Choice, NEVER, Outcome};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// A lookup; a fill need not follow.
    Touch(u32),
    /// A fill, asked for or not; pages of one kind may not go.
    Fill(u32, Cause, u32),
    Access(u32),
    Remove(u32),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let cause = prop_oneof![Just(Cause::Demand), Just(Cause::Readahead)];
    let operation = prop_oneof![
        1 => (0..20_u32).prop_map(Operation::Touch),
        1 => (0..20_u32, cause, 0..5_u32).prop_map(|(page, cause, busy)| {
            Operation::Fill(page, cause, busy)
        }),
        4 => (0..20_u32).prop_map(Operation::Access),
        1 => (0..20_u32).prop_map(Operation::Remove),
    ];
    prop::collection::vec(operation, 0..250)
}

fn check(name: &str, capacity: u32, operations: &[Operation]) -> Result<(), TestCaseError> {
    let mut policy = name.parse::<Choice>().unwrap().build(capacity, 3);
    let mut there = BTreeSet::new();
    for (at, &operation) in operations.iter().enumerate() {
        let to = |page| Access { page, next_use: if page % 3 == 0 { NEVER } else { page.into() } };
        // Kinds from 0 to 3 stand for a residue that may not go; 4 for none that may.
        let is_free = |page: u32, busy: u32| busy < 4 && page % 4 != busy;
        let filled = match operation {
            Operation::Touch(page) => {
                prop_assert_eq!(policy.touch(to(page)), there.contains(&page), "{} {}", name, at);
                None
            }
            Operation::Access(page) => Some((page, policy.access(to(page)), None)),
            Operation::Fill(page, cause, busy) => {
                let mut is_evictable = |page| is_free(page, busy);
                Some((page, policy.fill(to(page), cause, &mut is_evictable), Some(busy)))
            }
            Operation::Remove(page) => {
                prop_assert_eq!(policy.remove(page), there.remove(&page), "{} {}", name, at);
                None
            }
        };
        if let Some((page, outcome, busy)) = filled {
            let was_there = there.contains(&page);
            prop_assert_eq!(outcome == Outcome::Hit, was_there, "{} {}", name, at);
            let is_full = there.len() == capacity as usize;
            match outcome {
                Outcome::Filled { evicted } => {
                    prop_assert_eq!(evicted.is_some(), is_full, "{} {}", name, at);
                    if let Some(victim) = evicted {
                        prop_assert!(there.remove(&victim), "{} {}", name, at);
                        let might = busy.is_none_or(|busy| is_free(victim, busy));
                        prop_assert!(might, "{} evicts a busy page", name);
                    }
                    there.insert(page);
                }
                Outcome::Bypassed => {
                    // Only where nothing might go.
                    let free = there.iter().any(|&page| busy.is_none_or(|b| is_free(page, b)));
                    prop_assert!(is_full && !free, "{} {}: bypassed", name, at);
                }
                Outcome::Hit => {}
            }
        }
        policy.check().map_err(|error| {
            TestCaseError::fail(format!("{name} of {capacity}, step {at}: {error}"))
        })?;
        prop_assert_eq!(policy.len() as usize, there.len(), "{} {}", name, at);
        prop_assert!((0..20).all(|page| policy.contains(page) == there.contains(&page)));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_policy_stays_sound(capacity in 1..14_u32, operations in operations()) {
        for name in super::all() {
            check(name, capacity, &operations)?;
        }
    }
}

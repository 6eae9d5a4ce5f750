//! Which policy wins on which volume, and what one policy for all costs.
//!
//! The regret of a policy on a volume is its misses without those of the best policy there. Invariant: no regret is
//! negative, and on each volume the regret of some policy is 0.

use std::collections::BTreeMap;

use super::split::rule;
use crate::experiment::result::{FleetPolicies, FleetPolicy, FleetPolicyMisses, FleetWorst};

/// The comparison; nothing where no volume was simulated.
pub(super) fn policies(
    size: &str,
    volumes: &BTreeMap<String, (u64, Vec<FleetPolicyMisses>)>,
) -> Option<FleetPolicies> {
    let first = volumes.values().find(|volume| !volume.1.is_empty())?;
    let names = first.1.iter().map(|of| of.policy.clone());
    let mut policies: Vec<FleetPolicy> =
        names.map(|policy| FleetPolicy { policy, ..FleetPolicy::default() }).collect();
    let mut all = FleetPolicies { size: size.to_owned(), ..FleetPolicies::default() };
    for (volume, (accesses, misses)) in volumes {
        // The optimum is a bound, which no cache can be. It is the best only where it is alone.
        let real = || misses.iter().filter(|of| !is_bound(&of.policy));
        let least = real().map(|of| of.misses).min();
        let Some(best) = least.or_else(|| misses.iter().map(|of| of.misses).min()) else {
            continue;
        };
        all.volumes += 1;
        all.accesses += accesses;
        all.best_misses += best;
        let winners = real().filter(|of| of.misses == best).count();
        for (policy, of) in policies.iter_mut().zip(misses) {
            policy.misses += of.misses;
            let wins = of.misses == best && !is_bound(&of.policy);
            policy.wins += u64::from(wins);
            policy.wins_alone += u64::from(wins && winners == 1);
            let misses_more = of.misses.saturating_sub(best);
            policy.regret_misses += misses_more;
            if misses_more > policy.worst.as_ref().map_or(0, |worst| worst.misses_more) {
                let accesses_share = misses_more as f64 / (*accesses).max(1) as f64;
                policy.worst =
                    Some(FleetWorst { volume: volume.clone(), misses_more, accesses_share });
            }
        }
    }
    for policy in &mut policies {
        policy.hit_ratio = rule("", all.accesses, policy.misses).hit_ratio;
        policy.regret = policy.regret_misses as f64 / all.best_misses.max(1) as f64;
    }
    policies.sort_by_key(|policy| policy.misses);
    all.policies = policies;
    Some(all)
}

fn is_bound(policy: &str) -> bool {
    policy == "opt" || policy.starts_with("opt:")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fleet(table: &[Vec<u64>]) -> BTreeMap<String, (u64, Vec<FleetPolicyMisses>)> {
        let of = |(at, &misses): (usize, &u64)| FleetPolicyMisses {
            policy: format!("p{at}"),
            pages: 1,
            misses,
        };
        let row = |(at, row): (usize, &Vec<u64>)| {
            (format!("v{at}"), (100, row.iter().enumerate().map(of).collect()))
        };
        table.iter().enumerate().map(row).collect()
    }

    proptest! {
        #[test]
        fn regret_is_what_the_best_choice_everywhere_would_save(
            table in prop::collection::vec(prop::collection::vec(0..100_u64, 3), 1..9),
        ) {
            let all = policies("10%", &fleet(&table)).unwrap();
            let best: u64 = table.iter().map(|row| row.iter().min().unwrap()).sum();
            prop_assert_eq!(all.best_misses, best);
            prop_assert!(all.policies.is_sorted_by_key(|policy| policy.misses));
            let mut alone = 0;
            for policy in &all.policies {
                let at: usize = policy.policy[1..].parse().unwrap();
                let misses: u64 = table.iter().map(|row| row[at]).sum();
                prop_assert_eq!((policy.misses, policy.regret_misses), (misses, misses - best));
                let wins = table.iter().filter(|row| row[at] == *row.iter().min().unwrap());
                prop_assert_eq!(policy.wins, wins.count() as u64);
                prop_assert_eq!(policy.worst.is_none(), policy.regret_misses == 0);
                alone += policy.wins_alone;
            }
            prop_assert!(alone <= all.volumes);
            prop_assert!(all.policies.iter().map(|policy| policy.wins).sum::<u64>() >= all.volumes);
        }
    }

    #[test]
    fn the_winner_everywhere_has_no_regret() {
        let all = policies("1p", &fleet(&[vec![3, 5, 9], vec![0, 0, 1]])).unwrap();
        let [first, second, _] = &all.policies[..] else { panic!("{all:?}") };
        assert_eq!((first.wins, first.wins_alone, first.regret_misses), (2, 1, 0));
        assert!(first.worst.is_none() && first.regret.abs() < 1e-9);
        assert_eq!((second.wins, second.wins_alone, second.regret_misses), (1, 0, 2));
        assert!((second.regret - 2.0 / 3.0).abs() < 1e-9, "{second:?}");
        assert_eq!(policies("1p", &BTreeMap::new()), None);
    }
}

//! The smallest of the limits that holds the working set of a command: under it, a command reads no page back that
//! reclaim took.
//!
//! Source: Saltzer, "Multics Performance", 1969: "per-process minimum working set too large". Do not use it for an
//! exact size: it is as coarse as the limits. `nbuf size` searches.

use super::condition::Condition;
use crate::experiment::result::{LoadStep, LoadWorkingSet};

/// A command that reads back fewer pages, on average, has its working set.
const PAGES: f64 = 1.0;

/// Where it is, by the steps with the fewest users; nothing where not even the largest limit holds it.
pub(super) fn of(rows: &[LoadStep]) -> Option<LoadWorkingSet> {
    let first = rows.first().map(Condition::of)?;
    let is_first = |row: &&LoadStep| {
        let Condition { table, cpus, .. } = Condition::of(row);
        row.limit_bytes.is_some() && (table, cpus) == (first.table, first.cpus)
    };
    let users = rows.iter().filter(is_first).map(|row| row.users).min()?;
    let own = rows.iter().filter(is_first).filter(|row| row.users == users);
    let mut own: Vec<&LoadStep> = own.collect();
    // The largest limit first. A smaller one that seems to hold it again does so by chance.
    own.sort_by_key(|row| std::cmp::Reverse(row.limit_bytes));
    let read_back = |row: &LoadStep| {
        (row.interactions > 0).then(|| row.refaults as f64 / row.interactions as f64)
    };
    let holds = |row: &&&LoadStep| read_back(row).is_some_and(|pages| pages < PAGES);
    let enough = own.iter().take_while(holds).count();
    let below = own.get(enough);
    Some(LoadWorkingSet {
        users,
        limit_bytes: own[..enough].last()?.limit_bytes?,
        below_bytes: below.and_then(|row| row.limit_bytes),
        read_back_below: below.and_then(|row| read_back(row)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn row(users: u32, mib: u64, interactions: u64, refaults: u64) -> LoadStep {
        let limit_bytes = Some(Bytes(mib << 20));
        LoadStep { users, limit_bytes, interactions, refaults, ..LoadStep::default() }
    }

    #[test]
    fn the_smallest_limit_without_refaults_holds_the_working_set() {
        let rows = [
            row(1, 96, 100, 3),
            row(4, 96, 100, 90_000),
            row(1, 32, 100, 99),
            row(4, 32, 100, 90_000),
            row(1, 12, 50, 600_000),
        ];
        let found = of(&rows).unwrap();
        assert_eq!((found.users, found.limit_bytes), (1, Bytes(32 << 20)));
        assert_eq!(
            (found.below_bytes, found.read_back_below),
            (Some(Bytes(12 << 20)), Some(12_000.0))
        );
        // The order of the limits is the user's.
        let turned: Vec<LoadStep> = rows.iter().rev().cloned().collect();
        assert_eq!(of(&turned), Some(found));
    }

    #[test]
    fn a_limit_that_is_too_small_or_silent_holds_nothing() {
        assert_eq!(of(&[row(1, 32, 100, 100)]), None);
        assert_eq!(of(&[row(1, 32, 0, 0)]), None);
        assert_eq!(of(&[]), None);
        let free = LoadStep { limit_bytes: None, ..row(1, 0, 100, 0) };
        assert_eq!(of(&[free]), None);
        // All that were tried hold it.
        let found = of(&[row(2, 64, 100, 0), row(2, 32, 100, 0)]).unwrap();
        assert_eq!((found.limit_bytes, found.below_bytes), (Bytes(32 << 20), None));
        // No answer under the smaller one.
        let found = of(&[row(2, 64, 100, 0), row(2, 32, 0, 0)]).unwrap();
        assert_eq!((found.below_bytes, found.read_back_below), (Some(Bytes(32 << 20)), None));
    }

    #[test]
    fn steps_under_other_conditions_do_not_count() {
        let on_two = |row: LoadStep| LoadStep { cpus: Some(2), ..row };
        let rows = [on_two(row(1, 64, 100, 0)), row(1, 32, 100, 0)];
        assert_eq!(of(&rows).unwrap().limit_bytes, Bytes(64 << 20));
    }
}

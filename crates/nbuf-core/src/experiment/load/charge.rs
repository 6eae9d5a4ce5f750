//! What the private group of a step held and asked discs for, from time to time, and from it what a window
//! had.

use crate::sys::cgroup::Group;
use crate::sys::process::monotonic_ns;
use crate::units::PAGE_BYTES;

/// A look at the group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Charge {
    time_ns: u64,
    held_bytes: u64,
    disc_operations: Option<u64>,
}

/// What a window had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Charged {
    /// Pages held, integrated over time.
    pub(super) page_seconds: f64,
    /// Operations of discs.
    pub(super) disc_operations: Option<u64>,
}

impl Charge {
    pub(super) fn now(group: &Group) -> Self {
        Self {
            time_ns: monotonic_ns(),
            held_bytes: group.held().0,
            disc_operations: group.disc_operations(),
        }
    }
}

/// What a window had: operations between the nearest looks around it, and memory straight between looks.
pub(super) fn between(looks: &[Charge], from_ns: u64, to_ns: u64) -> Option<Charged> {
    let before = looks.iter().rev().find(|look| look.time_ns <= from_ns).or(looks.first())?;
    let after = looks.iter().find(|look| look.time_ns >= to_ns).or(looks.last())?;
    let operations = |(from, to): (u64, u64)| to.saturating_sub(from);
    let byte_seconds: f64 =
        looks.windows(2).map(|pair| area(pair[0], pair[1], from_ns, to_ns)).sum();
    Some(Charged {
        page_seconds: byte_seconds / PAGE_BYTES as f64,
        disc_operations: before.disc_operations.zip(after.disc_operations).map(operations),
    })
}

/// Byte-seconds between two looks, of the part inside a window.
fn area(first: Charge, second: Charge, from_ns: u64, to_ns: u64) -> f64 {
    let (begin, end) = (first.time_ns.max(from_ns), second.time_ns.min(to_ns));
    if begin >= end {
        return 0.0;
    }
    let span = (second.time_ns - first.time_ns) as f64;
    let middle = (begin - first.time_ns) as f64 + (end - begin) as f64 / 2.0;
    let (low, high) = (first.held_bytes as f64, second.held_bytes as f64);
    (low + (high - low) * middle / span) * (end - begin) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(ms: u64, pages: u64, operations: u64) -> Charge {
        let held_bytes = pages * PAGE_BYTES;
        Charge { time_ns: ms * 1_000_000, held_bytes, disc_operations: Some(operations) }
    }

    #[test]
    fn memory_is_integrated_over_the_window_alone() {
        let looks = [look(0, 0, 5), look(1000, 100, 9), look(2000, 100, 9), look(3000, 0, 30)];
        let of = |from: u64, to: u64| between(&looks, from * 1_000_000, to * 1_000_000).unwrap();
        let want =
            |page_seconds, operations| Charged { page_seconds, disc_operations: Some(operations) };
        assert_eq!(of(0, 3000), want(200.0, 25));
        assert_eq!(of(1000, 2000), want(100.0, 0));
        assert_eq!(of(500, 1500), want(37.5 + 50.0, 4));
        assert_eq!(of(0, 9000), want(200.0, 25));
        assert_eq!(between(&[], 0, 1), None);
    }
}

//! What is to be counted over objects, and which policies can be.

use super::Ttl;
use crate::cache::admission::Admission;
use crate::cache::allocator::Allocator;
use crate::cache::objects::{Expired, Layers, Oversized};
use crate::cache::policy::{Choice, POLICIES};
use crate::trace::request::Unit;
use crate::units::SizeList;
use crate::workload::pages::Writes;

/// What misses cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::experiment) enum Costs {
    /// One as much as another.
    Equal,
    /// What the trace says.
    OfTrace,
}

/// What is to be counted.
#[derive(Clone, Debug)]
pub(in crate::experiment) struct Plan {
    /// The policies, in the order of the report.
    pub(in crate::experiment) policies: Vec<Choice>,
    /// The sizes; some sixteen of equal ratios where there are none.
    pub(in crate::experiment) sizes: Option<SizeList>,
    /// What each object takes in addition to its bytes.
    pub(in crate::experiment) overhead_bytes: u64,
    /// Who gives its memory.
    pub(in crate::experiment) allocator: Allocator,
    /// What the offsets of the trace are.
    pub(in crate::experiment) unit: Unit,
    /// What writes do.
    pub(in crate::experiment) writes: Writes,
    /// Whether LRU is wanted at all sizes, however few are shown.
    pub(in crate::experiment) all_sizes: bool,
    /// Requests at the beginning that fill the caches and are not counted.
    pub(in crate::experiment) warmup_requests: u64,
    /// Times to live; nothing where no object expires.
    pub(in crate::experiment) ttl: Option<Ttl>,
    /// What becomes of expired objects.
    pub(in crate::experiment) expired: Expired,
    /// What an object that is larger than the cache does to the others.
    pub(in crate::experiment) oversized: Oversized,
    /// What decides whether an object that missed comes in.
    pub(in crate::experiment) admissions: Vec<Admission>,
    /// What misses cost.
    pub(in crate::experiment) costs: Costs,
    /// For policies that play with chance.
    pub(in crate::experiment) seed: u64,
    /// Whether the trace can be read a second time.
    pub(in crate::experiment) again: bool,
    /// Whether several processors may be used.
    pub(in crate::experiment) parallel: bool,
}

impl Plan {
    /// What is around each policy.
    pub(super) fn layers(&self) -> Layers {
        let expired = self.ttl.map(|_| self.expired);
        let Self { seed, oversized, .. } = *self;
        Layers { seed, expired, oversized, admissions: self.admissions.clone() }
    }

    /// Whether byte distances may hold: nothing but LRU decides what is there.
    pub(super) fn is_plain(&self) -> bool {
        self.ttl.is_none()
            && self.admissions.is_empty()
            && self.costs == Costs::Equal
            && self.writes != Writes::Store
    }
}

/// Why policies cannot be counted over objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{policy} divides its cache by a number of pages, so no rule says what it does with objects: \
     take {can}, or count keys with sizes without a unit, such as --size 10000"
)]
pub struct CannotWeigh {
    /// The policy.
    pub policy: String,
    /// Those that can.
    pub can: String,
}

/// Whether a policy can be counted over objects.
pub(in crate::experiment) fn can_weigh(choice: &Choice) -> bool {
    choice.row().objects.is_some()
}

/// Refuses a policy that cannot be counted over objects. The advice does not name the policies of `without`.
pub(in crate::experiment) fn must_weigh(
    choice: &Choice,
    without: &[&str],
) -> Result<(), CannotWeigh> {
    if can_weigh(choice) {
        return Ok(());
    }
    let can = POLICIES.iter().filter(|row| row.objects.is_some()).map(|row| row.name);
    let can = can.filter(|name| !without.contains(name));
    let (policy, can) = (choice.to_string(), can.collect::<Vec<_>>().join(", "));
    Err(CannotWeigh { policy, can })
}

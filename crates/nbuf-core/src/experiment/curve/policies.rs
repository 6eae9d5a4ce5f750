//! Which policies are drawn.

use super::Spec;
use crate::cache::policy::{Choice, POLICIES};

/// The policy that weighs objects: over pages it is LFU-DA.
pub(super) const OF_OBJECTS: &str = "gdsf";
/// Policies that are made for objects: over pages three are another one, Redis is near LRU, and LHD takes long to learn.
pub(super) const ONLY_OBJECTS: [&str; 5] = [OF_OBJECTS, "lhd", "adaptsize", "redis", MEMCACHED];
/// The policy that gives slabs to classes of sizes.
pub(super) const MEMCACHED: &str = "memcached";

/// Every policy of the table that is one of its own over pages.
pub fn all() -> Vec<Choice> {
    POLICIES.iter().filter(|row| !ONLY_OBJECTS.contains(&row.name)).map(Choice::from).collect()
}

/// The policies of the spec, each once, in the order in which they are first named. By default LRU,
/// and the optimum next to it where the whole is looked at and nothing is prefetched.
pub(super) fn policies(spec: &Spec) -> Vec<Choice> {
    if spec.policies.is_empty() {
        let is_alone = spec.every.is_some() || spec.by.is_some() || spec.prefetch.is_some();
        let default = if is_alone { &["lru"][..] } else { &["lru", "opt"] };
        return default.iter().filter_map(|name| name.parse().ok()).collect();
    }
    let mut distinct: Vec<Choice> = Vec::new();
    for choice in &spec.policies {
        if distinct.iter().all(|known| known.to_string() != choice.to_string()) {
            distinct.push(*choice);
        }
    }
    distinct
}

/// Whether it is LRU and nothing else.
pub(super) fn is_lru(choice: &Choice) -> bool {
    choice.row().name == "lru"
}

/// Whether it is the optimum.
pub(super) fn is_opt(choice: &Choice) -> bool {
    choice.row().name == "opt"
}

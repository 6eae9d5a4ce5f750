//! What the policies take, said before they are fed.

use super::{OPT, Objects, curves};
use crate::cache::admission::Admission;
use crate::cache::objects::Expired;
use crate::trace::request::Request;
use crate::workload::within::Growing;

/// What an object costs at the most: its number, and what is known of it in a vector that has grown.
const KNOWN_BYTES: u64 = 20 + 32;
/// What its place among the byte distances costs, while their moments are given again.
const DISTANCE_BYTES: u64 = 64;
/// What its size costs each policy, in a vector that has grown.
const CHARGE_BYTES: u64 = 16;

/// What the time to live of an object costs: once, and in each cache.
const LIFETIME_BYTES: u64 = 8;
const ENDS_BYTES: u64 = 16;
const QUEUE_BYTES: u64 = 40;

/// What an access of a batch takes: its key, its number and its sizes.
const ACCESS_BYTES: u64 = 96;
/// What a distance takes while the list of them is sorted, and how many are kept at the most.
const DEPTH_BYTES: u64 = 60;
const DEPTHS: u64 = 1 << 22;
/// What an access costs the optimum: its interval, in a vector that has grown, and what is kept at its moment.
const INTERVAL_BYTES: u64 = 144;

/// What an admission keeps of an object in each cache.
fn gate_bytes(admission: &Admission) -> u64 {
    match admission {
        Admission::Threshold { .. } | Admission::Probability { .. } => 0,
        Admission::TinyLfu { .. } => 16,
        // While it is tuned, all rates are in a list.
        Admission::AdaptSize(_) => 72,
    }
}

impl Growing for Objects {
    fn most(&self, requests: &[Request]) -> u64 {
        let more = requests.len() as u64;
        let objects = self.distinct().saturating_add(more);
        let depths = self.accesses.saturating_add(more).min(DEPTHS);
        let depths = if self.distances.is_some() { DEPTH_BYTES * depths } else { 0 };
        let accesses = self.accesses.saturating_add(more);
        let intervals = if self.has_opt() { INTERVAL_BYTES.saturating_mul(accesses) } else { 0 };
        let each = self.object_bytes.saturating_mul(objects).saturating_add(intervals);
        let each = each.saturating_add(self.least_bytes);
        each.saturating_add(ACCESS_BYTES * more + depths + self.pages.bytes(more))
    }

    fn least(&self, requests: &[Request]) -> u64 {
        let distinct = self.pages.distinct(requests).max(self.distinct());
        let intervals =
            if self.has_opt() { INTERVAL_BYTES.saturating_mul(self.accesses) } else { 0 };
        let each = distinct.saturating_mul(self.object_bytes).saturating_add(intervals);
        each.saturating_add(self.least_bytes)
    }

    fn take(&mut self, requests: &[Request]) {
        self.take_requests(requests);
    }
}

impl Objects {
    /// Memory that a distinct object takes in all, at the most: the larger of both readings, if there are
    /// two.
    pub(in crate::experiment) fn object_bytes(&self) -> u64 {
        self.object_bytes
    }

    /// Whether each access is kept.
    fn has_opt(&self) -> bool {
        self.cells.iter().any(|cell| cell.choice.row().name == OPT)
    }

    /// Sizes that a policy has at once.
    fn sizes_at_most(&self) -> u64 {
        let sizes = match &self.plan.sizes {
            Some(list) => list.bytes(1 << 40).map_or(1, |sizes| sizes.len()),
            None if self.plan.again => curves::sizes(1 << 40).len() + 1,
            None => curves::blind_sizes().len(),
        };
        sizes as u64
    }

    /// Memory that all caches take before anything comes.
    pub(super) fn least_expected(&self) -> u64 {
        let each: u64 = self.cells.iter().map(|cell| cell.choice.least_bytes()).sum();
        each.saturating_mul(self.sizes_at_most())
    }

    /// The same for an object, before anything was read.
    pub(super) fn expected(&self) -> u64 {
        let around = match (self.plan.ttl, self.plan.expired) {
            (None, _) => 0,
            (Some(_), Expired::Evict) => ENDS_BYTES,
            (Some(_), Expired::Free) => QUEUE_BYTES,
        };
        let gates: u64 = self.plan.admissions.iter().map(gate_bytes).sum();
        let engines = self.cells.iter().map(|cell| {
            let each = cell.choice.row().page_bytes.max(8) + around + gates;
            CHARGE_BYTES + each.saturating_mul(self.sizes_at_most())
        });
        let distances = if self.has_distances { DISTANCE_BYTES } else { 0 };
        let lifetimes = if self.plan.ttl.is_some() { LIFETIME_BYTES } else { 0 };
        KNOWN_BYTES + lifetimes + distances + engines.sum::<u64>()
    }
}

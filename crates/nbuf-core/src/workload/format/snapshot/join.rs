//! Gives the requests of a trace what a snapshot has of their keys.
//!
//! A size goes to the requests that have none; a time to live goes to the requests of keys for which the trace has
//! stated none so far. Invariant: each reading of the same trace gets the same.

use std::collections::HashSet;

use super::{Snapshot, bytes_of};
use crate::trace::Lifetime;
use crate::trace::request::{Op, Request};
use crate::units::table_bytes;
use crate::workload::format::hash::Hashes;

/// What the length of a request counts if the trace has no lengths at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Key and value.
    KeysAndValues,
    /// The value alone.
    Values,
}

/// What was joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Keys of the trace that the snapshot has.
    pub keys: u64,
    /// Those whose time to live is the one of the snapshot.
    pub lifetimes: u64,
    /// Keys of the trace that the snapshot does not have.
    pub missing_keys: u64,
    /// Requests for these of which the trace states no size either.
    pub unsized_requests: u64,
}

/// A snapshot, and what became of it.
#[derive(Clone, Debug)]
pub struct Join {
    snapshot: Snapshot,
    lengths: Lengths,
    missing: HashSet<u64, Hashes>,
    unsized_requests: u64,
    /// Whether this is the first reading of the trace.
    is_counted: bool,
}

impl Join {
    /// Ready for the first request.
    pub fn new(snapshot: Snapshot, lengths: Lengths) -> Self {
        let (missing, unsized_requests) = (HashSet::default(), 0);
        Self { snapshot, lengths, missing, unsized_requests, is_counted: true }
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Completes the next requests. `has_sizes` says whether the trace has lengths, in which case those are left alone
    /// that state one.
    pub fn join(&mut self, requests: &mut [Request], has_sizes: bool) {
        for request in requests {
            if matches!(request.op, Op::Discard | Op::Flush) {
                continue;
            }
            let is_unsized = !has_sizes || request.is_unsized;
            let Some(item) = self.snapshot.items.get_mut(&request.offset) else {
                if self.is_counted {
                    self.missing.insert(request.offset);
                    self.unsized_requests += u64::from(is_unsized);
                }
                continue;
            };
            item.is_used = true;
            if is_unsized {
                // A log has counted the key, if its format says so.
                let is_alone = has_sizes || self.lengths == Lengths::Values;
                let key_bytes = if is_alone { 0 } else { u64::from(item.key_bytes) };
                let more = item.value_bytes.saturating_add(key_bytes);
                request.length_bytes = request.length_bytes.saturating_add(more);
                request.is_unsized = false;
            }
            if request.lifetime != Lifetime::NONE {
                item.is_stated = true;
            } else if !item.is_stated {
                request.lifetime = item.lifetime;
            }
        }
    }

    /// The trace begins again.
    pub fn begin_again(&mut self) {
        self.is_counted = false;
        for item in self.snapshot.items.values_mut() {
            item.is_stated = false;
        }
    }

    /// Another trace begins.
    pub fn begin_another(&mut self) {
        self.is_counted = true;
        self.missing.clear();
        self.unsized_requests = 0;
        for item in self.snapshot.items.values_mut() {
            (item.is_used, item.is_stated) = (false, false);
        }
    }

    /// What was joined so far.
    pub fn joined(&self) -> Joined {
        let used = || self.snapshot.items.values().filter(|item| item.is_used);
        let has_lifetime = used().filter(|item| !item.is_stated && item.lifetime != Lifetime::NONE);
        Joined {
            keys: used().count() as u64,
            lifetimes: has_lifetime.count() as u64,
            missing_keys: self.missing.len() as u64,
            unsized_requests: self.unsized_requests,
        }
    }

    /// Memory in use, at the most.
    pub fn bytes(&self) -> u64 {
        let missing = table_bytes(self.missing.len() as u64, size_of::<u64>() as u64);
        bytes_of(&self.snapshot.items) + missing
    }
}

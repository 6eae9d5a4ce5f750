//! What a disc of a server is at, for those who ask.

use super::figures::Figures;
use super::tier::TierSnapshot;
use crate::cache::cached::{Counts, Measured, OtherSize, Settings};
use crate::cache::policy;
use crate::units::Nanos;

/// What a server is at.
#[derive(Clone, Debug)]
pub(crate) struct Snapshots {
    /// Connected clients, also those that have chosen no disc yet.
    pub(crate) clients: u64,
    /// Clients since the start.
    pub(crate) clients_ever: u64,
    /// Its discs.
    pub(crate) discs: Vec<Snapshot>,
}

/// What a disc of a server is at.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// What the cache counted.
    pub(crate) counts: Counts,
    /// What it costs, and how long its disc takes.
    pub(crate) measured: Measured,
    /// Hit rates, rates and service times.
    pub(crate) figures: Figures,
    /// Pages in the cache by equal pieces of the disc.
    pub(crate) places: Vec<u32>,
    /// Pages of a piece.
    pub(crate) place_pages: u64,
    /// Misses that twice the size would have had.
    pub(crate) would_hit_at_twice: u64,
    /// Look-ups and hits since others are followed.
    pub(crate) compared: (u64, u64),
    /// What other sizes and policies would give.
    pub(crate) others: Vec<OtherSize>,
    /// The policy.
    pub(crate) policy: policy::Choice,
    /// The pages that it may hold.
    pub(crate) settings: Settings,
    /// Whether it is aside, and how often that changed.
    pub(crate) aside: (bool, u64),
    /// The pages that it holds.
    pub(crate) used_pages: u64,
    /// Bytes that the disc does not have.
    pub(crate) owed_bytes: u64,
    /// The second tier, if there is one.
    pub(crate) tier: Option<TierSnapshot>,
    /// Connected clients.
    pub(crate) clients: u64,
    /// Clients since the start.
    pub(crate) clients_ever: u64,
    /// How long it runs.
    pub(crate) up: Nanos,
}

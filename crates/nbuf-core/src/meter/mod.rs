//! What is seen at the joints: accumulators that count and never look at the machine, and, apart
//! from them, probes that do.

pub(crate) mod activity;
#[cfg(feature = "capture")]
pub(crate) mod between_faults;
pub(crate) mod bins;
pub(crate) mod byte_depths;
pub(crate) mod byte_distance;
mod depth_counts;
mod depths;
pub(crate) mod distance;
#[cfg(feature = "capture")]
pub(crate) mod hashed;
#[cfg(feature = "capture")]
pub(crate) mod idle_split;
pub(crate) mod lists;
#[cfg(feature = "capture")]
pub(crate) mod long_stack;
pub(crate) mod map;
pub(crate) mod periods;
#[cfg(feature = "system")]
pub(crate) mod probe;
#[cfg(feature = "capture")]
pub(crate) mod profile;
pub(crate) mod residency;
pub(crate) mod sampled;
#[cfg(feature = "capture")]
pub(crate) mod segment;
pub(crate) mod service;
#[cfg(feature = "capture")]
pub(crate) mod shape;
pub(crate) mod split;
mod stack;
pub(crate) mod stall;
#[cfg(feature = "capture")]
pub(crate) mod steps;
pub(crate) mod times;
pub(crate) mod tracks;
#[cfg(feature = "capture")]
pub(crate) mod warm;

//! Meters that look at the machine.

pub(crate) mod ceiling;
pub(crate) mod contention;
#[cfg(feature = "capture")]
pub(crate) mod counts;
#[cfg(feature = "capture")]
pub(crate) mod disc_counts;
pub(crate) mod idle;
pub(crate) mod machine;
pub(crate) mod reference;
pub(crate) mod residency;
pub(crate) mod service;
pub(crate) mod sibling;
#[cfg(feature = "capture")]
pub(crate) mod tasks;
pub(crate) mod traffic;
pub(crate) mod turns;

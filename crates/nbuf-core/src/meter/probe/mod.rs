//! Meters that look at the machine.

pub(crate) mod ceiling;
pub(crate) mod contention;
pub(crate) mod idle;
pub(crate) mod machine;
pub(crate) mod residency;
pub(crate) mod service;
pub(crate) mod sibling;
pub(crate) mod traffic;
pub(crate) mod turns;

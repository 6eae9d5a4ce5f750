//! Meters that look at the machine.

pub mod ceiling;
pub mod contention;
pub mod idle;
pub mod machine;
pub mod residency;
pub mod service;
pub mod sibling;
pub mod traffic;
pub mod turns;

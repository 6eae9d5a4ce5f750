//! Meters that look at the machine.

pub mod residency;
pub mod service;
pub mod turns;

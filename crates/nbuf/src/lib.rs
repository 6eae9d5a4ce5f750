//! A WORKLOAD asks, through a PATH, a CACHE in front of a DISC; METERS sit on the joints; an
//! EXPERIMENT varies one of them.
//!
//! This is the library under the program `nbuf`; `ARCHITECTURE.md` is its map.

pub mod cache;
pub mod clock;
pub mod disc;
pub mod experiment;
pub mod meter;
pub mod path;
#[expect(unsafe_code, reason = "raw kernel calls live here and nowhere else")]
pub mod sys;
pub mod units;
pub mod workload;

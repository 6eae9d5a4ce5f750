//! Chores of the repository that are more than one line of shell.
//!
//! They are a library so that `cargo test` runs them too: a rule that only a person remembers to
//! run is no rule.

pub mod accuracy;
pub mod captures;
pub mod cost;
pub mod discs;
pub mod dist;
pub mod docs;
pub mod faults;
pub mod giant;
mod process;
pub mod semver;
pub mod served;
pub mod sqlite;
pub mod stores;
pub mod surface;
pub mod tidy;
pub mod truth;
pub mod vm;

//! Who remembers: replacement policies of one file each, caches that run, and the kernel's page cache.
//!
//! ```
//! use nbuf::cache::policy::POLICIES;
//!
//! assert!(POLICIES.iter().any(|row| row.name == "s3-fifo"));
//! ```

pub(crate) mod admission;
pub(crate) mod allocator;
pub mod cached;
pub(crate) mod engine;
mod frames;
mod heap;
pub(crate) mod interner;
pub(crate) mod journaled;
pub(crate) mod kernel;
pub mod keyed;
pub mod layer;
pub(crate) mod max_iv;
pub(crate) mod objects;
pub mod policy;
pub(crate) mod prefetch;
mod queue;
mod table;
pub(crate) mod tiered;

pub use keyed::{Cache, Eviction, Stats};

//! Who remembers: replacement policies of one file each, and the kernel's page cache.

pub mod engine;
pub mod front;
mod heap;
pub mod interner;
pub mod kernel;
pub mod max_iv;
pub mod policy;
mod queue;
mod table;

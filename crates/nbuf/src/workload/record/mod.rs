//! Recording a command: what it asks of the page cache, in the order it asked.

pub mod events;
mod identify;
pub mod log;
pub mod machine;
pub mod mounts;
pub mod names;
pub mod normalise;
pub mod perf;
pub mod recorder;
mod sizes;

//! Recording a command: what it asks of the page cache, in the order it asked.

pub mod events;
pub mod log;
pub mod machine;
pub mod mounts;
pub mod names;
pub mod perf;

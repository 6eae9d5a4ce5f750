//! Recording a command: what it asks of the page cache, in the order it asked.

pub mod log;

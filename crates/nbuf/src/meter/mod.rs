//! What is seen at the joints: accumulators that count and never look at the machine, and, apart
//! from them, probes that do.

pub mod bins;
mod depths;
pub mod distance;
pub mod lists;
pub mod map;
pub mod periods;
pub mod probe;
pub mod sampled;
pub mod service;
mod stack;
pub mod stall;
pub mod times;
pub mod tracks;

//! What is seen at the joints: accumulators that count and never look at the machine.

pub mod distance;
mod stack;

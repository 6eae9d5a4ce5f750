//! What is varied, and what came of it.

pub mod fills;
pub mod predict;
mod reason;
pub mod recommend;
pub mod result;
pub mod step;

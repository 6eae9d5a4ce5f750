//! What is varied, and what came of it.

mod reason;
pub mod recommend;
pub mod result;
pub mod step;

//! What is varied, and what came of it.

pub mod result;

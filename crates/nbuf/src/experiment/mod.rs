//! What is varied, and what came of it.

pub mod curve;
pub mod files;
pub mod fills;
pub mod predict;
mod reason;
pub mod recommend;
pub mod result;
pub mod size;
pub mod step;
mod survey;
pub mod time;
pub mod verify;

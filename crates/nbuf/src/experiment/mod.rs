//! What is varied, and what came of it.

mod aim;
pub mod bench;
mod cautions;
pub mod census;
pub mod compare;
pub mod curve;
mod falls;
pub mod files;
pub mod fills;
pub mod grid;
pub mod need;
pub mod ping;
pub mod predict;
pub mod readahead;
mod reason;
pub mod recommend;
pub mod replay;
pub mod result;
pub mod size;
pub mod statistics;
pub mod step;
mod survey;
pub mod sweep;
pub mod target;
pub mod time;
pub mod verify;

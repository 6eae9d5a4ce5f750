//! What is varied, and what came of it.
//!
//! ```
//! use nbuf::experiment::result::SweepDocument;
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::{document, sweep};
//!
//! // Every verb takes a spec and a session, and returns a document.
//! let spec = sweep::Spec {
//!     parameter: "n=1,2".parse()?,
//!     prepare: None,
//!     samples: 2,
//!     command: vec!["test".into(), "{n}".into()],
//! };
//! let made = sweep::run(&spec, &mut Session::new(&()))?;
//! let json = document::write(&made)?;
//! assert_eq!(document::read::<SweepDocument>(json.as_bytes())?, made);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(all(feature = "capture", feature = "paths"))]
pub mod bench;
#[cfg(feature = "capture")]
pub mod capture;
pub(crate) mod census;
#[cfg(feature = "capture")]
mod child;
mod cliff;
pub mod compare;
#[cfg(all(feature = "capture", feature = "paths"))]
pub mod course;
#[cfg(feature = "capture")]
pub mod curve;
#[cfg(feature = "capture")]
pub mod demo;
#[cfg(feature = "capture")]
pub mod distances;
#[cfg(feature = "capture")]
pub mod doctor;
pub mod document;
mod files;
#[cfg(feature = "capture")]
pub(crate) mod fills;
#[cfg(feature = "capture")]
pub mod fleet;
mod for_target;
pub mod grid;
mod hull;
#[cfg(feature = "system")]
pub mod image;
#[cfg(feature = "capture")]
mod joined;
#[cfg(feature = "capture")]
mod left_out;
#[cfg(feature = "capture")]
pub mod live;
pub mod load;
#[cfg(feature = "capture")]
pub mod memory;
pub(crate) mod need;
#[cfg(feature = "capture")]
pub mod notice;
#[cfg(feature = "capture")]
mod objects;
#[cfg(feature = "capture")]
pub mod output;
#[cfg(all(feature = "capture", feature = "paths"))]
pub mod ping;
pub(crate) mod predict;
pub(crate) mod readahead;
mod reason;
mod recommend;
#[cfg(feature = "capture")]
pub mod record;
pub mod replay;
pub mod result;
#[cfg(feature = "capture")]
pub mod run;
mod search;
#[cfg(feature = "capture")]
mod seconds;
mod self_sizing;
#[cfg(all(feature = "capture", feature = "paths"))]
pub mod serve;
#[cfg(feature = "capture")]
pub mod session;
#[cfg(feature = "capture")]
pub mod shell;
pub mod size;
#[cfg(feature = "capture")]
pub mod start;
mod statistics;
mod survey;
pub mod sweep;
pub mod target;
mod time;
#[cfg(feature = "capture")]
pub mod trace;
#[cfg(feature = "capture")]
pub(crate) mod verify;
pub mod warning;
mod warnings;
#[cfg(feature = "capture")]
pub mod watch;
#[cfg(feature = "capture")]
mod words;

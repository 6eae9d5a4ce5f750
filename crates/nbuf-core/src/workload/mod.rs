//! Who asks: commands, recorded traces and the formats they are kept in.
//!
//! ```
//! use nbuf::workload::synthetic::{Keys, Pattern};
//!
//! let keys: Vec<u64> = Keys::new(Pattern::Loop, 3, 0).take(5).collect();
//! assert_eq!(keys, [0, 1, 2, 0, 1]);
//! ```

pub(crate) mod anonymize;
#[cfg(feature = "capture")]
pub(crate) mod command;
pub(crate) mod convert;
pub mod format;
#[cfg(feature = "capture")]
pub(crate) mod observe;
pub(crate) mod pages;
pub(crate) mod partition;
pub(crate) mod process;
pub(crate) mod ranges;
#[cfg(feature = "capture")]
pub(crate) mod record;
#[cfg(feature = "system")]
pub mod source;
pub mod synthetic;
pub(crate) mod within;

//! The paths of this machine, measured without error: `nbuf bench`.
//!
//! A `table` of tests names paths, patterns and states. Each is run in fresh processes, which [`serve`]
//! runs in; samples are short, and those in which something else had the processor are set aside and
//! counted. What the kernel says was done is held against the label
//! (`label_check`). Two ways are compared by pairs of fresh processes in turn, next to the noise floor of the
//! same run (`pair`); two documents by the ranks of their processes ([`compare`]).
//!
//! ```
//! use nbuf::experiment::bench::{self, Group, Spec};
//!
//! // The tests of the course, without comparisons.
//! let spec = Spec { groups: vec![Group::Cs61], only_rows: true, ..Spec::default() };
//! assert_eq!(bench::course().len(), 26);
//! # assert!(spec.tests.is_empty());
//! ```

pub mod advise;
mod bound;
mod check;
mod child;
mod clean;
mod compare;
mod comparisons;
mod cost_estimate;
mod cs61;
mod error;
mod history;
mod label_check;
mod measure;
mod model;
mod pages;
mod pair;
mod pattern_text;
mod pattern_trace;
mod plan;
mod process;
mod rows;
mod run;
mod select;
mod spec;
mod table;
mod test_files;

pub use child::serve;
pub use compare::{Compared, Moved, compare, moved, open as open_documents};
pub use error::Error;
pub use model::PROCESSES as MODEL_PROCESSES;
pub use pattern_text::{AccessPattern, PatternError};
pub use run::run;
pub use select::all as all_tests;
pub use spec::{Group, Spec};
pub use table::{Layout, Test, course};

/// The argument with which a program that runs this is started as a process of a test: it calls [`serve`]
/// then.
pub const CHILD: &str = "bench-child";

/// The stage of all measurements.
const MEASURING: &str = "measures";

/// The names of all paths.
pub fn path_names() -> impl Iterator<Item = &'static str> {
    crate::path::PATHS.iter().map(|row| row.name)
}

//! What can be done with traces: each verb a module with its `run`.
//!
//! Every reading reports its progress to the session. What could not be read is in the
//! [`TraceReading`] of the document.
//!
//! ```
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::trace::{Inputs, generate, stat};
//!
//! let directory = tempfile::tempdir()?;
//! let output = directory.path().join("loop.oracleGeneral");
//! let spec = generate::Spec { count: 1000, keys: 10, ..generate::Spec::of(&output) };
//! generate::run(&spec, &mut Session::new(&()))?;
//! let inputs = Inputs { paths: vec![output], ..Inputs::default() };
//! let stat = stat::run(&stat::Spec::of(inputs), &mut Session::new(&()))?;
//! assert_eq!(stat.census.requests, 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod anonymize;
pub mod convert;
mod error;
pub mod generate;
pub mod head;
mod inputs;
pub mod recover;
pub mod stat;

pub use crate::trace::request::{Op, Request, Unit};
pub use crate::workload::format::{FORMATS, Format, Parameters};
pub use crate::workload::source::input_name;
pub use error::Error;
pub use inputs::Inputs;

use super::result::TraceReading;
use super::session::Session;
use crate::workload::source::{self, ObjectError};

/// The names of objects that a name with `*`, `?` or `[` matches, or this name alone; nothing for a path. Asks a store
/// only for a pattern, until the session is over.
///
/// # Errors
/// Those of the store, that nothing matches, and that the session was over before.
pub fn expand(name: &str, session: &Session<'_>) -> Result<Option<Vec<String>>, ObjectError> {
    source::expand(name, &session.cancellation.token())
}

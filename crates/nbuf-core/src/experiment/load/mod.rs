//! Many users at once: response against users, and the number of users from which queues begin.
//!
//! [`Script`] is who the users are. `run` makes a step for each number of users.
//!
//! ```
//! use nbuf::experiment::load::Script;
//!
//! let script = Script::parse(
//!     r#"
//!     [[class]]
//!     name = "shell"
//!     think = { kind = "exponential", mean_seconds = 0.2 }
//!     command = [{ run = ["ls", "-l"] }]
//!     "#,
//! )?;
//! assert_eq!(script.classes.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "capture")]
mod bounds;
#[cfg(feature = "capture")]
mod charge;
#[cfg(feature = "capture")]
mod condition;
#[cfg(feature = "capture")]
mod costs;
#[cfg(feature = "capture")]
mod draft;
#[cfg(feature = "capture")]
mod error;
#[cfg(feature = "capture")]
mod gauge;
#[cfg(feature = "capture")]
pub mod history;
#[cfg(feature = "capture")]
mod label;
#[cfg(feature = "capture")]
mod limit;
#[cfg(feature = "capture")]
mod lines;
#[cfg(feature = "capture")]
mod meters;
#[cfg(feature = "capture")]
mod notes;
#[cfg(feature = "capture")]
mod open;
#[cfg(feature = "capture")]
mod places;
#[cfg(feature = "capture")]
mod plan;
#[cfg(feature = "capture")]
mod price;
#[cfg(feature = "capture")]
mod recorded;
#[cfg(feature = "capture")]
mod request;
#[cfg(feature = "capture")]
mod rows;
#[cfg(feature = "capture")]
mod run;
mod script;
#[cfg(feature = "capture")]
mod servers;
#[cfg(feature = "capture")]
mod step;
#[cfg(feature = "capture")]
mod stop;
#[cfg(feature = "capture")]
mod usage;
#[cfg(feature = "capture")]
mod user;
#[cfg(feature = "capture")]
mod warm_up;
#[cfg(feature = "capture")]
mod working_set;

#[cfg(feature = "capture")]
pub use draft::{Draft, DraftError};
#[cfg(feature = "capture")]
pub use error::Error;
#[cfg(feature = "capture")]
pub use open::{OpenError, draft, open};
#[cfg(feature = "capture")]
pub use price::PriceError;
#[cfg(feature = "capture")]
pub use run::{Spec, USERS_MAX, run};
pub use script::{Action, Arrivals, Class, Script, ScriptError, Server, Think, What};

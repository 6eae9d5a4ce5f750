//! Users of the MAX-IV Tools typing commands, as V. Jacobson describes them.
//!
//! A command: the shell reads the search path, looks into its directories, writes the arguments to `:AR`,
//! and is written out itself (a spawn: 64K words). The tool is loaded (a sector, and 40 kB in one read),
//! reads `:AR` and `:VA`, a file that its user works at, and one that no process has read for long; some
//! commands are two tools with a pipe between, some write `:VA` again. Then the shell is read back. Opening
//! a file reads two sectors for each name in its path, and the file's own links; a file that was written
//! is ended with an EOF.
//!
//! What was fitted ([`PARAMETERS`] says it of each number): how many files of which size a command reads, so
//! that 30 % of the requests hit in 256 sectors, 65 to 75 % in 512 and no more in 768, that 70 % of the misses
//! are reads, and that about a third of the sectors in the cache are of the management space. What followed:
//! that one user alone is served by half the cache, and that the admission filter hurts. Hash lists were
//! scored with the rest, and hardly moved. What could not be had together with these: the paper's files of 4 to 6 sectors on average. With
//! 8 to 10 accesses to open each, more than 60 % of the requests would go to the management space, and
//! no 70 % of the sectors in an LRU cache would be from elsewhere. Here a use of a file is of about 8 sectors.
//!
//! V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, Lawrence Berkeley Laboratory 1982. Deterministic by the
//! seed; the memory of a user is the steps of one command.
//!
//! ```
//! use nbuf::workload::synthetic::tools::{Parameters, users};
//!
//! let parameters = Parameters { users: 4, ..Parameters::DEFAULT };
//! let (_layout, users) = users(parameters, 300 << 20)?;
//! assert_eq!(users.len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod layout;
mod parameters;
#[cfg(test)]
mod tests;
mod user;

pub use layout::{DiscTooSmall, Layout, SECTOR_BYTES, TRACK_SECTORS};
pub use parameters::{PARAMETERS, Parameter, ParameterError, Parameters};
pub use user::User;

/// The users, and where their files are, on a disc of this size.
pub fn users(parameters: Parameters, size_bytes: u64) -> Result<(Layout, Vec<User>), DiscTooSmall> {
    let layout = Layout::new(&parameters, size_bytes)?;
    let users = (0..parameters.users).map(|number| User::new(parameters, layout, number)).collect();
    Ok((layout, users))
}

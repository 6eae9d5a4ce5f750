//! The paths of this machine, measured so that nobody is fooled: `nbuf bench`.
//!
//! A [`table`] of tests names paths, patterns and states. Each is run in fresh processes, a
//! [`child`] each, under a [`watch`]; samples are short, and those in which something else had the
//! processor are set aside and counted. What the kernel says was done is held against the label
//! ([`proof`]). Two ways are compared by pairs of fresh processes in turn, beside the noise floor of the
//! same run ([`pair`]); two documents by the ranks of their processes ([`compare`]).

pub mod advise;
pub mod asked;
mod check;
pub mod child;
mod clean;
pub mod compare;
mod cs61;
pub mod measure;
pub mod model;
pub mod observed;
mod pages;
pub mod pair;
pub mod place;
pub mod plan;
pub mod price;
pub mod proof;
pub mod rows;
pub mod session;
pub mod table;
pub mod versus;
pub mod watch;

use std::io;
use std::path::{Path, PathBuf};

use crate::units::Bytes;

/// Why nothing can be measured at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no place for the files.
    #[error("no files can be made in {} ({cause}); give another directory with --dir", .directory.display())]
    Directory {
        /// Where.
        directory: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
    /// There is no room for them.
    #[error("no room for {size} in {}; give a smaller --size, or another directory with --dir", .directory.display())]
    Full {
        /// Where.
        directory: PathBuf,
        /// How large.
        size: Bytes,
    },
    /// A file that was made is lost.
    #[error(
        "a file of the tests cannot be written again ({0}); run it again, or elsewhere with --dir"
    )]
    File(#[source] io::Error),
    /// A child cannot be started or heard.
    #[error("a process for a test cannot be run ({0}); try again when the machine has room")]
    Child(#[source] io::Error),
    /// Somebody pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The time is over that the run was given.
    #[error("the time of the run is over")]
    Late,
}

impl Error {
    fn of_directory(directory: &Path, size_bytes: u64, cause: io::Error) -> Self {
        let directory = directory.to_owned();
        if place::is_full(&cause) {
            Self::Full { directory, size: Bytes(size_bytes) }
        } else {
            Self::Directory { directory, cause }
        }
    }
}

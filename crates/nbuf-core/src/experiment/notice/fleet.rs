//! What the plan of a fleet reports, and its words.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use crate::units::count;

/// Something of a plan that is good to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FleetNotice<'a> {
    /// The plan is made.
    Planned {
        /// Its tasks.
        tasks: usize,
        /// The file that has them.
        path: &'a Path,
    },
    /// Files of directories are of no known format.
    UnknownFormat {
        /// How many.
        files: usize,
        /// One of them.
        first: &'a Path,
    },
    /// Other inputs name the same files.
    NamedTwice {
        /// How many.
        files: usize,
        /// One of them.
        first: &'a Path,
    },
}

impl Display for FleetNotice<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (files, first, why) = match self {
            Self::Planned { tasks, path } => {
                let tasks = count(*tasks as u64, "task", "tasks");
                return write!(f, "planned {tasks} in {}", path.display());
            }
            Self::UnknownFormat { files, first } => (files, first, "of no known format"),
            Self::NamedTwice { files, first } => (files, first, "that other inputs name too"),
        };
        let files = count(*files as u64, "file", "files");
        write!(f, "left out {files} {why}, such as {}", first.display())
    }
}

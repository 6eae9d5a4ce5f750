//! Why nothing can be measured.

use std::io;
use std::path::{Path, PathBuf};

use super::test_files;
use crate::experiment::child::ChildError;
use crate::experiment::document::OpenError;
use crate::sys::input::Refused;
use crate::units::Bytes;

/// Why nothing can be measured at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No signal can end the experiment.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// No test has this name.
    #[error("no test is called `{0}`; `nbuf bench --list` has their names")]
    NoTest(String),
    /// The file to be read cannot be opened.
    #[error(transparent)]
    Input(#[from] Refused),
    /// It cannot be used.
    #[error("cannot use {} with --file", .path.display())]
    Lent {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is a directory or a device.
    #[error("{} is no regular file; give one with --file", .0.display())]
    NotRegular(PathBuf),
    /// It cannot be cold.
    #[error("{} is smaller than a page; give a larger one with --file", .0.display())]
    Small(PathBuf),
    /// A test writes to it.
    #[error("{0} writes, and --file is only read; leave it out")]
    WritesToLent(String),
    /// It has fewer bytes than the spec.
    #[error("--size is more than the {0} bytes of --file; give less")]
    LargerThanLent(u64),
    /// A block does not fit into the files.
    #[error("{test} has blocks of {block_bytes} bytes; give a larger --size")]
    Block {
        /// The test.
        test: String,
        /// Its block.
        block_bytes: u64,
    },
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
        "cannot write a test file again ({0}); run again, or give another directory with --dir"
    )]
    File(#[source] io::Error),
    /// A child cannot be started or read from.
    #[error(
        "cannot run the process of a test ({0}); free memory or raise `ulimit -u`, and run again"
    )]
    Child(#[source] io::Error),
    /// The observer could not take a sample.
    #[error(transparent)]
    Observer(io::Error),
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
    /// The time is over that the run was given.
    #[error("the time of the run is over")]
    Late,
    /// There is no document to compare.
    #[error(transparent)]
    Document(#[from] OpenError),
    /// Two rows were measured through different C libraries, whose calls and buffers differ.
    #[error(
        "{} was measured with {a_library} and {} with {b_library}: libraries differ in calls and buffers; \
         measure both with one library",
        .a.display(),
        .b.display()
    )]
    Libraries {
        /// The document of one row.
        a: PathBuf,
        /// Its library.
        a_library: String,
        /// The document of the other row.
        b: PathBuf,
        /// Its library.
        b_library: String,
    },
}

impl Error {
    /// Whether the command line alone is wrong, whatever the files are.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::NoTest(_) | Self::WritesToLent(_))
    }
}

impl Error {
    pub(super) fn of_directory(directory: &Path, size_bytes: u64, cause: io::Error) -> Self {
        let directory = directory.to_owned();
        if test_files::is_full(&cause) {
            Self::Full { directory, size: Bytes(size_bytes) }
        } else {
            Self::Directory { directory, cause }
        }
    }
}

impl From<ChildError> for Error {
    fn from(error: ChildError) -> Self {
        match error {
            ChildError::Start(error) | ChildError::Read(error) => Self::Child(error),
        }
    }
}

//! Why a program of the course moved nothing, or not all.

use std::io;
use std::path::PathBuf;

use crate::path::{overwrite_guard, pattern};
use crate::sys::input::Refused;

/// Why nothing was moved, or not all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing can be moved so.
    #[error("cannot use these -n, -b and -s")]
    Pattern(#[from] pattern::Error),
    /// A block is larger than any buffer.
    #[error("-b {block_bytes} is too large for one call; give at most {most}")]
    Block {
        /// The block.
        block_bytes: u64,
        /// The largest.
        most: u64,
    },
    /// No signal can end the writing.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// The file must not be overwritten, or cannot be made.
    #[error("cannot write {}", .path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        source: overwrite_guard::Error,
    },
    /// The new file cannot be opened.
    #[error("cannot write {}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Not all could be written.
    #[error("cannot write {}; {}; make room or name another", .path.display(), left(*.replaces))]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// Whether there was a file of this name.
        replaces: bool,
        /// What the kernel said.
        source: crate::path::Error,
    },
    /// There is no such file.
    #[error("cannot read {}; write it with `nbuf writer` first", .path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is a directory or a device.
    #[error("cannot read {}: it is no regular file; name one", .0.display())]
    NotRegular(PathBuf),
    /// It has too few bytes.
    #[error(
        "{} has {has} bytes, and the test needs {wants}; write more with `nbuf writer`, or give -n {has}",
        .path.display()
    )]
    Short {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        has: u64,
        /// Those to be moved.
        wants: u64,
    },
    /// It cannot be opened.
    #[error("cannot read {}; name a file that you may read", .path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Refused,
    },
    /// Not all could be read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: crate::path::Error,
    },
    /// Not all could be mapped.
    #[error("cannot map {}", .path.display())]
    Map {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: crate::path::Error,
    },
    /// The observer could not take what was moved.
    #[error(transparent)]
    Observer(io::Error),
    /// A signal ended it.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
}

impl Error {
    /// Whether the command line alone is wrong, whatever the files are.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Pattern(_) | Self::Block { .. })
    }
}

/// What is left of a file that was not written.
fn left(replaces: bool) -> &'static str {
    if replaces { "it is as it was" } else { "it was not made" }
}

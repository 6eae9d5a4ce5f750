//! Why a file was not written.

use std::io;
use std::path::PathBuf;

use super::Cause;

/// Why a file was not written. `option` is what gave its name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The name is `-`.
    #[error(
        "cannot write this to standard output; name a file with {option} (./- for one named -)"
    )]
    Standard {
        /// What gave the name.
        option: &'static str,
    },
    /// The name is one of a directory.
    #[error("{} is the name of a directory; name a file with {option}", .path.display())]
    Directory {
        /// The name.
        path: PathBuf,
        /// What gave it.
        option: &'static str,
    },
    /// No file can be made there.
    #[error("cannot write {}: {cause}; give another place with {option}", .path.display())]
    Refused {
        /// The name.
        path: PathBuf,
        /// What gave it.
        option: &'static str,
        /// The answer of the kernel.
        cause: io::Error,
    },
    /// Something has the name.
    #[error("{} exists; move it away or give another name with {option}", .path.display())]
    Taken {
        /// The name.
        path: PathBuf,
        /// What gave it.
        option: &'static str,
    },
    /// Whether something has the name cannot be seen.
    #[error("cannot write {}: {cause}; give another place with {option}", .path.display())]
    Unseen {
        /// The name.
        path: PathBuf,
        /// What gave it.
        option: &'static str,
        /// The answer of the kernel.
        cause: io::Error,
    },
    /// The descriptor of that name is not open.
    #[error("{} is not open ({cause}); name a file with {option}", .path.display())]
    Closed {
        /// The name.
        path: PathBuf,
        /// What gave it.
        option: &'static str,
        /// The answer of the kernel.
        cause: io::Error,
    },
    /// Another program took the name meanwhile.
    #[error(
        "{} was created by another program meanwhile; give another name with {option}",
        .path.display()
    )]
    Lost {
        /// The name.
        path: PathBuf,
        /// What gave it.
        option: &'static str,
    },
    /// The file cannot be written.
    #[error(
        "cannot write {}; make room, or give another place with {option}",
        .path.display()
    )]
    Full {
        /// The name.
        path: PathBuf,
        /// What gave it.
        option: &'static str,
        /// What went wrong.
        source: Cause,
    },
    /// A file without a name, or a descriptor, cannot be written.
    #[error(transparent)]
    Write(Cause),
    /// There is no directory for a dated name.
    #[error("there is no home directory to keep the trace in; say where with -o")]
    NoHome,
    /// The directory for a dated name cannot be made.
    #[error("cannot make {}; say where with -o", .directory.display())]
    Unmade {
        /// The directory.
        directory: PathBuf,
        /// The answer of the kernel.
        source: io::Error,
    },
    /// All dated names are taken.
    #[error("all dated names for a trace are taken; name one with -o")]
    NoName,
    /// Anything else that the kernel refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

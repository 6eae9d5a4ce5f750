//! The files of a server: the disc, and the socket where none is named.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Why a file cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DiscFileError {
    /// It is a device, a folder or a pipe.
    #[error("{path} is not a regular file: give the image of a disc")]
    NotAFile {
        /// Its name.
        path: String,
    },
    /// It is empty.
    #[error("{path} is empty: make it as large as the disc with `truncate -s SIZE {path}`")]
    Empty {
        /// Its name.
        path: String,
    },
    /// Another program has locked it.
    #[error("{path} is locked by another server: stop that one first")]
    Locked {
        /// Its name.
        path: String,
    },
    /// The kernel refused a call.
    #[error("cannot use the disc {path}: {error}; {}", advice(error))]
    Kernel {
        /// Its name.
        path: String,
        /// The kernel's error.
        error: io::Error,
    },
}

/// What to do about a disc that the kernel refuses.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "correct its name, or make it with `truncate -s SIZE PATH`",
        io::ErrorKind::PermissionDenied => {
            "serve it as its owner, or with --read-only if you may read it"
        }
        _ => "look at its file system, or give another disc",
    }
}

/// Opens the image of a disc, and locks it until it is closed: for others too if it is only read. The file, and
/// its size.
pub(crate) fn open(path: &Path, is_read_only: bool) -> Result<(File, u64), DiscFileError> {
    let name = || path.display().to_string();
    let kernel = |error| DiscFileError::Kernel { path: name(), error };
    // A pipe without a writer would be waited for.
    if !std::fs::metadata(path).map_err(kernel)?.is_file() {
        return Err(DiscFileError::NotAFile { path: name() });
    }
    let file = OpenOptions::new().read(true).write(!is_read_only).open(path).map_err(kernel)?;
    let found = file.metadata().map_err(kernel)?;
    if !found.is_file() {
        return Err(DiscFileError::NotAFile { path: name() });
    }
    if found.len() == 0 {
        return Err(DiscFileError::Empty { path: name() });
    }
    let operation = if is_read_only {
        FlockOperation::NonBlockingLockShared
    } else {
        FlockOperation::NonBlockingLockExclusive
    };
    match flock(&file, operation) {
        Ok(()) => Ok((file, found.len())),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(DiscFileError::Locked { path: name() }),
        Err(error) => Err(kernel(error.into())),
    }
}

/// The size of the image of a disc, which is opened to be read and is not locked.
pub(crate) fn look(path: &Path) -> Result<u64, DiscFileError> {
    let name = || path.display().to_string();
    let kernel = |error| DiscFileError::Kernel { path: name(), error };
    if !std::fs::metadata(path).map_err(kernel)?.is_file() {
        return Err(DiscFileError::NotAFile { path: name() });
    }
    match File::open(path).and_then(|file| file.metadata()).map_err(kernel)?.len() {
        0 => Err(DiscFileError::Empty { path: name() }),
        length => Ok(length),
    }
}

/// A socket for a disc in a directory of the user alone: the same one each time, so that one that a killed
/// server left behind is found and replaced.
pub(crate) fn default_socket(disc: &str) -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let folder = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) => PathBuf::from(folder).join("nbuf"),
        None => std::env::temp_dir().join(format!("nbuf-{user}")),
    };
    match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        let folder = folder.display();
        let what = format!("{folder} is not a directory of this user alone: give --socket");
        return Err(io::Error::other(what));
    }
    // Discs of the same name in other folders have other sockets.
    let sum = disc.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    Ok(folder.join(format!("{sum:016x}.sock")))
}

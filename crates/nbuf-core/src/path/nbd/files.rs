//! The files of a server: the disc, and the socket where none is named.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};

use super::super::direct::unit_of;
use crate::disc::direct::SLOT_BYTES;
use crate::sys::{block_device, files};

/// Why a file or a device cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DiscFileError {
    /// It is a folder, a pipe or a device of characters.
    #[error(
        "{path} is neither a regular file nor a block device: give the image of a disc, or a disc"
    )]
    NotADisc {
        /// Its name.
        path: String,
    },
    /// It is empty.
    #[error("{path} is empty: make it as large as the disc with `truncate -s SIZE {path}`")]
    Empty {
        /// Its name.
        path: String,
    },
    /// It is a device without a medium.
    #[error("{path} has no bytes: put a medium in, or set the device up")]
    NoMedium {
        /// Its name.
        path: String,
    },
    /// Another program has locked it.
    #[error("{path} is locked by another server: stop that one first")]
    Locked {
        /// Its name.
        path: String,
    },
    /// The device is mounted, or another program has it for itself.
    #[error(
        "{path} is mounted or in use by another program: unmount it first (`lsblk {path}` shows where it is)"
    )]
    InUse {
        /// Its name.
        path: String,
    },
    /// The device refuses writes.
    #[error("{path} is a device that cannot be written: add --read-only")]
    ReadOnly {
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

/// How often a lock or a device is asked for that another program has for a moment, as `udev` has.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(30);

/// Opens the image of a disc, or a block device, and locks it until it is closed: for others too if it is only read.
/// Nothing else can mount or claim a device meanwhile that is written. The file, and its size.
pub(crate) fn open(path: &Path, is_read_only: bool) -> Result<(File, u64), DiscFileError> {
    let name = || path.display().to_string();
    let kernel = |error| DiscFileError::Kernel { path: name(), error };
    let is_device = is_device(path, std::fs::metadata(path))?;
    let open = |exclusive: libc::c_int| {
        let mut options = OpenOptions::new();
        options.read(true).write(!is_read_only).custom_flags(exclusive);
        options.open(path)
    };
    let file = if is_device {
        let claimed =
            again(|| open(libc::O_EXCL), |error| error.raw_os_error() == Some(libc::EBUSY));
        let claimed = claimed.map_err(|error| match error.raw_os_error() {
            Some(libc::EBUSY) => DiscFileError::InUse { path: name() },
            _ => kernel(error),
        })?;
        if !is_read_only && block_device::is_read_only(&claimed).map_err(kernel)? {
            return Err(DiscFileError::ReadOnly { path: name() });
        }
        // Several servers may read: none of them keeps it for itself.
        if is_read_only { open(0).map_err(kernel)? } else { claimed }
    } else {
        open(0).map_err(kernel)?
    };
    let bytes = size_bytes(path, &file)?;
    let operation = if is_read_only {
        FlockOperation::NonBlockingLockShared
    } else {
        FlockOperation::NonBlockingLockExclusive
    };
    // Only devices are locked by others for a moment.
    let is_short = |error: &rustix::io::Errno| is_device && *error == rustix::io::Errno::WOULDBLOCK;
    match again(|| flock(&file, operation), is_short) {
        Ok(()) => Ok((file, bytes)),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(DiscFileError::Locked { path: name() }),
        Err(error) => Err(kernel(error.into())),
    }
}

/// The same file once more without the page cache, and its unit: places, lengths and memory are multiples.
///
/// # Errors
/// `EINVAL` where the file system has nothing but its cache, and others of the kernel.
pub(super) fn without_cache(file: &File, is_read_only: bool) -> io::Result<(File, u64)> {
    let access = if is_read_only { OFlags::RDONLY } else { OFlags::RDWR };
    let direct = File::from(files::reopen(file, access | OFlags::DIRECT)?);
    let unit_bytes = unit_of(&direct)?;
    if unit_bytes > SLOT_BYTES as u64 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    Ok((direct, unit_bytes))
}

/// Asks again while the answer is an error that may be over soon.
fn again<T, E>(ask: impl Fn() -> Result<T, E>, may_end: impl Fn(&E) -> bool) -> Result<T, E> {
    for _ in 1..TRIES {
        match ask() {
            Err(error) if may_end(&error) => std::thread::sleep(PAUSE),
            answer => return answer,
        }
    }
    ask()
}

/// Opens the image of a disc, or a device, to be read, and neither locks nor claims it. The file, and its size.
pub(crate) fn look(path: &Path) -> Result<(File, u64), DiscFileError> {
    let kernel = |error| DiscFileError::Kernel { path: path.display().to_string(), error };
    is_device(path, std::fs::metadata(path))?;
    let file = File::open(path).map_err(kernel)?;
    let bytes = size_bytes(path, &file)?;
    Ok((file, bytes))
}

/// Whether it is a block device; a pipe without a writer would be waited for, so that it is not opened.
fn is_device(path: &Path, found: io::Result<Metadata>) -> Result<bool, DiscFileError> {
    let name = || path.display().to_string();
    let found = found.map_err(|error| DiscFileError::Kernel { path: name(), error })?;
    match found.file_type() {
        kind if kind.is_block_device() => Ok(true),
        kind if kind.is_file() => Ok(false),
        _ => Err(DiscFileError::NotADisc { path: name() }),
    }
}

/// The size of what was opened, which may be another file than the one that had the name before.
fn size_bytes(path: &Path, file: &File) -> Result<u64, DiscFileError> {
    let name = || path.display().to_string();
    let kernel = |error| DiscFileError::Kernel { path: name(), error };
    if is_device(path, file.metadata())? {
        return match block_device::size_bytes(file).map_err(kernel)? {
            0 => Err(DiscFileError::NoMedium { path: name() }),
            bytes => Ok(bytes),
        };
    }
    match file.metadata().map_err(kernel)?.len() {
        0 => Err(DiscFileError::Empty { path: name() }),
        bytes => Ok(bytes),
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

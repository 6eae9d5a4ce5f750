//! How a cached file is opened: by a name, without a name, from a descriptor.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, fcntl_getfl, flock};

use super::CachedFile;
use crate::cache::cached::{Cached, PAGE_BYTES_MAX, PAGE_BYTES_MIN, Settings, Writes};
use crate::cache::policy::Choice;
use crate::clock::Stopwatch;
use crate::disc::pool::Pool;
use crate::sys::files::{self, Place};

/// How a file is opened.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of the cache; requests under way and numbers of pages are not part of it.
    pub cache_bytes: u64,
    /// Bytes of a page, the unit that is read and evicted: a power of two from 512 to 32 KiB.
    pub page_bytes: u32,
    /// When a write is in the file. Back: a flush, a sync or the cache decides.
    pub writes: Writes,
    /// What is evicted; any policy but `opt`, which needs the future.
    pub policy: Choice,
    /// Whether the file is only read.
    pub is_read_only: bool,
    /// Whether a file is made where there is none.
    pub creates: bool,
    /// Whether others are refused: all, or for a file that is only read, those that write.
    pub locks: bool,
    /// Requests to the file at once.
    pub threads: usize,
}

impl Default for Options {
    /// A cache of 64 MiB with S3-FIFO that writes back, and a lock.
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            page_bytes: 4096,
            writes: Writes::Back,
            policy: "s3-fifo".parse().expect("a row of the table"),
            is_read_only: false,
            creates: false,
            locks: true,
            threads: 4,
        }
    }
}

/// Why a file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is a device, a folder or a pipe.
    #[error("{name} is not a regular file: give the name of a file")]
    NotAFile {
        /// Its name.
        name: String,
    },
    /// Another handle has locked it.
    #[error(
        "{name} is locked by another program or handle: close that one, or open with `locks: false`, which may read old bytes"
    )]
    Locked {
        /// Its name.
        name: String,
    },
    /// A descriptor that cannot be used at any offset.
    #[error(
        "{name} is open to append, with O_DIRECT or only to be written: open it to be read and written, without those"
    )]
    Mode {
        /// What it is.
        name: String,
    },
    /// The options do not make a cache.
    #[error("{what}")]
    Options {
        /// What is wrong and what to do.
        what: String,
    },
    /// The kernel refused a call.
    #[error("{name}: {error}")]
    Kernel {
        /// The file's name.
        name: String,
        /// The kernel's error.
        error: io::Error,
    },
}

impl CachedFile {
    /// Opens a regular file.
    pub fn open(path: &Path, options: &Options) -> Result<Self, OpenError> {
        let name = path.display().to_string();
        let access = if options.is_read_only { OFlags::RDONLY } else { OFlags::RDWR };
        let (creates, mode) = if options.creates {
            (OFlags::CREATE, Mode::from_raw_mode(0o666))
        } else {
            (OFlags::empty(), Mode::empty())
        };
        // A pipe without a writer would be waited for.
        let flags = access | creates | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = Place::of(path)
            .and_then(|place| files::open(place.directory(), Path::new(place.name()), flags, mode));
        match opened {
            Ok(file) => Self::over(file, name, options),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                Err(OpenError::NotAFile { name })
            }
            Err(error) => Err(OpenError::Kernel { name, error }),
        }
    }

    /// Makes a file without a name (`O_TMPFILE`) on the file system of a directory. It is gone when its last
    /// descriptor is closed, however the program ends.
    pub fn temporary(directory: &Path, options: &Options) -> Result<Self, OpenError> {
        let name = format!("a file without a name in {}", directory.display());
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let opened = files::directory(directory)
            .and_then(|at| files::open(at, Path::new("."), flags, Mode::RUSR | Mode::WUSR));
        match opened {
            Ok(file) => Self::over(file, name, &Options { is_read_only: false, ..*options }),
            Err(error) => Err(OpenError::Kernel { name, error }),
        }
    }

    /// Takes an open file, such as the one of C's `FILE` or of [`CachedFile::into_file`]. Its position is not
    /// used. A descriptor that can only be read is only read.
    pub fn from_fd(file: OwnedFd, options: &Options) -> Result<Self, OpenError> {
        let name = "the descriptor".to_owned();
        let flags = fcntl_getfl(&file)
            .map_err(|error| OpenError::Kernel { name: name.clone(), error: error.into() })?;
        let access = flags & OFlags::RWMODE;
        // The kernel appends what one writes, at whatever offset, and the buffers are not aligned for the other.
        if flags.intersects(OFlags::APPEND | OFlags::DIRECT) || access == OFlags::WRONLY {
            return Err(OpenError::Mode { name });
        }
        let is_read_only = options.is_read_only || access == OFlags::RDONLY;
        Self::over(file, name, &Options { is_read_only, ..*options })
    }

    fn over(file: OwnedFd, name: String, options: &Options) -> Result<Self, OpenError> {
        let settings = settings(options)?;
        let file = File::from(file);
        let kernel = |error| OpenError::Kernel { name: name.clone(), error };
        if !file.metadata().map_err(kernel)?.is_file() {
            return Err(OpenError::NotAFile { name });
        }
        if options.locks {
            let operation = if options.is_read_only {
                FlockOperation::NonBlockingLockShared
            } else {
                FlockOperation::NonBlockingLockExclusive
            };
            match flock(&file, operation) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Err(OpenError::Locked { name }),
                Err(error) => return Err(kernel(error.into())),
            }
        }
        // With the lock: what the one who had it before wrote counts.
        let length = file.metadata().map_err(kernel)?.len();
        let clock = Stopwatch::start();
        let pool = file
            .try_clone()
            .and_then(|file| Pool::growing(file, length, options.threads, clock))
            .map_err(kernel)?;
        let policy = options.policy.build(settings.pages, 0);
        Ok(Self {
            cache: Cached::new(pool, policy, settings),
            file,
            is_read_only: options.is_read_only,
            clock,
            length,
            position: 0,
            next_ticket: 0,
            staged: HashMap::new(),
            ready: VecDeque::new(),
            scratch: Vec::new(),
        })
    }
}

/// The cache of these options.
fn settings(options: &Options) -> Result<Settings, OpenError> {
    let wrong = |what: String| Err(OpenError::Options { what });
    let Options { cache_bytes, page_bytes, .. } = *options;
    if !page_bytes.is_power_of_two() || !(PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&page_bytes) {
        return wrong(format!(
            "pages of {page_bytes} B: give a power of two from {PAGE_BYTES_MIN} to {PAGE_BYTES_MAX}"
        ));
    }
    if options.policy.row().name == "opt" {
        return wrong("the policy opt needs the future: choose another".to_owned());
    }
    match u32::try_from(cache_bytes / u64::from(page_bytes)) {
        Ok(0) | Err(_) => wrong(format!(
            "a cache of {cache_bytes} B: give at least a page of {page_bytes} B, and fewer than 2^32"
        )),
        Ok(pages) => Ok(Settings { page_bytes, ..Settings::new(pages, options.writes) }),
    }
}

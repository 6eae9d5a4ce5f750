//! The limit of a group that others made, lowered for a while and put back.
//!
//! Every file is opened once, with the caller's rights. The directory is locked, so that two probes of one group
//! exclude each other; the lock ends with the last process that has it. Invariant: `memory.max` is never written.
//! The one limit of version 1 is hard. Version 2 was tested on directories of plain files alone.
//! Sources: `Documentation/admin-guide/cgroup-v1/memory.rst`, `cgroup-v2.rst`.

mod account;
mod guard;
mod wake;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::sys::files;
use crate::sys::process::monotonic_ns;
use crate::units::Bytes;
pub(crate) use account::{Look, Version};
pub(crate) use guard::{Charge, Guard};
pub(crate) use wake::Wake;

/// Where pressure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PressureOf {
    /// The group itself.
    Group,
    /// The whole machine.
    Machine,
    /// The kernel keeps none.
    Nothing,
}

/// Why the limit of a group cannot be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory has neither version's file.
    #[error(
        "there is no limit to lower: the group has no memory controller, or is the root of all groups"
    )]
    NoLimit,
    /// The caller has no right to write the limit.
    #[error(
        "you may not write {file}: it belongs to another account; use a shell of root, or `sudo nbuf --as-root`"
    )]
    NotYours {
        /// The name of the file.
        file: &'static str,
    },
    /// Another nbuf has the lock.
    #[error("another nbuf probes this group; wait until it ends")]
    Busy,
    /// Any other answer of the kernel.
    #[error(
        "cannot use the files of the group: {0}; give its directory, and check that it still exists"
    )]
    Io(#[from] io::Error),
}

/// A group whose limit may be lowered.
#[derive(Debug)]
pub(crate) struct Probed {
    version: Version,
    directory: OwnedFd,
    limit: File,
    usage: File,
    stat: File,
    kernel: Option<File>,
    events: Option<File>,
    pressure: Option<(File, File)>,
    pressure_of: PressureOf,
}

impl Probed {
    /// Opens the files of a group, and locks it. `unified` is its group of the unified hierarchy, for pressure.
    ///
    /// # Errors
    /// As [`Error`] has them.
    pub(crate) fn open(path: &Path, unified: Option<&Path>) -> Result<Self, Error> {
        let directory = files::open_path(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let (version, limit) = writable(&directory)?;
        rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive).map_err(
            |error| match error {
                rustix::io::Errno::WOULDBLOCK => Error::Busy,
                other => Error::Io(other.into()),
            },
        )?;
        let read = |name: &str| open(&directory, name, OFlags::RDONLY);
        let unified = match version {
            Version::V1 => unified.map(Path::to_owned),
            Version::V2 => Some(path.to_owned()),
        };
        let (pressure, pressure_of) = pressure_files(unified);
        Ok(Self {
            usage: read(version.usage())?,
            stat: read("memory.stat")?,
            kernel: read("memory.kmem.usage_in_bytes").ok(),
            events: read(version.events()).ok(),
            version,
            limit,
            pressure,
            pressure_of,
            directory,
        })
    }

    /// The version of its controller.
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Where its pressure comes from.
    pub(crate) fn pressure_of(&self) -> PressureOf {
        self.pressure_of
    }

    /// Device and inode of its directory: a group that is made again has others.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        let found = rustix::fs::fstat(&self.directory)?;
        Ok((found.st_dev, found.st_ino))
    }

    /// The limit now; nothing where there is none.
    ///
    /// # Errors
    /// Those of the kernel, such as for a group that was removed; what is no limit is one, too.
    pub(crate) fn limit(&self) -> io::Result<Option<Bytes>> {
        let text = text(&self.limit)?;
        let limit = self.version.parse(&text);
        limit.map_err(|_| io::Error::other(format!("`{}` is no limit", text.trim())))
    }

    /// Writes the limit.
    ///
    /// # Errors
    /// Those of the kernel: version 1 refuses what it cannot free memory for.
    pub(crate) fn set(&self, limit: Option<Bytes>) -> io::Result<()> {
        write(&self.limit, &self.version.text(limit))
    }

    /// Asks the kernel to take so much from the group. Nothing is left to put back. False where it has no way to ask.
    ///
    /// # Errors
    /// Those of the kernel; that it found less to take is none.
    pub(crate) fn reclaim(&self, bytes: Bytes) -> io::Result<bool> {
        if self.version == Version::V1 {
            return Ok(false);
        }
        let Ok(file) = open(&self.directory, "memory.reclaim", OFlags::WRONLY) else {
            return Ok(false);
        };
        match write(&file, &bytes.0.to_string()) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(true),
        }
    }

    /// What the group has, and what it has waited for so far.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn look(&self) -> io::Result<Look> {
        let number =
            |file: &File| -> io::Result<u64> { Ok(text(file)?.trim().parse().unwrap_or(0)) };
        let mut look = account::look(self.version, &text(&self.stat)?);
        if let Some(kernel) = &self.kernel {
            look.other += Bytes(number(kernel)?);
        }
        look.usage = Bytes(number(&self.usage)?);
        if let Some(events) = &self.events {
            look.kills = account::kills(&text(events)?);
        }
        if let Some((memory, io)) = &self.pressure {
            look.memory_some_ns = account::some_total_ns(&text(memory)?);
            look.io_some_ns = account::some_total_ns(&text(io)?);
        }
        look.time_ns = monotonic_ns();
        Ok(look)
    }

    /// Has the kernel wake the caller when the group's use of memory passes this mark, or when memory ran out.
    ///
    /// # Errors
    /// Those of the kernel; only version 1 has such marks.
    pub(crate) fn wake_at(&self, mark: Bytes) -> io::Result<Wake> {
        let control = open(&self.directory, "cgroup.event_control", OFlags::WRONLY)?;
        Wake::at(&control, &self.usage, self.events.as_ref(), mark)
    }

    /// The process that puts the limit back when this one cannot. `before` must not be among `ours`.
    ///
    /// # Errors
    /// Those of a fork.
    pub(crate) fn guard(
        &self,
        before: Option<Bytes>,
        ours: &[Bytes],
        state: Option<(BorrowedFd<'_>, CString)>,
    ) -> io::Result<Guard> {
        // A description of its own: the kernel serves one call at a time of each, and a write may take long.
        let limit = open(&self.directory, self.version.file(), OFlags::RDWR)?;
        Guard::start(&Charge {
            limit: limit.as_fd(),
            lock: self.directory.as_fd(),
            before: self.version.text(before),
            ours: ours.iter().map(|&limit| self.version.text(Some(limit))).collect(),
            state,
        })
    }
}

/// The file of the limit, open to be read and written with the caller's rights.
fn writable(directory: &OwnedFd) -> Result<(Version, File), Error> {
    for version in [Version::V1, Version::V2] {
        // Without waiting for the kernel to take what is above, where it has that way (`memory.high`, Linux 6.16).
        match open(directory, version.file(), OFlags::RDWR | OFlags::NONBLOCK) {
            Ok(file) => return Ok((version, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(Error::NotYours { file: version.file() });
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::NoLimit)
}

fn pressure_files(group: Option<PathBuf>) -> (Option<(File, File)>, PressureOf) {
    let pair = |memory: PathBuf, io: PathBuf| {
        let open = |path: PathBuf| {
            let file = File::from(files::open_path(&path, OFlags::RDONLY).ok()?);
            // A kernel that was started without pressure has the file, and refuses to read it.
            text(&file).is_ok().then_some(file)
        };
        Some((open(memory)?, open(io)?))
    };
    let of_group =
        group.and_then(|group| pair(group.join("memory.pressure"), group.join("io.pressure")));
    if of_group.is_some() {
        return (of_group, PressureOf::Group);
    }
    match pair("/proc/pressure/memory".into(), "/proc/pressure/io".into()) {
        Some(of_machine) => (Some(of_machine), PressureOf::Machine),
        None => (None, PressureOf::Nothing),
    }
}

fn open(directory: &OwnedFd, name: &str, flags: OFlags) -> io::Result<File> {
    files::open(directory, Path::new(name), flags, Mode::empty()).map(File::from)
}

/// No file of a group is as long.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The text of a file of the kernel, made for this call.
fn text(file: &File) -> io::Result<String> {
    let mut bytes = vec![0; 1 << 14];
    let mut length = 0;
    loop {
        match file.read_at(&mut bytes[length..], length as u64)? {
            0 => break,
            got => length += got,
        }
        if length >= TEXT_BYTES_MAX {
            break;
        }
        if length == bytes.len() {
            bytes.resize(length * 2, 0);
        }
    }
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Replaces the text of a file. The kernel's own files need no cutting, and do not mind.
fn write(file: &File, text: &str) -> io::Result<()> {
    let _ = file.set_len(0);
    file.write_at(text.as_bytes(), 0).map(drop)
}

#[cfg(test)]
mod tests;

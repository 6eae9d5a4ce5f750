//! A file written past the page cache, so that a recorder does not pollute the cache it measures.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use super::files::{self, Place};

const BLOCK_BYTES: usize = 4096;
const BUFFER_BYTES: usize = 256 << 10;
/// Names of files and words of a command line are in it.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A page-aligned block: the alignment `O_DIRECT` asks for.
#[derive(Clone)]
#[repr(C, align(4096))]
struct Block([u8; BLOCK_BYTES]);

/// Whether a process writes to such a file now: it is locked for as long as the writing lasts.
pub(crate) fn is_being_written(file: impl AsFd) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
}

/// An append-only writer that uses `O_DIRECT` where the file system knows it. Otherwise it writes
/// through the cache and drops what it wrote.
///
/// A flush pads to a whole block with zeros, which readers of such a file must skip.
#[derive(Debug)]
pub(crate) struct DirectFile {
    file: File,
    blocks: Vec<Block>,
    filled: usize,
    direct: bool,
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Block")
    }
}

impl DirectFile {
    /// Creates a file that only its owner reads, and locks it: nothing may have its name.
    pub(crate) fn create(place: &Place) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let (at, name) = (place.directory(), Path::new(place.name()));
        let made = files::open(at, name, flags | OFlags::DIRECT, PRIVATE);
        let this = Self::of(made, || {
            // The file may exist now: the kernel refuses O_DIRECT after creating it.
            let _ = files::unlink(at, place.name());
            files::open(at, name, flags, PRIVATE)
        })?;
        // Where locks are not known, nothing can be said of who writes there.
        let _ = flock(&this.file, FlockOperation::NonBlockingLockExclusive);
        Ok(this)
    }

    /// Makes a file without a name in `directory`, which is gone when it is closed.
    pub(crate) fn unnamed(directory: &Path) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::TMPFILE;
        let directory = files::directory(directory)?;
        let open = |flags| files::open(&directory, Path::new("."), flags, PRIVATE);
        Self::of(open(flags | OFlags::DIRECT), || open(flags))
    }

    fn of(
        made: io::Result<OwnedFd>,
        cached: impl FnOnce() -> io::Result<OwnedFd>,
    ) -> io::Result<Self> {
        let (file, direct) = match made {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => (cached()?, false),
            made => (made?, true),
        };
        let blocks = vec![Block([0; BLOCK_BYTES]); BUFFER_BYTES / BLOCK_BYTES];
        Ok(Self { file: file.into(), blocks, filled: 0, direct })
    }

    /// What was written, to be read from its beginning, through the cache from now on.
    pub(crate) fn into_file(mut self) -> io::Result<File> {
        self.flush()?;
        let flags = rustix::fs::fcntl_getfl(&self.file)?;
        rustix::fs::fcntl_setfl(&self.file, flags - OFlags::DIRECT)?;
        self.file.rewind()?;
        Ok(self.file)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.blocks.as_flattened_bytes()
    }

    fn write_out(&mut self) -> io::Result<()> {
        let whole = self.filled.next_multiple_of(BLOCK_BYTES);
        let filled = self.filled;
        self.bytes_mut()[filled..whole].fill(0);
        let mut written = 0;
        while written < whole {
            let rest = &self.blocks.as_flattened_bytes()[written..whole];
            match rustix::io::write(self.file.as_fd(), rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => written += bytes,
                Err(rustix::io::Errno::INTR) => {}
                // After a short write, which is how a full disc begins, the rest is not aligned.
                Err(rustix::io::Errno::INVAL) if written % BLOCK_BYTES != 0 => {
                    return Err(rustix::io::Errno::NOSPC.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.filled = 0;
        if !self.direct {
            rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed)?;
        }
        Ok(())
    }
}

/// The bytes of a run of blocks.
trait AsBytes {
    fn as_flattened_bytes(&mut self) -> &mut [u8];
}

impl AsBytes for Vec<Block> {
    fn as_flattened_bytes(&mut self) -> &mut [u8] {
        let bytes = self.len() * BLOCK_BYTES;
        // SAFETY: `Block` is exactly `BLOCK_BYTES` bytes without padding, initialised, and the
        // vector is borrowed mutably for as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr().cast(), bytes) }
    }
}

impl Write for DirectFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.filled == BUFFER_BYTES {
            self.write_out()?;
        }
        let filled = self.filled;
        let taken = data.len().min(BUFFER_BYTES - filled);
        self.bytes_mut()[filled..filled + taken].copy_from_slice(&data[..taken]);
        self.filled += taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.filled > 0 { self.write_out() } else { Ok(()) }
    }
}

//! Our own standard input, as it is given to the first run of a command: whether later runs can be
//! given the same.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor};
use rustix::termios::isatty;

use crate::sys::files;

/// `/dev/null` (`Documentation/admin-guide/devices.txt`).
const NULL: (u32, u32) = (1, 3);

/// What discards the output of a run that repeats one whose output was `recorded`.
///
/// GNU tar and grep know `/dev/null` and read less when that is their output, which makes them
/// other programs than the recorded one. `/dev/zero` takes everything as well, and they do not know
/// it. Who had `/dev/null` has it again.
pub fn discarding(recorded: impl AsFd) -> io::Result<OwnedFd> {
    let is_null = fstat(recorded).is_ok_and(|stat| {
        FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
            && (major(stat.st_rdev), minor(stat.st_rdev)) == NULL
    });
    let open = |name| File::options().write(true).open(name);
    let zero = if is_null { open("/dev/null") } else { open("/dev/zero") };
    // A container may have fewer devices.
    Ok(zero.or_else(|_| open("/dev/null"))?.into())
}

/// Returns an output for a run that repeats a recorded one. If the recorded output was a file, the
/// new one is a nameless file in the same directory. As much is then written to the same file
/// system. All other output is discarded.
pub fn repeating(recorded: impl AsFd) -> io::Result<OwnedFd> {
    let recorded = recorded.as_fd();
    let is_file =
        fstat(recorded).is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::RegularFile);
    let nameless = || {
        let path = fs::read_link(format!("/proc/self/fd/{}", recorded.as_raw_fd())).ok()?;
        let (flags, mode) = (OFlags::WRONLY | OFlags::TMPFILE, Mode::RUSR | Mode::WUSR);
        files::open(files::directory(path.parent()?).ok()?, Path::new("."), flags, mode).ok()
    };
    match is_file.then(nameless).flatten() {
        Some(file) => Ok(file),
        None => discarding(recorded),
    }
}

/// Returns the standard streams of a run that repeats a recorded one: the input again, an output of the same kind,
/// and nothing shown of its errors. The recorded run showed them, and another exit status is reported.
pub fn repeated(input: &Input, recorded: impl AsFd) -> io::Result<[Option<OwnedFd>; 3]> {
    let errors = repeating(rustix::stdio::stderr())?;
    Ok([Some(input.again()?), Some(repeating(recorded)?), Some(errors)])
}

/// What our standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, which stood there before the first run: it can be read again from there.
    File {
        /// The position.
        at: u64,
    },
    /// A terminal.
    Terminal,
    /// What can be read once only: a pipe, a socket.
    Stream,
    /// `/dev/null`, or nothing at all.
    Nothing,
}

impl Input {
    /// Ours, now.
    pub fn ours() -> Self {
        let input = rustix::stdio::stdin();
        let kind = fstat(input).map(|stat| FileType::from_raw_mode(stat.st_mode));
        match kind {
            Ok(FileType::RegularFile) => {
                rustix::fs::tell(input).map_or(Self::Stream, |at| Self::File { at })
            }
            Ok(FileType::Fifo | FileType::Socket) => Self::Stream,
            Ok(_) if isatty(input) => Self::Terminal,
            _ => Self::Nothing,
        }
    }

    /// For another run: the same file from where it stood, or else `/dev/null`.
    pub fn again(&self) -> io::Result<OwnedFd> {
        let Self::File { at } = *self else { return Ok(File::open("/dev/null")?.into()) };
        // Opened once more: positions are not shared with what others still hold. With the caller's
        // rights, for what he could only write to he must not be given to read.
        let file = files::reopen(rustix::stdio::stdin(), OFlags::RDONLY)?;
        rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(at))?;
        Ok(file)
    }
}

//! Our own standard input, as it is given to the first run of a command: whether later runs can be
//! given the same.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, fstat};
use rustix::termios::isatty;

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
        // Opened anew: positions are not shared with what others still hold.
        let mut file = File::open("/proc/self/fd/0")?;
        file.seek(SeekFrom::Start(at))?;
        Ok(file.into())
    }
}

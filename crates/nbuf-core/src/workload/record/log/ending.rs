//! What may be wrong with a log, and how one may end.

use std::fmt;
use std::io;

/// Why something cannot be read as a log at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// It does not begin as a log does.
    #[error("this is not a log of a recording: give the file that `nbuf record` was writing")]
    NotALog,
    /// It is cut off within its header.
    #[error(
        "the log ends before its header does, at byte {bytes}: nothing was recorded, record again"
    )]
    Empty {
        /// Bytes there are.
        bytes: u64,
    },
    /// Written in a form this version does not know.
    #[error(
        "the log has version {version}, and this nbuf reads version 1: use the nbuf that wrote it"
    )]
    Version {
        /// The version it says it has.
        version: u64,
    },
    /// The source could not be read.
    #[error(
        "the log cannot be read after byte {at_byte}: {source}; copy the readable part, and recover the copy"
    )]
    Io {
        /// Bytes read before.
        at_byte: u64,
        /// What the system says.
        source: io::Error,
    },
}

/// How a log ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// With an [`Entry::End`](super::Entry::End) and nothing but padding after it.
    Clean,
    /// Before that.
    Torn {
        /// Where the last whole frame ended.
        at_byte: u64,
        /// What stands there.
        reason: Tear,
    },
}

/// What stands where a log was torn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tear {
    /// Nothing: the log ends after a whole frame, but without an end entry.
    Stopped,
    /// The beginning of a frame.
    CutOff,
    /// A frame whose checksum is wrong, or whose number came before.
    Damaged,
    /// Bytes that are no frame.
    Foreign,
}

impl fmt::Display for Tear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the recording broke off after a whole frame",
            Self::CutOff => "the last frame is cut off",
            Self::Damaged => "the last frame is damaged",
            Self::Foreign => "what follows is not part of the log",
        })
    }
}

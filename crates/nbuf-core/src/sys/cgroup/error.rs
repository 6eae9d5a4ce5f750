//! Why no private group could be made.

use std::io;
use std::path::PathBuf;

/// Why there is no private group; the message says what would help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No hierarchy has the memory controller.
    #[error("no memory controller is mounted below /sys/fs/cgroup: mount one, or use --no-verify")]
    NoController,
    /// The unified hierarchy does not hand the controller down to us.
    #[error(
        "cannot make a group with a limit below {}, and systemd makes none: \
         run where `systemd-run --scope true` works (with --user, if not as root), or use --no-verify",
        .0.display()
    )]
    NotDelegated(PathBuf),
    /// The discs cannot be held to a rate.
    #[error(
        "cannot hold the discs to a rate: {source}; --iops and --bps need root, the `blkio` or `io` \
         controller, and files on a block device"
    )]
    Rate {
        /// The kernel's answer.
        source: io::Error,
    },
    /// Nor is there one of systemd's.
    #[error("{own}; systemd makes none either: {why}")]
    Scope {
        /// Why none could be made below ours.
        own: Box<Error>,
        /// What systemd says.
        why: io::Error,
    },
    /// The group could not be made.
    #[error("cannot make a private group at {}: {source}; run as root outside the container, or use --no-verify", .path.display())]
    Create {
        /// The directory that was to be.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
}

//! What to boot: made by hand, from a command line, or read from a file.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::timing::Model;
use crate::unix::guest::Slot;
use crate::unix::images::ImagesError;

/// The spec of a boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The folder with the images.
    pub images: PathBuf,
    /// The kernel.
    pub slot: Slot,
    /// The number of serial lines, each a pseudo-terminal.
    pub lines: u8,
    /// Whether the discs go back to the images at the end.
    pub write_back: bool,
    /// The machine.
    pub model: Model,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            images: PathBuf::from("."),
            slot: Slot::Warm,
            lines: 0,
            write_back: false,
            model: Model::Instant,
        }
    }
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no images, or they cannot be written.
    #[error(transparent)]
    Images(#[from] ImagesError),
    /// The slot of the drum is empty.
    #[error("{} has no kernel in its {} slot: {}", .drum.display(), .slot.name(), advice(*.slot))]
    NoKernel {
        /// The file.
        drum: PathBuf,
        /// The slot.
        slot: Slot,
    },
    /// No signal can end the session.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// The modes of the terminal cannot be set.
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
    /// The terminal gives no keys.
    #[error("cannot read the terminal")]
    Keys(#[source] io::Error),
    /// Standard input cannot be read.
    #[error("cannot read the keys to type from standard input")]
    Script(#[source] io::Error),
    /// A serial line cannot be made.
    #[error("cannot make a pseudo-terminal for a line: mount /dev/pts, or ask for fewer lines")]
    Line(#[source] io::Error),
    /// Standard output takes nothing.
    #[error("cannot write to standard output")]
    Print(#[source] io::Error),
}

/// What to do about an empty slot.
fn advice(slot: Slot) -> &'static str {
    match slot {
        Slot::Cold => "boot without --cold, and put one there with `msys2 1`",
        Slot::Warm => {
            "build the images of Unix V1 first; `nbuf unix --help` says where they come from and what to type"
        }
    }
}

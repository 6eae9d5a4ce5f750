//! A script in a file.

use std::io::{self, Read as _};
use std::path::Path;

use super::script::{Script, ScriptError};
use crate::sys::input::{self, Refused};

/// No real script is longer.
const BYTES_MAX: u64 = 4 << 20;

/// Why a file is no script.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It cannot be opened, or is no file to read from.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be read, or is no text.
    #[error("{name}: cannot be read as text: {cause}; give a script in TOML, of 4 MiB at most")]
    Read {
        /// The file.
        name: String,
        /// What went wrong.
        cause: io::Error,
    },
    /// It is no script.
    #[error("{name}: {cause}")]
    Script {
        /// The file.
        name: String,
        /// The error with its place.
        cause: ScriptError,
    },
}

/// Reads the script in a file.
pub fn open(path: &Path) -> Result<Script, OpenError> {
    let name = input::name(path);
    let mut text = String::new();
    let file = input::open(path)?;
    let read = file.take(BYTES_MAX).read_to_string(&mut text);
    read.map_err(|cause| OpenError::Read { name: name.clone(), cause })?;
    Script::parse(&text).map_err(|cause| OpenError::Script { name, cause })
}

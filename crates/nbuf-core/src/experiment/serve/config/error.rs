//! Why a file is not how a server is set.

use std::io;

use crate::sys::input::Refused;

/// Why a file is not how a server is set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It cannot be opened.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It is no text.
    #[error("{name}: cannot be read as text ({error}): give a file in TOML, of 1 MiB at most")]
    Read {
        /// The file.
        name: String,
        /// What went wrong.
        error: io::Error,
    },
    /// A line is wrong.
    #[error("{}line {line}: {what}", .name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default())]
    Line {
        /// The file, if the text is of one.
        name: Option<String>,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
}

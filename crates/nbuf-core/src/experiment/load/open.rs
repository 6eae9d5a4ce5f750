//! A script in a file.

use std::io::{self, Read as _};
use std::path::Path;

use super::draft::{self, Draft, DraftError};
use super::recorded;
use super::script::{Script, ScriptError};
use crate::sys::input::{self, Refused};
use crate::workload::source::Packing;

/// What a draft is made of; a longer log has the same users again.
const LOG_BYTES_MAX: u64 = 256 << 20;
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
    /// A file of recorded think times has a line that is none.
    #[error("{name}: line {line}: {what}")]
    Think {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The error, and how to correct it.
        what: String,
    },
    /// It has no line.
    #[error(
        "{name} is empty: give an access log of nginx, a log of PostgreSQL, or a recording of nbuf watch --record"
    )]
    Empty {
        /// The file.
        name: String,
    },
    /// It is a log that is packed.
    #[error("{name} is packed with {packing}: unpack it first")]
    Packed {
        /// The file.
        name: String,
        /// What packs it.
        packing: &'static str,
    },
    /// It is no log that a script can be drafted from.
    #[error("{name}: {cause}")]
    Draft {
        /// The file.
        name: String,
        /// The error with its line.
        cause: DraftError,
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

/// Reads the script in a file, and the files of think times that it names: their paths are from its directory.
pub fn open(path: &Path) -> Result<Script, OpenError> {
    let name = input::name(path);
    let mut text = String::new();
    let file = input::open(path)?;
    let read = file.take(BYTES_MAX).read_to_string(&mut text);
    read.map_err(|cause| OpenError::Read { name: name.clone(), cause })?;
    let mut script = Script::parse(&text).map_err(|cause| OpenError::Script { name, cause })?;
    recorded::read(&mut script, path.parent().unwrap_or(Path::new("")))?;
    Ok(script)
}

/// Drafts a script from a log of nginx or `PostgreSQL`, or from a recording of `nbuf watch`. Requests go to `server`,
/// which begins with `http://`.
pub fn draft(log: &Path, server: &str) -> Result<Draft, OpenError> {
    let name = input::name(log);
    let mut bytes = Vec::new();
    let read = input::open(log)?.take(LOG_BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|cause| OpenError::Read { name: name.clone(), cause })?;
    if bytes.is_empty() {
        return Err(OpenError::Empty { name });
    }
    let packing = Packing::of(&bytes);
    if packing != Packing::None {
        return Err(OpenError::Packed { name, packing: packing.name() });
    }
    let text = String::from_utf8_lossy(&bytes);
    draft::draft(&text, server).map_err(|cause| OpenError::Draft { name, cause })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_no_log_is_refused_with_a_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("day.jsonl");
        let cases: [(&[u8], &str); 4] = [
            (b"", "day.jsonl is empty: give an access log"),
            (b"\x1f\x8b\x08 some", "packed with gzip: unpack it first"),
            (b"\x28\xb5\x2f\xfd some", "packed with zstd: unpack it first"),
            (b"\n", "no recording of nbuf watch --record: give one of these to --from"),
        ];
        for (bytes, want) in cases {
            fs::write(&path, bytes).unwrap();
            let refused = draft(&path, "http://h").unwrap_err().to_string();
            assert!(refused.contains(want), "{refused}");
        }
    }
}

//! The backend of a server's cache, as an option names it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::path::nbd::{Remote, RemoteError};

/// The backend of a server: `file:PATH`, `direct:PATH`, `nbd:unix:PATH` or a URI of NBD. `device:PATH`, and a path that
/// begins with `/`, is a file too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendSpec {
    /// The image of a disc, or a block device.
    File(PathBuf),
    /// The same without the page cache.
    Direct(PathBuf),
    /// An export of another NBD server.
    Nbd(Remote),
}

/// No disc is written so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendSpecError {
    /// It begins with another word, or ends with none.
    #[error("write file:PATH, direct:PATH, nbd:unix:PATH or nbds://HOST/EXPORT")]
    Unknown,
    /// The address of another server.
    #[error(transparent)]
    Remote(RemoteError),
}

impl BackendSpec {
    /// The same with a path from this folder.
    pub(super) fn within(self, folder: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(folder.join(path)),
            Self::Direct(path) => Self::Direct(folder.join(path)),
            Self::Nbd(remote) => Self::Nbd(remote.within(folder)),
        }
    }

    /// Whether it is reached by TLS.
    pub(super) fn is_secure(&self) -> bool {
        matches!(self, Self::Nbd(remote) if remote.is_secure())
    }
}

impl FromStr for BackendSpec {
    type Err = BackendSpecError;

    fn from_str(text: &str) -> Result<Self, BackendSpecError> {
        if text.starts_with("nbd") {
            return text.parse().map(Self::Nbd).map_err(|error| match error {
                RemoteError::Scheme => BackendSpecError::Unknown,
                other => BackendSpecError::Remote(other),
            });
        }
        let path = |rest: &str| (!rest.is_empty()).then(|| PathBuf::from(rest));
        let rest = text.strip_prefix("file:").or_else(|| text.strip_prefix("device:"));
        let rest = rest.or_else(|| text.starts_with('/').then_some(text));
        let file = rest.and_then(path).map(Self::File);
        let direct = || text.strip_prefix("direct:").and_then(path).map(Self::Direct);
        file.or_else(direct).ok_or(BackendSpecError::Unknown)
    }
}

impl fmt::Display for BackendSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Direct(path) => write!(f, "direct:{}", path.display()),
            Self::Nbd(remote) => write!(f, "{remote}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_is_written_as_it_is_read() {
        for text in [
            "file:disc.img",
            "file:/a:b",
            "direct:disc.img",
            "nbd:unix:/run/socket",
            "nbds://host/x",
        ] {
            assert_eq!(text.parse::<BackendSpec>().unwrap().to_string(), text);
        }
        for text in ["device:/dev/loop7", "/dev/loop7", "file:/dev/loop7"] {
            assert_eq!(text.parse::<BackendSpec>().unwrap().to_string(), "file:/dev/loop7");
        }
        for text in ["", "file:", "device:", "disc.img", "nbd:", "nbd:unix:", "nbd:localhost"] {
            assert_eq!(text.parse::<BackendSpec>(), Err(BackendSpecError::Unknown), "{text}");
        }
    }
}

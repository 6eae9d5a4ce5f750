//! The backend of a server's cache, as an option names it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::ChunksSpec;
use crate::disc::object;
use crate::path::nbd::{Remote, RemoteError};

/// The backend of a server: `file:PATH`, `direct:PATH`, `nbd:unix:PATH`, a URI of NBD, a URL of a web server, or one name or
/// many in an object store. `device:PATH`, and a path that begins with `/`, is a file too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendSpec {
    /// The image of a disc, or a block device.
    File(PathBuf),
    /// The same without the page cache.
    Direct(PathBuf),
    /// An export of another NBD server.
    Nbd(Remote),
    /// One object, read-only: `https://HOST/PATH`, `s3://BUCKET/KEY`, `gs://BUCKET/KEY` or `az://CONTAINER/BLOB`.
    Object(String),
    /// Many objects, which a server can write: `s3+chunks://BUCKET/PREFIX`.
    Chunks(ChunksSpec),
}

/// No disc is written so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendSpecError {
    /// It begins with another word, or ends with none.
    #[error(
        "write file:PATH, direct:PATH, nbd:unix:PATH, nbds://HOST/EXPORT, https://HOST/PATH, s3://BUCKET/KEY or s3+chunks://BUCKET/PREFIX"
    )]
    Unknown,
    /// The URL has a password.
    #[error("the URL has a user or a password, which figures would show: give one without them")]
    Password,
    /// It is no name of a disc of chunks.
    #[error(
        "write s3+chunks://BUCKET/PREFIX, gs+chunks:// or az+chunks://, and ?size=10GiB behind it to make the disc"
    )]
    Chunks,
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
            Self::Object(_) | Self::Chunks(_) => self,
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
        if ChunksSpec::is(text) {
            return text.parse().map(Self::Chunks);
        }
        if object::is_address(text) {
            let host = text.split_once("://").map_or("", |(_, rest)| rest);
            let host = host.split(['/', '?', '#']).next().unwrap_or_default();
            if object::is_web(text) && host.contains('@') {
                return Err(BackendSpecError::Password);
            }
            return Ok(Self::Object(text.to_owned()));
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
            Self::Object(address) => f.write_str(address),
            Self::Chunks(chunks) => write!(f, "{chunks}"),
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
            "https://host/disc.img?a=b",
            "s3://bucket/disc.img",
            "az+chunks://container/disc?size=1048576",
        ] {
            assert_eq!(text.parse::<BackendSpec>().unwrap().to_string(), text);
        }
        for text in ["device:/dev/loop7", "/dev/loop7", "file:/dev/loop7"] {
            assert_eq!(text.parse::<BackendSpec>().unwrap().to_string(), "file:/dev/loop7");
        }
        let password = "https://user:secret@host/disc.img".parse::<BackendSpec>();
        assert_eq!(password, Err(BackendSpecError::Password));
        for text in ["http://", "ftp://host/x"] {
            assert_eq!(text.parse::<BackendSpec>(), Err(BackendSpecError::Unknown), "{text}");
        }
        for text in ["", "file:", "device:", "disc.img", "nbd:", "nbd:unix:", "nbd:localhost"] {
            assert_eq!(text.parse::<BackendSpec>(), Err(BackendSpecError::Unknown), "{text}");
        }
    }
}

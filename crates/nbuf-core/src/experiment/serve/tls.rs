//! Which certificates a server has: files that are read when it starts, and again by SIGHUP.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::{Config, Error};
use crate::path::nbd::{Credentials, CredentialsError, Tls, TrustError};
use crate::sys::files;

/// No real certificate or key is longer.
const BYTES_MAX: u64 = 1 << 20;

/// The files of a server with TLS, in PEM. TCP needs TLS then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSpec {
    /// The server's certificate, and those that signed it.
    pub certificate: PathBuf,
    /// The key of that certificate.
    pub key: PathBuf,
    /// Those that sign the certificates of clients. With them a client without one is refused.
    pub authorities: Option<PathBuf>,
    /// Whether Unix sockets need TLS too. Without it, clients there may ask for TLS.
    pub at_unix: bool,
}

/// Why a file cannot be used for TLS.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct TlsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub why: TlsErrorKind,
}

/// What is wrong with a file for TLS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsErrorKind {
    /// It cannot be read.
    #[error("cannot be read ({0}): give a regular file of 1 MiB at most, which this user may read")]
    Read(io::Error),
    /// It is read, and not what is needed.
    #[error(transparent)]
    Credentials(CredentialsError),
    /// It is read, and does not say which backend servers are trusted.
    #[error(transparent)]
    Trust(TrustError),
}

impl TlsSpec {
    /// What a file or a command line says; a certificate has its key, and nothing else goes without both.
    pub(super) fn of(config: &Config) -> Result<Option<Self>, Error> {
        let is_asked = config.tls_ca.is_some() || config.tls_unix == Some(true);
        let (certificate, key) = match (&config.tls_cert, &config.tls_key) {
            (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
            (Some(_), None) => return Err(Error::Missing("tls-key")),
            (None, key) if key.is_some() || is_asked => return Err(Error::Missing("tls-cert")),
            (None, _) => return Ok(None),
        };
        let (authorities, at_unix) = (config.tls_ca.clone(), config.tls_unix.unwrap_or(false));
        Ok(Some(Self { certificate, key, authorities, at_unix }))
    }

    /// Whether only clients with a certificate are served at TCP.
    pub(super) fn checks_clients(&self) -> bool {
        self.authorities.is_some()
    }

    /// Reads the files, with the caller's rights.
    pub(super) fn load(&self) -> Result<Credentials, Error> {
        let certificate = read(&self.certificate)?;
        let key = read(&self.key)?;
        let authorities = self.authorities.as_deref().map(read).transpose()?;
        Credentials::new(&certificate, &key, authorities.as_deref()).map_err(|error| {
            let path = match &error {
                CredentialsError::NoKey => &self.key,
                CredentialsError::NoAuthority | CredentialsError::Authority(_) => {
                    self.authorities.as_ref().unwrap_or(&self.certificate)
                }
                _ => &self.certificate,
            };
            Error::Tls(TlsError { path: path.clone(), why: TlsErrorKind::Credentials(error) })
        })
    }

    /// TLS as the server has it.
    pub(super) fn open(&self) -> Result<Tls, Error> {
        Ok(Tls { credentials: self.load()?, at_unix: self.at_unix })
    }

    /// Whether a running server can change to this: the same is asked of its clients.
    pub(super) fn is_like(ours: Option<&Self>, other: Option<&Self>) -> bool {
        let asks = |tls: &Self| (tls.at_unix, tls.checks_clients());
        ours.map(asks) == other.map(asks)
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let wrong =
        |error| Error::Tls(TlsError { path: path.to_owned(), why: TlsErrorKind::Read(error) });
    let mut bytes = Vec::new();
    let read =
        files::regular(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(wrong)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(wrong(io::Error::from(io::ErrorKind::FileTooLarge)));
    }
    Ok(bytes)
}

//! Which backend servers are trusted: files that are read when the server starts.

use std::path::PathBuf;

use super::tls::read;
use super::{Config, Error, TlsError, TlsErrorKind};
use crate::path::nbd::{Trust, TrustError};

/// The files of a server whose discs are reached by TLS, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustSpec {
    /// Those that sign the certificates of backend servers.
    pub authorities: PathBuf,
    /// The certificate to show them, and its key.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl TrustSpec {
    /// What a file or a command line says: a certificate has its key, and both need to know who is trusted.
    pub(super) fn of(config: &Config) -> Result<Option<Self>, Error> {
        let own = match (&config.disc_tls_cert, &config.disc_tls_key) {
            (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
            (Some(_), None) => return Err(Error::Missing("disc-tls-key")),
            (None, Some(_)) => return Err(Error::Missing("disc-tls-cert")),
            (None, None) => None,
        };
        match &config.disc_tls_ca {
            Some(authorities) => Ok(Some(Self { authorities: authorities.clone(), own })),
            None if own.is_some() => Err(Error::Missing("disc-tls-ca")),
            None => Ok(None),
        }
    }

    /// Reads the files, with the caller's rights.
    pub(super) fn load(&self) -> Result<Trust, Error> {
        let authorities = read(&self.authorities)?;
        let own = self.own.as_ref();
        let own = own.map(|(chain, key)| Ok::<_, Error>((read(chain)?, read(key)?))).transpose()?;
        let own = own.as_ref().map(|(chain, key): &(Vec<u8>, Vec<u8>)| (&chain[..], &key[..]));
        Trust::new(&authorities, own).map_err(|error| {
            let path = match (&error, &self.own) {
                (TrustError::NoKey, Some((_, key))) => key,
                (TrustError::NoCertificate | TrustError::Pair(_), Some((chain, _))) => chain,
                _ => &self.authorities,
            };
            Error::Tls(TlsError { path: path.clone(), why: TlsErrorKind::Trust(error) })
        })
    }
}

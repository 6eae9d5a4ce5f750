//! Which backend servers are trusted, and what they are shown, from the text of files in PEM.

use std::fmt;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::{Broken, Layer, all};

/// Why certificates cannot be used for a backend server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The authorities.
    #[error("no certificate in PEM: give those that sign the certificate of the backend server")]
    NoAuthority,
    /// One of the authorities.
    #[error(
        "a certificate cannot be used ({0}): give those that sign the certificate of the backend server"
    )]
    Authority(#[source] rustls::Error),
    /// Our own certificate.
    #[error(
        "no certificate in PEM: give the one to show the backend server, then those that signed it"
    )]
    NoCertificate,
    /// Its key.
    #[error("no private key in PEM without a password: give the key of that certificate")]
    NoKey,
    /// The certificate and the key do not go together, or one of them is of a kind that is not supported.
    #[error("the certificate and the key cannot be used together ({0}): give those of one client")]
    Pair(#[source] rustls::Error),
}

/// The authorities of backend servers, and a certificate to show them.
#[derive(Clone)]
pub(crate) struct Trust(Arc<ClientConfig>);

/// Without the key.
impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust").finish_non_exhaustive()
    }
}

impl Trust {
    /// Makes it of the text of files. `own` is a certificate and its key.
    pub(crate) fn new(authorities: &[u8], own: Option<(&[u8], &[u8])>) -> Result<Self, TrustError> {
        let mut roots = RootCertStore::empty();
        for certificate in all(authorities).ok_or(TrustError::NoAuthority)? {
            roots.add(certificate).map_err(TrustError::Authority)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TrustError::Authority)?
            .with_root_certificates(roots);
        let mut config = match own {
            None => config.with_no_client_auth(),
            Some((certificates, key)) => {
                let chain = all(certificates).ok_or(TrustError::NoCertificate)?;
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TrustError::NoKey)?;
                config.with_client_auth_cert(chain, key).map_err(TrustError::Pair)?
            }
        };
        // A connection lasts as long as the server: none is resumed, and each time the certificate is checked.
        config.resumption = Resumption::disabled();
        Ok(Self(Arc::new(config)))
    }

    /// An end of TLS that begins, and trusts only a server of this name.
    pub(crate) fn layer(&self, name: &str) -> Result<Layer, Broken> {
        let no_name = |_| Broken(rustls::Error::General(format!("`{name}` is no name of a host")));
        let name = ServerName::try_from(name.to_owned()).map_err(no_name)?;
        let session = ClientConnection::new(self.0.clone(), name).map_err(Broken)?;
        Ok(Layer::over(session.into()))
    }
}

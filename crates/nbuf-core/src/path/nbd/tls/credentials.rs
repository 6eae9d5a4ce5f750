//! What a server proves itself by, and what it asks of its clients, from the text of files in PEM.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::Layer;
use crate::disc::nbd::tls::{Broken, all};

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// The chain of the server.
    #[error(
        "no certificate in PEM: give the server's certificate first, then those that signed it"
    )]
    NoCertificate,
    /// Its key.
    #[error("no private key in PEM without a password: give the key of the server's certificate")]
    NoKey,
    /// The authorities.
    #[error("no certificate in PEM: give those that sign the certificates of clients")]
    NoAuthority,
    /// One of the authorities.
    #[error("a certificate cannot be used ({0}): give those that sign the certificates of clients")]
    Authority(#[source] rustls::Error),
    /// The chain and the key do not go together, or one of them is of a kind that is not supported.
    #[error("the certificate and the key cannot be used together ({0}): give those of one server")]
    Pair(#[source] rustls::Error),
}

/// The certificate and the key of a server, and the authorities of its clients.
#[derive(Clone)]
pub struct Credentials(pub(super) Arc<ServerConfig>);

/// Without the key.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

impl Credentials {
    /// Makes them of the text of files. With `authorities`, a client needs a certificate that one of these signed.
    pub fn new(
        certificates: &[u8],
        key: &[u8],
        authorities: Option<&[u8]>,
    ) -> Result<Self, CredentialsError> {
        let chain = all(certificates).ok_or(CredentialsError::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| CredentialsError::NoKey)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(CredentialsError::Pair)?;
        let config = match authorities {
            None => config.with_no_client_auth(),
            Some(authorities) => {
                let mut roots = RootCertStore::empty();
                for certificate in all(authorities).ok_or(CredentialsError::NoAuthority)? {
                    roots.add(certificate).map_err(CredentialsError::Authority)?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
                let verifier = verifier.build().map_err(|_| CredentialsError::NoAuthority)?;
                config.with_client_cert_verifier(verifier)
            }
        };
        let mut config = config.with_single_cert(chain, key).map_err(CredentialsError::Pair)?;
        // A connection lasts as long as a device: none is resumed, and each client's certificate is checked.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self(Arc::new(config)))
    }

    /// An end of TLS that waits for a client that begins.
    pub fn layer(&self) -> Result<Layer, Broken> {
        let session = ServerConnection::new(self.0.clone()).map_err(Broken)?;
        Ok(Layer::over(session.into()))
    }
}

//! TLS between a socket and what a client and the server say: sealed bytes on one side, plain ones on the other.
//!
//! `credentials` makes certificates and keys of the bytes of files; the layer that seals and opens bytes is the one of
//! `disc::nbd`, which has it for backend servers. Neither has a socket or a file. The cipher suites, the checks of
//! certificates and the messages are rustls's.

#[cfg(test)]
mod authority;
mod credentials;
#[cfg(test)]
mod tests;

pub use crate::disc::nbd::tls::{Layer, RECORD_BYTES_MAX};
pub use credentials::{Credentials, CredentialsError};

use super::handshake::Secrecy;
use super::listener::Socket;

/// How a server has TLS.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    /// Its certificate, and those that it trusts.
    pub(crate) credentials: Credentials,
    /// Whether clients at Unix sockets need TLS too; otherwise they may ask for it.
    pub(crate) at_unix: bool,
}

impl Tls {
    /// What a client at this socket has to agree on.
    pub(super) fn secrecy(&self, socket: &Socket) -> Secrecy {
        match socket {
            Socket::Unix(_) if !self.at_unix => Secrecy::Offered,
            Socket::Unix(_) | Socket::Tcp(_) => Secrecy::Required,
        }
    }
}

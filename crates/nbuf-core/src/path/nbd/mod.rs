//! A disc served to other programs by NBD.
//!
//! `handshake` and `replies` are functions of bytes, and so is TLS in `tls`; `channel` has a socket, `connection` its
//! buffers; `server` is the one loop that owns the cache and all connections; `control` answers questions about it.

mod channel;
mod connection;
mod control;
mod export;
mod files;
mod handshake;
mod listener;
mod passed;
mod replies;
mod server;
mod tls;

pub(crate) use control::{ask, control_path};
pub(crate) use files::DiscFileError;
pub(crate) use files::{default_socket, look, open};
pub use listener::{Address, ListenError};
pub(crate) use passed::PassedSockets;
pub(crate) use server::ServerError;
pub(crate) use server::{
    Backend, Change, Instead, Keeper, Offer, Server, Setup, Signalled, Snapshot, Snapshots,
    TierSnapshot,
};

pub use crate::disc::nbd::address::{Remote, RemoteError, RemotePlace};
pub(crate) use crate::disc::nbd::tls::Trust;
pub use crate::disc::nbd::tls::TrustError;
pub use export::Export;
pub use handshake::{Handshake, Secrecy, Step};
pub(crate) use tls::Tls;
pub use tls::{Credentials, CredentialsError, Layer, RECORD_BYTES_MAX};

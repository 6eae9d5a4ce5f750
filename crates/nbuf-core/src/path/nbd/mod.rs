//! A disc served to other programs by NBD.
//!
//! `handshake` and `replies` are functions of bytes; `connection` has a socket and its buffers; `server` is
//! the one loop that owns the cache and all connections; `control` answers questions about it.

mod connection;
mod control;
mod files;
mod handshake;
mod listener;
mod passed;
mod replies;
mod server;

pub(crate) use control::{ask, control_path};
pub(crate) use files::DiscFileError;
pub(crate) use files::{default_socket, look, open};
pub use listener::{Address, ListenError};
pub(crate) use passed::PassedSockets;
pub(crate) use server::ServerError;
pub(crate) use server::{
    Behind, Change, Keeper, Offer, Server, Setup, Signalled, Snapshot, Snapshots,
};

pub use handshake::{Export, Handshake, Step};

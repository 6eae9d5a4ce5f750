//! NBD, the protocol of network block devices: its numbers, and a disc behind another server.
//!
//! The numbers are in `wire`, which the server in `path::nbd` shares; so is TLS as bytes in `tls`. `address` says where a
//! server is, `line` is the connection to it, `greet` agrees on an export, and `client` is the disc. Source: the protocol
//! document of the NBD project.

#[cfg(feature = "paths")]
pub(crate) mod address;
#[cfg(feature = "paths")]
pub(crate) mod client;
#[cfg(feature = "paths")]
mod greet;
#[cfg(feature = "paths")]
mod line;
#[cfg(feature = "paths")]
pub(crate) mod tls;
pub(crate) mod wire;

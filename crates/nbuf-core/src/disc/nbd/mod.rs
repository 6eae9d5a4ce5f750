//! NBD, the protocol of network block devices: its numbers, and a disc behind another server.
//!
//! The numbers are in `wire`, which the server in `path::nbd` shares. Source: the protocol document of
//! the NBD project.

#[cfg(feature = "system")]
pub(crate) mod client;
#[cfg(feature = "system")]
mod greet;
pub(crate) mod wire;

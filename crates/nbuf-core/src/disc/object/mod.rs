//! A disc in a web server or an object store: one object, read by ranges, or many objects that are chunks of it.
//!
//! `http` and `stored` read ranges of one object, and `chunks` is a disc of many, which can be written. `origin` is the
//! choice between them, and `reader` is the disc. The disc has a runtime on a thread of its own. It completes requests as
//! an NBD server's disc does: its owner waits for a descriptor.
//! Invariant: all bytes are of versions that this disc has found or written; a request fails if an object has another one.
//! Cost: a request to the server for each read of the owner, at most [`REQUESTS`] at once.
//! Not for objects that others change.
//!
//! Without the feature `object-stores`, there is no such disc, and its type has no values.

#[cfg(not(feature = "object-stores"))]
mod absent;
#[cfg(feature = "object-stores")]
mod chunks;
mod error;
#[cfg(feature = "object-stores")]
mod http;
#[cfg(feature = "object-stores")]
mod origin;
#[cfg(feature = "object-stores")]
mod reader;
#[cfg(feature = "object-stores")]
mod stored;
#[cfg(all(test, feature = "object-stores"))]
mod tests;

#[cfg(not(feature = "object-stores"))]
pub(crate) use absent::ObjectDisc;
#[cfg(feature = "object-stores")]
pub(crate) use chunks::{Chunks, Opening};
pub use error::ObjectDiscError;
#[cfg(feature = "object-stores")]
pub(crate) use http::Http;
#[cfg(feature = "object-stores")]
pub(crate) use origin::{Origin, Version};
#[cfg(feature = "object-stores")]
pub(crate) use reader::{GIVE_UP, ObjectDisc};
#[cfg(feature = "object-stores")]
pub(crate) use stored::Stored;

/// Requests that a server is taken to serve at once. Each needs a connection of its own in HTTP/1.1.
pub(crate) const REQUESTS: u32 = 64;

/// Bytes of a disc of chunks that may be in memory and not yet in the store.
pub(crate) const CHUNKS_BYTES: u64 = 64 << 20;

/// The schemes of addresses of objects.
const SCHEMES: [&str; 7] = ["http", "https", "s3", "gs", "az", "abfs", "abfss"];

/// Whether a text is the address of an object.
pub(crate) fn is_address(text: &str) -> bool {
    let parts = text.split_once("://");
    parts.is_some_and(|(scheme, rest)| SCHEMES.contains(&scheme) && !rest.is_empty())
}

/// Whether the address is a URL of a web server.
pub(crate) fn is_web(address: &str) -> bool {
    address.starts_with("http://") || address.starts_with("https://")
}

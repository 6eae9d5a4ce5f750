//! A disc that is one object, read by ranges: a file of a web server, or an object of S3, Azure or Google.
//!
//! `http` and `stored` read ranges, `origin` is the choice between them, and `reader` is the disc. The disc has a
//! runtime on a thread of its own, and completes requests as an NBD server's disc does: its owner waits for a descriptor.
//! Invariant: all bytes are of the version that was opened; a request fails if the object has changed since.
//! Cost: a request to the server for each request of the owner, at most [`REQUESTS`] at once.
//! Not for objects that change, and not for discs that are written.
//!
//! Without the feature `object-stores`, there is no such disc, and its type has no values.

#[cfg(not(feature = "object-stores"))]
mod absent;
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

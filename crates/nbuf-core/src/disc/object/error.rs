//! Why an object cannot be read as a disc, and what to do about it.

/// Why an object cannot be read as a disc. Addresses are without their queries, which may hold a signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectDiscError {
    /// This build has no clients.
    #[error(
        "this program cannot read {0}: build it with `cargo build --release --features object-stores`, or install the .deb or the .rpm"
    )]
    NotBuilt(String),
    /// It is no URL.
    #[error("{address} is no URL ({why}): write https://HOST/PATH")]
    Url {
        /// What was given.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no answer.
    #[error(
        "cannot reach {address} ({why}): look at the name of the host, the server and the network"
    )]
    Unreachable {
        /// The object.
        address: String,
        /// What happened.
        why: String,
    },
    /// There is no such object.
    #[error("the server has no {0}: correct the address")]
    Absent(String),
    /// It may not be read.
    #[error(
        "the server refuses to send {address} ({why}): give credentials, or a URL that needs none"
    )]
    Refused {
        /// The object.
        address: String,
        /// The status.
        why: String,
    },
    /// The server sends objects only as a whole.
    #[error(
        "the server sends no ranges of {0}: use a server with range requests, or download the file and serve it by file:PATH"
    )]
    NoRanges(String),
    /// A change would not be detected.
    #[error(
        "the server gives neither ETag nor Last-Modified of {0}, so nbuf cannot detect a change: download the file and serve it by file:PATH"
    )]
    NoVersion(String),
    /// It has no bytes.
    #[error("{0} is empty: give an object with the bytes of a disc")]
    Empty(String),
    /// It was written again.
    #[error("{0} has changed since nbuf opened it: start again to serve the new version")]
    Changed(String),
    /// An answer without the bytes.
    #[error("the server does not send {address} ({why}): look at the server")]
    Answer {
        /// The object.
        address: String,
        /// What it answers.
        why: String,
    },
}

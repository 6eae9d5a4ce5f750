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
    /// There is no disc of chunks.
    #[error("there is no disc at {0}: add ?size=10GiB to the address to make one of this size")]
    NoDisc(String),
    /// A disc of chunks cannot have this size.
    #[error("no disc of chunks has {bytes} B ({why}): give another ?size=")]
    ChunksSize {
        /// What was asked for.
        bytes: u64,
        /// Why not.
        why: &'static str,
    },
    /// The disc of chunks has another size.
    #[error(
        "the disc at {address} has {bytes} B, not {wanted} B: leave out ?size=, or give another prefix"
    )]
    OtherSize {
        /// The disc.
        address: String,
        /// Its size.
        bytes: u64,
        /// What was asked for.
        wanted: u64,
    },
    /// An object of a disc of chunks is none.
    #[error("{address} is not of a disc of chunks ({why}): give another prefix")]
    NoChunks {
        /// The object.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// A chunk has a wrong size.
    #[error(
        "{address} has {bytes} B, and is no chunk of {chunk_bytes} B: restore it, or write the whole chunk"
    )]
    Chunk {
        /// The object.
        address: String,
        /// Its size.
        bytes: u64,
        /// The size of chunks.
        chunk_bytes: u64,
    },
    /// Another server has the lease.
    #[error(
        "the server `{owner}` writes {address}: end it, or start again in {seconds} s if it is gone; --read-only needs no lease"
    )]
    Leased {
        /// The disc.
        address: String,
        /// Who has the lease.
        owner: String,
        /// When it ends, unless it is renewed.
        seconds: u64,
    },
    /// Another server has taken over the lease.
    #[error(
        "the lease of {address} was lost ({why}), so no later write or flush succeeds: end this server, as another one may write the disc"
    )]
    LeaseLost {
        /// The disc.
        address: String,
        /// Who has it.
        why: String,
    },
    /// The lease was not renewed in time.
    #[error(
        "the lease of {address} was not renewed in time ({why}), and nothing is written until it is: look at the server, the network and the clock"
    )]
    LeaseExpired {
        /// The disc.
        address: String,
        /// What happened.
        why: String,
    },
    /// Another writer has changed a chunk.
    #[error(
        "another server has written {0}, so no later write or flush succeeds: end this server, and let one server alone write the disc"
    )]
    Taken(String),
    /// The store did not take an object.
    #[error("cannot write {address} ({why}): look at the store, and at the rights there")]
    NotWritten {
        /// The object.
        address: String,
        /// What happened.
        why: String,
    },
    /// The store ignores conditions.
    #[error(
        "the store of {0} ignores If-Match or If-None-Match, so it cannot keep out a second writer: use another store"
    )]
    NoConditions(String),
}

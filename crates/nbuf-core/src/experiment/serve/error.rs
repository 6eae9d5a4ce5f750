//! Why a disc cannot be served, and which of it is the command line's.

use std::io;
use std::path::PathBuf;

use super::{ConfigError, JournalError, StateError, TlsError};
use crate::disc::object::ObjectDiscError;
use crate::path::nbd::{DiscFileError, ServerError};
use crate::units::Bytes;
use crate::workload::source::ObjectError;

/// Why a disc cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file of the disc.
    #[error(transparent)]
    Disc(#[from] DiscFileError),
    /// The backend server.
    #[error("cannot use the NBD server at {address} as a disc ({error}): {}", backend(error))]
    Backend {
        /// Its address.
        address: String,
        /// What happened.
        error: io::Error,
    },
    /// The object of a web server or an object store.
    #[error(transparent)]
    Object(#[from] ObjectDiscError),
    /// The object store.
    #[error(transparent)]
    Store(#[from] ObjectError),
    /// The size of the cache.
    #[error(
        "a cache of {bytes} B is less than a page of {page_bytes} B, or 16 TiB and more: give another --size"
    )]
    Size {
        /// What was asked for.
        bytes: u64,
        /// A page.
        page_bytes: u32,
    },
    /// The size of a page.
    #[error("a page of {0} B is no power of two from 512 to 32768: give another --page")]
    Page(u32),
    /// The policy needs the future.
    #[error("opt needs the future, which only a simulation has: give another --policy")]
    Future,
    /// A socket that others could reach.
    #[error(
        "{0} is no loopback address, and every host that reaches it can read and write the disc: listen at 127.0.0.1, check certificates by --tls-ca, or add --allow-anyone"
    )]
    NotLoopback(std::net::SocketAddr),
    /// A certificate, or a key.
    #[error(transparent)]
    Tls(TlsError),
    /// The file that keeps what caches held.
    #[error(transparent)]
    State(StateError),
    /// The file of the second tier.
    #[error(transparent)]
    Tier(StateError),
    /// The journal of the second tier, or the disc that it owes bytes to.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Bytes that a journal owes cannot be both written and lost.
    #[error("--write-dirty and --discard-dirty are both given: give one")]
    WriteAndDiscard,
    /// The size of the second tier.
    #[error("a tier of {0} is less than 1 MiB or more than 16 TiB: give another --tier-size")]
    TierSize(Bytes),
    /// Two exports have one second tier.
    #[error(
        "the exports `{}` and `{}` have one tier, {}: give each a file of its own, by `tier` in its table or by --export-tier NAME=FILE", .0, .1, .2.display()
    )]
    SameTier(String, String, PathBuf),
    /// A second tier for an export that is not there, or has one.
    #[error(
        "--export-tier gives a tier to `{0}`, which no --export without a tier has as its name: give each export one at most, by its name"
    )]
    TierOfNone(String),
    /// A tier or its journal, and the state, have one file.
    #[error(
        "--tier and --state both name {}, for the tier or its journal, and for the state: give each a file of its own", .0.display()
    )]
    TierIsState(PathBuf),
    /// The server failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A setting without a default is missing.
    #[error("no {0} is given: give --{0}, or `{0}` in the file of --config")]
    Missing(&'static str),
    /// The name of an export.
    #[error(
        "`{0}` is no name of an export: give one of 1 to 255 bytes, without control characters"
    )]
    Name(String),
    /// Two exports have one name.
    #[error("two exports have the name `{0}`: give each its own")]
    SameName(String),
    /// Two exports have one disc, and one of them writes to it.
    #[error(
        "the exports `{0}` and `{1}` have one disc, and neither cache would see writes through the other: serve it once, or make both read-only"
    )]
    SameDisc(String, String),
    /// A disc without a name, and discs by name.
    #[error("a server has one disc or exports by name: give either `disc` or `export`")]
    Both,
    /// Certificates for backend servers, and none is reached by TLS.
    #[error(
        "disc-tls-ca is given, and no disc is reached by TLS: write nbds://HOST/EXPORT, or leave it out"
    )]
    NothingSecure,
    /// No hit ratio tells a time.
    #[error(
        "the cache of a server is sized by --target hit=0.95, fills=100/s or price=3.5,0.4 only"
    )]
    Target,
    /// The size of the cache is no number of bytes.
    #[error("the size of a server's cache is in bytes, not in percent: give one such as 256MiB")]
    NoBytes,
    /// A number is too small or too large.
    #[error("{name} is {given}: give a number from 1 to {most}")]
    OutOfRange {
        /// The setting.
        name: &'static str,
        /// Its value.
        given: usize,
        /// The largest.
        most: usize,
    },
    /// A path has no absolute form.
    #[error("{}: {error}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// What happened.
        error: io::Error,
    },
    /// The file of settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No signal can end it.
    #[error("cannot listen for signals ({0})")]
    Signals(#[source] io::Error),
    /// Where to put a socket.
    #[error("no place for a socket ({0}): give --socket")]
    Place(#[source] io::Error),
    /// The observer could not take the addresses.
    #[error(transparent)]
    Observer(io::Error),
    /// The caches, their tables, the tiers and the buffers do not fit into memory.
    #[error(
        "the caches and their tables take {wanted}, and {available} of memory is available: give a smaller --size or --tier-size"
    )]
    NoMemory {
        /// All caches.
        wanted: Bytes,
        /// What there is.
        available: Bytes,
    },
    /// A running server did not answer.
    #[error("no server answers at {control} ({error}): {}", advice(error))]
    NoServer {
        /// Its control socket.
        control: String,
        /// What happened.
        error: io::Error,
    },
    /// What answers there is another protocol.
    #[error(
        "{0} is not a control socket: give the one of `nbuf serve`, or the path of its --control"
    )]
    NotControl(String),
    /// A running server refused.
    #[error("the server refuses: {0}")]
    Refused(String),
}

impl Error {
    /// Whether the command line alone is wrong, whatever the files are.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Size { .. }
                | Self::Page(_)
                | Self::Future
                | Self::NotLoopback(_)
                | Self::Missing(_)
                | Self::NoBytes
                | Self::Target
                | Self::Name(_)
                | Self::SameName(_)
                | Self::Both
                | Self::WriteAndDiscard
                | Self::NothingSecure
                | Self::TierSize(_)
                | Self::TierOfNone(_)
                | Self::TierIsState(_)
                | Self::OutOfRange { .. }
                | Self::Config(_)
        )
    }
}

/// What to do about a backend server that cannot be used.
fn backend(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => "start it first",
        io::ErrorKind::InvalidData => {
            "look at its certificate, its clock, and the files of --disc-tls-ca and --disc-tls-cert"
        }
        io::ErrorKind::TimedOut => "look at the server, and at the network",
        _ => "correct the address, or look at the server",
    }
}

/// What to do about a server that does not answer.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "it belongs to another user: ask as that user, or as root"
        }
        io::ErrorKind::TimedOut => "it is stopped or very busy: ask again",
        io::ErrorKind::ConnectionAborted => "it has ended: ask again when it runs",
        _ => "it has ended, or has another socket: give the one that `nbuf serve` printed",
    }
}

//! What is served, and how.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use crate::cache::cached::Writes;
use crate::cache::policy::Choice;
use crate::path::nbd::Address;
use crate::units::{Bytes, Nanos};

/// A disc behind a server, as `file:PATH` or `nbd:unix:PATH` name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BehindSpec {
    /// The image of a disc.
    File(PathBuf),
    /// The socket of another NBD server.
    Nbd(PathBuf),
}

/// No disc is written so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write file:PATH or nbd:unix:PATH")]
pub struct BehindSpecError;

impl FromStr for BehindSpec {
    type Err = BehindSpecError;

    fn from_str(text: &str) -> Result<Self, BehindSpecError> {
        let path = |rest: &str| (!rest.is_empty()).then(|| PathBuf::from(rest));
        let file = text.strip_prefix("file:").and_then(path).map(Self::File);
        let nbd = || text.strip_prefix("nbd:unix:").and_then(path).map(Self::Nbd);
        file.or_else(nbd).ok_or(BehindSpecError)
    }
}

impl fmt::Display for BehindSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Nbd(path) => write!(f, "nbd:unix:{}", path.display()),
        }
    }
}

/// A disc, a cache, and where clients connect.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The disc.
    pub disc: BehindSpec,
    /// The size of the cache.
    pub size: Bytes,
    /// When a write is on the disc.
    pub writes: Writes,
    /// Where clients connect; where there is none, at a socket of the user's own.
    pub listen: Vec<Address>,
    /// Whether sockets are taken that a service manager passed to this process (`sd_listen_fds(3)`). With them none
    /// is made where `listen` is empty. The one named `control` is the control socket.
    pub takes_sockets: bool,
    /// Where the server answers about itself; by default next to the first Unix socket.
    pub control: Option<PathBuf>,
    /// Whether an address that is not loopback may be listened at. Clients are not asked who they are.
    pub allows_anyone: bool,
    /// What is evicted.
    pub policy: Choice,
    /// Whether writes are refused.
    pub is_read_only: bool,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Threads that read and write a file.
    pub threads: usize,
    /// The most clients at once.
    pub clients_max: usize,
    /// How long a client may send a request, or take replies, at under 16 KiB a second. Its handshake has ten seconds of
    /// it at most.
    pub client_timeout: Nanos,
    /// Where a program serves the figures to Prometheus; a run itself does not.
    pub metrics: Option<SocketAddr>,
    /// The name of the export; the empty name leads to it too.
    pub name: String,
}

impl Spec {
    /// A disc behind a cache of this size: written through, pages of 4 KiB, S3-FIFO.
    pub fn new(disc: BehindSpec, size: Bytes) -> Self {
        Self {
            disc,
            size,
            writes: Writes::Through,
            listen: Vec::new(),
            takes_sockets: false,
            control: None,
            allows_anyone: false,
            policy: "s3-fifo".parse().expect("a row of the table"),
            is_read_only: false,
            page_bytes: 4096,
            threads: 16,
            clients_max: 64,
            client_timeout: Nanos(60_000_000_000),
            metrics: None,
            name: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_is_written_as_it_is_read() {
        for text in ["file:disc.img", "file:/a:b", "nbd:unix:/run/socket"] {
            assert_eq!(text.parse::<BehindSpec>().unwrap().to_string(), text);
        }
        for text in ["", "file:", "disc.img", "nbd:", "nbd:unix:", "nbd:localhost"] {
            assert_eq!(text.parse::<BehindSpec>(), Err(BehindSpecError));
        }
    }
}

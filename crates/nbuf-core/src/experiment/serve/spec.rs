//! What is served, and how.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{Error, ExportSpec, TlsSpec};
use crate::path::nbd::Address;
use crate::units::{Bytes, Nanos};

/// The most discs of a server.
const EXPORTS_MAX: usize = 64;

/// A disc behind a server, as `file:PATH`, `direct:PATH` or `nbd:unix:PATH` name it. `device:PATH`, and a path that begins with `/`,
/// is a file too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BehindSpec {
    /// The image of a disc, or a block device.
    File(PathBuf),
    /// The same without the page cache.
    Direct(PathBuf),
    /// The socket of another NBD server.
    Nbd(PathBuf),
}

/// No disc is written so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write file:PATH, direct:PATH or nbd:unix:PATH")]
pub struct BehindSpecError;

impl BehindSpec {
    /// The same with a path from this folder.
    pub(super) fn within(self, folder: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(folder.join(path)),
            Self::Direct(path) => Self::Direct(folder.join(path)),
            Self::Nbd(path) => Self::Nbd(folder.join(path)),
        }
    }
}

impl FromStr for BehindSpec {
    type Err = BehindSpecError;

    fn from_str(text: &str) -> Result<Self, BehindSpecError> {
        let path = |rest: &str| (!rest.is_empty()).then(|| PathBuf::from(rest));
        let rest = text.strip_prefix("file:").or_else(|| text.strip_prefix("device:"));
        let rest = rest.or_else(|| text.starts_with('/').then_some(text));
        let file = rest.and_then(path).map(Self::File);
        let nbd = || text.strip_prefix("nbd:unix:").and_then(path).map(Self::Nbd);
        let direct = || text.strip_prefix("direct:").and_then(path).map(Self::Direct);
        file.or_else(direct).or_else(nbd).ok_or(BehindSpecError)
    }
}

impl fmt::Display for BehindSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Direct(path) => write!(f, "direct:{}", path.display()),
            Self::Nbd(path) => write!(f, "nbd:unix:{}", path.display()),
        }
    }
}

/// Discs, their caches, and where clients connect.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The discs, each with a cache of its own.
    pub exports: Vec<ExportSpec>,
    /// Where clients connect; where there is none, at a socket of the user's own.
    pub listen: Vec<Address>,
    /// Whether sockets are taken that a service manager passed to this process (`sd_listen_fds(3)`). With them none
    /// is made where `listen` is empty. The one named `control` is the control socket.
    pub takes_sockets: bool,
    /// Where the server answers about itself; by default next to the first Unix socket.
    pub control: Option<PathBuf>,
    /// Whether an address that is not loopback may be listened at, where clients are not asked who they are.
    pub allows_anyone: bool,
    /// Certificates. TCP needs TLS then.
    pub tls: Option<TlsSpec>,
    /// Threads that read and write a file.
    pub threads: usize,
    /// The most clients at once.
    pub clients_max: usize,
    /// How long a client may send a request, or take replies, at under 16 KiB a second. Its handshake has ten seconds of
    /// it at most.
    pub client_timeout: Nanos,
    /// How long the server looks for more requests after each turn with work, before it sleeps. It is quicker then, by
    /// the time that a sleeping processor takes to wake, and takes a processor while clients are active.
    pub spin: Nanos,
    /// Where a program serves the figures to Prometheus; a run itself does not.
    pub metrics: Option<SocketAddr>,
}

impl Spec {
    /// A disc behind a cache of this size: written through, pages of 4 KiB, S3-FIFO.
    pub fn new(disc: BehindSpec, size: Bytes) -> Self {
        Self {
            exports: vec![ExportSpec::new(disc, size)],
            listen: Vec::new(),
            takes_sockets: false,
            control: None,
            allows_anyone: false,
            tls: None,
            threads: 16,
            clients_max: 64,
            client_timeout: Nanos(60_000_000_000),
            spin: Nanos::ZERO,
            metrics: None,
        }
    }

    /// The names of the discs, in one text.
    pub(super) fn discs(&self) -> String {
        let discs: Vec<String> = self.exports.iter().map(|each| each.disc.to_string()).collect();
        discs.join(" ")
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        self.check_addresses(&self.listen)?;
        if !(1..=EXPORTS_MAX).contains(&self.exports.len()) {
            let (name, given, most) = ("export", self.exports.len(), EXPORTS_MAX);
            return Err(Error::OutOfRange { name, given, most });
        }
        for (at, export) in self.exports.iter().enumerate() {
            export.check()?;
            if self.exports[..at].iter().any(|other| other.name == export.name) {
                return Err(Error::SameName(export.name.clone()));
            }
        }
        Ok(())
    }

    pub(super) fn check_addresses(&self, addresses: &[Address]) -> Result<(), Error> {
        for address in addresses {
            if let Address::Tcp(address) = address
                && !address.ip().is_loopback()
                && !self.allows_anyone
                && !self.tls.as_ref().is_some_and(TlsSpec::checks_clients)
            {
                return Err(Error::NotLoopback(*address));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_is_written_as_it_is_read() {
        for text in ["file:disc.img", "file:/a:b", "direct:disc.img", "nbd:unix:/run/socket"] {
            assert_eq!(text.parse::<BehindSpec>().unwrap().to_string(), text);
        }
        for text in ["device:/dev/loop7", "/dev/loop7", "file:/dev/loop7"] {
            assert_eq!(text.parse::<BehindSpec>().unwrap().to_string(), "file:/dev/loop7");
        }
        for text in ["", "file:", "device:", "disc.img", "nbd:", "nbd:unix:", "nbd:localhost"] {
            assert_eq!(text.parse::<BehindSpec>(), Err(BehindSpecError));
        }
    }
}

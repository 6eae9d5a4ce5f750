//! What is served, and how.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{BackendSpec, Config, Error, ExportSpec, TlsSpec, TrustSpec};
use crate::path::nbd::Address;
use crate::units::{Bytes, Nanos};

/// The most discs of a server.
const EXPORTS_MAX: usize = 64;
/// The most addresses for clients.
const ADDRESSES_MAX: usize = 64;

/// Discs, their caches, and where clients connect.
///
/// It is read from a file in the keys of a [`Config`], and so with the checks of [`Config::spec`].
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(try_from = "Config")]
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
    /// Which backend servers are trusted, for discs that are reached by TLS.
    pub trust: Option<TrustSpec>,
    /// Where it is kept for the next start what caches held.
    pub state: Option<PathBuf>,
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

impl TryFrom<Config> for Spec {
    type Error = Error;

    fn try_from(config: Config) -> Result<Self, Error> {
        config.spec()
    }
}

impl Spec {
    /// A disc behind a cache of this size: written through, pages of 4 KiB, S3-FIFO.
    pub fn new(disc: BackendSpec, size: Bytes) -> Self {
        Self {
            exports: vec![ExportSpec::new(disc, size)],
            listen: Vec::new(),
            takes_sockets: false,
            control: None,
            allows_anyone: false,
            tls: None,
            trust: None,
            state: None,
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
        if self.listen.len() > ADDRESSES_MAX {
            let (name, given, most) = ("listen", self.listen.len(), ADDRESSES_MAX);
            return Err(Error::OutOfRange { name, given, most });
        }
        let is_secure = |export: &ExportSpec| export.disc.is_secure();
        match (&self.trust, self.exports.iter().any(is_secure)) {
            (None, true) => return Err(Error::Missing("disc-tls-ca")),
            (Some(_), false) => return Err(Error::NothingSecure),
            _ => {}
        }
        for (at, export) in self.exports.iter().enumerate() {
            export.check()?;
            if let Some(tier) = &export.tier {
                tier.check(self.state.as_deref())?;
            }
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
    fn a_file_has_the_keys_of_a_config() {
        let text = "disc = 'file:a'\nsize = '1MiB'\nclients = 8\nwrite = 'back'\n";
        let spec: Spec = toml::from_str(text).unwrap();
        assert_eq!((spec.clients_max, spec.threads, spec.exports.len()), (8, 16, 1));
        assert_eq!(spec.exports[0].size, Bytes(1 << 20));
        let refused = |text: &str| toml::from_str::<Spec>(text).unwrap_err().to_string();
        assert!(refused("disc = 'file:a'\n").contains("no size is given"));
        assert!(refused("disc = 'file:a'\nsizes = '1MiB'\n").contains("unknown field `sizes`"));
    }

    #[test]
    fn exports_names_and_addresses_have_limits() {
        let spec = |text: &str| {
            let spec = Config::parse(text).unwrap().spec();
            spec.map(drop).map_err(|error| error.to_string())
        };
        let exports = |count: usize| {
            let export = |at: usize| format!("[[export]]\nname = 'd{at}'\ndisc = 'file:{at}'\n");
            let all: String = (0..count).map(export).collect();
            spec(&format!("size = '64KiB'\n{all}"))
        };
        let wrong = |name: &str| Err(format!("{name} is 65: give a number from 1 to 64"));
        assert_eq!((exports(64), exports(65)), (Ok(()), wrong("export")));
        let listen = |count: usize| {
            let all = (1..=count).map(|port| format!("'127.0.0.1:{port}'"));
            let all: Vec<String> = all.collect();
            spec(&format!("disc = 'file:a'\nsize = '64KiB'\nlisten = [{}]", all.join(",")))
        };
        assert_eq!((listen(64), listen(65)), (Ok(()), wrong("listen")));
        let named = |length: usize| {
            let name = "n".repeat(length);
            spec(&format!("size = '64KiB'\n[[export]]\nname = '{name}'\ndisc = 'file:a'\n"))
        };
        assert!(named(255).is_ok() && named(256).unwrap_err().contains("1 to 255 bytes"));
    }
}

//! How a server is set, as a file in TOML or a command line gives it: any part, the rest by default.
//!
//! ```
//! use nbuf::experiment::serve::Config;
//!
//! let file = Config::parse("disc = 'file:disc.img'\nsize = '256MiB'\nwrite = 'back'\n")?;
//! let flags = Config { clients: Some(8), ..Config::default() };
//! assert_eq!(flags.over(file).spec()?.clients_max, 8);
//! let error = Config::parse("disc = 'file:disc.img'\nsise = '1MiB'\n").unwrap_err();
//! assert!(error.to_string().starts_with("line 2: unknown key `sise`, expected one of `disc`"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod export;

use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{
    Address, BackendSpec, Bypass, Choice, Error, ExportSpec, Readahead, Spec, TlsSpec, TrustSpec,
    Writes,
};
use crate::sys::input;
use crate::units::{Bytes, Nanos, Size, as_text};
pub use error::ConfigError;
pub use export::ExportConfig;

/// No real file is longer.
const BYTES_MAX: u64 = 1 << 20;
/// The most threads of a file, and the most clients.
const THREADS_MAX: usize = 256;
const CLIENTS_MAX: usize = 16_384;
/// How long a client may stop, by default and at most.
const SECONDS: usize = 60;
const SECONDS_MAX: usize = 86_400;
/// The most microseconds of spinning: what takes longer is no wait of a processor.
const SPIN_MICROS_MAX: usize = 1000;

as_text!(BackendSpec);
as_text!(Writes);
as_text!(Bypass);

/// What a file or a command line says of a server. Keys in a file are the options without the dashes in front.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The disc.
    pub disc: Option<BackendSpec>,
    /// The size of the cache, in bytes.
    pub size: Option<Size>,
    /// When a write is on the disc.
    pub write: Option<Writes>,
    /// A Unix socket for clients.
    pub socket: Option<PathBuf>,
    /// The control socket.
    pub control: Option<PathBuf>,
    /// Addresses for clients.
    pub listen: Option<Vec<SocketAddr>>,
    /// Whether addresses may be listened at that are not loopback.
    pub allow_anyone: Option<bool>,
    /// The certificate of the server, in PEM.
    pub tls_cert: Option<PathBuf>,
    /// Its key.
    pub tls_key: Option<PathBuf>,
    /// Those that sign the certificates of clients.
    pub tls_ca: Option<PathBuf>,
    /// Whether Unix sockets need TLS too.
    pub tls_unix: Option<bool>,
    /// Those that sign the certificates of backend servers.
    pub disc_tls_ca: Option<PathBuf>,
    /// The certificate that is shown to them.
    pub disc_tls_cert: Option<PathBuf>,
    /// Its key.
    pub disc_tls_key: Option<PathBuf>,
    /// Where it is kept for the next start what caches held.
    pub state: Option<PathBuf>,
    /// A file that is a second tier.
    pub tier: Option<PathBuf>,
    /// Its size, in bytes.
    pub tier_size: Option<Size>,
    /// Whether a disc that shows no changes counts as unchanged.
    pub tier_trust: Option<bool>,
    /// Seconds that it may take for a request.
    pub tier_timeout: Option<usize>,
    /// Whether it counts for flushes.
    pub durable_tier: Option<bool>,
    /// Whether bytes that a journal owes are written to the disc, although it may be another one. No file says so.
    #[serde(skip)]
    pub write_dirty: bool,
    /// Whether bytes that a journal owes are lost. No file says so.
    #[serde(skip)]
    pub discard_dirty: bool,
    /// What to evict.
    pub policy: Option<Choice>,
    /// Whether writes are refused.
    pub read_only: Option<bool>,
    /// What is read ahead.
    pub readahead: Option<Readahead>,
    /// Whether the cache steps aside where it costs more than it saves.
    pub bypass: Option<Bypass>,
    /// Bytes of a page.
    pub page: Option<u32>,
    /// Requests to a file at once.
    pub threads: Option<usize>,
    /// Clients at once.
    pub clients: Option<usize>,
    /// Seconds that a client may stop within a request.
    pub client_timeout: Option<usize>,
    /// Microseconds for which the server looks for more requests before it sleeps.
    pub spin: Option<usize>,
    /// Where figures are served to Prometheus.
    pub metrics: Option<SocketAddr>,
    /// The name of the export.
    pub name: Option<String>,
    /// Discs by name, instead of `disc`: a table `[[export]]` for each.
    pub export: Vec<ExportConfig>,
}

impl Config {
    /// Reads a file. Paths in it are from its directory.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let name = input::name(path);
        let mut text = String::new();
        let wrong = |what: &str| {
            let error = io::Error::other(what);
            Err(ConfigError::Read { name: name.clone(), error })
        };
        // A server would wait for the writer of a pipe, and its clients with it.
        if path.exists() && !input::comes_again(path) {
            return wrong("not a regular file");
        }
        let read = input::open(path)?.take(BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(|error| ConfigError::Read { name: name.clone(), error })?;
        if text.len() as u64 > BYTES_MAX {
            return wrong("larger than 1 MiB");
        }
        let config = Self::parse(&text).map_err(|error| match error {
            ConfigError::Line { line, what, .. } => {
                ConfigError::Line { name: Some(name), line, what }
            }
            other => other,
        })?;
        let folder = std::path::absolute(path).ok();
        Ok(config.within(folder.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))))
    }

    /// Reads a text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(0, |before| before.matches('\n').count()) + 1;
            let what = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            let what = what.replace("unknown field", "unknown key");
            ConfigError::Line { name: None, line, what }
        })
    }

    /// The same with paths from this folder.
    fn within(mut self, folder: &Path) -> Self {
        let tls = [&mut self.tls_cert, &mut self.tls_key, &mut self.tls_ca];
        let trust = [&mut self.disc_tls_ca, &mut self.disc_tls_cert, &mut self.disc_tls_key];
        let others = [&mut self.socket, &mut self.control, &mut self.state, &mut self.tier];
        for path in others.into_iter().chain(tls).chain(trust).flatten() {
            *path = folder.join(&*path);
        }
        self.disc = self.disc.map(|disc| disc.within(folder));
        self.export.iter_mut().for_each(|export| export.move_into(folder));
        self
    }

    /// What this one says, and where it is silent the other.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let has_discs = self.disc.is_some() || !self.export.is_empty();
        let (disc, export) =
            if has_discs { (self.disc, self.export) } else { (other.disc, other.export) };
        Self {
            disc,
            export,
            size: self.size.or(other.size),
            write: self.write.or(other.write),
            socket: self.socket.or(other.socket),
            control: self.control.or(other.control),
            listen: self.listen.or(other.listen),
            allow_anyone: self.allow_anyone.or(other.allow_anyone),
            tls_cert: self.tls_cert.or(other.tls_cert),
            tls_key: self.tls_key.or(other.tls_key),
            tls_ca: self.tls_ca.or(other.tls_ca),
            tls_unix: self.tls_unix.or(other.tls_unix),
            disc_tls_ca: self.disc_tls_ca.or(other.disc_tls_ca),
            disc_tls_cert: self.disc_tls_cert.or(other.disc_tls_cert),
            disc_tls_key: self.disc_tls_key.or(other.disc_tls_key),
            state: self.state.or(other.state),
            tier: self.tier.or(other.tier),
            tier_size: self.tier_size.or(other.tier_size),
            tier_trust: self.tier_trust.or(other.tier_trust),
            tier_timeout: self.tier_timeout.or(other.tier_timeout),
            durable_tier: self.durable_tier.or(other.durable_tier),
            write_dirty: self.write_dirty || other.write_dirty,
            discard_dirty: self.discard_dirty || other.discard_dirty,
            policy: self.policy.or(other.policy),
            read_only: self.read_only.or(other.read_only),
            readahead: self.readahead.or(other.readahead),
            bypass: self.bypass.or(other.bypass),
            page: self.page.or(other.page),
            threads: self.threads.or(other.threads),
            clients: self.clients.or(other.clients),
            client_timeout: self.client_timeout.or(other.client_timeout),
            spin: self.spin.or(other.spin),
            metrics: self.metrics.or(other.metrics),
            name: self.name.or(other.name),
        }
    }

    /// The server that this describes.
    pub fn spec(self) -> Result<Spec, Error> {
        let exports = self.exports()?;
        let (tls, trust) = (TlsSpec::of(&self)?, TrustSpec::of(&self)?);
        let absolute =
            |path: PathBuf| std::path::absolute(&path).map_err(|error| Error::Path { path, error });
        let socket = self.socket.map(absolute).transpose()?.map(Address::Unix);
        let tcp = self.listen.unwrap_or_default().into_iter().map(Address::Tcp);
        let default = Spec { exports, ..Spec::new(BackendSpec::File(PathBuf::new()), Bytes(0)) };
        let within = |name, given: Option<usize>, default, most| match given {
            Some(given) if !(1..=most).contains(&given) => {
                Err(Error::OutOfRange { name, given, most })
            }
            given => Ok(given.unwrap_or(default)),
        };
        let seconds = within("client-timeout", self.client_timeout, SECONDS, SECONDS_MAX)?;
        let spin = within("spin", self.spin, 0, SPIN_MICROS_MAX)?;
        let spec = Spec {
            listen: socket.into_iter().chain(tcp).collect(),
            control: self.control.map(absolute).transpose()?,
            allows_anyone: self.allow_anyone.unwrap_or(default.allows_anyone),
            tls,
            trust,
            state: self.state.map(absolute).transpose()?,
            threads: within("threads", self.threads, default.threads, THREADS_MAX)?,
            clients_max: within("clients", self.clients, default.clients_max, CLIENTS_MAX)?,
            client_timeout: Nanos(1_000_000_000 * seconds as u64),
            spin: Nanos(1000 * spin as u64),
            metrics: self.metrics,
            ..default
        };
        spec.check()?;
        Ok(spec)
    }

    /// The discs that this describes.
    fn exports(&self) -> Result<Vec<ExportSpec>, Error> {
        let exports: Vec<ExportSpec> = if self.export.is_empty() {
            let name = self.name.clone().unwrap_or_default();
            let disc = self.disc.clone();
            let only = ExportConfig { name, disc, ..ExportConfig::default() };
            vec![ExportSpec { is_default: true, ..only.over(self)? }]
        } else if self.disc.is_some() || self.name.is_some() {
            return Err(Error::Both);
        } else {
            self.export.iter().map(|export| export.over(self)).collect::<Result<_, _>>()?
        };
        let sets_tiers = self.tier_size.is_some()
            || self.tier_timeout.is_some()
            || self.tier_trust == Some(true)
            || self.durable_tier == Some(true);
        if sets_tiers && exports.iter().all(|export| export.tier.is_none()) {
            return Err(Error::Missing("tier"));
        }
        Ok(exports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_wrong_is_named() {
        for (text, want) in [
            ("disc = 'file:a'\n\nsizes = '1MiB'", "line 3: unknown key `sizes`, expected one of"),
            ("size = '1MiB", "line 1: "),
            (
                "disc = 'a'",
                "line 1: write file:PATH, direct:PATH, nbd:unix:PATH, nbds://HOST/EXPORT, https://",
            ),
            ("size = 5", "line 1: invalid type: integer `5`"),
            ("clients = 3\nwrite = 'later'", "line 2: write `back`, `through` or `around`"),
            ("policy = 'best'", "line 1: "),
            ("listen = ['localhost']", "line 1: "),
            ("clients = 1\nclients = 2", "line 2: duplicate key"),
        ] {
            let error = Config::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(want) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn what_cannot_be_served_is_refused() {
        let spec = |text: &str| Config::parse(text).unwrap().spec();
        for (text, want) in [
            ("", "no disc is given:"),
            ("disc = 'file:a'", "no size is given:"),
            ("disc = 'file:a'\nsize = '10%'", "is in bytes"),
            ("disc = 'file:a'\nsize = '1'", "less than a page"),
            ("disc = 'file:a'\nsize = '1MiB'\nclients = 0", "clients is 0"),
            ("disc = 'file:a'\nsize = '1MiB'\nlisten = ['0.0.0.0:1']", "no loopback"),
            (
                "disc = 'file:a'\nsize = '1MiB'\n[[export]]\nname = 'a'\ndisc = 'file:b'",
                "give either",
            ),
            ("disc = 'file:a'\nsize = '1MiB'\ntls-cert = 'c'", "no tls-key is given"),
            ("disc = 'file:a'\nsize = '1MiB'\ntls-key = 'k'", "no tls-cert is given"),
            ("disc = 'file:a'\nsize = '1MiB'\ntls-ca = 'c'", "no tls-cert is given"),
            ("disc = 'file:a'\nsize = '1MiB'\ntls-unix = true", "no tls-cert is given"),
            (
                "disc = 'file:a'\nsize = '1MiB'\nlisten = ['0.0.0.0:1']\ntls-cert = 'c'\ntls-key = 'k'",
                "no loopback",
            ),
            ("disc = 'nbds://h/e'\nsize = '1MiB'", "no disc-tls-ca is given:"),
            (
                "disc = 'nbds://h/e'\nsize = '1MiB'\ndisc-tls-cert = 'c'",
                "no disc-tls-key is given:",
            ),
            (
                "disc = 'nbds://h/e'\nsize = '1MiB'\ndisc-tls-key = 'c'",
                "no disc-tls-cert is given:",
            ),
            (
                "disc = 'nbds://h/e'\nsize = '1MiB'\ndisc-tls-cert = 'c'\ndisc-tls-key = 'k'",
                "no disc-tls-ca is given:",
            ),
            ("disc = 'nbd://h/e'\nsize = '1MiB'\ndisc-tls-ca = 'c'", "no disc is reached by TLS"),
            ("disc = 'file:a'\nsize = '1MiB'\ntier = 't'", "no tier-size is given:"),
            ("disc = 'file:a'\nsize = '1MiB'\ntier-size = '1GiB'", "no tier is given:"),
            ("disc = 'file:a'\nsize = '1MiB'\ntier-trust = true", "no tier is given:"),
            ("disc = 'file:a'\nsize = '1MiB'\ntier-timeout = 9", "no tier is given:"),
            ("disc = 'file:a'\nsize = '1MiB'\ndurable-tier = true", "no tier is given:"),
            (
                "disc = 'file:a'\nsize = '1MiB'\ntier = 't'\ntier-size = '1GiB'\ntier-timeout = 0",
                "tier-timeout is 0: give a number from 1 to 86400",
            ),
            ("disc = 'file:a'\nsize = '1MiB'\ntier = 't'\ntier-size = '9%'", "is in bytes"),
            (
                "disc = 'file:a'\nsize = '1MiB'\ntier = 't'\ntier-size = '1KiB'",
                "less than 1 MiB or more than 16 TiB",
            ),
            (
                "size = '1MiB'\n[[export]]\nname = 'a'\ndisc = 'file:a'\ntier-size = '1GiB'",
                "no tier is given:",
            ),
            (
                "size = '1MiB'\n[[export]]\nname = 'a'\ndisc = 'file:a'\ntier = 't'",
                "no tier-size is given:",
            ),
            (
                "size = '1MiB'\ntier-size = '1GiB'\n[[export]]\nname = 'a'\ndisc = 'file:a'",
                "no tier is given:",
            ),
            ("size = '1MiB'\n[[export]]\nname = ''\ndisc = 'file:b'", "is no name"),
            ("size = '1MiB'\n[[export]]\nname = 'a'", "no disc is given:"),
        ] {
            let error = spec(text).unwrap_err();
            assert!(error.to_string().contains(want), "{text}: {error}");
            assert!(error.is_usage(), "{text}");
        }
    }

    #[test]
    fn addresses_of_others_need_clients_that_are_checked() {
        let text = "disc = 'file:a'\nsize = '1MiB'\nlisten = ['0.0.0.0:1']\ntls-cert = 'c'\n\
            tls-key = 'k'\ntls-ca = 'a'\n";
        let tls = Config::parse(text).unwrap().spec().unwrap().tls.unwrap();
        assert!(tls.checks_clients() && !tls.at_unix);
    }

    #[test]
    fn exports_have_their_own_settings_and_those_of_the_server() {
        let text = "size = '1MiB'\npolicy = 'lru'\n[[export]]\nname = 'a'\ndisc = 'file:a'\n\
            [[export]]\nname = 'b'\ndisc = 'file:b'\nsize = '2MiB'\nread-only = true\n";
        let exports = Config::parse(text).unwrap().spec().unwrap().exports;
        let all = exports.iter().map(|each| {
            (each.name.as_str(), each.size.0 >> 20, each.policy.to_string(), each.is_read_only)
        });
        let lru = || "lru".to_owned();
        assert_eq!(all.collect::<Vec<_>>(), [("a", 1, lru(), false), ("b", 2, lru(), true)]);
        assert!(!exports[0].is_default);
        let flags = Config { disc: "file:c".parse().ok(), ..Config::default() };
        let spec = flags.over(Config::parse(text).unwrap()).spec().unwrap();
        assert_eq!((spec.exports.len(), spec.exports[0].is_default), (1, true));
        let twice = text.replace("'b'", "'a'");
        let error = Config::parse(&twice).unwrap().spec().unwrap_err();
        assert!(error.to_string().contains("two exports have the name `a`"), "{error}");
    }

    #[test]
    fn exports_have_tiers_of_their_own() {
        let text = "size = '1MiB'\ntier-size = '8MiB'\n[[export]]\nname = 'a'\ndisc = 'file:a'\n\
            tier = 'a.tier'\n[[export]]\nname = 'b'\ndisc = 'file:b'\ntier = '/b.tier'\n\
            tier-size = '2MiB'\ntier-trust = true\ntier-timeout = 9\ndurable-tier = true\n[[export]]\nname = 'c'\ndisc = 'file:c'\n";
        let config = Config::parse(text).unwrap().within(Path::new("/etc/nbuf"));
        let exports = config.spec().unwrap().exports;
        let all = exports.iter().map(|export| {
            let tier = export.tier.as_ref()?;
            Some((
                tier.path.to_str()?,
                tier.size.0 >> 20,
                tier.trusts,
                tier.timeout.0 / 1_000_000_000,
                tier.durable.then(|| tier.journal()),
            ))
        });
        let journal = Some(PathBuf::from("/b.tier.journal"));
        let want = [
            Some(("/etc/nbuf/a.tier", 8, false, 5, None)),
            Some(("/b.tier", 2, true, 9, journal)),
            None,
        ];
        assert_eq!(all.collect::<Vec<_>>(), want);
    }

    #[test]
    fn paths_are_from_the_folder_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disc.toml");
        let text = "disc = 'file:disc.img'\nsize = '1MiB'\nsocket = 'here'\ncontrol = '/there'\n";
        std::fs::write(&path, text).unwrap();
        let spec = Config::read(&path).unwrap().spec().unwrap();
        assert_eq!(spec.exports[0].disc, BackendSpec::File(folder.path().join("disc.img")));
        assert_eq!(spec.listen, [Address::Unix(folder.path().join("here"))]);
        assert_eq!(spec.control.as_deref(), Some(Path::new("/there")));
        std::fs::write(&path, format!("{text}tls-cert = 'c'\ntls-key = '/k'\n")).unwrap();
        let tls = Config::read(&path).unwrap().spec().unwrap().tls.unwrap();
        assert_eq!((tls.certificate, tls.key), (folder.path().join("c"), "/k".into()));
    }
}

//! Where a backend server is, and how it is reached: an address as `nbd:unix:PATH` or as a URI of NBD gives it.
//!
//! The URIs are those of libnbd: `nbd://HOST[:PORT]/EXPORT` and `nbd+unix:///EXPORT?socket=PATH`; with `nbds` in front
//! all is sealed by TLS. Source: doc/uri.md of the NBD project. A function of text: it connects to nothing.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The port of NBD.
pub(crate) const PORT: u16 = 10809;
/// The longest name of an export that servers take.
const EXPORT_BYTES_MAX: usize = 4096;
/// The name of a server at a Unix socket, where none is given.
const LOCAL: &str = "localhost";

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemotePlace {
    /// At a Unix socket.
    Unix(PathBuf),
    /// At a port of a host, by its name or its number. An IPv6 address has no brackets here.
    Tcp {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
}

/// A disc of another NBD server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Where the server listens.
    pub place: RemotePlace,
    /// The name of the export; the empty one is the default.
    pub export: String,
    /// The name that the certificate of the server must have; with it all is sealed by TLS.
    pub tls_name: Option<String>,
}

/// Why a text is no address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// It begins with another word.
    #[error(
        "write nbd:unix:PATH, nbd://HOST/EXPORT, nbds://HOST/EXPORT or nbds+unix:///EXPORT?socket=PATH"
    )]
    Scheme,
    /// No host.
    #[error("the address has no host: write nbds://HOST[:PORT]/EXPORT")]
    Host,
    /// The port is no number.
    #[error("`{0}` is no port: write a number from 1 to 65535")]
    Port(String),
    /// A URI of a Unix socket has no path of one.
    #[error("the address has no socket: write nbds+unix:///EXPORT?socket=PATH")]
    Socket,
    /// A parameter of the URI that means nothing here.
    #[error("the parameter `{0}` of the address is not known: use socket and tls-hostname only")]
    Parameter(String),
    /// What follows a percent sign is no byte.
    #[error("`{0}` has a percent sign without two digits: write %25 for the sign itself")]
    Percent(String),
    /// The name of the export is too long, or no text.
    #[error("the name of the export is longer than 4096 bytes, or no UTF-8: give another one")]
    Export,
}

impl Remote {
    /// The default export at a Unix socket, in plain.
    pub fn at_socket(path: impl Into<PathBuf>) -> Self {
        Self { place: RemotePlace::Unix(path.into()), export: String::new(), tls_name: None }
    }

    /// Whether all is sealed by TLS.
    pub fn is_secure(&self) -> bool {
        self.tls_name.is_some()
    }

    /// The same with a path from this folder.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        if let RemotePlace::Unix(path) = &mut self.place {
            *path = folder.join(&*path);
        }
        self
    }

    /// Whether both may be one disc. Names of exports differ for different discs; the empty one is any of them.
    pub(crate) fn may_be(&self, other: &Self) -> bool {
        self.export == other.export || self.export.is_empty() || other.export.is_empty()
    }

    /// Reads what follows `://` or `+unix://`.
    fn uri(rest: &str, is_unix: bool, is_secure: bool) -> Result<Self, RemoteError> {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, export) = rest.split_once('/').unwrap_or((rest, ""));
        let (mut socket, mut tls_name) = (None, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "socket" if is_unix => socket = Some(decoded(value)?),
                "tls-hostname" if is_secure => tls_name = Some(text(value)?),
                _ => return Err(RemoteError::Parameter(key.to_owned())),
            }
        }
        let (host, port) = host(authority)?;
        let export = text(export)?;
        if export.len() > EXPORT_BYTES_MAX {
            return Err(RemoteError::Export);
        }
        let place = if is_unix {
            let path = socket.filter(|path| !path.is_empty()).ok_or(RemoteError::Socket)?;
            RemotePlace::Unix(OsString::from_vec(path).into())
        } else if host.is_empty() {
            return Err(RemoteError::Host);
        } else {
            RemotePlace::Tcp { host: host.clone(), port }
        };
        let named = tls_name.or((!host.is_empty()).then_some(host));
        let tls_name = is_secure.then(|| named.unwrap_or_else(|| LOCAL.to_owned()));
        Ok(Self { place, export, tls_name })
    }
}

impl FromStr for Remote {
    type Err = RemoteError;

    fn from_str(address: &str) -> Result<Self, RemoteError> {
        let path = address.strip_prefix("nbd:unix:").filter(|path| !path.is_empty());
        if let Some(path) = path {
            return Ok(Self::at_socket(path));
        }
        let schemes = [("nbd", false, false), ("nbds", false, true)];
        let unix = [("nbd+unix", true, false), ("nbds+unix", true, true)];
        let found = schemes.iter().chain(&unix).find_map(|(scheme, is_unix, is_secure)| {
            let rest = address.strip_prefix(scheme)?.strip_prefix("://")?;
            Some((rest, *is_unix, *is_secure))
        });
        let (rest, is_unix, is_secure) = found.ok_or(RemoteError::Scheme)?;
        Self::uri(rest, is_unix, is_secure)
    }
}

/// A host and its port.
fn host(authority: &str) -> Result<(String, u16), RemoteError> {
    // An address of IPv6 has colons of its own.
    let (host, rest) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => PORT,
        None => return Err(RemoteError::Port(rest.to_owned())),
        Some(port) => {
            let number = port.parse().ok().filter(|&port| port != 0);
            number.ok_or_else(|| RemoteError::Port(port.to_owned()))?
        }
    };
    let is_clean = |byte: u8| byte.is_ascii_graphic() && !b"@%\\".contains(&byte);
    if !host.bytes().all(is_clean) {
        return Err(RemoteError::Host);
    }
    Ok((host.to_owned(), port))
}

fn text(part: &str) -> Result<String, RemoteError> {
    String::from_utf8(decoded(part)?).map_err(|_| RemoteError::Export)
}

/// The bytes of a part of a URI.
fn decoded(part: &str) -> Result<Vec<u8>, RemoteError> {
    let wrong = || RemoteError::Percent(part.to_owned());
    let (mut rest, mut bytes) = (part.as_bytes(), Vec::new());
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, behind) = rest.split_first_chunk::<2>().ok_or_else(wrong)?;
        let digit = |digit: u8| char::from(digit).to_digit(16).ok_or_else(wrong);
        let byte = digit(digits[0])? * 16 + digit(digits[1])?;
        bytes.push(u8::try_from(byte).map_err(|_| wrong())?);
        rest = behind;
    }
    Ok(bytes)
}

/// A part of a URI as it is written.
struct Encoded<'a>(&'a [u8]);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &byte in self.0 {
            if byte.is_ascii_alphanumeric() || b"/-._~:,+".contains(&byte) {
                write!(f, "{}", char::from(byte))?;
            } else {
                write!(f, "%{byte:02X}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Remote {
    /// As it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let export = Encoded(self.export.as_bytes());
        let scheme = if self.is_secure() { "nbds" } else { "nbd" };
        let bracketed = |host: &str| {
            if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
        };
        match &self.place {
            RemotePlace::Unix(path) => {
                if !self.is_secure() && self.export.is_empty() {
                    return write!(f, "nbd:unix:{}", path.display());
                }
                let path = Encoded(OsStr::as_bytes(path.as_os_str()));
                write!(f, "{scheme}+unix:///{export}?socket={path}")?;
                match self.tls_name.as_deref().filter(|&name| name != LOCAL) {
                    Some(name) => write!(f, "&tls-hostname={}", Encoded(name.as_bytes())),
                    None => Ok(()),
                }
            }
            RemotePlace::Tcp { host, port } => {
                write!(f, "{scheme}://{}", bracketed(host))?;
                if *port != PORT {
                    write!(f, ":{port}")?;
                }
                write!(f, "/{export}")?;
                match self.tls_name.as_ref().filter(|&name| name != host) {
                    Some(name) => write!(f, "?tls-hostname={}", Encoded(name.as_bytes())),
                    None => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_addresses_of_libnbd_are_read() {
        let read = |text: &str| text.parse::<Remote>();
        let tcp = |host: &str, port| RemotePlace::Tcp { host: host.to_owned(), port };
        let name = |name: &str| Some(name.to_owned());
        for (text, place, export, tls_name) in [
            ("nbd://host", tcp("host", PORT), "", None),
            ("nbd://host:99/", tcp("host", 99), "", None),
            (
                "nbds://disc.example.com/a/b%20c",
                tcp("disc.example.com", PORT),
                "a/b c",
                name("disc.example.com"),
            ),
            ("nbds://[::1]:7/x", tcp("::1", 7), "x", name("::1")),
            ("nbds://10.0.0.1/x?tls-hostname=disc", tcp("10.0.0.1", PORT), "x", name("disc")),
            ("nbd+unix:///x?socket=/run/a%20b", RemotePlace::Unix("/run/a b".into()), "x", None),
            ("nbds+unix:///?socket=s", RemotePlace::Unix("s".into()), "", name("localhost")),
            ("nbds+unix://disc/?socket=s", RemotePlace::Unix("s".into()), "", name("disc")),
            ("nbd:unix:/run/s?t", RemotePlace::Unix("/run/s?t".into()), "", None),
        ] {
            let want = Remote { place, export: export.to_owned(), tls_name };
            assert_eq!(read(text), Ok(want), "{text}");
        }
        for (text, want) in [
            ("nbd:", RemoteError::Scheme),
            ("nbd:unix:", RemoteError::Scheme),
            ("nbd:localhost", RemoteError::Scheme),
            ("nbds:unix:/s", RemoteError::Scheme),
            ("nbds:///x", RemoteError::Host),
            ("nbds://user@host/x", RemoteError::Host),
            ("nbds://host:0/x", RemoteError::Port("0".to_owned())),
            ("nbds://host:65536/x", RemoteError::Port("65536".to_owned())),
            ("nbds://::1/x", RemoteError::Port(":1".to_owned())),
            ("nbds+unix:///x", RemoteError::Socket),
            ("nbds+unix:///x?socket=", RemoteError::Socket),
            ("nbds://host/x?socket=s", RemoteError::Parameter("socket".to_owned())),
            ("nbd://host/?tls-hostname=a", RemoteError::Parameter("tls-hostname".to_owned())),
            (
                "nbds://host/?tls-certificates=a",
                RemoteError::Parameter("tls-certificates".to_owned()),
            ),
            ("nbds://host/%2", RemoteError::Percent("%2".to_owned())),
            ("nbds://host/%FF", RemoteError::Export),
        ] {
            assert_eq!(read(text), Err(want), "{text}");
        }
    }

    #[test]
    fn an_export_without_a_name_may_be_any() {
        let read = |text: &str| text.parse::<Remote>().unwrap();
        assert!(
            read("nbd://h/a").may_be(&read("nbd://h/a"))
                && read("nbd://h/a").may_be(&read("nbd://h"))
        );
        assert!(!read("nbd://h/a").may_be(&read("nbd://h/b")));
    }

    proptest! {
        #[test]
        fn an_address_is_written_as_it_is_read(
            (socket, export) in (".{1,9}", ".{0,9}"),
            host in "[a-z0-9.-]{1,9}|::[0-9a-f]{1,4}",
            port in 1_u16..,
            tls_name in proptest::option::of("[a-z0-9.]{1,9}"),
            is_unix: bool,
        ) {
            let place = if is_unix { RemotePlace::Unix(socket.into()) } else { RemotePlace::Tcp { host, port } };
            let remote = Remote { place, export, tls_name };
            prop_assert_eq!(remote.to_string().parse(), Ok(remote));
        }

        #[test]
        fn no_text_panics(text in "nbds?(\\+unix)?://.{0,40}") {
            if let Ok(remote) = text.parse::<Remote>() {
                prop_assert_eq!(remote.to_string().parse(), Ok(remote));
            }
        }
    }
}

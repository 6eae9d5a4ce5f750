//! Sockets: where a server listens, and what it accepts.
//!
//! The file of a Unix socket is removed when the listener goes. One that a killed server left behind is
//! replaced; a socket that is in use, and a file of another kind, are refused.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::net::sockopt;
use rustix::process::umask;

use crate::sys::activation::{AddressFamily, Passed};

/// The longest path of a Unix socket: `sun_path` of `unix(7)`, which ends with a zero.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Room for replies in the kernel: each filling of it is a turn, and a change of the process on the processor.
const SEND_BYTES: usize = 1 << 20;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// At a file.
    Unix(PathBuf),
    /// At a port.
    Tcp(SocketAddr),
}

impl fmt::Display for Address {
    /// As clients of NBD write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "nbd+unix:///?socket={}", path.display()),
            Self::Tcp(address) => write!(f, "nbd://{address}"),
        }
    }
}

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another server has the socket.
    #[error("a server listens at {path}: stop it, or give another path")]
    InUse {
        /// The file.
        path: String,
    },
    /// The name is a file.
    #[error("{path} is not a socket, so it is not replaced: give another path")]
    NotASocket {
        /// The file.
        path: String,
    },
    /// What the service manager passed cannot be listened at.
    #[error("cannot use a socket that was passed ({0}): check the unit of the socket")]
    Passed(#[source] io::Error),
    /// The control socket that was passed can be reached from other machines.
    #[error("the control socket that was passed is not a Unix socket: give its unit a path")]
    PassedControl,
    /// The path is longer than an address of a Unix socket.
    #[error(
        "the path of the socket {path} has {} B, and the kernel permits {SOCKET_PATH_BYTES_MAX}: give a shorter one, such as /tmp/disc.sock",
        path.len()
    )]
    LongPath {
        /// The file.
        path: String,
    },
    /// The kernel refused.
    #[error("cannot listen at {at}: {error}")]
    Kernel {
        /// The address.
        at: String,
        /// Its error.
        error: io::Error,
    },
}

/// A listening socket.
#[derive(Debug)]
pub(super) enum Listener {
    Unix(UnixListener, OwnFile),
    /// One that a service manager keeps, and its file.
    Passed(UnixListener, PathBuf),
    Tcp(TcpListener),
}

/// The file of a socket that is ours.
#[derive(Debug)]
pub(super) struct OwnFile {
    path: PathBuf,
    /// Its device and inode.
    key: (u64, u64),
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let is_ours = |found: &std::fs::Metadata| (found.dev(), found.ino()) == self.key;
        if std::fs::symlink_metadata(&self.path).is_ok_and(|found| is_ours(&found)) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Listener {
    /// Listens. A Unix socket is for its owner alone.
    pub(super) fn bind(address: &Address) -> Result<Self, ListenError> {
        let kernel = |error| ListenError::Kernel { at: address.to_string(), error };
        match address {
            Address::Unix(path) => {
                if path.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
                    return Err(ListenError::LongPath { path: path.display().to_string() });
                }
                clear(path)?;
                let before = umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
                let bound = UnixListener::bind(path);
                umask(before);
                let listener = bound.map_err(kernel)?;
                listener.set_nonblocking(true).map_err(kernel)?;
                let found = std::fs::symlink_metadata(path).map_err(kernel)?;
                let file = OwnFile { path: path.clone(), key: (found.dev(), found.ino()) };
                Ok(Self::Unix(listener, file))
            }
            Address::Tcp(address) => {
                let listener = TcpListener::bind(address).map_err(kernel)?;
                listener.set_nonblocking(true).map_err(kernel)?;
                Ok(Self::Tcp(listener))
            }
        }
    }

    /// Listens at a socket that a service manager opened, and keeps open when this process ends.
    pub(super) fn passed(passed: Passed) -> Result<Self, ListenError> {
        let Passed { name, family, socket } = passed;
        let wrong = |what: &str| ListenError::Passed(io::Error::other(format!("`{name}` {what}")));
        if family == AddressFamily::UNIX {
            let listener = UnixListener::from(socket);
            listener.set_nonblocking(true).map_err(ListenError::Passed)?;
            let address = listener.local_addr().map_err(ListenError::Passed)?;
            let path = address.as_pathname().ok_or_else(|| wrong("has no path"))?;
            return Ok(Self::Passed(listener, path.to_owned()));
        }
        if family != AddressFamily::INET && family != AddressFamily::INET6 {
            return Err(wrong("is neither a Unix socket nor TCP"));
        }
        let listener = TcpListener::from(socket);
        listener.set_nonblocking(true).map_err(ListenError::Passed)?;
        Ok(Self::Tcp(listener))
    }

    /// Where it listens; a port of 0 has become another.
    pub(super) fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Unix(_, file) => Address::Unix(file.path.clone()),
            Self::Passed(_, path) => Address::Unix(path.clone()),
            Self::Tcp(listener) => Address::Tcp(listener.local_addr()?),
        })
    }

    /// The next client, if one waits. An error if the kernel has no descriptor or memory for it.
    pub(super) fn accept(&self) -> io::Result<Option<Socket>> {
        let accepted = match self {
            Self::Unix(listener, _) | Self::Passed(listener, _) => {
                listener.accept().map(|(stream, _)| Socket::Unix(stream))
            }
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Socket::Tcp(stream)),
        };
        match accepted {
            Ok(socket) => {
                socket.prepare()?;
                Ok(Some(socket))
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {
                    Ok(None)
                }
                _ => Err(error),
            },
        }
    }
}

/// Makes room for a socket: removes one that nothing listens at.
fn clear(path: &Path) -> Result<(), ListenError> {
    let name = || path.display().to_string();
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(ListenError::NotASocket { path: name() });
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            let removed = std::fs::remove_file(path);
            removed.map_err(|error| ListenError::Kernel { at: name(), error })
        }
        _ => Err(ListenError::InUse { path: name() }),
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(listener, _) | Self::Passed(listener, _) => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }
}

/// A connected socket.
#[derive(Debug)]
pub(super) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Has no call wait, and the kernel ask a host that has gone silent whether it is still there: a client that
    /// lost its power is gone after two minutes.
    fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => {
                stream.set_nonblocking(true)?;
                // The kernel gives what it permits. TCP finds its own.
                Ok(sockopt::set_socket_send_buffer_size(stream, SEND_BYTES)?)
            }
            Self::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                sockopt::set_socket_keepalive(stream, true)?;
                sockopt::set_tcp_keepidle(stream, Duration::from_mins(1))?;
                sockopt::set_tcp_keepintvl(stream, Duration::from_secs(10))?;
                Ok(sockopt::set_tcp_keepcnt(stream, 6)?)
            }
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(buffer),
            Self::Tcp(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_gone_is_noticed() {
        let listener = Listener::bind(&Address::Tcp("127.0.0.1:0".parse().unwrap())).unwrap();
        assert!(listener.accept().unwrap().is_none());
        let Address::Tcp(address) = listener.address().unwrap() else { panic!("no port") };
        let _client = TcpStream::connect(address).unwrap();
        let tries = (0..1000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            listener.accept().unwrap()
        });
        let socket = tries.expect("a client waits");
        assert!(sockopt::socket_keepalive(&socket).unwrap());
        assert_eq!(sockopt::tcp_keepcnt(&socket).unwrap(), 6);
    }

    #[test]
    fn a_path_is_as_long_as_the_kernel_permits() {
        let folder = tempfile::tempdir().unwrap();
        let room = SOCKET_PATH_BYTES_MAX - folder.path().as_os_str().len() - 1;
        let at = |bytes: usize| Address::Unix(folder.path().join("s".repeat(bytes)));
        assert!(Listener::bind(&at(room)).is_ok());
        let error = Listener::bind(&at(room + 1)).unwrap_err().to_string();
        assert!(error.contains("has 108 B, and the kernel permits 107: give a shorter"), "{error}");
    }

    #[test]
    fn a_stale_socket_is_replaced_and_anything_else_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let address = Address::Unix(path.clone());
        let listener = Listener::bind(&address).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let error = Listener::bind(&address).unwrap_err();
        assert!(matches!(error, ListenError::InUse { .. }), "{error}");
        drop(listener);
        assert!(!path.exists());
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "as a killed server leaves it");
        drop(Listener::bind(&address).unwrap());
        std::fs::write(&path, "precious").unwrap();
        let error = Listener::bind(&address).unwrap_err();
        assert!(matches!(error, ListenError::NotASocket { .. }), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    }
}

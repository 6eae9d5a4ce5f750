//! A look at a Unix socket of another process: who is at its other end.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{SocketAddrUnix, getpeername};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// The other end of a connected Unix socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherEnd {
    /// The process that listened there; of a pair of sockets, the one that made them. Nothing if no number of ours
    /// names it.
    pub pid: Option<i32>,
    /// Its name, as `/proc/net/unix` has it; empty if it has none.
    pub name: String,
}

/// The other end of this descriptor of process `pid`.
///
/// The socket is open here for some microseconds: longer than there, if that process closes it meanwhile.
/// Needs the right to trace the process.
pub(crate) fn other_end(pid: i32, descriptor: i32) -> io::Result<OtherEnd> {
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let socket = pidfd_getfd(&process, descriptor, PidfdGetfdFlags::empty())?;
    let pid = Some(credentials(&socket)?.pid).filter(|&pid| pid > 0);
    let end = getpeername(&socket)?.and_then(|end| SocketAddrUnix::try_from(end).ok());
    let name = end.map(|end| match (end.path(), end.abstract_name()) {
        (Some(path), _) => path.to_string_lossy().into_owned(),
        (None, Some(name)) if !name.is_empty() => format!("@{}", String::from_utf8_lossy(name)),
        // One of a pair.
        _ => String::new(),
    });
    Ok(OtherEnd { pid, name: name.unwrap_or_default() })
}

fn credentials(socket: &OwnedFd) -> io::Result<libc::ucred> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut bytes = libc::socklen_t::try_from(size_of::<libc::ucred>()).unwrap_or(0);
    let (descriptor, to) = (socket.as_raw_fd(), (&raw mut peer).cast());
    // SAFETY: the kernel writes at most `bytes` bytes to `peer`, and the length to `bytes`. Both are live locals.
    let status = unsafe {
        libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_PEERCRED, to, &raw mut bytes)
    };
    super::check(status.into())?;
    Ok(peer)
}

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

    use super::*;

    #[test]
    fn the_other_end_is_the_process_that_listened() {
        let ours = i32::try_from(std::process::id()).unwrap();
        let (one, _other) = UnixStream::pair().unwrap();
        let end = |socket: &UnixStream| other_end(ours, socket.as_raw_fd()).unwrap();
        assert_eq!(end(&one), OtherEnd { pid: Some(ours), name: String::new() });
        let name = format!("nbuf-test-{ours}");
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _listener = UnixListener::bind_addr(&address).unwrap();
        let client = UnixStream::connect_addr(&address).unwrap();
        assert_eq!(end(&client), OtherEnd { pid: Some(ours), name: format!("@{name}") });
    }

    #[test]
    fn what_is_no_socket_is_an_error() {
        let ours = i32::try_from(std::process::id()).unwrap();
        assert!(other_end(ours, i32::MAX).is_err());
        assert!(other_end(0, 0).is_err());
    }
}

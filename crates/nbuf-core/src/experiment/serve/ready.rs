//! Says to the service manager that the server listens, by the protocol of `sd_notify(3)`.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends `READY=1` where `NOTIFY_SOCKET` says. A service manager that does not get it ends the service by its own
/// timeout and logs that.
pub(super) fn notify() {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let _ = send(name.as_bytes());
}

fn send(name: &[u8]) -> io::Result<()> {
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name))?,
    };
    UnixDatagram::unbound()?.send_to_addr(b"READY=1", &address).map(drop)
}

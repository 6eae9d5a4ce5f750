//! The connection to a backend server: a socket alone, or TLS in front of it.
//!
//! It waits while both ends agree, ten seconds at most a step, and for nothing afterwards. Invariant: after the
//! greeting no opened byte is kept between two calls, so that a socket without news means that there are none.

#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::sockopt;

use super::address::RemotePlace;
use super::tls::{Layer, RECORD_BYTES_MAX, Trust};

/// How long a step of the greeting may take.
const STEP: Duration = Duration::from_secs(10);
/// Sealed bytes that are read at once.
const SEALED_BYTES: usize = 128 << 10;

/// A connected socket.
#[derive(Debug)]
enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    fn connect(place: &RemotePlace) -> io::Result<Self> {
        match place {
            RemotePlace::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(STEP))?;
                stream.set_write_timeout(Some(STEP))?;
                Ok(Self::Unix(stream))
            }
            RemotePlace::Tcp { host, port } => {
                let mut failed = None;
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, STEP) {
                        Ok(stream) => return Self::tcp(stream),
                        Err(error) => failed = Some(error),
                    }
                }
                Err(failed.unwrap_or_else(|| io::Error::other("the host has no address")))
            }
        }
    }

    /// The kernel asks a host that has gone silent whether it is still there: one that lost its power is gone after
    /// two minutes, also while it owes nothing but the receipt of what was sent.
    fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(STEP))?;
        stream.set_write_timeout(Some(STEP))?;
        stream.set_nodelay(true)?;
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, Duration::from_mins(1))?;
        sockopt::set_tcp_keepintvl(&stream, Duration::from_secs(10))?;
        sockopt::set_tcp_keepcnt(&stream, 6)?;
        sockopt::set_tcp_user_timeout(&stream, 120_000)?;
        Ok(Self::Tcp(stream))
    }

    fn wait_no_more(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(true),
            Self::Tcp(stream) => stream.set_nonblocking(true),
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

/// TLS on a line.
#[derive(Debug)]
struct Sealed {
    layer: Layer,
    /// What a read brought.
    came: Vec<u8>,
    /// What was opened and not taken while both ends agree.
    early: Vec<u8>,
}

/// A connection to a backend server.
#[derive(Debug)]
pub(super) struct Line {
    socket: Socket,
    sealed: Option<Box<Sealed>>,
}

impl Line {
    pub(super) fn connect(place: &RemotePlace) -> io::Result<Self> {
        Ok(Self { socket: Socket::connect(place)?, sealed: None })
    }

    /// Over a socket that is connected.
    #[cfg(test)]
    pub(super) fn over(stream: UnixStream) -> Self {
        Self { socket: Socket::Unix(stream), sealed: None }
    }

    /// Agrees on keys with a server that must have this name. What is read and written from now on is sealed; nothing
    /// was read of the socket but what its owner has taken, so that no plain byte is left.
    pub(super) fn secure(&mut self, trust: &Trust, name: &str) -> io::Result<()> {
        let layer = trust.layer(name).map_err(io::Error::other)?;
        let (came, early) = (vec![0; SEALED_BYTES], Vec::new());
        let sealed = self.sealed.insert(Box::new(Sealed { layer, came, early }));
        while !sealed.layer.is_agreed() {
            sealed.layer.send_to(&mut self.socket)?;
            if !sealed.fill_early(&mut self.socket)? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        sealed.layer.send_to(&mut self.socket)
    }

    /// Has no call wait from now on. What came already.
    pub(super) fn wait_no_more(&mut self) -> io::Result<Vec<u8>> {
        self.socket.wait_no_more()?;
        Ok(self.sealed.as_mut().map_or_else(Vec::new, |sealed| std::mem::take(&mut sealed.early)))
    }

    /// Takes what came as far as there is room, which must be more than a record of TLS. None is the end.
    pub(super) fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match &mut self.sealed {
            None => self.socket.read(room),
            Some(sealed) => sealed.open(&mut self.socket, room),
        }
    }

    /// Takes some of this: to the socket, or sealed on its way there. With TLS, none of nothing sends what is sealed.
    pub(super) fn send(&mut self, plain: &[u8]) -> io::Result<usize> {
        let Some(sealed) = &mut self.sealed else { return self.socket.write(plain) };
        sealed.layer.send_to(&mut self.socket)?;
        let count = if plain.is_empty() { 0 } else { sealed.layer.seal(plain) };
        match sealed.layer.send_to(&mut self.socket) {
            // What is sealed must not be sealed again: it goes with the next call.
            Err(error)
                if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Err(error)
            }
            _ => Ok(count),
        }
    }

    /// Whether sealed bytes wait to be sent.
    pub(super) fn has_sealed(&self) -> bool {
        self.sealed.as_ref().is_some_and(|sealed| sealed.layer.has_sealed())
    }

    /// Whether the server says that it sends nothing more, which its socket does not show.
    pub(super) fn has_ended(&self) -> bool {
        self.sealed.as_ref().is_some_and(|sealed| sealed.layer.has_ended())
    }
}

impl Sealed {
    /// Reads once, and opens what came: none at the end, and nothing of a part of a record.
    fn step(&mut self, socket: &mut Socket, room: &mut [u8]) -> io::Result<Option<usize>> {
        if self.layer.has_ended() {
            return Ok(None);
        }
        let most = room.len().saturating_sub(RECORD_BYTES_MAX).min(self.came.len());
        let count = socket.read(&mut self.came[..most])?;
        if count == 0 {
            return Ok(None);
        }
        self.layer.open(&self.came[..count], room).map(Some).map_err(|broken| {
            // The alert says why; if there is no room for it now, there is none.
            let _ = self.layer.send_to(socket);
            io::Error::new(ErrorKind::InvalidData, broken)
        })
    }

    /// Reads what there is; none is the end.
    fn open(&mut self, socket: &mut Socket, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.step(socket, room)? {
                Some(0) => {}
                count => return Ok(count.unwrap_or(0)),
            }
        }
    }

    /// Reads once and keeps what was opened; whether it is not the end.
    fn fill_early(&mut self, socket: &mut Socket) -> io::Result<bool> {
        let mut room = vec![0; SEALED_BYTES + RECORD_BYTES_MAX];
        let count = self.step(socket, &mut room)?;
        self.early.extend_from_slice(&room[..count.unwrap_or(0)]);
        Ok(count.is_some())
    }
}

/// For the greeting alone: a read may bring more than is asked for, which is kept.
impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(sealed) = &mut self.sealed else { return self.socket.read(buffer) };
        while sealed.early.is_empty() && !buffer.is_empty() {
            if !sealed.fill_early(&mut self.socket)? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(sealed.early.len());
        buffer[..count].copy_from_slice(&sealed.early[..count]);
        sealed.early.drain(..count);
        Ok(count)
    }
}

/// For the greeting alone.
impl Write for Line {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.send(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sealed.as_mut().map_or(Ok(()), |sealed| sealed.layer.send_to(&mut self.socket))
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The server is notified that nothing more comes, as far as the socket takes it.
impl Drop for Line {
    fn drop(&mut self) {
        if let Some(sealed) = &mut self.sealed {
            sealed.layer.say_goodbye();
            let _ = sealed.layer.send_to(&mut self.socket);
        }
    }
}

//! A server under test, and a client that can do what no proper client does.

mod ahead;
mod allocation;
mod backend;
mod certificates;
mod devices;
mod direct;
mod durable;
mod exports;
mod extended;
mod hanging;
mod hangs;
mod hostile;
mod limits;
mod measured;
mod operations;
mod owing;
mod probes;
mod state;
mod tier;
mod tiers;
mod tls;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::Place;

/// A running `nbuf serve`. It is killed if a test ends early.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) socket: PathBuf,
}

impl Server {
    /// Starts a server of a disc, and waits until it listens.
    pub(crate) fn start(place: &Place, disc: &str, options: &[&str]) -> Self {
        let socket = place.path("socket");
        let mut command = place.nbuf(["serve", "--disc", disc, "--socket"]);
        command.arg(&socket).args(options).stderr(Stdio::piped());
        Self::spawn(command, socket)
    }

    /// Starts a server by this command, and waits until it listens, also at this socket.
    pub(crate) fn spawn(mut command: Command, socket: PathBuf) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        let output = child.stdout.take().unwrap();
        let mut output = BufReader::new(output);
        output.read_line(&mut first).unwrap();
        assert!(first.starts_with("serving "), "{first}{:?}", child.wait_with_output());
        child.stdout = Some(output.into_inner());
        Self { child, socket }
    }

    pub(crate) fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: i32) {
        let pid = i32::try_from(self.child.id()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let signal = rustix::process::Signal::from_named_raw(signal).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Ends the server as a service manager does; its exit status and standard error.
    pub(crate) fn end(mut self) -> (i32, String) {
        self.signal(libc::SIGTERM);
        let status = self.child.wait().unwrap();
        let mut error = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert!(!self.socket.exists(), "the socket is left");
        assert!(!self.socket.with_extension("ctl").exists());
        (status.code().unwrap_or(-1), error)
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `nbdkit` on a socket.
#[derive(Debug)]
pub(crate) struct Nbdkit {
    child: Child,
    pub(crate) socket: PathBuf,
}

impl Nbdkit {
    pub(crate) fn start(socket: PathBuf, arguments: &[&str]) -> Self {
        let mut command = Command::new("nbdkit");
        command.args(["-f", "-U"]).arg(&socket).args(arguments).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let nbdkit = Self { child, socket };
        for _ in 0..500 {
            if UnixStream::connect(&nbdkit.socket).is_ok() {
                return nbdkit;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("nbdkit does not listen: {arguments:?}");
    }

    pub(crate) fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }
}

impl Drop for Nbdkit {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client of the wire: it sends what it is given.
#[derive(Debug)]
pub(crate) struct Client(pub(crate) UnixStream);

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const FLUSH: u16 = 3;
pub(crate) const FUA: u16 = 1;

impl Client {
    /// Connects, and agrees on the default export by the oldest option.
    pub(crate) fn connect(socket: &Path) -> Self {
        Self::try_connect(socket).unwrap()
    }

    /// Connects; an error if the server closes the connection, as it does when it has too many clients.
    pub(crate) fn try_connect(socket: &Path) -> std::io::Result<Self> {
        let mut client = Self::raw(socket);
        client.0.read_exact(&mut [0; 18])?;
        client.0.write_all(&3_u32.to_be_bytes())?;
        client.0.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0")?;
        client.0.read_exact(&mut [0; 10])?;
        Ok(client)
    }

    /// Connects, and says nothing.
    pub(crate) fn raw(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self(stream)
    }

    /// Sends the header of a request. If the server is gone, there will be no reply.
    pub(crate) fn send(&mut self, flags: u16, kind: u16, offset: u64, length: u32) {
        let mut out = 0x2560_9513_u32.to_be_bytes().to_vec();
        out.extend(flags.to_be_bytes());
        out.extend(kind.to_be_bytes());
        out.extend(7_u64.to_be_bytes());
        out.extend(offset.to_be_bytes());
        out.extend(length.to_be_bytes());
        let _ = self.0.write_all(&out);
    }

    /// The error of the next reply; `None` if the server has closed the connection.
    pub(crate) fn reply(&mut self) -> Option<u32> {
        let mut head = [0; 16];
        self.0.read_exact(&mut head).ok()?;
        Some(u32::from_be_bytes(head[4..8].try_into().unwrap()))
    }

    pub(crate) fn write(&mut self, flags: u16, offset: u64, data: &[u8]) -> Option<u32> {
        self.send(flags, WRITE, offset, u32::try_from(data.len()).unwrap());
        self.0.write_all(data).ok()?;
        self.reply()
    }

    pub(crate) fn flush(&mut self) -> Option<u32> {
        self.send(0, FLUSH, 0, 0);
        self.reply()
    }

    pub(crate) fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, Option<u32>> {
        self.send(0, READ, offset, u32::try_from(length).unwrap());
        match self.reply() {
            Some(0) => {
                let mut data = vec![0; length];
                self.0.read_exact(&mut data).unwrap();
                Ok(data)
            }
            other => Err(other),
        }
    }
}

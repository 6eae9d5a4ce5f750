//! The socket at which a server answers about itself: a line asks, a line of JSON answers.
//!
//! `stats` answers with what was counted. `drain` ends the server as a signal does. `resize BYTES` changes the
//! size of the cache and `policy NAME` its policy, when all that is dirty is written; where there are several, the name
//! of the export follows. Only the user who started the server may connect.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::listener::Socket;
use crate::units::Nanos;

/// The longest line.
const LINE_BYTES_MAX: usize = 512;
/// How long a line may take.
const PATIENCE: Nanos = Nanos(5_000_000_000);

/// What a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Stats,
    Drain,
    /// To bytes, of an export.
    Resize(u64, String),
    /// By name, of an export.
    Policy(String, String),
}

/// The control socket of a server at this socket.
pub(crate) fn control_path(socket: &Path) -> PathBuf {
    let mut name = socket.as_os_str().to_owned();
    name.push(".ctl");
    name.into()
}

/// A caller at the control socket.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) socket: Socket,
    line: Vec<u8>,
    came: Nanos,
}

impl Caller {
    pub(super) fn new(socket: Socket, now: Nanos) -> Self {
        Self { socket, line: Vec::new(), came: now }
    }

    /// The command, when it is whole; an error if there will be none.
    pub(super) fn receive(&mut self, now: Nanos) -> Result<Option<Command>, &'static str> {
        let mut buffer = [0; LINE_BYTES_MAX];
        match self.socket.read(&mut buffer) {
            Ok(0) => return Err("there was no line"),
            Ok(count) => self.line.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return Err("the connection broke"),
        }
        let Some(end) = self.line.iter().position(|&byte| byte == b'\n') else {
            let is_late = now - self.came > PATIENCE || self.line.len() > LINE_BYTES_MAX;
            return if is_late { Err("a line is short and comes at once") } else { Ok(None) };
        };
        let line = String::from_utf8_lossy(&self.line[..end]).into_owned();
        match line.split_once(' ').unwrap_or((line.as_str(), "")) {
            ("stats", "") => Ok(Some(Command::Stats)),
            ("drain", "") => Ok(Some(Command::Drain)),
            ("resize", rest) => {
                let (bytes, export) = rest.split_once(' ').unwrap_or((rest, ""));
                let bytes =
                    bytes.parse().map_err(|_| "write `resize BYTES` or `resize BYTES EXPORT`")?;
                Ok(Some(Command::Resize(bytes, export.to_owned())))
            }
            ("policy", rest) => {
                let (name, export) = rest.split_once(' ').unwrap_or((rest, ""));
                Ok(Some(Command::Policy(name.to_owned(), export.to_owned())))
            }
            _ => Err("write `stats`, `drain`, `resize BYTES` or `policy NAME`"),
        }
    }

    /// Answers why not.
    pub(super) fn refuse(&mut self, why: &str) {
        self.answer(&serde_json::json!({ "error": why }).to_string());
    }

    /// Answers with a line.
    pub(super) fn answer(&mut self, line: &str) {
        let _ = self.socket.write_all(format!("{line}\n").as_bytes());
    }
}

/// Asks a server at its control socket, and waits for the answer.
pub(crate) fn ask(control: &Path, line: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(control)?;
    // Figures come at once; a change waits until what is dirty is written.
    let patience = if line == "stats" { Duration::from_secs(5) } else { Duration::from_mins(1) };
    stream.set_read_timeout(Some(patience))?;
    stream.write_all(format!("{line}\n").as_bytes())?;
    let mut answer = String::new();
    let read = BufReader::new(stream).read_line(&mut answer);
    read.map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => {
            let seconds = patience.as_secs();
            io::Error::new(ErrorKind::TimedOut, format!("no answer in {seconds} s"))
        }
        _ => error,
    })?;
    if answer.is_empty() { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(answer) }
}

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

/// A command at the control socket.
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

/// A client of the control socket.
#[derive(Debug)]
pub(super) struct ControlClient {
    pub(super) socket: Socket,
    line: Vec<u8>,
    answer: Vec<u8>,
    /// Bytes of the answer that were sent.
    sent: usize,
    /// When it last did its part.
    came: Nanos,
}

/// What a client is answered that sends too much, or too slowly.
const SLOW: &str = "send one short line at once";

impl ControlClient {
    pub(super) fn new(socket: Socket, now: Nanos) -> Self {
        Self { socket, line: Vec::new(), answer: Vec::new(), sent: 0, came: now }
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
        let end = self.line.iter().position(|&byte| byte == b'\n');
        if end.unwrap_or(self.line.len()) > LINE_BYTES_MAX {
            return Err(SLOW);
        }
        let Some(end) = end else {
            return if now - self.came > PATIENCE { Err(SLOW) } else { Ok(None) };
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

    /// Begins to answer with a line.
    pub(super) fn answer(&mut self, line: &str, now: Nanos) {
        self.came = now;
        self.answer.extend_from_slice(line.as_bytes());
        self.answer.push(b'\n');
    }

    /// Sends what the client takes now; whether that was the rest, or the client is gone, or too slow.
    pub(super) fn is_answered(&mut self, now: Nanos) -> bool {
        while self.sent < self.answer.len() {
            match self.socket.write(&self.answer[self.sent..]) {
                Ok(count) if count > 0 => {
                    self.sent += count;
                    self.came = now;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return now - self.came > PATIENCE;
                }
                _ => return true,
            }
        }
        true
    }
}

/// Asks a server at its control socket, and waits for the answer.
pub(crate) fn ask(control: &Path, line: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(control)?;
    // Figures come at once; a change waits until what is dirty is written.
    let patience = if matches!(line, "stats" | "drain") {
        Duration::from_secs(5)
    } else {
        Duration::from_mins(1)
    };
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
    // What begins otherwise is no answer at all: a server of NBD greets.
    if answer.starts_with('{') && !answer.ends_with('\n') {
        return Err(io::Error::new(ErrorKind::ConnectionAborted, "its answer was cut off"));
    }
    if answer.is_empty() { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_arrives_whole_however_slowly_it_is_taken() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut client = ControlClient::new(Socket::Unix(ours), Nanos(0));
        let line = "0123456789".repeat(200_000);
        client.answer(&line, Nanos(1));
        let mut taken = Vec::new();
        let mut turns = 0;
        while !client.is_answered(Nanos(2)) {
            turns += 1;
            let mut some = vec![0; 100_000];
            let count = theirs.read(&mut some).unwrap();
            taken.extend_from_slice(&some[..count]);
        }
        drop(client);
        theirs.read_to_end(&mut taken).unwrap();
        assert!(turns > 1, "a socket had room for all of it");
        assert!(taken.strip_suffix(b"\n") == Some(line.as_bytes()));
    }

    #[test]
    fn who_takes_nothing_of_an_answer_is_left() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut client = ControlClient::new(Socket::Unix(ours), Nanos(0));
        client.answer(&"0".repeat(2_000_000), Nanos(1));
        assert!(!client.is_answered(Nanos(2)));
        assert!(client.is_answered(Nanos(3) + PATIENCE));
    }
}

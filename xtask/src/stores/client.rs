//! A store as a child of this program, on a socket of its own, and its protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// Keys are numbers of as many digits.
pub(super) const KEY_BYTES: usize = 20;
/// How often a store that starts is tried, and for how long each time.
const TRIES: u32 = 500;
const TRY: Duration = Duration::from_millis(20);
/// A limit for a look at an empty Redis.
const PLENTY: u64 = 1 << 40;

/// Which store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Redis,
    Memcached,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Memcached => "memcached",
        }
    }
}

/// A store that runs. It ends when this is dropped.
pub(super) struct Server {
    kind: Kind,
    child: Child,
    stream: BufReader<UnixStream>,
    request: Vec<u8>,
    value: Vec<u8>,
}

impl Server {
    /// Starts a store with this much memory for objects.
    pub(super) fn start(kind: Kind, folder: &Path, limit_bytes: u64) -> Result<Self> {
        let socket = folder.join(kind.name());
        let _ = std::fs::remove_file(&socket);
        let mut command = match kind {
            Kind::Redis => {
                let mut redis = Command::new("redis-server");
                redis.args(["--port", "0", "--save", "", "--appendonly", "no"]);
                redis.args(["--maxmemory-policy", "allkeys-lru", "--unixsocket"]).arg(&socket);
                redis
            }
            Kind::Memcached => {
                let mut memcached = Command::new("memcached");
                memcached
                    .args(["-u", "root", "-t", "1", "-m"])
                    .arg((limit_bytes >> 20).to_string());
                memcached.arg("-s").arg(&socket);
                memcached
            }
        };
        let child = command.current_dir(folder).stdout(Stdio::null()).spawn();
        let mut child =
            child.with_context(|| format!("cannot start {}; install it", kind.name()))?;
        let connect = || {
            std::thread::sleep(TRY);
            UnixStream::connect(&socket).ok()
        };
        let Some(stream) = (0..TRIES).find_map(|_| connect()) else {
            let _ = child.kill();
            child.wait()?;
            bail!("{} did not start", kind.name());
        };
        let stream = BufReader::new(stream);
        let mut server = Self { kind, child, stream, request: Vec::new(), value: Vec::new() };
        if kind == Kind::Redis {
            server.limit(PLENTY)?;
            let empty = server.figure("INFO memory", "used_memory")?;
            server.limit(empty + limit_bytes)?;
        }
        Ok(server)
    }

    /// Asks for an object and, where it is not there, stores it.
    pub(super) fn get_or_set(&mut self, key: u64, bytes: u32) -> Result<()> {
        let bytes = bytes as usize;
        if self.value.len() < bytes {
            self.value.resize(bytes, b'x');
        }
        let key = format!("{key:0KEY_BYTES$}");
        let (get, set) = match self.kind {
            Kind::Redis => (
                format!("*2\r\n$3\r\nGET\r\n${KEY_BYTES}\r\n{key}\r\n"),
                format!("*3\r\n$3\r\nSET\r\n${KEY_BYTES}\r\n{key}\r\n${bytes}\r\n"),
            ),
            Kind::Memcached => (format!("get {key}\r\n"), format!("set {key} 0 0 {bytes}\r\n")),
        };
        let answer = self.ask(get.as_bytes())?;
        let found = match self.kind {
            Kind::Redis => answer.strip_prefix('$').filter(|length| *length != "-1"),
            Kind::Memcached => {
                answer.strip_prefix("VALUE ").and_then(|rest| rest.rsplit(' ').next())
            }
        };
        if let Some(length) = found {
            // The value ends with a line, and in memcached the answer with another.
            let end = if self.kind == Kind::Redis { 2 } else { 2 + 5 };
            let length: u64 = length.parse().with_context(|| answer.clone())?;
            std::io::copy(&mut (&mut self.stream).take(length + end), &mut std::io::sink())?;
            return Ok(());
        }
        self.request.clear();
        self.request.extend_from_slice(set.as_bytes());
        self.request.extend_from_slice(&self.value[..bytes]);
        self.request.extend_from_slice(b"\r\n");
        let request = std::mem::take(&mut self.request);
        let answer = self.ask(&request)?;
        self.request = request;
        ensure!(
            ["+OK", "STORED"].contains(&answer.as_str()) || answer.contains("too large"),
            "{} answers {answer}",
            self.kind.name()
        );
        Ok(())
    }

    /// Hits so far.
    pub(super) fn hits(&mut self) -> Result<u64> {
        match self.kind {
            Kind::Redis => self.figure("INFO stats", "keyspace_hits"),
            Kind::Memcached => self.figure("stats", "get_hits"),
        }
    }

    /// Ends the store.
    pub(super) fn stop(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn limit(&mut self, bytes: u64) -> Result<()> {
        let answer = self.ask(format!("CONFIG SET maxmemory {bytes}\r\n").as_bytes())?;
        ensure!(answer == "+OK", "redis answers {answer}");
        Ok(())
    }

    /// A figure of a list of them, which Redis writes as `name:1` and memcached as `STAT name 1`.
    fn figure(&mut self, question: &str, name: &str) -> Result<u64> {
        let mut line = self.ask(format!("{question}\r\n").as_bytes())?;
        let mut found = None;
        while line != "END" {
            let bare = line.strip_prefix("STAT ").unwrap_or(&line);
            if let Some((_, figure)) =
                bare.split_once([':', ' ']).filter(|(before, _)| *before == name)
            {
                found = figure.parse().ok();
            }
            if self.kind == Kind::Redis && line.is_empty() {
                break;
            }
            line = self.line()?;
        }
        found.with_context(|| format!("{} has no {name}", self.kind.name()))
    }

    fn ask(&mut self, request: &[u8]) -> Result<String> {
        self.stream.get_mut().write_all(request)?;
        self.line()
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let bytes = self.stream.read_line(&mut line)?;
        ensure!(bytes > 0, "{} closed the connection", self.kind.name());
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

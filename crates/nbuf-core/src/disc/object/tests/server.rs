//! A web server with one file, which sends ranges of it and has faults on request.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The file, and the faults of its server.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) bytes: Vec<u8>,
    pub(super) tag: Option<String>,
    pub(super) modified: Option<String>,
    pub(super) has_ranges: bool,
    /// Whether it sends what it has, whatever version the client names.
    pub(super) ignores_conditions: bool,
    /// Answers that end in the middle.
    pub(super) cut: usize,
    /// A status instead of an answer, and for how many requests.
    pub(super) failing: Option<(u16, usize)>,
    /// Whether it reads requests and does not answer.
    pub(super) is_silent: bool,
}

impl Served {
    /// These bytes, without a fault.
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            tag: Some("\"a\"".to_owned()),
            modified: None,
            has_ranges: true,
            ignores_conditions: false,
            cut: 0,
            failing: None,
            is_silent: false,
        }
    }
}

struct Shared {
    served: Mutex<Served>,
    requests: AtomicUsize,
    is_over: AtomicBool,
    /// Connections that get no answer.
    silent: Mutex<Vec<TcpStream>>,
}

/// A running server. It ends when it is dropped.
pub(super) struct Server {
    pub(super) url: String,
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(served: Served) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            served: Mutex::new(served),
            requests: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            silent: Mutex::default(),
        });
        let ours = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ours.is_over.load(Ordering::Acquire) {
                    return;
                }
                let ours = Arc::clone(&ours);
                // A client may close early, so what it does not take is no error of the server.
                std::thread::spawn(move || stream.and_then(|stream| ours.answer(stream)));
            }
        });
        Self { url: format!("http://{address}/disc.img"), address, shared, thread: Some(thread) }
    }

    /// Serves this from now on.
    pub(super) fn set(&self, served: Served) {
        *self.shared.served.lock().unwrap() = served;
    }

    /// Requests so far.
    pub(super) fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::Acquire)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The headers of a request that matter here.
#[derive(Default)]
struct Asked {
    range: Option<(usize, usize)>,
    if_match: Option<String>,
    if_unmodified: Option<String>,
}

impl Asked {
    fn read(stream: &TcpStream) -> std::io::Result<Self> {
        let mut asked = Self::default();
        for line in BufReader::new(stream).lines() {
            let line = line?;
            let Some((name, value)) = line.split_once(": ") else {
                if line.is_empty() {
                    break;
                }
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "range" => {
                    let (first, last) = value["bytes=".len()..].split_once('-').unwrap();
                    asked.range = Some((first.parse().unwrap(), last.parse().unwrap()));
                }
                "if-match" => asked.if_match = Some(value.to_owned()),
                "if-unmodified-since" => asked.if_unmodified = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(asked)
    }
}

impl Shared {
    /// Answers one request, and closes the connection.
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let asked = Asked::read(&stream)?;
        let served = {
            let mut served = self.served.lock().unwrap();
            let now = served.clone();
            served.cut = served.cut.saturating_sub(1);
            served.failing = served.failing.filter(|(_, left)| *left > 1);
            served.failing = served.failing.map(|(status, left)| (status, left - 1));
            now
        };
        self.requests.fetch_add(1, Ordering::AcqRel);
        if served.is_silent {
            self.silent.lock().unwrap().push(stream);
            return Ok(());
        }
        let is_other = |wanted: &Option<String>, has: &Option<String>| {
            wanted.is_some() && wanted != has && !served.ignores_conditions
        };
        let size = served.bytes.len();
        let (status, part) = match asked.range {
            _ if served.failing.is_some() => (served.failing.map_or(0, |failing| failing.0), 0..0),
            _ if is_other(&asked.if_match, &served.tag) => (412, 0..0),
            _ if is_other(&asked.if_unmodified, &served.modified) => (412, 0..0),
            Some((first, _)) if first >= size => (416, 0..0),
            Some((first, last)) if served.has_ranges => (206, first..(last + 1).min(size)),
            _ => (200, 0..size),
        };
        let mut head = format!("HTTP/1.1 {status} -\r\nConnection: close\r\n");
        let mut line = |name: &str, value: &str| head.extend([name, ": ", value, "\r\n"]);
        line("Content-Length", &part.len().to_string());
        if status == 206 {
            let range = format!("bytes {}-{}/{size}", part.start, part.end - 1);
            line("Content-Range", &range);
        }
        for (name, value) in [("ETag", &served.tag), ("Last-Modified", &served.modified)] {
            if let Some(value) = value {
                line(name, value);
            }
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        let end = if served.cut > 0 { part.start + part.len() / 2 } else { part.end };
        stream.write_all(&served.bytes[part.start..end])
    }
}

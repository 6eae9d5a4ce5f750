//! Answers scrapes of `--metrics` by HTTP/1.1, one request a connection.
//!
//! A user who can connect can read. Without another address that is this machine alone. What strangers can take is
//! bounded: [`CONNECTIONS_MAX`] threads, [`HEAD_BYTES_MAX`] for each, and [`SCRAPE`] for all that a client takes its time
//! with.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use nbuf::experiment::session::Stopwatch;

use crate::fail::say;

/// The type of the answer, in the words of the `OpenMetrics` specification.
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
/// Scrapes at once. More are closed without an answer.
const CONNECTIONS_MAX: usize = 16;
/// The longest request line with its headers. Prometheus sends less than 1 KiB.
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;
/// How long a call waits for the client, and how long all of them take: to take a request, to answer it, and to take
/// what still comes then. A client that sends a byte now and then has no more. A proper request is one read.
const WAIT: Duration = Duration::from_secs(1);
const SCRAPE: Duration = Duration::from_secs(5);
/// The wait after the kernel refused a connection, as it does without descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// Makes the text that is scraped.
pub(super) trait Text: Send + Sync + 'static {
    /// The text of this moment.
    fn text(&self) -> String;
}

/// Serves the text in a thread of its own until the program ends, and says where. Signals must be blocked before, or
/// its threads take them.
pub(super) fn serve(address: SocketAddr, metrics: Arc<dyn Text>) -> Result<()> {
    let listener = TcpListener::bind(address)
        .with_context(|| format!("cannot listen at {address}; give another port or address"))?;
    // The port is known only now if 0 was asked for.
    let address = listener.local_addr().unwrap_or(address);
    let thread = std::thread::Builder::new().name("scrapes".to_owned());
    let begun = thread.spawn(move || accept(&listener, &metrics));
    begun.context("cannot start a thread for the metrics")?;
    say(format!("metrics at http://{address}/metrics"));
    Ok(())
}

fn accept(listener: &TcpListener, metrics: &Arc<dyn Text>) {
    let answered = Arc::new(AtomicUsize::new(0));
    let mut has_failed = false;
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    say(format!("metrics: cannot take a connection ({error}): goes on trying"));
                }
                std::thread::sleep(PAUSE);
                continue;
            }
        };
        if answered.load(Ordering::Relaxed) >= CONNECTIONS_MAX {
            continue;
        }
        answered.fetch_add(1, Ordering::Relaxed);
        let (metrics, count) = (Arc::clone(metrics), Arc::clone(&answered));
        let thread = std::thread::Builder::new().name("scrape".to_owned());
        let place = Place(count);
        // Without a thread the place is free again.
        let _ = thread.spawn(move || {
            let _place = place;
            // A client that went away is no one's error.
            let _ = answer(stream, &*metrics, &Patience::of(SCRAPE));
        });
    }
}

/// One of the connections at once, until it is dropped.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long a client has.
struct Patience {
    since: Stopwatch,
    whole: Duration,
}

impl Patience {
    fn of(whole: Duration) -> Self {
        Self { since: Stopwatch::start(), whole }
    }

    /// How long the next call may wait; an error if there is no time for one.
    fn next(&self) -> io::Result<Option<Duration>> {
        let left = self.whole.saturating_sub(self.since.elapsed());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left.min(WAIT))) }
    }
}

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Metrics { with_body: bool },
    Nothing(Refusal),
}

/// Why a request gets no metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    OtherPath,
    OtherMethod,
    Malformed,
}

impl Refusal {
    const fn status(self) -> &'static str {
        match self {
            Self::OtherPath => "404 Not Found",
            Self::OtherMethod => "405 Method Not Allowed",
            Self::Malformed => "400 Bad Request",
        }
    }

    const fn why(self) -> &'static str {
        match self {
            Self::OtherPath => "the metrics are at /metrics",
            Self::OtherMethod => "only GET is answered",
            Self::Malformed => "this is no request that is answered here",
        }
    }
}

fn answer(mut stream: TcpStream, metrics: &dyn Text, patience: &Patience) -> io::Result<()> {
    let wanted = request(&mut stream, patience)?;
    let (status, kind, body, with_body) = match wanted {
        Wanted::Metrics { with_body } => ("200 OK", KIND, metrics.text(), with_body),
        Wanted::Nothing(refusal) => (refusal.status(), PLAIN, format!("{}\n", refusal.why()), true),
    };
    let is_other_method = wanted == Wanted::Nothing(Refusal::OtherMethod);
    let allow = if is_other_method { "Allow: GET, HEAD\r\n" } else { "" };
    let length = body.len();
    let mut out = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}Connection: close\r\n\r\n"
    );
    if with_body {
        out.push_str(&body);
    }
    send(&mut stream, out.as_bytes(), patience)?;
    linger(&mut stream, patience)
}

/// Takes what a client still sends, for a moment: with bytes unread the kernel would take the answer back.
fn linger(stream: &mut TcpStream, patience: &Patience) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let mut some = [0; 4096];
    loop {
        stream.set_read_timeout(patience.next()?)?;
        if stream.read(&mut some)? == 0 {
            return Ok(());
        }
    }
}

/// Reads as much as says what is wanted.
fn request(stream: &mut TcpStream, patience: &Patience) -> io::Result<Wanted> {
    let mut head = Vec::new();
    loop {
        stream.set_read_timeout(patience.next()?)?;
        let mut some = [0; 1024];
        match stream.read(&mut some)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => head.extend_from_slice(&some[..count]),
        }
        if let Some(wanted) = wanted(&head) {
            return Ok(wanted);
        }
    }
}

/// What this much of a request asks for; nothing as long as it is not whole.
fn wanted(head: &[u8]) -> Option<Wanted> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Partial) if head.len() < HEAD_BYTES_MAX => None,
        Ok(httparse::Status::Complete(_)) => {
            let path = request.path.unwrap_or_default().split('?').next().unwrap_or_default();
            Some(match request.method {
                Some(method @ ("GET" | "HEAD")) if path == "/metrics" => {
                    Wanted::Metrics { with_body: method == "GET" }
                }
                Some("GET" | "HEAD") => Wanted::Nothing(Refusal::OtherPath),
                _ => Wanted::Nothing(Refusal::OtherMethod),
            })
        }
        _ => Some(Wanted::Nothing(Refusal::Malformed)),
    }
}

fn send(stream: &mut TcpStream, mut bytes: &[u8], patience: &Patience) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(patience.next()?)?;
        match stream.write(bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => bytes = &bytes[count..],
        }
    }
    Ok(())
}

/// An address, or a port of this machine alone.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let wanted = "write a port, such as 9464, or an address, such as 127.0.0.1:9464 or [::1]:9464";
    text.parse().map_err(|_| wanted.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Text for Fixed {
        fn text(&self) -> String {
            "# EOF\n".to_owned()
        }
    }

    fn started() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || accept(&listener, &(Arc::new(Fixed) as Arc<dyn Text>)));
        address
    }

    fn asked(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut answer = String::new();
        // One too many is closed at once.
        let _ = stream.write_all(request).and_then(|()| stream.read_to_string(&mut answer));
        answer
    }

    #[test]
    fn requests_have_the_answer_of_http() {
        let address = started();
        let long =
            [b"GET /metrics HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; 2 * HEAD_BYTES_MAX]].concat();
        for (request, status, ends) in [
            (&b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"[..], "200 OK", "\r\n\r\n# EOF\n"),
            (b"HEAD /metrics HTTP/1.0\r\n\r\n", "200 OK", "close\r\n\r\n"),
            (b"GET / HTTP/1.1\r\n\r\n", "404 Not Found", "at /metrics\n"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "only GET is answered\n"),
            (b"\0\0\0\0", "400 Bad Request", "\n"),
            (&long, "400 Bad Request", "\n"),
        ] {
            let answer = asked(address, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
            assert!(answer.ends_with(ends), "{answer}");
        }
    }

    #[test]
    fn clients_that_say_nothing_keep_no_scrape_waiting() {
        let address = started();
        let request = b"GET /metrics HTTP/1.1\r\n\r\n";
        let silent: Vec<TcpStream> =
            (1..CONNECTIONS_MAX).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert!(asked(address, request).ends_with("# EOF\n"));
        let more = [0; 2].map(|_| TcpStream::connect(address).unwrap());
        // There are too many now, until their patience has ended.
        let mut one = &more[1];
        assert_eq!(one.read(&mut [0]).unwrap_or(0), 0);
        let mut answers = std::iter::repeat_with(|| asked(address, request));
        let is_answered = answers.by_ref().take(200).any(|answer| {
            std::thread::sleep(Duration::from_millis(100));
            answer.ends_with("# EOF\n")
        });
        assert!(is_answered);
        drop(silent);
    }

    /// Each byte comes before the patience with one call ends.
    #[test]
    fn a_client_that_drips_has_no_more_time_than_others() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let answered = std::thread::spawn(move || answer(stream, &Fixed, &Patience::of(WAIT)));
        let mut sent = 0;
        while !answered.is_finished() && sent < 600 {
            sent += client.write(b"G").unwrap_or(0);
            std::thread::sleep(Duration::from_millis(100));
        }
        // The last call waits for what is left of the time.
        let ended = answered.join().unwrap().unwrap_err().kind();
        assert!(matches!(ended, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{ended}");
        assert!(sent < 600, "{sent}");
    }

    #[test]
    fn a_port_alone_is_of_this_machine() {
        for (text, means) in [
            ("9464", Some("127.0.0.1:9464")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("[::1]:0", Some("[::1]:0")),
            ("", None),
            (":9464", None),
            ("localhost:9464", None),
            ("65536", None),
        ] {
            let address = address(text).ok().map(|address| address.to_string());
            assert_eq!(address.as_deref(), means, "{text}");
        }
    }
}

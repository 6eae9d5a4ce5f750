//! Stores that answer slowly or break off, on sockets of this machine, and missing credentials.

use std::cell::{Cell, RefCell};
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use object_store::aws::AmazonS3Builder;

use super::*;
use crate::clock::Stopwatch;
use crate::workload::format::Batch;
use crate::workload::source::{Opening, Options, Source, SourceError};

/// A hundred times what an end may take, for a machine under load. Without an end, the drops go on for ever.
const DEADLINE: Duration = Duration::from_secs(5);
/// Between two drops of a range that is not the first.
const DROP: Duration = Duration::from_millis(10);
const BYTES: u64 = 6 << 20;
/// What a store says of an object, at the end of a head.
const DESCRIBED: &str = "ETag: \"a\"\r\nLast-Modified: Sat, 01 Jan 2022 00:00:00 GMT\r\n\r\n";

/// Answers requests for an object: the first range at once, the others by a refusal, or in drops, for ever.
fn serve(stream: &TcpStream, data: &[u8], refusal: Option<&str>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let bytes = data.len();
    loop {
        let (mut range, mut is_head): (Option<(usize, usize)>, bool) = (None, false);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            is_head |= line.starts_with("head /");
            let bounds = line.strip_prefix("range: bytes=").and_then(|of| of.split_once('-'));
            let bounds = bounds.and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
            range = bounds.or(range);
        }
        let (from, to) = range.unwrap_or((0, bytes - 1));
        let refusal = refusal.filter(|_| from > 0);
        let length = to + 1 - from;
        let head = match refusal {
            _ if is_head => format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n{DESCRIBED}"),
            Some(status) => format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"),
            None => format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Length: {length}\r\n\
                 Content-Range: bytes {from}-{to}/{bytes}\r\n{DESCRIBED}"
            ),
        };
        let mut stream = stream;
        stream.write_all(head.as_bytes())?;
        if is_head || refusal.is_some() {
            continue;
        }
        if from == 0 {
            stream.write_all(&data[..length])?;
        }
        // The others do not end.
        while from > 0 && stream.write_all(b"drop").is_ok() {
            thread::sleep(DROP);
        }
    }
}

/// A store of an object whose first range comes at once. The others are refused with this status, or come in drops.
fn store(data: Vec<u8>, refusal: Option<&'static str>) -> Arc<Store> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let data = Arc::new(data);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let data = Arc::clone(&data);
            // It ends when the client closes the connection.
            thread::spawn(move || drop(serve(&stream, &data, refusal)));
        }
    });
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = AmazonS3Builder::new().with_endpoint(url).with_allow_http(true);
    let client = builder.with_bucket_name("b").with_skip_signature(true).build().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    Arc::new(Store { runtime, client: Arc::new(client) })
}

/// Lets this thread read the objects of `s3://b` from such a store.
fn offer(data: Vec<u8>, refusal: Option<&'static str>) {
    let known = (std::process::id(), "s3://b".to_owned(), environment());
    LAST.set(Some((known, store(data, refusal))));
}

/// A store of zeros that come in drops behind the first range.
fn slow_store() -> Arc<Store> {
    store(vec![0; usize::try_from(BYTES).unwrap()], None)
}

#[test]
fn a_cancelled_copy_reports_its_bytes_and_ends_at_once() {
    let (name, tag) = ("s3://b/k".to_owned(), Some("\"a\"".to_owned()));
    let object = Object { name, bytes: BYTES, modified_ns: 0, tag };
    let signal = Arc::new(AtomicI32::new(0));
    let token = CancellationToken::following(&signal);
    let download = Download::new(slow_store(), Key::from("k"), object.clone(), token.clone());
    let (seen, begun) = (RefCell::new(Vec::new()), Cell::new(Stopwatch::start()));
    let copied = |done: u64| {
        seen.borrow_mut().push(done);
        if done > 0 {
            let signal = Arc::clone(&signal);
            begun.set(Stopwatch::start());
            thread::spawn(move || {
                thread::sleep(5 * DROP);
                signal.store(2, Ordering::Relaxed);
            });
        }
    };
    let error = copy(&object, download, &copied).unwrap_err();
    let took = begun.get().elapsed();
    assert_eq!(error.to_string(), ObjectError::Cancelled("s3://b/k".to_owned()).to_string());
    assert_eq!(*seen.borrow(), [0, 1 << 18]);
    assert!(took < DEADLINE, "{took:?}");
    // What is cancelled asks for nothing.
    let mut download = Download::new(slow_store(), Key::from("k"), object, token);
    assert!(matches!(download.chunk(), Err(ObjectError::Cancelled(_))));
}

/// Reads a trace, packed with gzip, from a store that refuses all but the first range. Without a refusal, a signal comes
/// after a while. Problems at the end, or the error.
fn read_packed(
    format: &str,
    plain: &[u8],
    refusal: Option<&'static str>,
) -> Result<u64, SourceError> {
    // As large as before, so that the first range is not all of it.
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packer.write_all(plain).unwrap();
    offer(packer.finish().unwrap(), refusal);
    let signal = Arc::new(AtomicI32::new(0));
    let token = CancellationToken::following(&signal);
    let opening = Opening { token, ..Opening::default() };
    let format = Some(format.parse().unwrap());
    let options = Options { format, problems_max: 0, ..Options::default() };
    let mut source = Source::open_with(&[PathBuf::from("s3://b/k.gz")], &options, &opening)?;
    drop(LAST.take());
    if refusal.is_none() {
        thread::spawn(move || {
            thread::sleep(5 * DROP);
            signal.store(2, Ordering::Relaxed);
        });
    }
    let mut batch = Batch::default();
    while source.next(&mut batch)? {}
    Ok(source.problems().count)
}

#[test]
fn a_packed_object_that_breaks_off_is_not_taken_for_damaged() {
    let lines: Vec<u8> =
        (0..100_000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
    let record = |number: u32| {
        let (time, size, next) =
            (number.to_le_bytes(), 100_u32.to_le_bytes(), (-1_i64).to_le_bytes());
        [&time[..], &u64::from(number).to_le_bytes(), &size, &next].concat()
    };
    let records: Vec<u8> = (0..40_000_u32).flat_map(record).collect();
    // Threads take pieces of lines, and one reads ahead in records.
    for (format, plain) in [("lirs", &lines), ("oracleGeneral", &records)] {
        let cancelled = read_packed(format, plain, None);
        assert!(matches!(cancelled, Ok(0)), "{format}: {cancelled:?}");
        let check = |status: &'static str, want: &str| {
            let error = read_packed(format, plain, Some(status)).unwrap_err().to_string();
            assert!(error.starts_with(want), "{format}, {status}: {error}");
        };
        check("412 Precondition Failed", "s3://b/k.gz was replaced while it was read: start again");
        check("403 Forbidden", "s3://b/k.gz may not be read with the credentials");
        check("400 Bad Request", "cannot read s3://b/k.gz: ");
    }
}

#[cfg(feature = "capture")]
#[test]
fn a_signal_before_the_second_reading_leaves_the_curve_of_the_first() {
    use std::sync::OnceLock;

    use crate::experiment::curve;
    use crate::experiment::notice::Notice;
    use crate::experiment::result::Warning;
    use crate::experiment::session::{Cancellation, Observer, Session, Stopper};

    /// Ends what begins to read again.
    struct Ending(OnceLock<Stopper>);

    impl Observer for Ending {
        fn notice(&self, notice: &Notice<'_>) {
            if matches!(notice, Notice::ReadingAgain) {
                self.0.get().unwrap().stop();
            }
        }
    }

    let line = |number: u32| format!("{}\n", number % 100).into_bytes();
    offer((0..1000_u32).flat_map(line).collect(), None);
    let ending = Ending(OnceLock::new());
    let cancellation = Cancellation::without_signals();
    ending.0.set(cancellation.stopper()).unwrap();
    let mut session = Session { cancellation, ..Session::new(&ending) };
    let spec = curve::Spec {
        traces: vec![PathBuf::from("s3://b/k")],
        format: Some("lirs".parse().unwrap()),
        policies: vec!["lru".parse().unwrap(), "opt".parse().unwrap()],
        ..curve::Spec::default()
    };
    let document = curve::run(&spec, &mut session).unwrap();
    drop(LAST.take());
    let policies: Vec<&str> = document.curves.iter().map(|curve| &*curve.policy).collect();
    assert_eq!((document.trace.requests, &policies[..]), (1000, &["lru"][..]));
    let ended = Warning::ReadingEnded { is_again: true, requests: 0 };
    assert!(document.warnings.contains(&ended), "{:?}", document.warnings);
}

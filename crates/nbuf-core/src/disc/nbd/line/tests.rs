//! Both ends of a sealed line: the other one is rustls's own server.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::clock::Random;

/// What is trusted, and a server of the name `localhost` with it.
fn ends() -> (Trust, Arc<ServerConfig>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let trust = Trust::new(made.cert.pem().as_bytes(), None).unwrap();
    let chain = vec![CertificateDer::from(made.cert.der().to_vec())];
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    (trust, Arc::new(config))
}

const BYTES: usize = 6 << 20;

fn pattern(from: usize, length: usize) -> Vec<u8> {
    (from..from + length).map(|at| u8::try_from(at * 31 % 251).unwrap()).collect()
}

/// Takes all of the pattern in pieces of any size, each of which is echoed at some time.
fn echo(stream: UnixStream, config: Arc<ServerConfig>) {
    let session = ServerConnection::new(config).unwrap();
    let mut server = StreamOwned::new(session, stream);
    let (mut random, mut at, mut part) = (Random::new(5), 0, vec![0; 200_000]);
    while at < BYTES {
        let most = 1 + usize::try_from(random.below(199_999)).unwrap();
        let count = server.read(&mut part[..most]).unwrap();
        assert!(count > 0 && part[..count] == pattern(at, count), "{at}");
        server.write_all(&part[..count]).unwrap();
        at += count;
    }
    server.conn.send_close_notify();
    server.flush().unwrap();
    // The socket stays open: the end is one of TLS alone, until the other end says it too.
    assert_eq!(server.read(&mut part).unwrap(), 0);
}

#[test]
fn what_is_sealed_comes_whole_and_its_end_is_noticed() {
    let (trust, config) = ends();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let other = std::thread::spawn(move || echo(theirs, config));
    let mut line = Line::over(ours);
    line.secure(&trust, "localhost").unwrap();
    assert_eq!(line.wait_no_more().unwrap(), [0; 0]);
    let (sent, mut sends, mut got) = (pattern(0, BYTES), 0, 0);
    let mut room = vec![0; 300_000];
    while got < BYTES {
        let mut waits = true;
        while sends < BYTES || line.has_sealed() {
            match line.send(&sent[sends..BYTES.min(sends + 70_001)]) {
                Ok(count) => (sends, waits) = (sends + count, false),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        match line.receive(&mut room) {
            Ok(count) => {
                assert!(count > 0 && room[..count] == sent[got..got + count], "{got}");
                (got, waits) = (got + count, false);
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        if waits {
            let out = if line.has_sealed() { PollFlags::OUT } else { PollFlags::empty() };
            poll(&mut [PollFd::new(&line, PollFlags::IN | out)], None).unwrap();
        }
    }
    while !line.has_ended() {
        poll(&mut [PollFd::new(&line, PollFlags::IN)], None).unwrap();
        assert!(matches!(line.receive(&mut room), Ok(0) | Err(_)));
    }
    drop(line);
    other.join().unwrap();
}

#[test]
fn another_name_and_a_cut_are_refused() {
    let (trust, config) = ends();
    for name in ["disc.example.com", "127.0.0.1", "", "a b"] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let config = config.clone();
        let other = std::thread::spawn(move || {
            let session = ServerConnection::new(config).unwrap();
            let mut server = StreamOwned::new(session, theirs);
            server.read(&mut [0; 9]).map_or(0, |count| count)
        });
        let mut line = Line::over(ours);
        let error = line.secure(&trust, name).unwrap_err().to_string();
        assert!(error.contains("TLS ended"), "{name}: {error}");
        drop(line);
        assert_eq!(other.join().unwrap(), 0);
    }
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(b"\x16\x03\x03\0\x05\x02").unwrap();
    theirs.shutdown(std::net::Shutdown::Write).unwrap();
    let error = Line::over(ours).secure(&trust, "localhost").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
}

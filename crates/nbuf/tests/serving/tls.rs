//! TLS: clients of others, certificates that are wrong, and clients that behave badly before and after the keys.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::certificates::Authority;
use super::{READ, Server, WRITE};
use crate::support::Place;
use crate::{MIB, has, image};

/// Where a server of this test listens by TCP, with its certificates.
pub(super) struct Guarded {
    pub(super) server: Server,
    pub(super) address: SocketAddr,
    /// The certificates of a client that is trusted.
    pub(super) folder: PathBuf,
    authority: Authority,
}

/// A server by TCP with certificates of its own, which checks clients.
pub(super) fn guarded(place: &Place, disc: &str, options: &[&str]) -> Guarded {
    let authority = Authority::new("trusted");
    let folder = authority.sign(&place.path("pki"), "server", 2999);
    authority.sign(&folder, "client", 2999);
    let file = |name: &str| folder.join(name).into_os_string().into_string().unwrap();
    let (certificate, key, ca) =
        (file("server-cert.pem"), file("server-key.pem"), file("ca-cert.pem"));
    let tls = ["--tls-cert", &certificate, "--tls-key", &key, "--tls-ca", &ca];
    let all = [&["--listen", "0.0.0.0:0"], &tls[..], options].concat();
    let server = Server::start(place, disc, &all);
    let address = address(&server);
    Guarded { server, address, folder, authority }
}

/// The port of a server, as the kernel has it.
fn address(server: &Server) -> SocketAddr {
    let pid = server.child.id();
    let links = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let inodes: Vec<String> = links
        .filter_map(|link| fs::read_link(link.path()).ok()?.to_str().map(str::to_owned))
        .filter_map(|name| Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let sockets = fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
    let port = sockets.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listens = words.get(3) == Some(&"0A") && inodes.iter().any(|inode| words[9] == inode);
        let port = words.get(1)?.split_once(':')?.1;
        listens.then(|| u16::from_str_radix(port, 16).unwrap())
    });
    SocketAddr::from(([127, 0, 0, 1], port.expect("it listens by TCP")))
}

fn uri(address: SocketAddr, folder: &Path) -> String {
    format!("nbds://{address}/?tls-certificates={}", folder.display())
}

fn run(program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// That a program succeeds; what it prints.
fn works(program: &str, arguments: &[&str]) -> String {
    let output = run(program, arguments);
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// That a program fails; what it says.
fn fails(program: &str, arguments: &[&str]) -> String {
    let output = run(program, arguments);
    assert!(!output.status.success(), "{program} {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_clients_of_others_are_served_by_tls() {
    if !has(&["nbdinfo", "nbdcopy", "qemu-io", "qemu-img"]) {
        return;
    }
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    let guarded = guarded(&place, &disc, &["--size", "2MiB", "--write", "back"]);
    let uri = uri(guarded.address, &guarded.folder);
    let info = works("nbdinfo", &[&uri]);
    for line in ["with TLS", "export-size: 8388608", "nbuf:dirty", "can_multi_conn: true"] {
        assert!(info.contains(line), "{line}: {info}");
    }
    let copy = place.path("copy");
    works("nbdcopy", &[&uri, copy.to_str().unwrap()]);
    assert!(fs::read(&copy).unwrap() == data);
    let mut other = data;
    other.reverse();
    fs::write(&copy, &other).unwrap();
    works("nbdcopy", &["--flush", copy.to_str().unwrap(), &uri]);
    assert!(fs::read(place.path("disc.img")).unwrap() == other);
    let object = format!(
        "tls-creds-x509,id=tls0,endpoint=client,verify-peer=on,dir={}",
        guarded.folder.display()
    );
    let port = guarded.address.port();
    let image = format!("driver=nbd,host=localhost,port={port},tls-creds=tls0");
    let qemu = ["--object", &object, "--image-opts", &image];
    let write =
        [&qemu[..], &["-t", "none", "-c", "write -P 7 4096 1048576", "-c", "flush"]].concat();
    works("qemu-io", &write);
    let read = [&qemu[..], &["-c", "read -P 7 4096 1048576", "-c", "discard 0 4096"]].concat();
    works("qemu-io", &read);
    let raw = place.path("raw");
    let convert = ["convert", "--object", &object, "--image-opts", "-O", "raw", &image];
    works("qemu-img", &[&convert[..], &[raw.to_str().unwrap()]].concat());
    let got = fs::read(&raw).unwrap();
    assert!(got[4096..4096 + MIB].iter().all(|&byte| byte == 7));
    assert!(got[4096 + MIB..] == other[4096 + MIB..]);
    // The Unix socket is as it was, and a client there may ask for TLS.
    assert!(works("nbdinfo", &[&guarded.server.uri()]).contains("without TLS"));
    let socket = guarded.server.socket.display();
    let asked = format!(
        "nbds+unix://localhost/?socket={socket}&tls-certificates={}",
        guarded.folder.display()
    );
    assert!(works("nbdinfo", &[&asked]).contains("with TLS"));
    assert_eq!(guarded.server.end().0, 0);
}

#[test]
fn the_clients_of_others_without_the_right_certificate_are_refused() {
    if !has(&["nbdinfo", "qemu-img"]) {
        return;
    }
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let guarded = guarded(&place, &disc, &["--size", "64KiB"]);
    let (address, authority) = (guarded.address, &guarded.authority);
    // The words of libnbd for this refusal are of its version.
    fails("nbdinfo", &[&format!("nbd://{address}")]);
    let plain = fails("qemu-img", &["info", &format!("nbd://{address}")]);
    assert!(plain.contains("TLS"), "{plain}");
    let none = authority.sign(&place.path("none"), "client", 2999);
    fs::remove_file(none.join("client-cert.pem")).unwrap();
    fs::remove_file(none.join("client-key.pem")).unwrap();
    let expired = authority.sign(&place.path("expired"), "client", 2020);
    // One whom the server does not trust, who trusts the server.
    let foreign = Authority::new("stranger").sign(&place.path("foreign"), "client", 2999);
    fs::copy(guarded.folder.join("ca-cert.pem"), foreign.join("ca-cert.pem")).unwrap();
    // One who does not trust the server.
    let wary = authority.sign(&place.path("wary"), "client", 2999);
    Authority::new("other").sign(&wary, "unused", 2999);
    for folder in [&none, &expired, &foreign, &wary] {
        fails("nbdinfo", &[&uri(address, folder)]);
    }
    works("nbdinfo", &[&uri(address, &guarded.folder)]);
    assert_eq!(guarded.server.end().0, 0);
    // A client that asks for TLS where there is none.
    let server = Server::start(&place, &disc, &["--size", "64KiB", "--listen", "127.0.0.1:0"]);
    fails("nbdinfo", &[&uri(self::address(&server), &guarded.folder)]);
    works("nbdinfo", &[&format!("nbd://{}", self::address(&server))]);
    assert_eq!(server.end().0, 0);
}

/// A client of TLS that sends what it is given.
struct Sealed(StreamOwned<ClientConnection, TcpStream>);

const STARTTLS: &[u8] = b"IHAVEOPT\0\0\0\x05\0\0\0\0";
const ACK: &[u8] = b"\0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x05\0\0\0\x01\0\0\0\0";

/// A client that has sent its flags.
fn plain(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    stream.write_all(&3_u32.to_be_bytes()).unwrap();
    stream
}

/// A client that may begin TLS.
fn starting(address: SocketAddr) -> TcpStream {
    let mut stream = plain(address);
    stream.write_all(STARTTLS).unwrap();
    let mut answer = [0; 20];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, ACK);
    stream
}

fn session(
    folder: &Path,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> ClientConnection {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("ca-cert.pem")).unwrap()).unwrap();
    let chain = vec![CertificateDer::from_pem_file(folder.join("client-cert.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(folder.join("client-key.pem")).unwrap();
    let config =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .unwrap();
    ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
}

impl Sealed {
    /// Agrees on keys and on the default export.
    fn connect(guarded: &Guarded) -> Self {
        let session = session(&guarded.folder, rustls::ALL_VERSIONS);
        let mut client = Self(StreamOwned::new(session, starting(guarded.address)));
        client.0.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
        client.0.read_exact(&mut [0; 10]).unwrap();
        client
    }

    fn send(&mut self, kind: u16, offset: u64, length: u32) {
        let mut out = 0x2560_9513_u32.to_be_bytes().to_vec();
        out.extend([0; 2]);
        out.extend(kind.to_be_bytes());
        out.extend(7_u64.to_be_bytes());
        out.extend(offset.to_be_bytes());
        out.extend(length.to_be_bytes());
        self.0.write_all(&out).unwrap();
    }

    fn read(&mut self, offset: u64, length: usize) -> Vec<u8> {
        self.send(READ, offset, u32::try_from(length).unwrap());
        self.0.read_exact(&mut [0; 16]).unwrap();
        let mut data = vec![0; length];
        self.0.read_exact(&mut data).unwrap();
        data
    }
}

/// Whether the server closes the connection without a further plain answer.
fn is_refused(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    // A record of TLS is an alert; an answer would be of NBD.
    rest.is_empty() || rest[0] == 21
}

#[test]
fn what_comes_in_plain_behind_starttls_is_refused() {
    let place = Place::new();
    let (disc, data) = image(&place, MIB);
    let guarded = guarded(&place, &disc, &["--size", "64KiB"]);
    let mut good = Sealed::connect(&guarded);
    let go: &[u8] = b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0";
    // In one piece with it, and after it.
    for behind in [go, b"I", b"\x16\x03\x01"] {
        let mut stream = plain(guarded.address);
        stream.write_all(&[STARTTLS, behind].concat()).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(
            rest.is_empty() || rest.starts_with(ACK) && rest.get(20).is_none_or(|&b| b == 21),
            "{rest:?}"
        );
    }
    let mut stream = starting(guarded.address);
    stream.write_all(go).unwrap();
    assert!(is_refused(&mut stream));
    // Options that were agreed before do not hold after.
    let mut stream = plain(guarded.address);
    stream.write_all(b"IHAVEOPT\0\0\0\x08\0\0\0\0").unwrap();
    let mut answer = [0; 20];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer[12..16], 0x8000_0005_u32.to_be_bytes(), "TLS is required");
    // What scans ports.
    for noise in
        [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], b"\x16\x03\x01\x02\x00\x01\x00", b"\n", b""]
    {
        let mut stream = TcpStream::connect(guarded.address).unwrap();
        let _ = stream.write_all(noise);
        let mut stream = starting(guarded.address);
        let _ = stream.write_all(noise);
    }
    assert!(good.read(4096, 4096) == data[4096..8192]);
    drop(good);
    assert_eq!(guarded.server.end().0, 0);
}

/// A whole handshake and requests behind an option that ends the first one: a server that began again would serve them.
#[test]
fn no_second_handshake_follows_one_that_is_over() {
    let place = Place::new();
    let (disc, data) = image(&place, MIB);
    let guarded = guarded(&place, &disc, &["--size", "64KiB"]);
    let go: &[u8] = b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0";
    let request = |kind: u16, payload: &[u8]| {
        let mut out = 0x2560_9513_u32.to_be_bytes().to_vec();
        out.extend([0; 2]);
        out.extend(kind.to_be_bytes());
        out.extend([0; 16]);
        out.extend(512_u32.to_be_bytes());
        [&out, payload].concat()
    };
    let requests = [request(READ, b""), request(WRITE, &[b'W'; 512])].concat();
    let abort = b"IHAVEOPT\0\0\0\x02\0\0\0\0";
    let by_name = b"IHAVEOPT\0\0\0\x01\0\0\0\0";
    for (ends, answer_bytes) in [(STARTTLS, 0), (&abort[..], 20), (&by_name[..], 0)] {
        let mut stream = plain(guarded.address);
        let flags = [0, 0, 0, 3];
        stream.write_all(&[ends, &flags, go, &requests].concat()).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() <= answer_bytes, "{rest:?}");
    }
    assert_eq!(guarded.server.end().0, 0);
    assert!(fs::read(place.path("disc.img")).unwrap() == data);
}

#[expect(clippy::disallowed_methods, reason = "the end of patience is the subject")]
#[test]
fn clients_that_dawdle_within_tls_are_closed_and_others_served() {
    let place = Place::new();
    let (disc, data) = image(&place, 4 * MIB);
    let options = ["--size", "8MiB", "--client-timeout", "5"];
    let guarded = guarded(&place, &disc, &options);
    let mut good = Sealed::connect(&guarded);
    assert!(good.read(0, 4 * MIB) == data);
    // Nothing after STARTTLS; a client's first message by the byte; a record that never ends; replies not taken.
    let silent = starting(guarded.address);
    let mut shy = starting(guarded.address);
    shy.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").unwrap();
    let mut half = Sealed::connect(&guarded);
    half.0.sock.write_all(b"\x17\x03\x03\x40\x00half").unwrap();
    let mut deaf = Sealed::connect(&guarded);
    (0..64).for_each(|_| deaf.send(READ, 0, 4 << 20));
    let mut slow = Sealed::connect(&guarded);
    slow.send(WRITE, 0, 1 << 20);
    let begun = Instant::now();
    for (mut stream, takes) in [
        (silent, true),
        (shy, true),
        (half.0.sock, true),
        (slow.0.sock, true),
        (deaf.0.sock, false),
    ] {
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut is_closed = false;
        while begun.elapsed() < Duration::from_secs(40) && !is_closed {
            if takes {
                is_closed = match stream.read(&mut [0; 512]) {
                    Ok(count) => count == 0,
                    Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
                };
            } else {
                std::thread::sleep(Duration::from_millis(100));
                is_closed = stream.write_all(&[0]).is_err();
            }
        }
        assert!(is_closed, "the server waits for ever");
        assert!(good.read(4096, 4096) == data[4096..8192]);
    }
    drop(good);
    assert_eq!(guarded.server.end().0, 0);
}

/// The client closes its half, takes what it asked for, and finds a clean end.
#[test]
fn both_halves_of_tls_end_cleanly() {
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    let guarded = guarded(&place, &disc, &["--size", "1MiB"]);
    let mut client = Sealed::connect(&guarded);
    (0..4).for_each(|_| client.send(READ, 0, 8 << 20));
    client.0.conn.send_close_notify();
    client.0.flush().unwrap();
    let mut all = Vec::new();
    client.0.read_to_end(&mut all).expect("the end is sealed, and no cut");
    assert_eq!(all.len(), 4 * (16 + 8 * MIB));
    assert!(all[16..16 + 8 * MIB] == data && all[all.len() - 8 * MIB..] == data);
    // A client that disconnects by the protocol, and one at the end of the server.
    let mut leaving = Sealed::connect(&guarded);
    leaving.send(2, 0, 0);
    assert_eq!(leaving.0.read_to_end(&mut Vec::new()).expect("a clean end"), 0);
    let mut last = Sealed::connect(&guarded);
    assert_eq!(guarded.server.end().0, 0);
    assert_eq!(last.0.read_to_end(&mut Vec::new()).expect("a clean end"), 0);
}

#[test]
fn both_versions_of_tls_are_spoken() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let guarded = guarded(&place, &disc, &["--size", "64KiB"]);
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let session = session(&guarded.folder, &[version]);
        let mut client = StreamOwned::new(session, starting(guarded.address));
        client.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
        client.read_exact(&mut [0; 10]).unwrap();
        assert_eq!(client.conn.protocol_version(), Some(version.version));
    }
    assert_eq!(guarded.server.end().0, 0);
}

#[test]
fn certificates_are_checked_before_the_start_and_read_again() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let authority = Authority::new("trusted");
    let folder = authority.sign(&place.path("pki"), "server", 2999);
    authority.sign(&folder, "client", 2999);
    let text = format!(
        "disc = '{disc}'\nsize = '64KiB'\nsocket = 'socket'\nlisten = ['0.0.0.0:0']\n\
        tls-cert = 'pki/server-cert.pem'\ntls-key = 'pki/server-key.pem'\ntls-ca = 'pki/ca-cert.pem'\n"
    );
    let config = place.path("disc.toml");
    fs::write(&config, &text).unwrap();
    let check = |status: i32, want: &str| {
        let output =
            place.nbuf(["serve", "--check-config", "--config"]).arg(&config).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains(want) && said.lines().count() == 1, "{said}");
        assert_eq!(output.status.code(), Some(status), "{said}");
    };
    check(0, "right: would serve");
    fs::write(&config, text.replace("server-key", "client-key")).unwrap();
    check(2, "cannot be used together");
    fs::write(&config, text.replace("server-key", "absent")).unwrap();
    check(2, "absent.pem: cannot be read");
    fs::write(&config, text.replace("server-key", "ca-cert")).unwrap();
    check(2, "no private key in PEM");
    fs::write(&config, text.replace("pki/server-cert.pem", "/dev/zero")).unwrap();
    check(2, "/dev/zero: cannot be read");
    fs::write(&config, text.replace("tls-ca = 'pki/ca-cert.pem'\n", "")).unwrap();
    check(2, "is no loopback address");
    fs::write(&config, &text).unwrap();
    let mut command = place.nbuf(["serve", "--config"]);
    command.arg(&config).stderr(Stdio::piped());
    let mut server = Server::spawn(command, place.path("socket"));
    let guarded_at = address(&server);
    let agrees = |folder: &Path| {
        let mut client =
            StreamOwned::new(session(folder, rustls::ALL_VERSIONS), starting(guarded_at));
        let asked = client.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
        asked.is_ok() && client.read_exact(&mut [0; 10]).is_ok()
    };
    assert!(agrees(&folder));
    // Another authority signs from now on.
    let other = Authority::new("later");
    let later = other.sign(&place.path("later"), "client", 2999);
    other.sign(&folder, "server", 2999);
    let before = authority.sign(&place.path("before"), "client", 2999);
    assert!(agrees(&before) && !agrees(&later), "nothing changes by itself");
    server.signal(libc::SIGHUP);
    let tries = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        agrees(&later)
    });
    assert!(tries && !agrees(&before));
    // What is wrong changes nothing.
    fs::write(folder.join("server-key.pem"), "").unwrap();
    server.signal(libc::SIGHUP);
    std::thread::sleep(Duration::from_millis(500));
    assert!(agrees(&later));
    server.signal(libc::SIGTERM);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("new clients get the certificate of now"), "{said}");
    assert!(said.contains("server-key.pem: no private key in PEM"), "{said}");
}

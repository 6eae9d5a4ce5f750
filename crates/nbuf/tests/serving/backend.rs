//! TLS to a backend server: servers of others and our own, those that are not trusted, and those that would have
//! something said in plain.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::certificates::Authority;
use super::tls::guarded;
use super::{Client, FLUSH, Nbdkit, READ, Server};
use crate::support::Place;
use crate::{MIB, has, image};

/// An authority, and a folder with a certificate of the server and one of a client.
fn pki(place: &Place, name: &str) -> PathBuf {
    let authority = Authority::new(name);
    let folder = authority.sign(&place.path(name), "server", 2999);
    authority.sign(&folder, "client", 2999)
}

fn file(folder: &Path, name: &str) -> String {
    folder.join(name).into_os_string().into_string().unwrap()
}

/// The options of a server that trusts the authority of this folder, and shows the client's certificate.
fn trusting(folder: &Path) -> [String; 6] {
    let option = |name: &str| name.to_owned();
    [
        option("--disc-tls-ca"),
        file(folder, "ca-cert.pem"),
        option("--disc-tls-cert"),
        file(folder, "client-cert.pem"),
        option("--disc-tls-key"),
        file(folder, "client-key.pem"),
    ]
}

/// Starts a server of this disc with a cache of 256 KiB.
fn server(place: &Place, disc: &str, folder: &Path, write: &str) -> Server {
    let trust = trusting(folder);
    let trust: Vec<&str> = trust.iter().map(String::as_str).collect();
    let options = [&["--size", "256KiB", "--write", write, "--control", "front.ctl"], &trust[..]];
    let socket = place.path("front");
    let mut command = place.nbuf(["serve", "--disc", disc, "--socket"]);
    command.arg(&socket).args(options.concat()).stderr(std::process::Stdio::piped());
    Server::spawn(command, socket)
}

/// nbdkit at this socket with a file, and TLS as its options say.
fn nbdkit(place: &Place, socket: &str, folder: &Path, options: &[&str]) -> Nbdkit {
    let certificates = format!("--tls-certificates={}", folder.display());
    let path = format!("file={}", place.path("disc.img").display());
    let all = [&[certificates.as_str()], options, &["file", &path]];
    Nbdkit::start(place.path(socket), &all.concat())
}

/// nbdkit at a port with a file, for clients with a certificate.
fn nbdkit_at_a_port(place: &Place, folder: &Path) -> (Nbdkit, u16) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = std::process::Command::new("nbdkit");
    command.args(["-f", "--tls=require", "--tls-verify-peer", "--ipaddr", "127.0.0.1", "--port"]);
    command.arg(port.to_string()).arg(format!("--tls-certificates={}", folder.display()));
    command.arg("file").arg(place.path("disc.img")).stderr(std::process::Stdio::null());
    let kit = Nbdkit { child: command.spawn().unwrap(), socket: PathBuf::new() };
    let listens = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    assert!(listens, "nbdkit does not listen");
    (kit, port)
}

fn sealed_uri(socket: &Path) -> String {
    format!("nbds+unix:///?socket={}", socket.display())
}

/// That a server does not start, and says this in one line.
fn refused(place: &Place, disc: &str, options: &[&str], want: &[&str]) {
    let mut command = place.nbuf(["serve", "--size", "64KiB", "--socket", "front", "--disc", disc]);
    let output = command.args(options).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    for want in want {
        assert!(said.contains(want), "{disc} {options:?}: no `{want}` in {said}");
    }
    assert_eq!((output.status.code(), said.trim_end().lines().count()), (Some(125), 1), "{said}");
}

/// Reads, writes, pipelines and flushes through a server, and ends it: what the disc has then.
fn work(server: Server, data: &mut [u8]) {
    let mut client = server.client();
    assert!(client.read(4096, 3 * MIB).unwrap() == data[4096..4096 + 3 * MIB]);
    let mut write = |client: &mut Client, flags: u16, offset: usize, byte: u8, length: usize| {
        data[offset..offset + length].fill(byte);
        assert_eq!(client.write(flags, offset as u64, &vec![byte; length]), Some(0));
    };
    write(&mut client, 0, 512, b'a', 100_000);
    write(&mut client, 1, 2 * MIB, b'b', 512);
    // More than the sockets hold, so that both ends wait for room.
    write(&mut client, 0, 3 * MIB, b'c', 4 * MIB);
    assert_eq!(client.flush(), Some(0));
    write(&mut client, 0, 8 * MIB - 512, b'd', 512);
    (0..64_u64).for_each(|at| client.send(0, READ, at * (MIB as u64 / 8), 128 << 10));
    let mut got = Vec::new();
    for _ in 0..64 {
        assert_eq!(client.reply(), Some(0));
        let mut part = vec![0; 128 << 10];
        client.0.read_exact(&mut part).unwrap();
        got.push(part[0]);
    }
    // Replies come in any order; a byte of each part is known.
    let mut want: Vec<u8> = (0..64).map(|at| data[at * MIB / 8]).collect();
    got.sort_unstable();
    want.sort_unstable();
    assert_eq!(got, want);
    assert!(client.read(0, 8 * MIB).unwrap() == data);
    drop(client);
    let (status, said) = server.end();
    assert_eq!((status, said.as_str()), (0, ""));
}

#[test]
fn a_disc_of_nbdkit_is_reached_by_tls() {
    if !has(&["nbdkit"]) {
        return;
    }
    let place = Place::new();
    let folder = pki(&place, "pki");
    for write in ["back", "through"] {
        let (_, mut data) = image(&place, 8 * MIB);
        let kit = nbdkit(&place, write, &folder, &["--tls=require", "--tls-verify-peer"]);
        work(server(&place, &sealed_uri(&kit.socket), &folder, write), &mut data);
        assert!(fs::read(place.path("disc.img")).unwrap() == data, "{write}");
    }
    // By TCP, by name, and with an export that nbdkit does not look at.
    let (_, data) = image(&place, 8 * MIB);
    let (_kit, port) = nbdkit_at_a_port(&place, &folder);
    let disc = format!("nbds://localhost:{port}/some%20name");
    let server = server(&place, &disc, &folder, "through");
    assert!(server.client().read(0, MIB).unwrap() == data[..MIB]);
    assert_eq!(server.end().0, 0);
}

#[test]
fn a_disc_of_our_own_server_is_reached_by_tls() {
    let place = Place::new();
    let (disc, mut data) = image(&place, 8 * MIB);
    let backend = guarded(&place, &disc, &["--size", "1MiB", "--write", "back"]);
    let port = backend.address.port();
    for host in ["localhost", "127.0.0.1"] {
        let front = server(&place, &format!("nbds://{host}:{port}/"), &backend.folder, "back");
        work(front, &mut data);
    }
    // Holes come in chunks, by TLS as without.
    assert_eq!(backend.server.end().0, 0);
    assert!(fs::read(place.path("disc.img")).unwrap() == data);
}

#[test]
fn a_server_behind_that_is_not_the_right_one_is_refused() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let other = pki(&place, "other");
    let backend = guarded(&place, &disc, &["--size", "64KiB"]);
    let port = backend.address.port();
    let uri = format!("nbds://localhost:{port}/");
    let trust = trusting(&backend.folder);
    let trust: Vec<&str> = trust.iter().map(String::as_str).collect();
    let foreign = trusting(&other);
    let foreign: Vec<&str> = foreign.iter().map(String::as_str).collect();
    let start = "cannot use the NBD server at nbds://localhost";
    refused(&place, &uri, &foreign, &[start, "UnknownIssuer", "--disc-tls-ca"]);
    refused(&place, &uri, &[&trust[..2], &foreign[2..]].concat(), &[start, "alert"]);
    refused(&place, &uri, &trust[..2], &[start, "alert"]);
    let named = format!("{uri}?tls-hostname=disc.example.com");
    refused(&place, &named, &trust, &[start, "not valid for name"]);
    // In plain to a server that needs TLS, and by TLS to one that has none.
    refused(&place, &format!("nbd://localhost:{port}/"), &[], &["the server needs TLS", "nbds"]);
    assert_eq!(backend.server.end().0, 0);
    let plain = Server::start(&place, &disc, &["--size", "64KiB"]);
    let uri = sealed_uri(&plain.socket);
    refused(&place, &uri, &trust, &["the server has no TLS", "nbuf sends nothing without it"]);
    refused(&place, "nbds://localhost:1/", &trust, &["refused", "start it first"]);
    refused(
        &place,
        "nbds://localhost/no%20export",
        &["--disc-tls-ca", "absent"],
        &["absent: cannot"],
    );
    let key = file(&backend.folder, "client-key.pem");
    refused(&place, &uri, &["--disc-tls-ca", &key], &["client-key.pem: no certificate in PEM"]);
    assert_eq!(plain.end().0, 0);
}

const GREETING: &[u8] = b"NBDMAGICIHAVEOPT\0\x03";
const STARTTLS: &[u8] = b"\0\0\0\x03IHAVEOPT\0\0\0\x05\0\0\0\0";
const REFUSAL: &[u8] = b"\0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x05\x80\0\0\x01\0\0\0\0";
const ACK: &[u8] = b"\0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x05\0\0\0\x01\0\0\0\0";

/// A server that answers as it is given, and notes all that it is sent.
fn script(socket: &Path, answer: Vec<u8>) -> JoinHandle<Vec<u8>> {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(GREETING).unwrap();
        let mut said = vec![0; STARTTLS.len()];
        stream.read_exact(&mut said).unwrap();
        let _ = stream.write_all(&answer);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        [said, rest].concat()
    })
}

/// Who is in between refuses TLS, or agrees and goes on in plain: nothing of the disc is asked for or believed.
#[test]
fn a_downgrade_gets_nothing_in_plain() {
    let place = Place::new();
    let folder = pki(&place, "pki");
    let trust = trusting(&folder);
    let trust: Vec<&str> = trust.iter().map(String::as_str).collect();
    // An export of 1 MiB, as a plain answer to GO has it.
    let plain =
        b"\0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x07\0\0\0\x03\0\0\0\x0c\0\0\0\0\0\0\0\x10\0\0\0\x01\
        \0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x07\0\0\0\x01\0\0\0\0";
    let old = b"\0\0\0\0\0\x10\0\0\0\x01";
    let answers = [
        (REFUSAL.to_vec(), "the server has no TLS"),
        ([REFUSAL, plain].concat(), "the server has no TLS"),
        ([ACK, plain].concat(), "TLS ended"),
        ([ACK, old].concat(), "TLS ended"),
        (old.to_vec(), "closes the connection"),
        (plain.to_vec(), "the server has no TLS"),
    ];
    for (at, (answer, want)) in answers.into_iter().enumerate() {
        let socket = place.path(&format!("script{at}"));
        // One that is cut within an answer.
        let is_short = answer.len() < ACK.len();
        let noted = if is_short {
            let listener = UnixListener::bind(&socket).unwrap();
            std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(&[GREETING, &answer].concat()).unwrap();
                let mut said = vec![0; STARTTLS.len()];
                stream.read_exact(&mut said).unwrap();
                said
            })
        } else {
            script(&socket, answer)
        };
        refused(&place, &sealed_uri(&socket), &trust, &[want]);
        let said = noted.join().unwrap();
        let (first, rest) = said.split_at(STARTTLS.len());
        assert_eq!(first, STARTTLS);
        // What follows is TLS: its first message or its alert.
        assert!(rest.is_empty() || rest[0] == 22 || rest[0] == 21, "{at}: {rest:?}");
        assert!(!rest.windows(8).any(|word| word == b"IHAVEOPT"), "{at}");
    }
}

/// Between a server and its backend: notes what goes either way.
fn tap(socket: &Path, backend: PathBuf) -> Receiver<Vec<u8>> {
    let listener = UnixListener::bind(socket).unwrap();
    let (noted, all) = channel();
    std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = UnixStream::connect(backend).unwrap();
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let noted = noted.clone();
            std::thread::spawn(move || {
                let (mut all, mut part) = (Vec::new(), vec![0; 1 << 16]);
                while let Ok(count) = from.read(&mut part) {
                    all.extend(&part[..count]);
                    if count == 0 || to.write_all(&part[..count]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(std::net::Shutdown::Write);
                noted.send(all).unwrap();
            });
        }
    });
    all
}

#[test]
fn nothing_of_the_disc_is_seen_on_the_way() {
    if !has(&["nbdkit"]) {
        return;
    }
    let place = Place::new();
    let folder = pki(&place, "pki");
    let (_, data) = image(&place, MIB);
    let kit = nbdkit(&place, "kit", &folder, &["--tls=require"]);
    let noted = tap(&place.path("tap"), kit.socket.clone());
    let server = server(&place, &sealed_uri(&place.path("tap")), &folder, "through");
    let mut client = server.client();
    assert!(client.read(0, MIB).unwrap() == data);
    assert_eq!(client.write(0, 0, &vec![b'S'; 65536]), Some(0));
    assert_eq!(server.end().0, 0);
    let seen: Vec<Vec<u8>> = noted.iter().take(2).collect();
    let all = seen.concat();
    assert!(all.len() > MIB + 65536);
    let has = |word: &[u8]| all.windows(word.len()).filter(|part| *part == word).count();
    assert_eq!(has(b"IHAVEOPT"), 2, "one in the greeting, and STARTTLS");
    assert_eq!((has(&[b'S'; 16]), has(&[7; 16])), (0, 0));
    assert!(fs::read(place.path("disc.img")).unwrap()[..65536] == vec![b'S'; 65536]);
}

/// nbdkit whose reads take a second.
fn slow(place: &Place, folder: &Path) -> Nbdkit {
    let certificates = format!("--tls-certificates={}", folder.display());
    let path = format!("file={}", place.path("disc.img").display());
    let options = ["--tls=require", "--filter=delay", &certificates, "file", &path, "rdelay=1"];
    Nbdkit::start(place.path("kit"), &options)
}

/// Hits go on, all else fails, a flush does not succeed, and the end says what is owed.
#[test]
fn a_server_behind_that_dies_takes_nothing_along_silently() {
    if !has(&["nbdkit"]) {
        return;
    }
    let place = Place::new();
    let folder = pki(&place, "pki");
    let (_, data) = image(&place, 4 * MIB);
    let kit = slow(&place, &folder);
    let server = server(&place, &sealed_uri(&kit.socket), &folder, "back");
    let mut client = server.client();
    assert!(client.read(0, 4096).unwrap() == data[..4096]);
    assert_eq!(client.write(0, 8192, &[1; 4096]), Some(0));
    assert_eq!(client.flush(), Some(0));
    // One read and one write are under way when it ends.
    client.send(0, READ, 2 << 20, 4096);
    std::thread::sleep(Duration::from_millis(300));
    drop(kit);
    assert_eq!(client.reply(), Some(5), "EIO");
    assert!(client.read(0, 4096).unwrap() == data[..4096], "a hit");
    assert_eq!(client.write(0, 16384, &[2; 4096]), Some(0), "kept, and owed");
    assert_eq!(client.read(3 << 20, 4096), Err(Some(5)));
    client.send(0, FLUSH, 0, 0);
    assert_eq!(client.reply(), Some(5));
    drop(client);
    let (status, said) = server.end();
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("4096") || said.contains("4.0 KiB") || said.contains("4 KiB"), "{said}");
    let disc = fs::read(place.path("disc.img")).unwrap();
    assert!(disc[8192..12288] == [1; 4096] && disc[16384..20480] == data[16384..20480]);
}

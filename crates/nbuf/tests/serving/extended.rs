//! Long headers: lengths of 64 bits, and clients that get them wrong.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::process::Command;

use super::{Client, FUA, Nbdkit, READ, Server, WRITE};
use crate::support::{Place, until};
use crate::{MIB, has};

const TRIM: u16 = 4;
const CACHE: u16 = 5;
const ZEROES: u16 = 6;
const STATUS: u16 = 7;
/// A payload follows the header.
const PAYLOAD: u16 = 1 << 5;
/// The protocol's number for an argument that is wrong.
const INVALID: u32 = 22;

/// A client that has agreed on long headers, and may ask what is in the cache.
struct Long(Client);

/// A chunk of a reply: its kind and its payload.
type Chunk = (u16, Vec<u8>);

impl Long {
    fn connect(server: &Server) -> Self {
        let mut client = Client::raw(&server.socket);
        client.0.read_exact(&mut [0; 18]).unwrap();
        let context = b"\0\0\0\0\0\0\0\x01\0\0\0\x0bnbuf:cached";
        let mut out = 3_u32.to_be_bytes().to_vec();
        for (kind, data) in [(11_u32, &b""[..]), (10, context), (7, &[0; 6])] {
            out.extend(b"IHAVEOPT");
            out.extend(kind.to_be_bytes());
            out.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
            out.extend(data);
        }
        client.0.write_all(&out).unwrap();
        let mut agreed = 0;
        while agreed < 3 {
            let mut head = [0; 20];
            client.0.read_exact(&mut head).unwrap();
            let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
            let mut data = vec![0; word(16) as usize];
            client.0.read_exact(&mut data).unwrap();
            assert!(word(12) < 1 << 31, "option {} is refused", word(8));
            agreed += u32::from(word(12) == 1);
        }
        Self(client)
    }

    fn send(&mut self, flags: u16, kind: u16, offset: u64, length: u64) {
        let mut out = 0x21e4_1c71_u32.to_be_bytes().to_vec();
        out.extend(flags.to_be_bytes());
        out.extend(kind.to_be_bytes());
        for word in [9, offset, length] {
            out.extend(word.to_be_bytes());
        }
        self.0.0.write_all(&out).unwrap();
    }

    /// The next chunk, which is the last of its reply; `None` if the server has closed the connection.
    fn reply(&mut self, offset: u64) -> Option<Chunk> {
        let mut head = [0; 32];
        self.0.0.read_exact(&mut head).ok()?;
        let word = |at: usize| u64::from_be_bytes(head[at..at + 8].try_into().unwrap());
        assert_eq!(head[..4], 0x6e8a_278c_u32.to_be_bytes());
        assert_eq!((word(8), word(16), head[5]), (9, offset, 1), "cookie, offset, the last chunk");
        let mut payload = vec![0; usize::try_from(word(24)).unwrap()];
        self.0.0.read_exact(&mut payload).unwrap();
        Some((u16::from_be_bytes([head[6], head[7]]), payload))
    }

    /// What a request without a payload gives: nothing, or an error.
    fn error(&mut self, flags: u16, kind: u16, offset: u64, length: u64) -> u32 {
        self.send(flags, kind, offset, length);
        error(&self.reply(offset).unwrap())
    }
}

fn error((kind, payload): &Chunk) -> u32 {
    match kind {
        0 => 0,
        0x8001 => u32::from_be_bytes(payload[..4].try_into().unwrap()),
        other => panic!("chunk {other}"),
    }
}

#[test]
fn requests_beyond_four_gibibytes_are_one_request() {
    const BYTES: u64 = 6 << 30;
    let place = Place::new();
    let path = place.path("disc.img");
    let file = fs::File::create(&path).unwrap();
    file.set_len(BYTES).unwrap();
    drop(file);
    let disc = format!("file:{}", path.display());
    let server = Server::start(&place, &disc, &["--size", "1MiB", "--write", "back"]);
    let mut client = Long::connect(&server);
    let data = vec![7; MIB];
    for offset in [0, BYTES - MIB as u64] {
        client.send(PAYLOAD, WRITE, offset, MIB as u64);
        client.0.0.write_all(&data).unwrap();
        assert_eq!(error(&client.reply(offset).unwrap()), 0);
        client.send(0, READ, offset, MIB as u64);
        let (kind, payload) = client.reply(offset).unwrap();
        assert_eq!((kind, &payload[..8]), (1, &offset.to_be_bytes()[..]));
        assert!(payload[8..] == data);
    }
    assert_eq!(client.error(0, CACHE, 0, BYTES), 0);
    assert_eq!(client.error(0, ZEROES, 0, BYTES), 0);
    client.send(0, READ, BYTES - MIB as u64, MIB as u64);
    assert!(client.reply(BYTES - MIB as u64).unwrap().1[8..].iter().all(|&byte| byte == 0));
    // A status may be shorter than what it was asked for, but not of 32 bits.
    client.send(0, STATUS, 0, BYTES);
    let (kind, payload) = client.reply(0).unwrap();
    assert_eq!((kind, &payload[..4]), (6, &2_u32.to_be_bytes()[..]), "the context is nbuf:cached");
    let extents = u32::from_be_bytes(payload[4..8].try_into().unwrap());
    assert_eq!(payload.len(), 8 + 16 * extents as usize);
    assert_eq!(client.error(0, TRIM, 0, BYTES), 0);
    assert_eq!(client.error(0, TRIM, 1 << 62, u64::MAX), 28, "no such place");
    drop(client);
    assert_eq!(server.end().0, 0);
    assert!(fs::metadata(&path).unwrap().blocks() * 512 < MIB as u64, "zeros take no room");
}

#[test]
fn a_trim_of_six_gibibytes_reaches_a_server_behind_in_parts() {
    const BYTES: u64 = 6 << 30;
    if !has(&["nbdkit"]) {
        return;
    }
    let place = Place::new();
    let nbdkit = Nbdkit::start(place.path("backend"), &["memory", "6G"]);
    let disc = format!("nbd:unix:{}", nbdkit.socket.display());
    let server = Server::start(&place, &disc, &["--size", "64KiB", "--write", "through"]);
    let mut client = Long::connect(&server);
    let places = [0, (1 << 30) + 4096, BYTES - 4096];
    for offset in places {
        client.send(PAYLOAD, WRITE, offset, 4096);
        client.0.0.write_all(&[7; 4096]).unwrap();
        assert_eq!(error(&client.reply(offset).unwrap()), 0);
    }
    for (kind, is_zero) in [(ZEROES, true), (TRIM, true)] {
        assert_eq!(client.error(0, kind, 0, BYTES), 0);
        for offset in places {
            client.send(0, READ, offset, 4096);
            let zeros = client.reply(offset).unwrap().1[8..].iter().all(|&byte| byte == 0);
            assert_eq!(zeros, is_zero, "{kind} at {offset}");
        }
    }
    drop(client);
    assert_eq!(server.end().0, 0);
}

#[test]
fn payloads_that_no_command_has_are_passed_over_and_short_headers_end_it() {
    let place = Place::new();
    let path = place.path("disc.img");
    fs::write(&path, vec![3; MIB]).unwrap();
    let disc = format!("file:{}", path.display());
    let server = Server::start(&place, &disc, &["--size", "1MiB"]);
    let mut client = Long::connect(&server);
    for kind in [READ, TRIM, CACHE, ZEROES, STATUS, 99] {
        client.send(PAYLOAD, kind, 0, 4096);
        client.0.0.write_all(&[0x25; 4096]).unwrap();
        assert_eq!(error(&client.reply(0).unwrap()), INVALID, "{kind}");
    }
    // More than any request, in full; then one that goes on.
    client.send(PAYLOAD, WRITE, 0, 80 << 20);
    client.0.0.write_all(&vec![1; 80 << 20]).unwrap();
    assert_eq!(error(&client.reply(0).unwrap()), INVALID);
    client.send(0, READ, 4096, 4096);
    assert_eq!(client.reply(4096).unwrap().1[8..], [3; 4096]);
    client.0.send(0, READ, 0, 4096);
    assert!(client.reply(0).is_none(), "a short header is served");
    assert_eq!(server.end().0, 0);
}

/// Other servers take requests of 48 MiB from clients that never asked what the most is.
#[test]
fn a_request_of_48_mebibytes_is_served() {
    let place = Place::new();
    let path = place.path("disc.img");
    fs::File::create(&path).unwrap().set_len(64 << 20).unwrap();
    let disc = format!("file:{}", path.display());
    let server = Server::start(&place, &disc, &["--size", "8MiB", "--write", "back"]);
    let mut client = server.client();
    let data: Vec<u8> = (0..48 * MIB).map(|at| u8::try_from(at / 4096 % 251).unwrap()).collect();
    assert_eq!(client.write(0, 512, &data), Some(0));
    assert!(client.read(512, data.len()).unwrap() == data);
    assert_eq!(client.flush(), Some(0));
    drop(client);
    assert_eq!(server.end().0, 0);
    assert!(fs::read(&path).unwrap()[512..512 + data.len()] == data);
}

/// A server that was not asked for its limit may refuse more than 32 MiB; qemu-nbd ends the connection.
#[test]
fn a_write_of_48_mebibytes_reaches_a_server_behind_in_parts() {
    if !has(&["qemu-nbd"]) {
        return;
    }
    let place = Place::new();
    let path = place.path("disc.img");
    fs::File::create(&path).unwrap().set_len(64 << 20).unwrap();
    let backend = place.path("backend");
    let mut qemu = Command::new("qemu-nbd");
    qemu.args(["-t", "-e", "4", "-f", "raw", "-k"]).arg(&backend).arg(&path);
    let mut qemu = qemu.spawn().unwrap();
    until("qemu-nbd listens", || UnixStream::connect(&backend).is_ok());
    let disc = format!("nbd:unix:{}", backend.display());
    let server = Server::start(&place, &disc, &["--size", "1MiB", "--write", "through"]);
    let mut client = server.client();
    let data: Vec<u8> = (0..48 * MIB).map(|at| u8::try_from(at / 4096 % 251).unwrap()).collect();
    assert_eq!(client.write(FUA, 4096, &data), Some(0), "a write that is durable");
    assert!(client.read(4096, data.len()).unwrap() == data);
    drop(client);
    assert_eq!(server.end().0, 0);
    qemu.kill().unwrap();
    qemu.wait().unwrap();
    assert!(fs::read(&path).unwrap()[4096..4096 + data.len()] == data);
}

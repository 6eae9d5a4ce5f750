//! What is allocated, as other programs ask for it: against the file system, and against what is read.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nbuf::internal::clock::Random;

use super::{Nbdkit, Server};
use crate::support::{Place, skip};
use crate::{has, output};

const PAGE: u64 = 4096;

/// Extents that read as zeros without the disc, and all others, as ranges of bytes: of `nbdinfo` or `qemu-img`.
fn map(program: &str, arguments: &[&str]) -> Vec<(u64, u64, bool)> {
    let text = output(program, arguments);
    let extents: serde_json::Value = serde_json::from_str(&text).unwrap();
    let number = |extent: &serde_json::Value, name: &str| extent[name].as_u64();
    let mut found: Vec<(u64, u64, bool)> = Vec::new();
    for extent in extents.as_array().unwrap() {
        let from = number(extent, "offset").or_else(|| number(extent, "start")).unwrap();
        let length = number(extent, "length").unwrap();
        let is_zero =
            number(extent, "type").map_or_else(|| extent["zero"] == true, |kind| kind == 3);
        match found.last_mut() {
            Some((_, to, last)) if *last == is_zero && *to == from => *to += length,
            _ => found.push((from, from + length, is_zero)),
        }
    }
    found
}

fn of_server(uri: &str) -> Vec<(u64, u64, bool)> {
    map("nbdinfo", &["--map", "--json", uri])
}

fn of_file(path: &Path) -> Vec<(u64, u64, bool)> {
    map("qemu-img", &["map", "--output=json", "-f", "raw", path.to_str().unwrap()])
}

/// A file of 64 MiB, most of which are holes, and a few pages.
fn sparse(place: &Place) -> String {
    let file = File::create(place.path("disc.img")).unwrap();
    file.set_len(64 << 20).unwrap();
    for page in [0, 1, 7, 1000, 1001, 1002, 9000, (64 << 20) / PAGE - 1] {
        file.write_all_at(&[9; 4096], page * PAGE).unwrap();
    }
    file.sync_all().unwrap();
    format!("file:{}", place.path("disc.img").display())
}

#[test]
fn holes_are_those_of_the_file() {
    if !has(&["nbdinfo", "nbdcopy", "qemu-img"]) {
        return;
    }
    let place = Place::new();
    let disc = sparse(&place);
    let wanted = of_file(&place.path("disc.img"));
    if wanted.len() < 3 {
        return skip("a file system without holes");
    }
    let server = Server::start(&place, &disc, &["--size", "1MiB"]);
    assert_eq!(of_server(&server.uri()), wanted);
    // What reads as zeros is not asked for, and not written.
    let copy = place.path("copy");
    output("nbdcopy", &[&server.uri(), copy.to_str().unwrap()]);
    assert!(fs::read(&copy).unwrap() == fs::read(place.path("disc.img")).unwrap());
    assert!(fs::metadata(&copy).unwrap().blocks() <= 2 * 1024, "it is not sparse");
    let stats = place.nbuf(["serve", "stats", "socket", "--json"]).output().unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert!(stats["disc_read_bytes"].as_u64().unwrap() < 4 << 20, "{stats}");
    assert_eq!(server.end().0, 0);
}

/// A program that is killed with this value.
#[derive(Debug)]
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A backend server is asked, and what the cache has for it is data.
#[test]
fn holes_of_a_server_behind_are_passed_on() {
    if !has(&["nbdinfo", "nbdcopy", "nbdkit", "qemu-img", "qemu-nbd"]) {
        return;
    }
    let place = Place::new();
    sparse(&place);
    let file = place.path("disc.img");
    let wanted = of_file(&file);
    if wanted.len() < 3 {
        return skip("a file system without holes");
    }
    let name = file.to_str().unwrap();
    // One that says nothing of it, one that answers in simple replies, and two that say it.
    let nothing = ["--filter=noextents", "file", name];
    let simple = ["--no-sr", "file", name];
    for (arguments, wanted) in [
        (&nothing[..], &[(0, 64 << 20, false)][..]),
        (&simple[..], &[(0, 64 << 20, false)]),
        (&["file", name], &wanted),
    ] {
        let nbdkit = Nbdkit::start(place.path("backend"), arguments);
        let disc = format!("nbd:unix:{}", nbdkit.socket.display());
        let server = Server::start(&place, &disc, &["--size", "1MiB", "--write", "back"]);
        assert_eq!(of_server(&server.uri()), wanted, "{arguments:?}");
        let copy = place.path("copy");
        output("nbdcopy", &[&server.uri(), copy.to_str().unwrap()]);
        assert!(fs::read(&copy).unwrap() == fs::read(&file).unwrap());
        assert_eq!(server.end(), (0, String::new()));
        drop(nbdkit);
        let _ = fs::remove_file(place.path("backend"));
    }
    let socket = place.path("qemu");
    let (at, under) = (format!("--socket={}", socket.display()), "--cache=none");
    let mut qemu = Command::new("qemu-nbd");
    let qemu = qemu
        .args(["--format=raw", "--persistent", "--shared=4", under, &at])
        .arg(&file)
        .stderr(Stdio::null());
    let _qemu = Killed(qemu.spawn().unwrap());
    let mut tries = (0..500).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        std::os::unix::net::UnixStream::connect(&socket).is_ok()
    });
    assert!(tries.any(|is_there| is_there), "qemu-nbd does not listen");
    let disc = format!("nbd:unix:{}", socket.display());
    let server = Server::start(&place, &disc, &["--size", "1MiB", "--write", "back"]);
    assert_eq!(of_server(&server.uri()), wanted);
    let mut client = server.client();
    let hole = 2 << 20;
    assert_eq!(client.write(0, hole, &[5; 512]), Some(0));
    let is_data = |map: &[(u64, u64, bool)]| {
        map.iter().any(|&(from, to, is_zero)| !is_zero && (from..to).contains(&hole))
    };
    assert!(is_data(&of_server(&server.uri())), "the cache has it");
    assert_eq!(client.flush(), Some(0));
    assert!(is_data(&of_server(&server.uri())), "the disc has it");
    assert_eq!(client.read(hole, 512).unwrap(), [5; 512]);
    drop(client);
    assert_eq!(server.end().0, 0);
}

/// Writes, zeros and trims in any order, whatever of them the disc has: what is reported to be zeros reads so, and
/// when all is written the map is the one of the file.
#[test]
fn what_is_written_is_data_before_the_disc_has_it() {
    if !has(&["nbdinfo", "qemu-img"]) {
        return;
    }
    for write in ["back", "through", "around"] {
        let place = Place::new();
        let disc = sparse(&place);
        let server = Server::start(&place, &disc, &["--size", "512KiB", "--write", write]);
        let mut client = server.client();
        let mut random = Random::new(11);
        let mut model = fs::read(place.path("disc.img")).unwrap();
        for round in 0..25 {
            for _ in 0..8 {
                let page = random.below(64);
                let (at, length) =
                    (page * PAGE * 256 + random.below(2) * 512, 1 + random.below(3 * PAGE));
                let range = usize::try_from(at).unwrap()..usize::try_from(at + length).unwrap();
                let data = vec![u8::try_from(1 + round).unwrap(); range.len()];
                match random.below(4) {
                    0 => {
                        // WRITE_ZEROES.
                        client.send(0, 6, at, u32::try_from(length).unwrap());
                        assert_eq!(client.reply(), Some(0));
                        model[range].fill(0);
                    }
                    1 => {
                        // TRIM: whole pages of a file read as zeros, and a part does too.
                        client.send(0, 4, at, u32::try_from(length).unwrap());
                        assert_eq!(client.reply(), Some(0));
                        model[range].fill(0);
                    }
                    _ => {
                        assert_eq!(client.write(0, at, &data), Some(0));
                        model[range].copy_from_slice(&data);
                    }
                }
            }
            let found = of_server(&server.uri());
            assert_eq!(found.last().unwrap().1, 64 << 20);
            for (from, to, is_zero) in found {
                let range = usize::try_from(from).unwrap()..usize::try_from(to).unwrap();
                let has_data = model[range].iter().any(|&byte| byte != 0);
                assert!(!is_zero || !has_data, "{write}, round {round}: {from} to {to}");
            }
            let page = random.below(64) * PAGE * 256;
            let at = usize::try_from(page).unwrap();
            assert!(client.read(page, 8192).unwrap() == model[at..at + 8192], "{write} {round}");
        }
        assert_eq!(client.flush(), Some(0));
        assert_eq!(of_server(&server.uri()), of_file(&place.path("disc.img")), "{write}");
        drop(client);
        assert_eq!(server.end().0, 0);
        assert!(fs::read(place.path("disc.img")).unwrap() == model, "{write}");
    }
}

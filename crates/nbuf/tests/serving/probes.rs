//! What the cache of another server was seen to do wrong: the same probes for it and for ours.
//!
//! `cargo test -p nbuf --test serve probes -- --nocapture` prints a row for each. Ours must be right. What the
//! other does is printed and not asserted.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Client, FUA, Nbdkit, READ, Server};
use crate::support::Place;
use crate::{MIB, has};

/// Prints a row of the table.
#[expect(clippy::print_stdout, reason = "the answer of the command that runs the probes")]
fn row(probe: &str, server: &str, answer: &str) {
    println!("| {probe} | {server} | {answer} |");
}

/// Writes 64 MiB, flushes, and reads them back. Returns the MiB that were read wrong, and the bytes that are not on
/// the disc after the end.
fn lost_bytes(uri: &str, disc: &Path, end: impl FnOnce()) -> (usize, usize) {
    let mut both = ["-t", "none", "-f", "raw"].map(String::from).to_vec();
    both.extend((0..64).flat_map(|at| ["-c".to_owned(), format!("write -P 0x41 {at}M 1M")]));
    both.extend(["-c", "flush"].map(String::from));
    both.extend((0..64).flat_map(|at| ["-c".to_owned(), format!("read -P 0x41 {at}M 1M")]));
    both.push(uri.to_owned());
    let said = Command::new("qemu-io").args(&both).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert_eq!(said.matches("wrote 1048576").count(), 64, "{said}");
    let wrong = said.matches("verification failed").count();
    end();
    let there = fs::read(disc).unwrap().into_iter().filter(|&byte| byte == 0x41).count();
    (wrong, 64 * MIB - there)
}

#[test]
fn flushed_bytes_are_on_the_disc_whatever_was_evicted() {
    if !has(&["qemu-io"]) {
        return;
    }
    let place = Place::new();
    let empty = |name: &str| {
        let disc = place.path(name);
        fs::File::create(&disc).unwrap().set_len(64 << 20).unwrap();
        disc
    };
    let say = |server: &str, (wrong, missing): (usize, usize)| {
        row("64 MiB through a cache of 8 MiB, read back", server, &format!("{wrong} MiB wrong"));
        row("the same, flushed, ended", server, &format!("{missing} bytes not on the disc"));
    };
    let disc = empty("disc.img");
    let name = format!("file:{}", disc.display());
    let server = Server::start(&place, &name, &["--size", "8MiB", "--write", "back"]);
    let uri = server.uri();
    let lost = lost_bytes(&uri, &disc, || assert_eq!(server.end().0, 0));
    say("nbuf", lost);
    assert_eq!(lost, (0, 0), "MiB that were read back wrong, bytes that are not on the disc");
    if has(&["nbdkit"]) {
        let disc = empty("other.img");
        let file = disc.to_str().unwrap();
        let arguments = ["--filter=cache", "file", file, "cache=writeback", "cache-max-size=8M"];
        let nbdkit = Nbdkit::start(place.path("nbdkit"), &arguments);
        let uri = nbdkit.uri();
        say("nbdkit", lost_bytes(&uri, &disc, || drop(nbdkit)));
    }
}

/// Whether a page is as the disc has it after the disc refused a write to it.
fn serves_what_the_disc_has(socket: &Path, refuse: &Path) -> bool {
    let mut client = Client::connect(socket);
    assert_eq!(client.read(0, 4096).unwrap(), vec![0; 4096]);
    fs::write(refuse, "").unwrap();
    let refused = client.write(FUA, 0, &[9; 4096]);
    fs::remove_file(refuse).unwrap();
    assert_ne!(refused, Some(0), "the disc refuses");
    client.read(0, 4096).is_ok_and(|data| data == [0; 4096])
}

#[test]
fn what_the_disc_refused_is_not_served() {
    if !has(&["nbdkit"]) {
        return;
    }
    let say = |write: &str, server: &str, is_right: bool| {
        let answer = if is_right { "the disc's bytes" } else { "the refused bytes" };
        row(&format!("a refused write with FUA, write {write}, read back"), server, answer);
    };
    for write in ["through", "back", "around"] {
        let place = Place::new();
        let disc = place.path("slow.img");
        fs::write(&disc, vec![0; 4 * MIB]).unwrap();
        let refuse = place.path("refuse");
        let rule = format!("error-pwrite-file={}", refuse.display());
        let file = disc.to_str().unwrap();
        let errors = ["error-pwrite=EIO", "error-pwrite-rate=100%", &rule];
        let arguments = [&["--filter=error", "file", file][..], &errors].concat();
        let nbdkit = Nbdkit::start(place.path("backend"), &arguments);
        let name = format!("nbd:unix:{}", nbdkit.socket.display());
        let server = Server::start(&place, &name, &["--size", "1MiB", "--write", write]);
        let is_right = serves_what_the_disc_has(&server.socket, &refuse);
        say(write, "nbuf", is_right);
        assert!(is_right, "--write {write}");
        assert_eq!(server.end().0, 0);
        let mode = match write {
            "through" => "cache=writethrough",
            "back" => "cache=writeback",
            _ => continue,
        };
        let filters =
            ["--filter=cache", "--filter=error", "file", file, mode, "cache-on-read=true"];
        let arguments = [&filters[..], &errors].concat();
        fs::write(&disc, vec![0; 4 * MIB]).unwrap();
        let other = Nbdkit::start(place.path("other"), &arguments);
        say(write, "nbdkit", serves_what_the_disc_has(&other.socket, &refuse));
    }
}

/// Reads that hit and complete while another client's read of three seconds waits for the disc; 100 at most.
fn hits_beside_a_miss(socket: &Path) -> usize {
    let mut hits = Client::connect(socket);
    hits.read(0, 4096).unwrap();
    let mut misses = Client::connect(socket);
    misses.send(0, READ, 2 << 20, 4096);
    // The server takes the miss first.
    std::thread::sleep(Duration::from_millis(50));
    misses.0.set_nonblocking(true).unwrap();
    let mut is_out = || {
        let reply = misses.0.read(&mut [0; 16]);
        matches!(reply, Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    (0..100).take_while(|_| hits.read(0, 4096).is_ok() && is_out()).count()
}

#[test]
fn hits_do_not_wait_for_a_miss() {
    if !has(&["nbdkit"]) {
        return;
    }
    let place = Place::new();
    let disc = place.path("disc.img");
    fs::write(&disc, vec![0; 4 * MIB]).unwrap();
    let file = disc.to_str().unwrap();
    let say = |server: &str, hits: usize| {
        let most = if hits == 100 { " or more" } else { "" };
        row("hits while a read of 3 s is out", server, &format!("{hits}{most}"));
    };
    let slow = Nbdkit::start(place.path("slow"), &["--filter=delay", "file", file, "delay-read=3"]);
    let name = format!("nbd:unix:{}", slow.socket.display());
    let server = Server::start(&place, &name, &["--size", "1MiB"]);
    let hits = hits_beside_a_miss(&server.socket);
    say("nbuf", hits);
    assert_eq!(hits, 100, "hits that did not wait");
    assert_eq!(server.end().0, 0);
    let filters = ["--filter=cache", "--filter=delay", "file", file, "delay-read=3"];
    let options = ["cache-on-read=true", "cache-min-block-size=4096"];
    let other = Nbdkit::start(place.path("other"), &[&filters[..], &options].concat());
    say("nbdkit", hits_beside_a_miss(&other.socket));
}

//! Limits at the start and of a running server: what is unreasonable is refused in a line, and what is documented holds.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::{Client, Server};
use crate::support::Place;
use crate::{MIB, image};

/// The names in a directory.
fn names(place: &Place) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(place.path(".")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn unreasonable_settings_are_refused_before_anything_is_opened() {
    let place = Place::new();
    let before = names(&place);
    // The socket is an address too.
    let many = ["--listen", "127.0.0.1:0"].repeat(64);
    let many = [&["--size", "1MiB"][..], &many].concat();
    let tier = |size| vec!["--size", "1MiB", "--tier", "t", "--tier-size", size];
    let sized = |more: &[&'static str]| [&["--size", "1MiB"][..], more].concat();
    for (options, status, want) in [
        (vec!["--size", "15TiB"], 125, "of memory is available: give a smaller --size"),
        (vec!["--size", "16TiB"], 2, "or 16 TiB and more: give another --size"),
        (vec!["--size", "4095"], 2, "is less than a page"),
        (sized(&["--clients", "16385"]), 2, "clients is 16385: give a number from 1 to 16384"),
        (sized(&["--clients", "0"]), 2, "clients is 0: give a number from 1 to 16384"),
        (sized(&["--threads", "257"]), 2, "threads is 257: give a number from 1 to 256"),
        (sized(&["--spin", "1001"]), 2, "spin is 1001: give a number from 1 to 1000"),
        (sized(&["--client-timeout", "86401"]), 2, "client-timeout is 86401: give a number"),
        (sized(&["--page", "65536"]), 2, "is no power of two from 512 to 32768"),
        (tier("17TiB"), 2, "is less than 1 MiB or more than 16 TiB: give another --tier-size"),
        // Its tables have a block for every 8 KiB.
        (
            [tier("16TiB"), vec!["--page", "512"]].concat(),
            125,
            "of memory is available: give a smaller --size or --tier-size",
        ),
        (many, 2, "listen is 65: give a number from 1 to 64"),
    ] {
        // The disc is not looked at: it is not there.
        let mut command = place.nbuf(["serve", "--disc", "file:absent", "--socket", "socket"]);
        let output = command.args(&options).args(["--state", "state"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(want) && said.trim_end().lines().count() == 1, "{options:?}: {said}");
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert_eq!(names(&place), before, "{options:?}");
    }
}

#[test]
fn clients_beyond_the_limit_are_closed_before_they_are_greeted() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let server = Server::start(&place, &disc, &["--size", "64KiB", "--clients", "2"]);
    let (mut first, second) = (server.client(), server.client());
    let mut third = Client::raw(&server.socket);
    assert_eq!(third.0.read(&mut [0; 18]).unwrap_or(0), 0, "a greeting");
    assert!(first.read(0, 512).is_ok());
    drop(second);
    let mut tries = (0..500).map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        Client::try_connect(&server.socket)
    });
    let mut next = tries.find_map(Result::ok).expect("there is room again");
    assert!(next.read(0, 512).is_ok());
    assert_eq!(server.end().0, 0);
}

#[test]
fn a_long_line_at_the_control_socket_is_refused() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let server = Server::start(&place, &disc, &["--size", "64KiB"]);
    for (line, want) in [
        ("x".repeat(600) + "\n", "send one short line at once"),
        ("x".repeat(5000), "send one short line at once"),
        ("x".repeat(512) + "\n", "write `stats`, `drain`"),
    ] {
        let mut control = UnixStream::connect(place.path("socket.ctl")).unwrap();
        control.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = control.write_all(line.as_bytes());
        let mut answer = Vec::new();
        let _ = control.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains(want), "{} bytes: {answer}", line.len());
    }
    assert_eq!(server.end().0, 0);
}

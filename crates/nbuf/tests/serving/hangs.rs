//! A second tier whose disc hangs: the server gives it up in time, and ends in time.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::sync::mpsc::channel;
use std::time::Duration;

use nbuf::internal::clock::Stopwatch;

use serde_json::Value;

use super::Server;
use super::exports::stats;
use super::hanging::Hanging;
use crate::support::{Lock, Place, requires, skip};
use crate::{MIB, image};

const PAGE: usize = 4096;
/// Pages of several blocks, more than the cache holds.
const SOME: [usize; 20] =
    [3, 4, 5, 100, 7, 1000, 2047, 16, 17, 33, 200, 201, 202, 203, 300, 400, 500, 600, 700, 800];

/// Seconds for a request to a tier. The waits for it last longer than a test may take.
const LONG: &str = "30";
/// Every wait of a server that ends lasts longer, unless a second signal comes.
const QUICK: Duration = Duration::from_secs(8);

/// The machine for a test alone; nothing where this user may not mount. A recording of another test would open the
/// files of this file system, and hang with it.
fn alone() -> Option<Lock> {
    if !rustix::process::geteuid().is_root() {
        skip("a file system of its own needs root");
        return None;
    }
    requires(&[])
}

/// Checks each case, all at once: each has its own place, server and file system, and waits most of the time.
fn at_once<C: Copy + Send>(cases: &[C], check: impl Fn(C) + Sync) {
    std::thread::scope(|scope| {
        for &case in cases {
            let check = &check;
            scope.spawn(move || check(case));
        }
    });
}

fn start(place: &Place, disc: &str, tier: &str) -> Server {
    start_with(place, disc, tier, "1")
}

/// The same with this many seconds for a request to the tier.
fn start_with(place: &Place, disc: &str, tier: &str, seconds: &str) -> Server {
    let sizes = ["--size", "64KiB", "--readahead", "off", "--tier-size", "4MiB"];
    let options = [&sizes[..], &["--tier", tier, "--tier-timeout", seconds]].concat();
    Server::start(place, disc, &options)
}

fn read(server: &Server, data: &[u8]) {
    let mut client = server.client();
    for page in SOME {
        let at = page * PAGE;
        assert!(client.read(at as u64, PAGE).unwrap() == data[at..at + PAGE], "page {page}");
    }
}

/// A disc, and a tier that has blocks of it on a file system that can hang; nothing where that cannot be had.
fn hanging(place: &Place, takes_direct: bool, flushes: bool) -> Option<(String, Vec<u8>, Hanging)> {
    let (disc, data) = image(place, 8 * MIB);
    // Nothing hangs here, however busy the disc is.
    let server = start_with(place, &disc, "plain", LONG);
    read(&server, &data);
    assert_eq!(server.end().0, 0);
    Some((disc, data, mounted(place, "plain", takes_direct, flushes)?))
}

/// A file system that can hang, with the bytes of this file; nothing where that cannot be had.
fn mounted(place: &Place, file: &str, takes_direct: bool, flushes: bool) -> Option<Hanging> {
    let file = File::options().read(true).write(true).open(place.path(file)).unwrap();
    let system = Hanging::mount(&place.path("system"), file, takes_direct, flushes);
    if system.is_none() {
        skip("no FUSE");
    }
    // From now on the kernel knows whether closing a file needs an answer.
    drop(File::open(place.path("system/tier")).unwrap());
    system
}

fn count(tier: &Value, key: &str) -> u64 {
    tier[key].as_u64().unwrap_or_default()
}

/// Ends it in order; how long that takes, and what it said.
fn end(server: Server) -> (Duration, String) {
    let began = Stopwatch::start();
    let (status, said) = server.end();
    assert_eq!(status, 0, "{said}");
    (began.elapsed(), said)
}

#[test]
fn a_tier_that_hangs_is_given_up_in_time() {
    let Some(_lock) = alone() else { return };
    at_once(&[true, false], is_given_up_in_time);
}

fn is_given_up_in_time(takes_direct: bool) {
    let place = Place::new();
    let Some((disc, mut data, system)) = hanging(&place, takes_direct, false) else { return };
    let server = start(&place, &disc, "system/tier");
    read(&server, &data);
    let before = stats(&place)["tier"].clone();
    assert!(count(&before, "read_hits") > 0 && before["lost"].is_null(), "{before}");
    system.hang();
    let began = Stopwatch::start();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| read(&server, &data));
        }
    });
    let took = began.elapsed();
    assert!((1.0..6.0).contains(&took.as_secs_f64()), "{took:?}");
    data[7 * PAGE..8 * PAGE].fill(b'W');
    let began = Stopwatch::start();
    assert_eq!(server.client().write(1, 7 * PAGE as u64, &[b'W'; PAGE]), Some(0));
    read(&server, &data);
    assert!(began.elapsed() < Duration::from_secs(5), "it hangs once");
    let tier = stats(&place)["tier"].clone();
    assert_eq!(tier["lost"], "it has not answered for 1.00 s", "{tier}");
    assert!(count(&tier, "overdue") > 0 && count(&tier, "errors") == 0, "{tier}");
    let (took, said) = end(server);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(said.matches("is not used any more (").count(), 1, "{said}");
    assert!(said.contains("begins empty at the next start"), "{said}");
    assert!(fs::read(place.path("disc.img")).unwrap() == data);
    drop(system);
}

#[test]
fn a_server_ends_although_its_tier_hangs_then() {
    let Some(_lock) = alone() else { return };
    at_once(&[true, false], ends_in_time);
}

fn ends_in_time(takes_direct: bool) {
    let place = Place::new();
    let Some((disc, data, system)) = hanging(&place, takes_direct, false) else { return };
    let server = start(&place, &disc, "system/tier");
    read(&server, &data);
    system.hang();
    // Six times the limit, and the two seconds of the coarsest clock.
    let (took, said) = end(server);
    assert!(took < Duration::from_secs(14), "{took:?}");
    assert!(said.contains("its disc has not answered for 8 s"), "{said}");
    drop(system);
}

/// The first signal: to be followed by another one, as two of one kind may become one.
fn begin_to_end(server: &mut Server) {
    server.signal(libc::SIGTERM);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.child.try_wait().unwrap(), None, "it waits for what hangs");
}

/// Waits until the server waits for the end of some work on a file.
fn waits_for_a_file(server: &Server) {
    let tasks = format!("/proc/{}/task", server.child.id());
    let is_it = |task: std::io::Result<fs::DirEntry>| {
        task.and_then(|task| fs::read_to_string(task.path().join("comm")))
            .is_ok_and(|name| name.trim() == "in-time")
    };
    let began = Stopwatch::start();
    while !fs::read_dir(&tasks).unwrap().any(is_it) {
        assert!(began.elapsed() < QUICK, "it waits for no file");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The second signal: the exit status of the server, which ends at once, and what it said.
fn insist(server: &mut Server) -> (Option<i32>, String) {
    let began = Stopwatch::start();
    server.signal(libc::SIGINT);
    let status = loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < QUICK, "it waits although a second signal came");
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut said = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!server.socket.exists(), "the socket is left");
    (status.code(), said)
}

#[test]
fn a_second_signal_ends_a_server_whose_disc_hangs() {
    let Some(_lock) = alone() else { return };
    at_once(&["file", "direct"], ends_without_its_disc);
}

fn ends_without_its_disc(kind: &str) {
    let place = Place::new();
    fs::write(place.path("plain"), vec![0; MIB]).unwrap();
    let Some(system) = mounted(&place, "plain", true, false) else { return };
    let disc = format!("{kind}:{}", place.path("system/tier").display());
    let options = ["--size", "256KiB", "--readahead", "off", "--write", "back"];
    let mut server = Server::start(&place, &disc, &options);
    assert!(server.client().read(0, PAGE).is_ok());
    system.hang();
    assert_eq!(server.client().write(0, 0, &[b'W'; PAGE]), Some(0));
    begin_to_end(&mut server);
    let (status, said) = insist(&mut server);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("4096 bytes were acknowledged and are not on the disc"), "{said}");
    assert!(said.contains("a second signal came before it was flushed"), "{said}");
}

/// Clients wait for the tier, then the server for what it writes to the tier, then for the index.
#[test]
fn a_second_signal_ends_each_wait_for_a_tier_that_hangs() {
    let Some(_lock) = alone() else { return };
    at_once(&[(true, 0), (false, 0), (true, 1), (false, 1), (true, 2), (false, 2)], ends_a_wait);
}

fn ends_a_wait((takes_direct, phase): (bool, u32)) {
    let place = Place::new();
    let Some((disc, data, system)) = hanging(&place, takes_direct, false) else { return };
    let mut server = start_with(&place, &disc, "system/tier", LONG);
    read(&server, &data);
    system.hang();
    let mut client = server.client();
    if phase == 0 {
        // Pages that the tier has and the cache has not.
        for page in SOME {
            client.send(0, super::READ, (page * PAGE) as u64, 4096);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    if phase == 1 {
        // Pages that the tier is to have.
        for page in [1200, 1300, 1400] {
            let at = page * PAGE;
            assert!(client.read(at as u64, PAGE).unwrap() == data[at..at + PAGE]);
        }
    }
    begin_to_end(&mut server);
    if phase == 2 {
        waits_for_a_file(&server);
    }
    let (status, said) = insist(&mut server);
    assert_eq!(status, Some(0), "{phase}: {said}");
    let why = if phase == 2 { "a second signal came before its disc answered" } else { "tier" };
    assert!(said.contains(why), "{phase}: {said}");
    assert!(said.contains("begins empty at the next start"), "{phase}: {said}");
}

#[test]
fn a_server_ends_although_the_file_of_its_state_hangs() {
    let Some(_lock) = alone() else { return };
    at_once(&[false, true], ends_without_its_state);
}

fn ends_without_its_state(is_second: bool) {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let Some(system) = mounted(&place, "disc.img", true, false) else { return };
    let options = ["--size", "256KiB", "--state", "system/state"];
    let mut server = Server::start(&place, &disc, &options);
    assert!(server.client().read(0, PAGE).is_ok());
    system.hang();
    let said = if is_second {
        begin_to_end(&mut server);
        waits_for_a_file(&server);
        let (status, said) = insist(&mut server);
        assert_eq!(status, Some(0), "{said}");
        said
    } else {
        end(server).1
    };
    let why = if is_second { "a second signal came" } else { "has not answered for 10 s" };
    assert!(said.contains(why) && said.contains("so the next start is cold"), "{said}");
}

/// The process stays as long as its kernel waits for the disc, but it has said all before.
#[test]
fn a_second_signal_ends_the_wait_for_a_disc_that_cannot_be_closed() {
    let Some(_lock) = alone() else { return };
    at_once(&["file", "direct"], ends_without_closing);
}

fn ends_without_closing(kind: &str) {
    let place = Place::new();
    fs::write(place.path("plain"), vec![0; MIB]).unwrap();
    let Some(mounted) = mounted(&place, "plain", true, true) else { return };
    let disc = format!("{kind}:{}", place.path("system/tier").display());
    let mut server = Server::start(&place, &disc, &["--size", "256KiB"]);
    // It goes before the server, also where this test fails: the server cannot be killed then.
    let system = mounted;
    assert!(server.client().read(0, PAGE).is_ok());
    system.keep_flushes();
    begin_to_end(&mut server);
    waits_for_a_file(&server);
    let began = Stopwatch::start();
    server.signal(libc::SIGINT);
    let line = printed(&mut server, "clients ");
    let took = began.elapsed();
    drop(system);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(line.is_some() && took < QUICK, "{took:?}");
}

/// The line of a server's document that begins so, if it comes in time.
fn printed(server: &mut Server, name: &'static str) -> Option<String> {
    let output = BufReader::new(server.child.stdout.take().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut lines = output.lines().map_while(Result::ok);
        let _ = sender.send(lines.find(|line| line.starts_with(name)));
    });
    receiver.recv_timeout(Duration::from_secs(40)).ok().flatten()
}

/// The process stays as long as its kernel waits for the disc, but it has said all before.
#[test]
fn the_document_is_printed_although_the_tier_cannot_be_closed() {
    let Some(_lock) = alone() else { return };
    at_once(&[(true, true), (true, false), (false, true), (false, false)], prints_its_document);
}

fn prints_its_document((takes_direct, is_lost): (bool, bool)) {
    let place = Place::new();
    let Some((disc, data, mounted)) = hanging(&place, takes_direct, true) else { return };
    let mut server = start(&place, &disc, "system/tier");
    // It goes before the server, also where this test fails: the server cannot be killed then.
    let system = mounted;
    read(&server, &data);
    system.hang();
    if is_lost {
        read(&server, &data);
    }
    server.signal(libc::SIGTERM);
    let line = printed(&mut server, "tier ");
    drop(system);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let line = line.expect("the document comes in time");
    assert_eq!(line.contains("not used any more"), is_lost, "{line}");
}

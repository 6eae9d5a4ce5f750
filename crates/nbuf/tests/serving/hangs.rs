//! A second tier whose disc hangs: the server gives it up in time, and ends in time.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::sync::mpsc::channel;
use std::time::Duration;

use nbuf::internal::clock::Stopwatch;

use serde_json::Value;

use super::Server;
use super::exports::stats;
use super::hanging::Hanging;
use crate::support::{Place, requires, skip};
use crate::{MIB, image};

const PAGE: usize = 4096;
/// Pages of several blocks, more than the cache holds.
const SOME: [usize; 20] =
    [3, 4, 5, 100, 7, 1000, 2047, 16, 17, 33, 200, 201, 202, 203, 300, 400, 500, 600, 700, 800];

fn start(place: &Place, disc: &str, tier: &str) -> Server {
    let sizes = ["--size", "64KiB", "--readahead", "off", "--tier-size", "4MiB"];
    let options = [&sizes[..], &["--tier", tier, "--tier-timeout", "1"]].concat();
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
    if !rustix::process::geteuid().is_root() {
        skip("a file system of its own needs root");
        return None;
    }
    let (disc, data) = image(place, 8 * MIB);
    let server = start(place, &disc, "plain");
    read(&server, &data);
    assert_eq!(server.end().0, 0);
    let file = File::options().read(true).write(true).open(place.path("plain")).unwrap();
    let system = Hanging::mount(&place.path("system"), file, takes_direct, flushes);
    if system.is_none() {
        skip("no FUSE");
    }
    Some((disc, data, system?))
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
    let Some(_lock) = requires(&[]) else { return };
    for takes_direct in [true, false] {
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
}

#[test]
fn a_server_ends_although_its_tier_hangs_then() {
    let Some(_lock) = requires(&[]) else { return };
    for takes_direct in [true, false] {
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
        // A second signal does not wait either. On a busy machine the server may be past the place that looks for it.
        let mut tries = std::iter::repeat_with(|| ends_at_a_second_signal(takes_direct)).take(3);
        assert!(tries.any(|is_quick| is_quick.unwrap_or(true)), "it waited three times");
    }
}

/// Whether a server whose tier hangs ends within five seconds, if signals keep coming. None where no system hangs.
fn ends_at_a_second_signal(takes_direct: bool) -> Option<bool> {
    let place = Place::new();
    let (disc, data, system) = hanging(&place, takes_direct, false)?;
    let mut server = start(&place, &disc, "system/tier");
    read(&server, &data);
    system.hang();
    let mut client = server.client();
    for page in SOME {
        client.send(0, super::READ, (page * PAGE) as u64, 4096);
    }
    let began = Stopwatch::start();
    let status = loop {
        server.signal(libc::SIGTERM);
        std::thread::sleep(Duration::from_millis(100));
        if let Some(status) = server.child.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(14), "{:?}", began.elapsed());
    };
    let took = began.elapsed();
    drop(system);
    // It may have given its signals back by then, and wait for the system that hangs.
    assert!(status.success() || status.signal() == Some(libc::SIGTERM), "{status:?}");
    Some(took < Duration::from_secs(5))
}

/// The line of a server's document about its tier, if it comes in time.
fn printed(server: &mut Server) -> Option<String> {
    let output = BufReader::new(server.child.stdout.take().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut lines = output.lines().map_while(Result::ok);
        let _ = sender.send(lines.find(|line| line.starts_with("tier ")));
    });
    receiver.recv_timeout(Duration::from_secs(40)).ok().flatten()
}

/// The process stays as long as its kernel waits for the disc, but it has said all before.
#[test]
fn the_document_is_printed_although_the_tier_cannot_be_closed() {
    let Some(_lock) = requires(&[]) else { return };
    for (takes_direct, is_lost) in [(true, true), (true, false), (false, true), (false, false)] {
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
        let line = printed(&mut server);
        drop(system);
        assert_eq!(server.child.wait().unwrap().code(), Some(0));
        let line = line.expect("the document comes in time");
        assert_eq!(line.contains("not used any more"), is_lost, "{line}");
    }
}

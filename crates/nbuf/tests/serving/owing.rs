//! Starts with a journal that owes bytes: to a disc that refuses some, until a signal, and next to another server.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use nbuf::internal::clock::Stopwatch;

use super::durable::{CHUNK, is_read, kill, start, work};
use super::{Nbdkit, Server};
use crate::support::Place;
use crate::{MIB, has};

/// The error of a client where the disc refuses.
const EIO: Option<u32> = Some(5);
const DURABLE: [&str; 2] = ["--durable-tier", "--tier-trust"];

/// `nbdkit` with a file of 8 MiB, in place of one that has ended.
fn kit(place: &Place, filter: &str, parameters: &[&str]) -> Nbdkit {
    let (socket, path) = (place.path("kit"), place.path("disc.img"));
    if !path.exists() {
        File::create(&path).unwrap().set_len(8 * MIB as u64).unwrap();
    }
    let _ = fs::remove_file(&socket);
    let file = format!("file={}", path.display());
    let own = ["-t", "1", filter, "file", file.as_str()];
    Nbdkit::start(socket, &[&own[..], parameters].concat())
}

fn send(child: &Child, signal: rustix::process::Signal) {
    let pid = i32::try_from(child.id()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

fn said(child: &mut Child) -> String {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

#[test]
fn a_server_starts_with_what_its_disc_refuses_and_brings_it_later() {
    if !has(&["nbdkit"]) {
        return;
    }
    for (filter, parameter, left, is_mended) in [
        ("--filter=error", "error-pwrite-rate=100%", "512 KiB", true),
        ("--filter=protect", "protect=1024-1535", "512 B", false),
    ] {
        let place = Place::new();
        let fails = place.path("fails");
        File::create(&fails).unwrap();
        let fails_while = format!("error-pwrite-file={}", fails.display());
        let both = [parameter, fails_while.as_str()];
        let disc = kit(&place, filter, if is_mended { &both[..] } else { &both[..1] });
        let (uri, tier, path) = (disc.uri(), place.path("tier"), place.path("disc.img"));
        let server = start(&place, &uri, &tier, &DURABLE);
        let mut data = work(&server);
        kill(server, &place);
        let server = start(&place, &uri, &tier, &DURABLE);
        is_read(&server, &data);
        let mut client = server.client();
        assert_eq!(client.flush(), EIO, "{filter}");
        data[4 * MIB..4 * MIB + CHUNK].fill(77);
        assert_eq!(client.write(0, 4 * MIB as u64, &data[4 * MIB..4 * MIB + CHUNK]), Some(0));
        assert_eq!(client.flush(), EIO, "{filter}");
        if is_mended {
            fs::remove_file(&fails).unwrap();
            let began = Stopwatch::start();
            while client.flush() != Some(0) {
                assert!(began.elapsed() < Duration::from_secs(20), "flushes still fail");
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        drop(client);
        let (status, said) = server.end();
        assert_eq!(status, i32::from(!is_mended), "{said}");
        let refused = format!("still owes {left}, which the disc refuses (");
        assert_eq!(said.matches(&refused).count(), 1, "{said}");
        if !is_mended {
            assert!(said.contains("512 bytes were acknowledged and are not on the disc"), "{said}");
            drop(disc);
            let disc = kit(&place, "--filter=noextents", &[]);
            let server = start(&place, &disc.uri(), &tier, &DURABLE);
            is_read(&server, &data);
            let (status, said) = server.end();
            assert_eq!(status, 0, "{said}");
            assert!(said.contains(" of the last run, which the disc has now"), "{said}");
        }
        assert!(fs::read(&path).unwrap() == data, "{filter}");
    }
}

#[test]
fn a_signal_ends_a_long_replay_and_a_later_start_makes_it() {
    const PAGE: usize = 4096;
    const COUNT: usize = 100;
    if !has(&["nbdkit"]) {
        return;
    }
    let place = Place::new();
    let (tier, path) = (place.path("tier"), place.path("disc.img"));
    // Nothing comes to the disc.
    let disc = kit(&place, "--filter=delay", &["wdelay=600"]);
    let server = start(&place, &disc.uri(), &tier, &DURABLE);
    let mut data = vec![0; 8 * MIB];
    let mut client = server.client();
    for number in 0..COUNT {
        let at = number * 2 * PAGE;
        data[at..at + PAGE].fill(u8::try_from(number + 1).unwrap());
        assert_eq!(client.write(0, at as u64, &data[at..at + PAGE]), Some(0));
    }
    assert_eq!(client.flush(), Some(0));
    drop(client);
    kill(server, &place);
    drop(disc);
    // One write after the other: all of them take ten seconds.
    let disc = kit(&place, "--filter=delay", &["wdelay=100ms"]);
    let uri = disc.uri();
    for (signals, seconds_max) in [(1, 6), (2, 2)] {
        let before = fs::read(&path).unwrap();
        let arguments = ["serve", "--disc", &uri, "--size", "64KiB", "--socket", "late"];
        let mut command = place.nbuf(arguments);
        command.args(["--tier-size", "4MiB", "--tier", tier.to_str().unwrap()]).args(DURABLE);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let began = Stopwatch::start();
        while fs::read(&path).unwrap() == before {
            assert!(began.elapsed() < Duration::from_secs(20), "no replay begins");
            std::thread::sleep(Duration::from_millis(10));
            // What an earlier replay has written is written again, and shows nothing.
            if began.elapsed() > Duration::from_secs(3) && signals == 2 {
                break;
            }
        }
        let signalled = Stopwatch::start();
        for _ in 0..signals {
            send(&child, rustix::process::Signal::TERM);
            std::thread::sleep(Duration::from_millis(50));
        }
        let status = child.wait().unwrap();
        let (took, said) = (signalled.elapsed(), said(&mut child));
        assert!(took < Duration::from_secs(seconds_max), "{signals} signals: {took:?}");
        assert_eq!(status.code(), Some(125), "{said}");
        let is_said = said.contains("a signal ended the start before the disc had the 400 KiB");
        assert!(is_said && said.contains("start with this tier again"), "{said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
    drop(disc);
    let disc = kit(&place, "--filter=noextents", &[]);
    let server = start(&place, &disc.uri(), &tier, &DURABLE);
    let (status, said) = server.end();
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("owed 400 KiB of the last run, which the disc has now"), "{said}");
    assert!(fs::read(&path).unwrap() == data);
}

/// Whether a server serves; if not, another one was named in one line.
fn serves(child: &mut Child) -> bool {
    let mut first = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut first).unwrap();
    if first.starts_with("serving ") {
        child.stdout = Some(output.into_inner());
        return true;
    }
    let (status, said) = (child.wait().unwrap(), said(child));
    assert_eq!(status.code(), Some(125), "{said}");
    assert!(said.contains("another server") && said.trim_end().lines().count() == 1, "{said}");
    false
}

fn spawn(place: &Place, disc: &str, tier: &Path, more: &[&str]) -> Server {
    let path = place.path(disc);
    File::create(&path).unwrap().set_len(MIB as u64).unwrap();
    let (disc, socket) = (format!("file:{}", path.display()), path.with_extension("socket"));
    let mut command = place.nbuf(["serve", "--disc", &disc, "--size", "64KiB", "--socket"]);
    command.arg(&socket).args(["--tier-size", "4MiB", "--tier"]).arg(tier).args(more);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    Server { child, socket }
}

#[test]
fn one_of_two_programs_gets_a_tier_that_both_make() {
    let place = Place::new();
    for round in 0..16 {
        let more = if round % 2 == 0 { &DURABLE[..] } else { &[] };
        let tier = place.path(&format!("tier-{round}"));
        let names = ["a", "b"].map(|name| format!("{name}-{round}.img"));
        let mut both = names.each_ref().map(|name| spawn(&place, name, &tier, more));
        // Both have tried then.
        let served = both.each_mut().map(|server| serves(&mut server.child));
        assert!(served[0] != served[1], "round {round}: {served:?}");
    }
}

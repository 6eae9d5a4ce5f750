//! A second tier: what it serves, what it holds after a restart, and what happens when it fails.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use super::{Nbdkit, Server};
use crate::support::{Place, skip};
use crate::{MIB, has, image};

const PAGE: usize = 4096;
/// Pages of several blocks, more than the cache holds, and the last one of the disc.
const SOME: [usize; 24] = [
    3, 4, 5, 100, 7, 1000, 2047, 16, 17, 33, 200, 201, 202, 203, 300, 400, 500, 600, 700, 800, 900,
    1100, 1200, 2040,
];

/// A server with a tier of 4 MiB, and a cache of 16 pages.
fn start(place: &Place, disc: &str, options: &[&str]) -> Server {
    let tier = place.path("tier");
    let own = ["--size", "64KiB", "--readahead", "off", "--tier-size", "4MiB", "--tier"];
    Server::start(place, disc, &[&own[..], &[tier.to_str().unwrap()], options].concat())
}

fn tier(server: &Server, place: &Place) -> serde_json::Value {
    let output = place.nbuf(["serve", "stats", "--json"]).arg(&server.socket).output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    document["tier"].clone()
}

fn read(server: &Server, data: &[u8], pages: &[usize]) {
    let mut client = server.client();
    for &page in pages {
        let at = page * PAGE;
        assert!(client.read(at as u64, PAGE).unwrap() == data[at..at + PAGE], "page {page}");
    }
}

/// Ends the server in order; what it said.
fn end(server: Server) -> String {
    let (status, said) = server.end();
    assert_eq!(status, 0, "{said}");
    said
}

/// Fills the tier in a run of its own.
fn fill(place: &Place, disc: &str, data: &[u8]) -> String {
    let server = start(place, disc, &[]);
    read(&server, data, &SOME);
    end(server)
}

/// Reads that all come from the tier.
fn is_warm(server: &Server, place: &Place, data: &[u8]) {
    let before = tier(server, place);
    read(server, data, &SOME);
    let after = tier(server, place);
    assert_eq!(after["disc_reads"], before["disc_reads"], "{after}");
    let of = |tier: &serde_json::Value| tier["read_hits"].as_u64().unwrap();
    assert!(of(&after) >= of(&before) + SOME.len() as u64 - 16, "{before} {after}");
    assert_eq!((&after["errors"], &after["lost"]), (&0.into(), &serde_json::Value::Null));
}

/// A run that begins with an empty tier, says why in one line, and serves the bytes of now.
fn is_cold(place: &Place, disc: &str, data: &[u8], want: &str) {
    let server = start(place, disc, &[]);
    assert_eq!(tier(&server, place)["used_bytes"], 0);
    read(&server, data, &SOME);
    assert_eq!(tier(&server, place)["read_hits"], 0);
    let said = end(server);
    assert!(said.contains(want) && said.lines().count() == 1, "`{want}`: {said}");
}

#[test]
fn a_tier_is_warm_after_an_end_in_order() {
    let place = Place::new();
    let (disc, mut data) = image(&place, 8 * MIB);
    for (write, kind) in [("through", "file:"), ("back", "direct:"), ("around", "file:")] {
        let disc = disc.replace("file:", kind);
        let _ = fs::remove_file(place.path("tier"));
        assert!(!fill(&place, &disc, &data).contains("tier:"));
        let mode = fs::metadata(place.path("tier")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let server = start(&place, &disc, &["--write", write]);
        is_warm(&server, &place, &data);
        // What is written in this run is in the tier of the next one.
        let byte = write.as_bytes()[0];
        data[100 * PAGE..101 * PAGE].fill(byte);
        assert_eq!(server.client().write(0, 100 * PAGE as u64, &[byte; PAGE]), Some(0));
        let said = end(server);
        assert!(said.contains("KiB of the last run"), "{said}");
        assert_eq!(said.matches("tier:").count(), 1, "{said}");
        assert!(fs::read(place.path("disc.img")).unwrap() == data);
        let server = start(&place, &disc, &[]);
        is_warm(&server, &place, &data);
        let watch = place.nbuf(["watch", "--server", "socket", "--once"]).output().unwrap();
        let shown = String::from_utf8(watch.stdout).unwrap();
        assert!(shown.contains("\ntier      0/s of 0/s reads hit, 96.0 KiB of "), "{shown}");
        end(server);
    }
    let mut command = place.nbuf(["serve", "--check-config", "--disc", &disc, "--size", "1MiB"]);
    let checked = command.args(["--tier", "tier", "--tier-size", "4MiB"]).output().unwrap();
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(said.contains(", and a tier of 4.00 MiB at "), "{said}");
}

#[test]
fn a_kill_and_a_change_of_the_disc_empty_the_tier() {
    let place = Place::new();
    let (disc, mut data) = image(&place, 8 * MIB);
    let path = place.path("disc.img");
    fill(&place, &disc, &data);
    // A kill, after a write that the disc has.
    let mut server = start(&place, &disc, &[]);
    is_warm(&server, &place, &data);
    data[PAGE * 1000..PAGE * 1001].fill(b'K');
    assert_eq!(server.client().write(1, 1000 * PAGE as u64, &[b'K'; PAGE]), Some(0));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    fs::remove_file(place.path("socket.ctl")).unwrap();
    is_cold(&place, &disc, &data, "tier: the last run did not end in order");
    // A write by another program, in place.
    data[5 * PAGE..6 * PAGE].fill(b'N');
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(&data[5 * PAGE..6 * PAGE], 5 * PAGE as u64).unwrap();
    drop(file);
    is_cold(&place, &disc, &data, "(it was changed meanwhile)");
    // Another file with the same size and times, under the same name.
    data[PAGE * 7..PAGE * 8].fill(b'O');
    let copy = place.path("copy");
    let times = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&copy, &data).unwrap();
    File::options().write(true).open(&copy).unwrap().set_modified(times).unwrap();
    fs::rename(&copy, &path).unwrap();
    is_cold(&place, &disc, &data, "it is another file");
    // A larger disc, and another size of the tier.
    File::options().write(true).open(&path).unwrap().set_len(9 * MIB as u64).unwrap();
    data.resize(9 * MIB, 0);
    is_cold(&place, &disc, &data, "its size is another one");
    let server = start(&place, &disc, &["--page", "512"]);
    read(&server, &data, &SOME);
    assert!(end(server).contains("its size or the size of pages is another one"));
}

/// That a server does not start, says why in one line, and leaves the file as it is.
fn refused(place: &Place, disc: &str, tier: &Path, want: &str) {
    let before = fs::read(tier).ok();
    let arguments = ["serve", "--disc", disc, "--size", "1MiB", "--socket", "other"];
    for more in [&[][..], &["--check-config"]] {
        let mut command = place.nbuf(arguments);
        command.args(["--tier-size", "4MiB", "--tier"]).arg(tier).args(more);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(want) && said.trim_end().lines().count() == 1, "`{want}`: {said}");
        assert_ne!(output.status.code(), Some(0));
    }
    assert_eq!(fs::read(tier).ok(), before);
}

#[test]
fn a_file_that_is_not_ours_is_kept_and_a_tier_has_one_server() {
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    let path = place.path("tier");
    for foreign in [&b"precious"[..], b"", &[0; 5000], &data[..PAGE]] {
        fs::write(&path, foreign).unwrap();
        refused(&place, &disc, &path, "no file of nbuf serve, so it is not overwritten");
    }
    for state in ["both", "both.journal"] {
        let mut both = place.nbuf(["serve", "--disc", &disc, "--size", "1MiB", "--check-config"]);
        both.args(["--state", state, "--tier", "both", "--tier-size", "4MiB"]);
        let said = String::from_utf8(both.output().unwrap().stderr).unwrap();
        assert!(said.contains("--tier and --state both name"), "{said}");
    }
    let own = place.path("disc.img");
    refused(&place, &disc, &own, "no file of nbuf serve, so it is not overwritten");
    refused(&place, &disc, Path::new("/dev/null"), "cannot be read");
    refused(&place, &disc, &place.path("absent/tier"), "cannot be read");
    fs::remove_file(&path).unwrap();
    fill(&place, &disc, &data);
    // A start that fails leaves the blocks, also after the first page was replaced.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = taken.local_addr().unwrap().to_string();
    let before = fs::read(&path).unwrap();
    let failing = ["serve", "--disc", &disc, "--size", "1MiB", "--socket", "socket", "--metrics"];
    // Nor does one with a smaller tier cut the index off.
    for size in ["4MiB", "2MiB"] {
        let mut command = place.nbuf(failing);
        command.args([&metrics, "--tier-size", size, "--tier"]).arg(&path);
        assert_eq!(command.output().unwrap().status.code(), Some(125));
        assert!(fs::read(&path).unwrap() == before, "{size}");
    }
    let server = start(&place, &disc, &[]);
    is_warm(&server, &place, &data);
    let second = place.path("second");
    fs::write(&second, &data).unwrap();
    let second = format!("file:{}", second.display());
    let mut command = place.nbuf(["serve", "--disc", &second, "--size", "1MiB"]);
    command.args(["--socket", "other", "--tier-size", "4MiB", "--tier"]).arg(&path);
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains("another server keeps its state there"), "{said}");
    // Another program takes the name meanwhile.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "precious").unwrap();
    read(&server, &data, &SOME);
    let said = end(server);
    assert!(said.contains("another file has its name now"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    // A first page that is damaged.
    fs::remove_file(&path).unwrap();
    fill(&place, &disc, &data);
    File::options().write(true).open(&path).unwrap().write_all_at(b"x", 40).unwrap();
    is_cold(&place, &disc, &data, "is damaged (its end is missing or its sum is wrong)");
    // An index that is damaged: the last pages of the file.
    let file = File::options().write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    file.write_all_at(&[0x55; 8000], length - 8000).unwrap();
    is_cold(&place, &disc, &data, "is damaged (its end is missing or its sum is wrong)");
}

#[test]
fn a_tier_that_fails_while_it_serves_costs_no_byte() {
    let place = Place::new();
    let (disc, mut data) = image(&place, 8 * MIB);
    let cut = |file: &File| file.set_len(64 << 10).unwrap();
    let corrupt = |file: &File| file.write_all_at(&vec![0xA5; 3 * MIB], 64 << 10).unwrap();
    for (is_cut, why) in [(true, "tier: "), (false, "its sum of byte ")] {
        let _ = fs::remove_file(place.path("tier"));
        fill(&place, &disc, &data);
        let server = start(&place, &disc, &[]);
        is_warm(&server, &place, &data);
        let file = File::options().write(true).open(place.path("tier")).unwrap();
        if is_cut {
            cut(&file);
        } else {
            corrupt(&file);
        }
        for round in 0..2_u8 {
            read(&server, &data, &SOME);
            data[7 * PAGE..8 * PAGE].fill(round);
            assert_eq!(server.client().write(1, 7 * PAGE as u64, &[round; PAGE]), Some(0));
        }
        let seen = tier(&server, &place);
        assert!(seen["errors"].as_u64().unwrap() >= 1 && seen["lost"].is_string(), "{seen}");
        assert_eq!(seen["used_bytes"], 0);
        let metrics = place.nbuf(["serve", "stats"]).arg(&server.socket).output().unwrap();
        assert!(String::from_utf8(metrics.stdout).unwrap().contains("not used any more"));
        let said = end(server);
        assert_eq!(said.matches("is not used any more (").count(), 1, "{said}");
        assert!(said.contains(why) && said.contains("begins empty at the next start"), "{said}");
        assert!(fs::read(place.path("disc.img")).unwrap() == data);
        is_cold(&place, &disc, &data, "did not end in order");
    }
}

#[test]
fn a_full_file_system_costs_the_tier_and_nothing_else() {
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    if !rustix::process::geteuid().is_root() {
        skip("a file system of its own needs root");
        return;
    }
    let at = place.path("full");
    fs::create_dir(&at).unwrap();
    let mount = |options: &str| {
        let options = ["-t", "tmpfs", "-o", options, "none"];
        std::process::Command::new("mount").args(options).arg(&at).status().unwrap().success()
    };
    if !mount("size=256k") {
        skip("no file system of its own");
        return;
    }
    let path = at.join("tier");
    let options = ["--size", "64KiB", "--tier-size", "4MiB", "--tier", path.to_str().unwrap()];
    let server = Server::start(&place, &disc, &options);
    read(&server, &data, &SOME);
    let seen = tier(&server, &place);
    let said = server.end();
    let _ = std::process::Command::new("umount").arg(&at).status();
    assert_eq!((&seen["read_hits"], &seen["fills"]), (&0.into(), &0.into()), "{seen}");
    assert_eq!(said.0, 0);
    assert_eq!(said.1.matches("is not used any more (No space left").count(), 1, "{}", said.1);
}

#[test]
fn a_server_behind_a_tier_needs_trust() {
    if !has(&["nbdkit"]) {
        return;
    }
    let place = Place::new();
    let (_, data) = image(&place, 8 * MIB);
    let image = format!("file={}", place.path("disc.img").display());
    let kit = Nbdkit::start(place.path("kit"), &["file", &image]);
    let backend = format!("nbd:unix:{}", kit.socket.display());
    fill(&place, &backend, &data);
    is_cold(&place, &backend, &data, "add --tier-trust");
    let server = start(&place, &backend, &["--tier-trust"]);
    is_warm(&server, &place, &data);
    // The tier serves what it has also when the server behind it is gone.
    drop(kit);
    std::thread::sleep(Duration::from_millis(300));
    read(&server, &data, &SOME);
    drop(server);
}

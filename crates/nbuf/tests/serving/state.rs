//! A warm restart: what comes back after an end in order, and what does not after anything else.

use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Nbdkit, Server};
use crate::support::{Place, skip};
use crate::{MIB, has, image};

const PAGE: usize = 4096;

/// A server with a state file, and a cache of 256 pages.
fn start(place: &Place, disc: &str, options: &[&str]) -> Server {
    let state = place.path("state");
    let own = ["--size", "1MiB", "--readahead", "off", "--state", state.to_str().unwrap()];
    Server::start(place, disc, &[&own[..], options].concat())
}

/// A figure of a running server.
fn figure(server: &Server, place: &Place, name: &str) -> u64 {
    let output = place.nbuf(["serve", "stats", "--json"]).arg(&server.socket).output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    document[name].as_u64().unwrap_or_else(|| panic!("{name}: {document}"))
}

/// Waits until the disc is not read any more; how many bytes were.
fn reads_settle(server: &Server, place: &Place) -> u64 {
    let (mut before, mut times) = (u64::MAX, 0);
    for _ in 0..500 {
        std::thread::sleep(Duration::from_millis(30));
        let now = figure(server, place, "disc_read_bytes");
        times = if now == before { times + 1 } else { 0 };
        if times == 5 {
            return now;
        }
        before = now;
    }
    panic!("the disc is read for ever");
}

/// Waits until as many pages were read.
fn reads_come(server: &Server, place: &Place, pages: usize) {
    let want = (pages * PAGE) as u64;
    let come = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        figure(server, place, "disc_read_bytes") >= want
    });
    assert!(come, "{pages} pages do not come back");
}

/// Reads these pages, and ends the server in order; what it said.
fn read_and_end(server: Server, data: &[u8], pages: &[usize]) -> String {
    let mut client = server.client();
    for &page in pages {
        let at = page * PAGE;
        assert!(client.read(at as u64, PAGE).unwrap() == data[at..at + PAGE], "page {page}");
    }
    drop(client);
    let (status, said) = server.end();
    assert_eq!(status, 0, "{said}");
    said
}

/// That all of these pages are hits, with the bytes of now.
fn are_hits(server: &Server, place: &Place, data: &[u8], pages: &[usize]) {
    reads_come(server, place, pages.len());
    reads_settle(server, place);
    let reads = figure(server, place, "disc_reads");
    let mut client = server.client();
    for &page in pages {
        let at = page * PAGE;
        assert!(client.read(at as u64, PAGE).unwrap() == data[at..at + PAGE], "page {page}");
    }
    assert_eq!(figure(server, place, "disc_reads"), reads, "each is a hit");
}

/// That the cache is cold, and why.
fn is_cold(server: Server, place: &Place, want: &str) {
    assert_eq!(reads_settle(&server, place), 0);
    let (status, said) = server.end();
    assert!(status == 0 && said.contains(want) && said.lines().count() <= 1, "`{want}`: {said}");
}

const SOME: [usize; 7] = [3, 4, 5, 100, 7, 1000, 2047];

#[test]
fn a_cache_is_warm_after_an_end_in_order() {
    let place = Place::new();
    let (disc, mut data) = image(&place, 8 * MIB);
    for (write, kind) in [("back", "file:"), ("through", "direct:")] {
        let disc = disc.replace("file:", kind);
        let _ = fs::remove_file(place.path("state"));
        let options = ["--write", write];
        assert!(!read_and_end(start(&place, &disc, &options), &data, &SOME).contains("state:"));
        let mode = fs::metadata(place.path("state")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let server = start(&place, &disc, &options);
        are_hits(&server, &place, &data, &SOME);
        // What is written in this run is not taken for a change by another one.
        let byte = write.as_bytes()[0];
        data[7 * PAGE..8 * PAGE].fill(byte);
        assert_eq!(server.client().write(0, 7 * PAGE as u64, &[byte; PAGE]), Some(0));
        let said = read_and_end(server, &data, &[]);
        assert!(
            said.contains("state: 7 pages of the last run come back in the background"),
            "{said}"
        );
        assert!(fs::read(place.path("disc.img")).unwrap() == data);
        let server = start(&place, &disc, &options);
        are_hits(&server, &place, &data, &SOME);
        read_and_end(server, &data, &[]);
    }
}

/// Most recent pages come back into a smaller cache, and all of them if the end comes before they are read.
#[test]
fn the_order_is_kept_through_restarts_and_sizes() {
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    let pages: Vec<usize> = (0..200).map(|page| page * 9).collect();
    let options = ["--policy", "lru"];
    read_and_end(start(&place, &disc, &options), &data, &pages);
    for _ in 0..3 {
        read_and_end(start(&place, &disc, &options), &data, &[]);
    }
    let server = start(&place, &disc, &options);
    are_hits(&server, &place, &data, &pages);
    read_and_end(server, &data, &pages);
    let state = place.path("state");
    let small = ["--policy", "lru", "--size", "64KiB", "--readahead", "off", "--state"];
    let server = Server::start(&place, &disc, &[&small[..], &[state.to_str().unwrap()]].concat());
    are_hits(&server, &place, &data, &pages[184..]);
    read_and_end(server, &data, &[]);
}

/// Changes the disc while no server runs.
fn change(path: &Path, data: &mut [u8]) {
    data[5 * PAGE..6 * PAGE].fill(b'N');
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&data[5 * PAGE..6 * PAGE], 5 * PAGE as u64).unwrap();
}

#[test]
fn a_disc_that_changed_or_is_another_one_starts_cold() {
    let place = Place::new();
    let (disc, mut data) = image(&place, 8 * MIB);
    let path = place.path("disc.img");
    read_and_end(start(&place, &disc, &[]), &data, &SOME);
    change(&path, &mut data);
    let server = start(&place, &disc, &[]);
    assert_eq!(reads_settle(&server, &place), 0);
    let said = read_and_end(server, &data, &SOME);
    assert!(said.contains("state: the disc is not as it was (it was changed meanwhile)"), "{said}");
    assert_eq!(said.lines().count(), 1);
    // A copy of the same bytes and times under the same name.
    let copy = place.path("copy");
    let times = fs::metadata(&path).unwrap().modified().unwrap();
    fs::copy(&path, &copy).unwrap();
    fs::File::options().write(true).open(&copy).unwrap().set_modified(times).unwrap();
    fs::rename(&copy, &path).unwrap();
    is_cold(start(&place, &disc, &[]), &place, "it is another file");
    read_and_end(start(&place, &disc, &[]), &data, &SOME);
    fs::File::options().write(true).open(&path).unwrap().set_len(9 * MIB as u64).unwrap();
    is_cold(start(&place, &disc, &[]), &place, "its size is another one");
    data.resize(9 * MIB, 0);
    read_and_end(start(&place, &disc, &[]), &data, &SOME);
    is_cold(start(&place, &disc, &["--page", "8192"]), &place, "its pages had another size");
    // Another disc under the name of the state file.
    read_and_end(start(&place, &disc, &[]), &data, &SOME);
    fs::write(place.path("other"), &data).unwrap();
    let other = format!("file:{}", place.path("other").display());
    is_cold(start(&place, &other, &[]), &place, "it is another file");
}

#[test]
fn a_run_that_was_killed_leaves_no_list() {
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    read_and_end(start(&place, &disc, &[]), &data, &SOME);
    let mut server = start(&place, &disc, &["--write", "back"]);
    are_hits(&server, &place, &data, &SOME);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    fs::remove_file(place.path("socket.ctl")).unwrap();
    let server = start(&place, &disc, &[]);
    assert_eq!(reads_settle(&server, &place), 0);
    let said = read_and_end(server, &data, &SOME);
    assert_eq!(
        said.trim_end(),
        "nbuf: state: the last run did not end in order, so the cache is cold"
    );
    let server = start(&place, &disc, &[]);
    are_hits(&server, &place, &data, &SOME);
    // A start that fails leaves the list alone.
    server.signal(libc::SIGTERM);
    let mut server = server;
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let before = fs::read(place.path("state")).unwrap();
    let state = place.path("state");
    let failing = ["serve", "--disc", &disc, "--size", "1MiB", "--socket", "state", "--state"];
    let output = place.nbuf(failing).arg(&state).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(fs::read(&state).unwrap() == before);
    // One that fails after the file was replaced puts it back.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = taken.local_addr().unwrap().to_string();
    let failing = ["serve", "--disc", &disc, "--size", "1MiB", "--socket", "socket", "--metrics"];
    let output = place.nbuf(failing).args([&metrics, "--state"]).arg(&state).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(fs::read(&state).unwrap() == before);
}

/// That a server does not start, says why in one line, and leaves the file as it is.
fn refused(place: &Place, disc: &str, state: &Path, want: &str) {
    let before = fs::read(state).ok();
    let arguments = ["serve", "--disc", disc, "--size", "1MiB", "--socket", "other", "--state"];
    for more in [&[][..], &["--check-config"]] {
        let output = place.nbuf(arguments).arg(state).args(more).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(want) && said.trim_end().lines().count() == 1, "`{want}`: {said}");
        assert_ne!(output.status.code(), Some(0));
    }
    assert_eq!(fs::read(state).ok(), before);
}

#[test]
fn a_file_that_is_not_ours_is_kept_and_one_that_is_damaged_is_not_believed() {
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    let state = place.path("state");
    for foreign in [&b"precious"[..], b"", &[0; 5000], b"nbuf-serve-stat", &data[..PAGE]] {
        fs::write(&state, foreign).unwrap();
        refused(&place, &disc, &state, "no file of nbuf serve, so it is not overwritten");
    }
    refused(
        &place,
        &disc,
        &place.path("disc.img"),
        "no file of nbuf serve, so it is not overwritten",
    );
    refused(&place, &disc, Path::new("/dev/null"), "cannot be read");
    refused(&place, &disc, &place.path("absent/state"), "cannot be read");
    refused(&place, &disc, &place.path(""), "cannot be read");
    fs::remove_file(&state).unwrap();
    read_and_end(start(&place, &disc, &[]), &data, &SOME);
    let good = fs::read(&state).unwrap();
    let cut = good[..good.len() - 3].to_vec();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 4;
    let mut newer = good.clone();
    newer[16] = 9;
    for (bytes, want) in [
        (cut, "its end is missing or its sum is wrong"),
        (flipped, "its end is missing or its sum is wrong"),
        (good[..16].to_vec(), "its end is missing"),
        (newer, "it is of version 9"),
    ] {
        fs::write(&state, bytes).unwrap();
        is_cold(start(&place, &disc, &[]), &place, want);
    }
    // It is ours, and whole again.
    read_and_end(start(&place, &disc, &[]), &data, &SOME);
    let server = start(&place, &disc, &[]);
    are_hits(&server, &place, &data, &SOME);
    // Another server does not get it meanwhile, and another program that takes the name keeps it.
    fs::write(place.path("second"), &data).unwrap();
    let second = format!("file:{}", place.path("second").display());
    let arguments = ["serve", "--disc", &second, "--size", "1MiB", "--socket", "other", "--state"];
    let output = place.nbuf(arguments).arg(&state).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("another server keeps its state there"), "{said}");
    fs::write(place.path("theirs"), "precious").unwrap();
    fs::rename(place.path("theirs"), &state).unwrap();
    let said = read_and_end(server, &data, &[]);
    assert!(said.contains("another program has put its own file there"), "{said}");
    assert_eq!(fs::read(&state).unwrap(), b"precious");
}

/// A file system of 64 KiB without room.
struct Full(PathBuf);

impl Full {
    fn mount(at: PathBuf) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skip("a file system of its own needs root");
            return None;
        }
        fs::create_dir(&at).unwrap();
        let options = ["-t", "tmpfs", "-o", "size=64k", "none"];
        let status = std::process::Command::new("mount").args(options).arg(&at).status().unwrap();
        status.success().then_some(Self(at))
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_file_system_costs_the_list_and_nothing_else() {
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    let Some(full) = Full::mount(place.path("full")) else { return };
    let state = full.0.join("state");
    let kept = ["--readahead", "off", "--write", "back", "--state", state.to_str().unwrap()];
    let options = [&["--size", "1MiB"], &kept[..]].concat();
    let run = |act: &dyn Fn()| {
        let server = Server::start(&place, &disc, &options);
        act();
        read_and_end(server, &data, &SOME)
    };
    assert_eq!(run(&|| {}), "");
    let kept = fs::read(&state).unwrap();
    // No room at the end: the file says that a server runs, and is whole.
    let filler = full.0.join("filler");
    let stuff = || {
        let _ = fs::write(&filler, vec![1; 100 << 10]);
    };
    let said = run(&stuff);
    assert!(
        said.contains("state: cannot write") && said.contains("the next start is cold"),
        "{said}"
    );
    assert!(fs::read(&state).unwrap() != kept);
    let names = fs::read_dir(&full.0).unwrap().count();
    assert_eq!(names, 2, "nothing is left");
    // No room at the start either.
    let said = run(&|| {});
    assert!(said.contains("did not end in order") && said.contains("make room"), "{said}");
    fs::remove_file(&filler).unwrap();
    run(&|| {});
    assert!(run(&|| {}).contains("7 pages of the last run"));
}

#[test]
fn several_discs_have_one_file_and_servers_behind_are_told_apart() {
    let place = Place::new();
    let (_, data) = image(&place, 8 * MIB);
    let state = place.path("state");
    fs::copy(place.path("disc.img"), place.path("logs.img")).unwrap();
    let path = |name: &str| format!("{name}=file:{}", place.path(&format!("{name}.img")).display());
    let both = |more: &[&str]| {
        let socket = place.path("socket");
        let mut command = place.nbuf(["serve", "--size", "1MiB", "--readahead", "off"]);
        command.args(["--export", &path("disc"), "--export", &path("logs")]);
        command.arg("--state").arg(&state).arg("--socket").arg(&socket).args(more);
        command.stderr(std::process::Stdio::piped());
        Server::spawn(command, socket)
    };
    let uri = |name: &str| format!("nbd+unix:///{name}?socket={}", place.path("socket").display());
    if has(&["qemu-io"]) {
        let server = both(&[]);
        for (name, length) in [("disc", "40960"), ("logs", "81920")] {
            crate::output("qemu-io", &["-f", "raw", "-c", &format!("read 0 {length}"), &uri(name)]);
        }
        assert_eq!(server.end(), (0, String::new()));
        change(&place.path("logs.img"), &mut data.clone());
        let server = both(&[]);
        reads_come(&server, &place, 10);
        assert_eq!(reads_settle(&server, &place), 40960);
        let (status, said) = server.end();
        assert_eq!((status, said.lines().count()), (0, 2), "{said}");
        assert!(said.contains("10 pages of the last run of disc come back"), "{said}");
        assert!(said.contains("the disc of logs is not as it was"), "{said}");
    }
    if has(&["nbdkit"]) {
        let image = format!("file={}", place.path("disc.img").display());
        let kit = Nbdkit::start(place.path("kit"), &["file", &image]);
        let backend = format!("nbd:unix:{}", kit.socket.display());
        fs::remove_file(&state).unwrap();
        read_and_end(start(&place, &backend, &[]), &data, &SOME);
        let server = start(&place, &backend, &[]);
        are_hits(&server, &place, &data, &SOME);
        read_and_end(server, &data, &[]);
        drop(kit);
        let other = Nbdkit::start(place.path("other-kit"), &["file", &image]);
        let backend = format!("nbd:unix:{}", other.socket.display());
        is_cold(start(&place, &backend, &[]), &place, "the backend is another server");
    }
}

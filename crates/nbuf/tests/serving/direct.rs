//! Discs without the page cache, as the program opens them.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use nbuf::internal::clock::Random;
use nbuf::internal::sys::{cache, seccomp};

use super::Server;
use super::devices::{Loop, requires_loop};
use crate::support::{Place, skip};
use crate::{MIB, has, image, output};

/// An image of which the page cache has nothing.
fn cold(place: &Place, bytes: usize) -> (String, Vec<u8>) {
    let (_, data) = image(place, bytes);
    let path = place.path("disc.img");
    forget(&path);
    (format!("direct:{}", path.display()), data)
}

fn forget(path: &Path) {
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    cache::drop_pages(&file).unwrap();
}

fn resident(path: &Path) -> usize {
    let map = cache::resident_map(&File::open(path).unwrap()).unwrap();
    map.into_iter().filter(|&is_there| is_there).count()
}

/// Whether `O_DIRECT` reaches the disc where tests have their files.
fn is_direct(place: &Place) -> bool {
    let (disc, _) = cold(place, MIB);
    let is_direct = !serve_once(place, &disc, &[]).contains("goes through the page cache");
    if !is_direct {
        skip("no O_DIRECT where the tests have their files");
    }
    is_direct
}

/// Serves and ends; what was said.
fn serve_once(place: &Place, disc: &str, options: &[&str]) -> String {
    let options = [&["--size", "64KiB"], options].concat();
    let server = Server::start(place, disc, &options);
    let (status, said) = server.end();
    assert_eq!(status, 0, "{said}");
    said
}

/// Writes and reads of any bytes through a server; its image is the model at the end.
fn exercise(server: &Server, model: &mut [u8], seed: u64) {
    let mut client = server.client();
    let mut random = Random::new(seed);
    for round in 0..200 {
        let length = 1 + random.below(if round % 20 == 0 { 700_000 } else { 9000 });
        let length = length.min(model.len() as u64);
        let at = random.below(model.len() as u64 - length + 1);
        let range = usize::try_from(at).unwrap()..usize::try_from(at + length).unwrap();
        if random.below(2) == 0 {
            let value = u8::try_from(round).unwrap();
            let fua = u16::from(round % 7 == 0);
            assert_eq!(client.write(fua, at, &vec![value; range.len()]), Some(0));
            model[range].fill(value);
        } else {
            assert!(client.read(at, range.len()).unwrap() == model[range], "round {round}");
        }
    }
    // The end of the disc, which may be a part of a block.
    let at = model.len() - 5;
    assert_eq!(client.write(0, at as u64, b"abcde"), Some(0));
    model[at..].copy_from_slice(b"abcde");
    assert_eq!(client.flush(), Some(0));
}

#[test]
fn the_page_cache_has_no_second_copy() {
    if !has(&["nbdcopy"]) {
        return;
    }
    let place = Place::new();
    if !is_direct(&place) {
        return;
    }
    let path = place.path("disc.img");
    for (kind, pages) in [("direct", 0..1), ("file", 2000..4096)] {
        let (disc, data) = cold(&place, 8 * MIB);
        let disc = disc.replace("direct", kind);
        let server = Server::start(&place, &disc, &["--size", "1MiB", "--read-only"]);
        let copy = place.path("copy");
        output("nbdcopy", &[&server.uri(), copy.to_str().unwrap()]);
        assert!(fs::read(&copy).unwrap() == data);
        assert!(pages.contains(&resident(&path)), "{kind}: {} pages", resident(&path));
        assert_eq!(server.end(), (0, String::new()));
    }
    for write in ["back", "through", "around"] {
        let (disc, mut model) = cold(&place, 4 * MIB);
        let server = Server::start(&place, &disc, &["--size", "1MiB", "--write", write]);
        exercise(&server, &mut model, 5);
        assert_eq!(resident(&path), 0, "{write}");
        assert_eq!(server.end(), (0, String::new()));
        assert!(fs::read(&path).unwrap() == model, "{write}");
    }
}

#[test]
fn a_file_that_ends_within_a_block_keeps_its_length() {
    let place = Place::new();
    for threads in ["1", "16"] {
        let (disc, mut model) = cold(&place, 3 * MIB + 777);
        let options = ["--size", "256KiB", "--write", "back", "--threads", threads];
        let server = Server::start(&place, &disc, &options);
        exercise(&server, &mut model, 6);
        assert_eq!(server.end().0, 0);
        assert!(fs::read(place.path("disc.img")).unwrap() == model);
    }
}

#[test]
fn a_device_without_the_page_cache_has_what_was_written() {
    let Some(_lock) = requires_loop(&["qemu-io"]) else { return };
    for block in ["512", "4096"] {
        let place = Place::new();
        let (_, mut model) = cold(&place, 4 * MIB);
        let device = Loop::over(&place.path("disc.img"), &["--sector-size", block]);
        let disc = format!("direct:{}", device.name);
        let server = Server::start(&place, &disc, &["--size", "256KiB", "--write", "back"]);
        exercise(&server, &mut model, 7);
        for (at, length) in [(9000, 100), (MIB + 100, MIB)] {
            let zero = format!("write -z {at} {length}");
            output("qemu-io", &["-t", "none", "-f", "raw", "-c", &zero, &server.uri()]);
            model[at..at + length].fill(0);
        }
        exercise(&server, &mut model, 8);
        assert_eq!(server.end(), (0, String::new()));
        assert!(fs::read(&device.name).unwrap() == model, "{block}");
    }
}

/// Where there is no ring, threads do the same, and it is said once.
#[test]
fn threads_do_it_where_rings_are_refused() {
    let place = Place::new();
    if !is_direct(&place) {
        return;
    }
    let (disc, mut model) = cold(&place, 2 * MIB + 100);
    // A filter applies to the thread that sets it, and to the processes that it starts.
    let start = || {
        seccomp::refuse(&[libc::SYS_io_uring_setup]).unwrap();
        Server::start(&place, &disc, &["--size", "256KiB", "--write", "back"])
    };
    let server = std::thread::scope(|scope| scope.spawn(start).join().unwrap());
    exercise(&server, &mut model, 9);
    assert!(resident(&place.path("disc.img")) <= 1, "but for the part of a block at the end");
    let (status, said) = server.end();
    assert_eq!((status, said.lines().count()), (0, 1), "{said}");
    assert!(said.contains("16 threads read and write without the page cache"), "{said}");
    assert!(fs::read(place.path("disc.img")).unwrap() == model);
}

#[test]
fn a_file_system_that_is_all_cache_is_said_and_served() {
    let memory = tempfile::tempdir_in("/dev/shm");
    let Ok(memory) = memory else { return skip("no /dev/shm") };
    let kind = Command::new("stat").args(["-fc", "%T"]).arg(memory.path()).output().unwrap();
    if kind.stdout != b"tmpfs\n" {
        return skip("/dev/shm is no tmpfs");
    }
    let place = Place::new();
    let path = memory.path().join("disc.img");
    let mut model = vec![1; MIB];
    fs::write(&path, &model).unwrap();
    let disc = format!("direct:{}", path.display());
    let server = Server::start(&place, &disc, &["--size", "256KiB", "--write", "back"]);
    exercise(&server, &mut model, 10);
    let (status, said) = server.end();
    assert_eq!((status, said.lines().count()), (0, 1), "{said}");
    assert!(
        said.contains("disc.img goes through the page cache, as O_DIRECT is refused"),
        "{said}"
    );
    assert!(fs::read(&path).unwrap() == model);
}

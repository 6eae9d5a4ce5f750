//! Readahead as clients and the backend see it: counts of requests, not times.

use std::fs;

use serde_json::Value;

use super::{Nbdkit, Server};
use crate::support::Place;
use crate::{MIB, has, image, output};

/// nbdkit over an image, whose reads take 2 ms and are logged; and how it is written as a disc.
fn slow(place: &Place, bytes: usize) -> (Nbdkit, String, Vec<u8>) {
    let (_, data) = image(place, bytes);
    let (image, log) = (place.path("disc.img"), place.path("log"));
    let log = format!("logfile={}", log.display());
    let arguments = ["--filter=log", "--filter=delay", "file", image.to_str().unwrap(), &log];
    let nbdkit =
        Nbdkit::start(place.path("backend"), &[&arguments[..], &["delay-read=2ms"]].concat());
    let name = format!("nbd:unix:{}", nbdkit.socket.display());
    (nbdkit, name, data)
}

fn reads_of_disc(place: &Place) -> usize {
    let log = fs::read_to_string(place.path("log")).unwrap();
    log.lines().filter(|line| line.contains(" Read id=")).count()
}

fn stats(place: &Place) -> Value {
    let output = place.nbuf(["serve", "stats", "socket", "--json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_slow_disc_has_a_twentieth_of_the_requests_of_a_sequential_client() {
    if !has(&["nbdkit", "fio"]) {
        return;
    }
    let run = |readahead: &str| {
        let place = Place::new();
        let (_nbdkit, name, _) = slow(&place, 4 * MIB);
        let server = Server::start(&place, &name, &["--size", "16MiB", "--readahead", readahead]);
        let uri = format!("--uri={}", server.uri());
        let load = ["--rw=read", "--bs=4k", "--iodepth=1", "--size=4m"];
        output("fio", &[&["--name=x", "--ioengine=nbd", &uri], &load[..]].concat());
        let stats = stats(&place);
        assert_eq!(stats["reads"], 1024, "{stats}");
        assert_eq!(server.end().0, 0);
        (reads_of_disc(&place), stats)
    };
    let (without, _) = run("off");
    let (with, stats) = run("1MiB");
    assert_eq!(without, 1024);
    assert!(with * 20 < without, "{with} reads of the disc instead of {without}");
    let ahead = &stats["readahead"];
    let number = |name: &str| ahead[name].as_u64().unwrap();
    assert_eq!(stats["disc_reads"].as_u64(), u64::try_from(with).ok());
    assert_eq!((number("most_bytes"), number("useless")), (1 << 20, 0));
    assert!(number("used") > 1000 && number("pages") == number("used"), "{ahead}");
    assert_eq!(ahead["requests"], ahead["times"]["count"]);
}

#[test]
fn clients_read_the_same_bytes_with_readahead() {
    if !has(&["nbdkit", "nbdcopy", "qemu-io"]) {
        return;
    }
    let place = Place::new();
    let (_nbdkit, name, data) = slow(&place, 8 * MIB + 512);
    let options = ["--size", "2MiB", "--write", "back", "--readahead", "4MiB"];
    let server = Server::start(&place, &name, &options);
    let uri = server.uri();
    let copy = place.path("copy");
    output("nbdcopy", &["--request-size=16384", &uri, copy.to_str().unwrap()]);
    assert!(fs::read(&copy).unwrap() == data);
    // Writes in front of a reader.
    let mut client = server.client();
    for page in (0..1024).step_by(2) {
        assert_eq!(client.write(0, (page + 16) * 4096, &[119; 4096]), Some(0));
        let at = usize::try_from(page * 4096).unwrap();
        let want = if page < 16 { &data[at..at + 4096] } else { &[119; 4096] };
        assert!(client.read(page * 4096, 4096).unwrap() == want, "page {page}");
        let next = client.read((page + 1) * 4096, 4096).unwrap();
        assert!(next == data[at + 4096..at + 8192], "page {}", page + 1);
    }
    drop(client);
    output("qemu-io", &["-f", "raw", "-c", "read -P 119 65536 4096", &uri]);
    let ahead = &stats(&place)["readahead"];
    // There are 512 pages; every other one was there, which is the least that carries a stream on.
    assert!(ahead["used"].as_u64().unwrap() > 300, "{ahead}");
    let text = place.nbuf(["serve", "stats", "socket"]).output().unwrap().stdout;
    assert!(String::from_utf8(text).unwrap().contains("\nahead     "));
    assert_eq!(server.end().0, 0);
}

#[test]
fn readahead_changes_while_the_server_runs() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let file = place.path("disc.toml");
    let settings = |readahead: &str| {
        format!("disc = '{disc}'\nsize = '1MiB'\nsocket = 'socket'\nreadahead = '{readahead}'\n")
    };
    fs::write(&file, settings("off")).unwrap();
    let mut command = place.nbuf(["serve", "--config", "disc.toml"]);
    command.stderr(std::process::Stdio::piped());
    let server = Server::spawn(command, place.path("socket"));
    let mut client = server.client();
    (0..64).for_each(|page| drop(client.read(page * 4096, 4096).unwrap()));
    assert_eq!(stats(&place)["readahead"]["pages"], 0);
    fs::write(&file, settings("256KiB")).unwrap();
    server.signal(libc::SIGHUP);
    crate::support::until("it is read again", || {
        stats(&place)["readahead"]["most_bytes"] == 256 << 10
    });
    (64..128).for_each(|page| drop(client.read(page * 4096, 4096).unwrap()));
    assert_ne!(stats(&place)["readahead"]["pages"], 0);
    drop(client);
    let (status, said) = server.end();
    assert_eq!((status, said.as_str()), (0, "nbuf: config: readahead was off and is 256 KiB\n"));
}

/// A cache of a page over a disc in memory: no read of it hits.
#[test]
fn a_cache_that_never_hits_steps_aside_and_says_so() {
    if !has(&["fio", "nbdcopy"]) {
        return;
    }
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB);
    let options = ["--size", "16KiB", "--bypass", "auto", "--write", "back"];
    let server = Server::start(&place, &disc, &options);
    let uri = format!("--uri={}", server.uri());
    let load = ["--rw=randread", "--bs=4k", "--iodepth=4", "--size=8m", "--io_size=96m"];
    output("fio", &[&["--name=x", "--ioengine=nbd", "--norandommap", &uri], &load[..]].concat());
    let stats = stats(&place);
    let bypass = &stats["bypass"];
    assert!(bypass["is_aside"] == true && bypass["changes"] == 1, "{stats}");
    assert!(bypass["reads"].as_u64().unwrap() > 4096, "{bypass}");
    assert!(stats["misses"]["bypassed"].as_u64() >= bypass["reads"].as_u64(), "{stats}");
    let copy = place.path("copy");
    output("nbdcopy", &[&server.uri(), copy.to_str().unwrap()]);
    assert!(fs::read(&copy).unwrap() == data);
    let mut client = server.client();
    assert_eq!(client.write(0, 4096, &[9; 8192]), Some(0));
    assert_eq!(client.read(4096, 8192).unwrap(), [9; 8192]);
    drop(client);
    let (code, said) = server.end();
    let line = "nbuf: bypass: the cache costs more than it saves: reads that miss go past it\n";
    assert_eq!((code, said.as_str()), (0, line));
    assert_eq!(fs::read(place.path("disc.img")).unwrap()[4096..12288], [9; 8192]);
}

//! Second tiers of several exports: each has a file, a warm start and failures of its own.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{FileExt as _, symlink};
use std::process::Stdio;

use serde_json::Value;

use super::Server;
use super::exports::{named, stats};
use crate::MIB;
use crate::support::Place;

const PAGE: usize = 4096;
/// Pages of several blocks, more than a cache holds.
const SOME: [usize; 24] = [
    3, 4, 5, 100, 7, 1000, 1023, 16, 17, 33, 200, 201, 202, 203, 300, 400, 500, 600, 700, 800, 900,
    110, 120, 204,
];
const DISCS: [&str; 4] = ["--export", "a=file:a.img", "--export", "b=file:b.img"];
const TIERS: [&str; 4] = ["--export-tier", "b=b.tier", "--export-tier", "a=a.tier"];
const SIZES: [&str; 6] = ["--tier-size", "2MiB", "--size", "64KiB", "--readahead", "off"];

/// Makes both discs. Each page has the name of its disc, and its own number.
fn discs(place: &Place) -> [Vec<u8>; 2] {
    ["a", "b"].map(|name| {
        let page =
            |page: usize| [name.as_bytes()[0], u8::try_from(page % 251).unwrap()].repeat(PAGE / 2);
        let data: Vec<u8> = (0..4 * MIB / PAGE).flat_map(page).collect();
        fs::write(place.path(&format!("{name}.img")), &data).unwrap();
        data
    })
}

fn start(place: &Place, options: &[&str]) -> Server {
    let mut command = place.nbuf(["serve", "--socket", "socket"]);
    command.args(options).stderr(Stdio::piped());
    Server::spawn(command, place.path("socket"))
}

fn read(server: &Server, name: &str, data: &[u8]) {
    let mut client = named(&server.socket, name).unwrap();
    for page in SOME {
        let at = page * PAGE;
        let found = client.read(at as u64, PAGE).unwrap();
        assert!(found == data[at..at + PAGE], "page {page} of {name}");
    }
}

/// The tiers of both exports.
fn tiers(place: &Place) -> [Value; 2] {
    let seen = stats(place);
    assert!(seen["tier"].is_null(), "each export has its own: {seen}");
    [0, 1].map(|at| seen["exports"][at]["tier"].clone())
}

/// The figures for Prometheus, at the address that the first line of standard error has.
fn scraped(server: &mut Server) -> String {
    let mut said = String::new();
    BufReader::new(server.child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    let url = said.trim_end().strip_prefix("nbuf: metrics at http://").expect(&said);
    let mut stream = TcpStream::connect(url.strip_suffix("/metrics").unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn each_export_has_a_tier_of_its_own() {
    let place = Place::new();
    let [mut a, mut b] = discs(&place);
    let options = [&DISCS[..], &TIERS, &SIZES].concat();
    let mut server = start(&place, &[&options[..], &["--metrics", "0"]].concat());
    let text = scraped(&mut server);
    for line in ["nbuf_serve_tier_up{export=\"a\"} 1.0", "nbuf_serve_tier_up{export=\"b\"} 1.0"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    read(&server, "a", &a);
    read(&server, "b", &b);
    b[5 * PAGE..6 * PAGE].fill(b'W');
    let mut client = named(&server.socket, "b").unwrap();
    assert_eq!(client.write(0, 5 * PAGE as u64, &[b'W'; PAGE]), Some(0));
    drop(client);
    for (tier, name) in tiers(&place).iter().zip(["a", "b"]) {
        let file = tier["file"].as_str().unwrap();
        assert!(file.ends_with(&format!("/{name}.tier")), "{tier}");
        assert!(tier["fills"].as_u64().unwrap() > 0 && tier["lost"].is_null(), "{tier}");
    }
    let (status, said) = server.end();
    assert!(status == 0 && !said.contains("tier:"), "{said}");
    // Another program changes one disc.
    a[7 * PAGE..8 * PAGE].fill(b'N');
    let file = File::options().write(true).open(place.path("a.img")).unwrap();
    file.write_all_at(&[b'N'; PAGE], 7 * PAGE as u64).unwrap();
    drop(file);
    let server = start(&place, &options);
    read(&server, "a", &a);
    read(&server, "b", &b);
    let [cold, warm] = tiers(&place);
    assert_eq!((&cold["read_hits"], &warm["disc_reads"]), (&0.into(), &0.into()), "{cold} {warm}");
    let watch = place.nbuf(["watch", "--server", "socket", "--once"]).output().unwrap();
    let shown = String::from_utf8(watch.stdout).unwrap();
    assert!(shown.contains("\ntier      a: ") && shown.contains("\n          b: "), "{shown}");
    // One tier fails.
    File::options().write(true).open(place.path("b.tier")).unwrap().set_len(64 << 10).unwrap();
    read(&server, "a", &a);
    read(&server, "b", &b);
    let [warm, lost] = tiers(&place);
    assert!(warm["lost"].is_null() && warm["read_hits"].as_u64().unwrap() > 0, "{warm}");
    assert!(lost["lost"].is_string() && lost["used_bytes"] == 0, "{lost}");
    let (status, said) = server.end();
    assert_eq!(status, 0, "{said}");
    let of = |name: &str, what: &str| {
        let path = format!("/{name}.tier");
        said.lines().filter(|line| line.contains(&path) && line.contains(what)).count()
    };
    assert_eq!((of("a", "(it was changed meanwhile)"), of("b", "of the last run")), (1, 1));
    assert_eq!((of("a", "not used any more"), of("b", "not used any more")), (0, 1), "{said}");
    assert_eq!((of("a", "at the next start"), of("b", "at the next start")), (0, 1), "{said}");
    assert!(fs::read(place.path("b.img")).unwrap() == b);
}

/// That a server does not start, and says why: in one line, unless the command line is wrong.
fn refused(place: &Place, options: &[&str], want: (i32, &str)) {
    let mut command = place.nbuf(["serve", "--socket", "socket"]);
    let output = command.args(DISCS).args(SIZES).args(options).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(want.0), "{said}");
    let is_one_line = said.trim_end().lines().count() == 1;
    assert!(said.contains(want.1) && (is_one_line || want.0 == 2), "{said}");
}

#[test]
fn two_exports_do_not_share_a_tier() {
    let place = Place::new();
    let [a, _] = discs(&place);
    let shared = "the exports `a` and `b` have one tier, ";
    let both = ["--export-tier", "a=a.tier", "--export-tier"];
    refused(&place, &["--tier", "one"], (125, shared));
    refused(&place, &["--tier", "one", "--check-config"], (2, shared));
    refused(&place, &[&both[..], &["b=a.tier"]].concat(), (125, shared));
    // A tier that would be the journal of the other one.
    refused(&place, &[&both[..], &["b=a.tier.journal"]].concat(), (125, shared));
    // Other names of one file, before it is there and later.
    symlink(place.path("."), place.path("link")).unwrap();
    refused(&place, &[&both[..], &["b=link/a.tier"]].concat(), (125, shared));
    assert!(!place.path("a.tier").exists());
    refused(&place, &["--export-tier", "c=c.tier"], (2, "gives a tier to `c`"));
    refused(&place, &[&both[..], &["a=b.tier"]].concat(), (2, "gives a tier to `a`"));
    refused(&place, &["--export-tier", "c.tier"], (2, "write NAME=FILE"));
    // A file of settings, in which one export has no tier.
    let write = |of_b: &str| {
        let text = format!(
            "size = '64KiB'\ntier-size = '2MiB'\n[[export]]\nname = 'a'\ndisc = 'file:a.img'\n\
             tier = 'a.tier'\n[[export]]\nname = 'b'\ndisc = 'file:b.img'\n{of_b}"
        );
        fs::write(place.path("discs.toml"), text).unwrap();
    };
    write("");
    let server = start(&place, &["--config", "discs.toml"]);
    read(&server, "a", &a);
    let [first, second] = tiers(&place);
    assert!(first["fills"].as_u64().unwrap() > 0 && second.is_null(), "{first} {second}");
    // SIGHUP names the keys that it does not change.
    write("tier = 'b.tier'\n");
    server.signal(libc::SIGHUP);
    assert!((0..2).all(|_| tiers(&place)[1].is_null()));
    let (status, said) = server.end();
    assert!(
        status == 0 && said.contains("tier, tier-size, tier-trust, tier-timeout or durable-tier"),
        "{said}"
    );
    fs::hard_link(place.path("a.tier"), place.path("b.tier")).unwrap();
    let mut command = place.nbuf(["serve", "--config", "discs.toml", "--check-config"]);
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains(shared), "{said}");
    fs::remove_file(place.path("b.tier")).unwrap();
    let mut command = place.nbuf(["serve", "--config", "discs.toml", "--check-config"]);
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert_eq!(said.matches(", and a tier of 2.00 MiB at ").count(), 2, "{said}");
}

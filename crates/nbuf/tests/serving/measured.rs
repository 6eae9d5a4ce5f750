//! What a server measures of itself: at its control socket, and for Prometheus.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::Server;
use crate::support::Place;
use crate::{MIB, image};

/// A server of which two pages were read from its disc and then twice from its cache, and one was written.
fn busy(place: &Place, options: &[&str]) -> Server {
    let (disc, _) = image(place, 4 * MIB);
    // Two pages in turn are a stream.
    let fixed = ["--size", "1MiB", "--write", "back", "--readahead", "off", "--bypass", "auto"];
    let options = [&fixed[..], options].concat();
    let server = Server::start(place, &disc, &options);
    let mut client = server.client();
    for page in [1, 2, 1, 2] {
        assert!(client.read(page * 4096, 4096).is_ok());
    }
    assert_eq!(client.write(0, 3 << 20, &[1; 4096]), Some(0));
    assert_eq!(client.flush(), Some(0));
    server
}

#[test]
fn what_the_cache_costs_and_saves_is_measured() {
    let place = Place::new();
    let server = busy(&place, &[]);
    let stats = |rest: &[&str]| {
        let output = place.nbuf(["serve", "stats", "socket"]).args(rest).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let document: Value = serde_json::from_str(&stats(&["--json"])).unwrap();
    let costs = &document["costs"];
    // A read of a page that is not there looks twice.
    for (work, count) in [("lookup", 6), ("copy", 2), ("fill", 3)] {
        assert_eq!(costs[work]["count"], count, "{work}: {costs}");
        assert!(costs[work]["times"]["count"].as_u64().unwrap() >= 1, "{work}: {costs}");
    }
    for (times, count) in [("disc_read", 2), ("disc_write", 1), ("disc_flush", 1)] {
        assert_eq!(costs[times]["count"], count, "{times}: {costs}");
        assert!(costs[times]["mean_seconds"].as_f64().unwrap() > 0.0);
    }
    let number = |value: &Value| value.as_f64().unwrap();
    let mean = number(&costs["disc_read"]["mean_seconds"]);
    let saved = 2.0 * mean - number(&costs["work_seconds"]);
    assert!((number(&costs["saved_seconds"]) - saved).abs() < 1e-9, "{costs}");
    let places = &document["figures"]["tracks"];
    assert_eq!((&places["units_held"], &places["tracks_held"]), (&3.into(), &3.into()));
    // A place has two of the 1,024 pages.
    assert_eq!((&places["cells"][1], &places["cells"][384]), (&1.into(), &1.into()));
    let text = stats(&[]);
    assert!(text.contains("cost      look-up") && text.contains("disc reads 2: mean"), "{text}");
    assert!(text.contains("bypass    not aside now, 0 changes, 0 reads of 0 B"), "{text}");
    assert_eq!(server.end().0, 0);
}

#[test]
fn prometheus_is_answered() {
    let place = Place::new();
    let options = ["--metrics", "0", "--tier", "tier", "--tier-size", "1MiB"];
    let mut server = busy(&place, &options);
    let mut said = String::new();
    BufReader::new(server.child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    let url = said.trim_end().strip_prefix("nbuf: metrics at http://").expect(&said);
    let address = url.strip_suffix("/metrics").unwrap();
    assert!(address.starts_with("127.0.0.1:"));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(
        text.contains("openmetrics-text; version=1.0.0") && text.ends_with("# EOF\n"),
        "{text}"
    );
    for line in [
        "nbuf_serve_requests_total{op=\"read\"} 4.0",
        "nbuf_serve_page_hits_total 2.0",
        "nbuf_serve_page_misses_total{cause=\"never_seen\"} 2.0",
        "nbuf_serve_page_misses_total{cause=\"evicted\"} 0.0",
        "nbuf_serve_disc_time_seconds_count{op=\"read\"} 2",
        "nbuf_serve_cache_bytes 1048576.0",
        "nbuf_serve_dirty_bytes 0.0",
        "nbuf_serve_other_hit_ratio{policy=\"s3-fifo\",size=\"2\",edge=\"best\"} 0.5",
        "nbuf_serve_readahead_pages_total 0.0",
        "nbuf_serve_readahead_ended_pages_total{end=\"useless\"} 0.0",
        "nbuf_serve_aside 0.0",
        "nbuf_serve_past_reads_total 0.0",
        "nbuf_serve_tier_up 1.0",
        "nbuf_serve_tier_reads_total 2.0",
        "nbuf_serve_tier_errors_total 0.0",
        "nbuf_serve_up 1.0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert_eq!(server.end().0, 0);
}

/// What is said of a larger cache is what it then gives.
#[test]
fn the_cache_that_is_needed_is_named_and_holds() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let options = ["--size", "64KiB", "--policy", "lru", "--readahead", "off"];
    let server = Server::start(&place, &disc, &options);
    let size = |rest: &[&str]| {
        let output = place.nbuf(["size", "--server", "socket"]).args(rest).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), said)
    };
    let (status, said) = size(&[]);
    assert!(status == Some(0) && said.contains("0 pages were read since"), "{said}");
    let mut client = server.client();
    let mut read = || {
        for page in (0..50).flat_map(|_| 0..24) {
            assert!(client.read(page * 4096, 4096).is_ok());
        }
    };
    read();
    // A loop of 96 KiB: LRU never hits with 64 KiB, and always with 128 KiB.
    let (status, said) = size(&["--json"]);
    let document: Value = serde_json::from_str(&said).unwrap();
    let need = &document["exports"][0];
    assert_eq!(
        (status, &need["answer"], &need["needed_bytes"]),
        (Some(0), &"more".into(), &131_072.into())
    );
    let ratios: Vec<f64> =
        (0..6).map(|at| need["sizes"][at]["hit_ratio"].as_f64().unwrap()).collect();
    assert_eq!(ratios, [0.0, 0.0, 0.0, 0.0, 0.98, 0.98]);
    assert!(need["sizes"][0]["disc_busy"].as_f64().unwrap() > 0.0);
    let (status, said) = size(&["--target", "hit=0.99"]);
    assert!(status == Some(1) && said.contains("needs more than 256 KiB"), "{said}");
    let (status, said) = size(&["--target", "stall=1%"]);
    assert!(status == Some(2) && said.contains("hit=0.95, fills=100/s"), "{said}");
    let (status, said) = size(&["--pid", "1"]);
    assert!(status == Some(2) && said.contains("leave out --pid"), "{said}");
    let (_, said) = size(&["--for", "1s"]);
    let line = said.lines().find_map(|line| line.trim().strip_prefix("nbuf serve resize "));
    let words: Vec<&str> = line.unwrap().split(' ').collect();
    assert!(place.nbuf(["serve", "resize"]).args(words).status().unwrap().success());
    let before = place.nbuf(["serve", "stats", "socket", "--json"]).output().unwrap();
    read();
    let after = place.nbuf(["serve", "stats", "socket", "--json"]).output().unwrap();
    let [before, after] =
        [before, after].map(|it| serde_json::from_slice::<Value>(&it.stdout).unwrap());
    let more = |name: &str| after[name].as_u64().unwrap() - before[name].as_u64().unwrap();
    // Sixteen pages were there after the change.
    assert!(more("pages") == 1200 && more("page_hits") >= 1176, "{}", more("page_hits"));
    // The small caches began again with the new size, and so did what they are compared with.
    let (_, said) = size(&[]);
    assert!(said.contains("needs 128 KiB, as it has"), "{said}");
    assert_eq!(server.end().0, 0);
}

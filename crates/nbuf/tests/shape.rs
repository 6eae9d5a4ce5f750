//! `nbuf trace stat --full`: what it shows of generated traces, and what it says to those who ask for what cannot be.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{NBUF, Place, skip};

/// Runs a command line of a shell in a place, where `nbuf` is the program.
fn shell(place: &Place, line: &str) -> Output {
    let line = line.replace("nbuf ", &format!("{NBUF} "));
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(place.path(".")).stdin(Stdio::null()).output().unwrap()
}

fn document(place: &Place, line: &str) -> Value {
    let output = shell(place, &format!("nbuf trace stat --json {line}"));
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A file of these rows.
fn csv(place: &Place, name: &str, rows: impl Iterator<Item = (u64, u64, u64)>) {
    let mut text = "time,key,size\n".to_owned();
    for (time, key, size) in rows {
        writeln!(text, "{time},{key},{size}").unwrap();
    }
    fs::write(place.path(name), text).unwrap();
}

#[test]
fn lifetimes_ceiling_and_wonders_are_those_counted_by_hand() {
    let place = Place::new();
    let rows = [(0, 1, 100), (1, 2, 50), (4, 1, 100), (9, 3, 10), (9, 1, 300), (12, 2, 50)];
    csv(&place, "six.csv", rows.into_iter());
    let all = document(&place, "--full six.csv");
    let shape = &all["shape"];
    assert_eq!((&shape["unit"], &shape["clock"]), (&"key".into(), &"ns".into()));
    assert_eq!((&shape["accesses"], &shape["keys"]), (&6.into(), &3.into()));
    let ceiling = &shape["ceiling"];
    assert_eq!((&ceiling["compulsory_misses"], &ceiling["hit_ratio"]), (&3.into(), &0.5.into()));
    assert_eq!((&ceiling["bytes"], &ceiling["compulsory_bytes"]), (&610.into(), &160.into()));
    assert_eq!(shape["popularity"]["used_once"], 1);
    // Key 1 lives 9 s, key 2 lives 11 s.
    assert_eq!(shape["lifetimes"]["count"], 2);
    assert_eq!(shape["lifetimes"]["mean"], 10_000_000_000_u64);
    assert_eq!(shape["absent"].as_array().unwrap().len(), 1, "no Zipf law: {}", shape["absent"]);
    // Without the option there is no shape.
    assert_eq!(document(&place, "six.csv").get("shape"), None);
}

#[test]
fn caches_of_bytes_are_explained_too() {
    let place = Place::new();
    // Small keys, and after each second of them a large one that is not used again.
    let rows = (0..4000_u64).map(|at| match at % 3 {
        2 => (at, 1_000_000 + at, 30_000),
        _ => (at, at * at % 83, 500),
    });
    csv(&place, "mixed.csv", rows);
    let all = document(&place, "--policies lru,gdsf --size 40KiB mixed.csv");
    let judged = &all["shape"]["policies"];
    assert_eq!((&judged["size"], &judged["is_bytes"]), (&40_960.into(), &true.into()));
    let hits = |at: usize| judged["rows"][at]["hits"].as_u64().unwrap();
    assert_eq!(judged["differences"][0]["better"], "gdsf");
    let curve =
        shell(&place, "nbuf curve --json --policy lru,gdsf --size 40KiB --unit object mixed.csv");
    let curve: Value = serde_json::from_slice(&curve.stdout).unwrap();
    for at in 0..2 {
        let point = &curve["curves"][at]["points"][0];
        let missed = point["misses"].as_u64().unwrap();
        assert_eq!(hits(at), 4000 - missed, "{}", curve["curves"][at]["policy"]);
    }
    let text = shell(&place, "nbuf trace stat --policies lru,gdsf --size 40KiB mixed.csv");
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("KiB, the same for each policy."), "{text}");
    // A number counts keys, whatever their sizes.
    let keys = document(&place, "--policies lru,gdsf --size 40 mixed.csv");
    assert!(keys["shape"]["policies"].get("is_bytes").is_none());
}

#[test]
fn what_a_trace_cannot_give_is_absent_with_its_reason() {
    let place = Place::new();
    fs::write(place.path("keys"), "1\n2\n1\n").unwrap();
    let all = document(&place, "--full --from keys keys");
    let absent = all["shape"]["absent"].as_array().unwrap();
    let what: Vec<&str> = absent.iter().map(|absent| absent["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["times", "sizes", "zipf"]);
    assert_eq!(all["shape"]["clock"], "accesses");
    let text = String::from_utf8(shell(&place, "nbuf trace stat --full --from keys keys").stdout);
    let text = text.unwrap();
    for reason in absent {
        let first = reason["reason"].as_str().unwrap().split(' ').take(6).collect::<Vec<_>>();
        assert!(text.contains(&first.join(" ")), "{reason}: {text}");
    }
}

#[test]
fn a_mistake_gets_one_line_that_says_what_to_do() {
    let place = Place::new();
    csv(&place, "k.csv", (0..100).map(|at| (at, at % 7, 100)));
    fs::write(place.path("empty"), "").unwrap();
    let scan: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    fs::write(place.path("scan"), scan).unwrap();
    let cases = [
        ("nbuf trace stat --full empty", 125, "empty is empty"),
        (
            "nbuf trace stat --policies lru,fifo - <k.csv | cat; exit 125",
            125,
            "write the trace to a file",
        ),
        ("nbuf trace stat --policies opt k.csv", 2, "write one of lru"),
        ("nbuf trace stat --policies lru --size 1,2 k.csv", 2, "write one --size"),
        (
            "nbuf trace stat --policies lru --size 1MiB --from u32le scan",
            2,
            "write a number of them such as --size 5000, or 10%, or take sizes from --snapshot",
        ),
        ("nbuf trace stat --policies lru,arc --size 1MiB k.csv", 125, "arc divides its cache"),
        ("nbuf trace stat --sample 2 k.csv", 2, "write a share of the keys"),
        ("nbuf trace stat --full --against none k.csv", 125, "cannot open none"),
        ("nbuf trace stat --html k.csv k.csv", 125, "k.csv exists"),
        ("nbuf trace stat --full --from u32le --memory 8MiB scan", 125, "--sample 0.01"),
    ];
    for (line, status, says) in cases {
        let output = shell(&place, line);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{line}: {error}");
        let last = error.lines().last().unwrap_or_default();
        assert!(last.starts_with("nbuf: ") && last.contains(says), "{line}: {error}");
        assert!(output.stdout.is_empty(), "{line}");
        // What is refused is not named as a way out.
        assert!(says != "arc divides its cache" || !last.contains("adaptsize"), "{error}");
    }
}

#[test]
fn a_trace_that_is_cut_off_is_used_up_to_there() {
    let place = Place::new();
    csv(&place, "k.csv", (0..50_000).map(|at| (at / 100, at * at % 977, 100)));
    let made = shell(&place, "zstd -q k.csv -o k.zst && head -c 9000 k.zst >cut.zst");
    if !made.status.success() {
        return skip("zstd is not installed");
    }
    let output = shell(&place, "nbuf trace stat --json --full cut.zst");
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(all["shape"]["accesses"].as_u64().unwrap() < 50_000);
        assert!(error.contains("what came before is used"), "{error}");
    } else {
        assert!(error.contains("cut off or damaged"), "{error}");
    }
}

#[test]
fn two_traces_have_a_shape_each_and_one_page() {
    let place = Place::new();
    csv(&place, "loop.csv", (0..6000).map(|at| (at, at % 500, 100)));
    csv(&place, "once.csv", (0..6000).map(|at| (at, at * 3, 100)));
    let line = "--html both.html --against once.csv --policies lru,mru --size 100 loop.csv";
    let all = document(&place, line);
    assert_eq!(all["shape"]["loops"][0]["keys"], 500);
    assert_eq!(all["shape"]["policies"]["differences"][0]["class"], "loop");
    let other = &all["against"]["shape"];
    assert_eq!(other["popularity"]["used_once"], 6000);
    assert_eq!(other["first_uses"]["longest"], 6000);
    let difference = &other["policies"]["differences"][0];
    assert_eq!((&difference["class"], difference["reason"].is_string()), (&Value::Null, true));
    let page = fs::read_to_string(place.path("both.html")).unwrap();
    assert!(page.contains("<h2>Two traces</h2>") && page.contains("class=\"places\""));
}

/// A published trace; none where these are absent, which is said.
fn published(name: &str) -> Option<String> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces"));
    let folder = std::env::var_os("NBUF_TRACES").map_or(beside, PathBuf::from);
    let path = folder.join(name);
    if !path.exists() {
        skip(&format!("{name} is absent: name its folder in NBUF_TRACES"));
        return None;
    }
    Some(path.display().to_string())
}

#[test]
fn published_traces_have_the_shape_that_their_authors_describe() {
    let place = Place::new();
    let traces =
        ["lirs/loop.trace.gz", "lirs/scan.trace.gz", "arc/OLTP.lis.zst", "cache2k/web07.trace.xz"];
    let Some(traces) = traces.into_iter().map(published).collect::<Option<Vec<_>>>() else {
        return;
    };
    // A loop over 1011 keys, 500 times; one over 2001, 25 times.
    for (trace, keys, rounds) in [(&traces[0], 1011, 500), (&traces[1], 2001, 25)] {
        let shape = document(&place, &format!("--full {trace}"))["shape"].clone();
        assert_eq!(shape["loops"][0]["keys"], keys, "{trace}");
        let accesses = shape["loops"][0]["accesses"].as_u64().unwrap();
        assert_eq!((accesses + keys / 2) / keys, rounds - 1, "{trace}");
        let zipf = &shape["popularity"]["zipf"];
        let number = |name: &str| zipf[name].as_f64().unwrap();
        assert!(number("exponent").abs() <= number("error"), "all keys are used alike: {zipf}");
    }
    // The counts of the ARC paper's trace are in the table of foreign_traces.rs.
    let shape = document(&place, &format!("--full --page 512 {}", traces[2]))["shape"].clone();
    assert_eq!((&shape["keys"], &shape["accesses"]), (&186_880.into(), &914_145.into()));
    assert_eq!(shape["ceiling"]["compulsory_misses"], 186_880);
    // What a policy hits here is what curve counts at that size.
    let policies = "lru,s3-fifo,arc,w-tinylfu";
    let web = format!("--from i32be {}", traces[3]);
    let judged = document(&place, &format!("--policies {policies} --size 2000 {web}"));
    let line = format!("nbuf curve --json --policy {policies} --size 2000 {web}");
    let curve: Value = serde_json::from_slice(&shell(&place, &line).stdout).unwrap();
    for (row, curve) in judged["shape"]["policies"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .zip(curve["curves"].as_array().unwrap())
    {
        let point = curve["points"].as_array().unwrap().iter().find(|point| point["pages"] == 2000);
        let count = |name: &str| point.unwrap()[name].as_u64().unwrap();
        let hits = count("accesses") - count("misses");
        assert_eq!((&row["policy"], &row["hits"]), (&curve["policy"], &hits.into()));
    }
}

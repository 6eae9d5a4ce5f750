//! `nbuf replay` as people meet it: pipes, Ctrl-C, real files, and what must not be written over.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{NBUF, Place, listens, until};

fn replay(place: &Place, arguments: &[&str]) -> Output {
    let mut command = Command::new(NBUF);
    command.arg("replay").args(arguments).current_dir(place.path("."));
    command.stdin(Stdio::null()).output().unwrap()
}

fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What is refused, and in which words: a line.
fn refused(place: &Place, arguments: &[&str], want: &str) {
    refused_with(125, place, arguments, want);
}

/// A command line that no file makes right.
fn misused(place: &Place, arguments: &[&str], want: &str) {
    refused_with(2, place, arguments, want);
}

fn refused_with(status: i32, place: &Place, arguments: &[&str], want: &str) {
    let output = replay(place, arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    let line = told.lines().last().unwrap_or_default();
    assert!(line.contains(want), "{arguments:?}: {told}");
    assert!(output.stdout.is_empty(), "{output:?}");
}

/// A trace of fio: one file, reads and some writes, by times.
fn blocks(place: &Place) {
    let mut text = "fio version 2 iolog\n/a add\n/a open\n".to_owned();
    for at in 0..2_000_u64 {
        let action = if at % 10 == 9 { "write" } else { "read" };
        writeln!(text, "/a {action} {} 4096", at * at % 997 % 50 * 4096).unwrap();
    }
    fs::write(place.path("blocks.log"), text + "/a close\n").unwrap();
}

/// A trace of 30 keys that have no times, 300 requests of which the last writes.
fn keys(place: &Place) {
    let mut text = "key,op\n".to_owned();
    for at in 0..300 {
        let op = if at == 299 { "set" } else { "get" };
        writeln!(text, "{},{op}", 1_000_000 + at * 7 % 30).unwrap();
    }
    fs::write(place.path("keys.csv"), text).unwrap();
}

/// Runs a shell script here, `nbuf` being `$0`.
fn shell(place: &Place, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, NBUF]).current_dir(place.path("."));
    command.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_pipe_gives_what_its_file_gives() {
    let place = Place::new();
    blocks(&place);
    let of_file = document(&replay(&place, &["blocks.log", "--size", "20", "--json"]));
    let mut command = place.nbuf(["replay", "-", "--size", "20", "--json"]);
    command.stdin(fs::File::open(place.path("blocks.log")).unwrap());
    let mut of_file_again = of_file.clone();
    of_file_again["workload"] = "-".into();
    // A redirected file is no pipe to the kernel; a real one comes from another program.
    let piped = shell(&place, "cat blocks.log | $0 replay - --size 20 --json");
    for output in [command.output().unwrap(), piped] {
        assert_eq!(document(&output), of_file_again);
    }
    let total: u64 = of_file["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["count"].as_u64().unwrap())
        .sum();
    assert_eq!(total, 2_000);
    refused(&place, &["-", "--size", "0..20:10"], "standard input is a character device");
}

#[test]
fn the_same_seed_gives_the_same_and_sizes_are_those_of_single_runs() {
    let place = Place::new();
    let of = |size: &str| {
        let made = "zipf:keys=500,requests=3000,writes=0.1";
        let options = ["--size", size, "--disc", "sata-hdd", "--processes", "3", "--json"];
        document(&replay(&place, &[&[made][..], &options].concat()))
    };
    let range = of("0..400:200");
    assert_eq!(range, of("0..400:200"));
    for (at, size) in ["0", "200", "400"].iter().enumerate() {
        let one = of(size);
        for field in ["elapsed_seconds", "hit_ratio", "disc_utilisation", "cpu_utilisation"] {
            assert_eq!(range["sizes"][at][field], one[field], "{field} at {size}");
        }
    }
}

#[test]
fn ctrl_c_shows_what_was_replayed() {
    let place = Place::new();
    let run = |size: &str| {
        let mut command =
            place.nbuf(["replay", "zipf:requests=4000000000", "--json", "--size", size]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It listens before it makes its first request, or the signal ends it in the ordinary way.
        until("it listens", || listens(child.id()));
        std::thread::sleep(std::time::Duration::from_secs(1));
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        child.wait_with_output().unwrap()
    };
    let one = run("100");
    assert_eq!(one.status.code(), Some(130), "{one:?}");
    let document: Value = serde_json::from_slice(&one.stdout).unwrap();
    assert!(document["response"]["count"].as_u64().unwrap() > 0);
    assert!(document["warnings"][0].as_str().unwrap().starts_with("interrupted after"));
    let range = run("0..100:50");
    assert_eq!(range.status.code(), Some(130), "{range:?}");
    assert!(String::from_utf8_lossy(&range.stderr).contains("nothing to show"));
}

#[test]
fn a_real_file_is_written_to_only_by_leave() {
    let place = Place::new();
    blocks(&place);
    fs::write(place.path("precious"), vec![7; 50 * 4096]).unwrap();
    let precious = ["blocks.log", "--size", "10", "--closed", "--disc", "file:precious"];
    refused(&place, &precious, "permit that with --destroy");
    assert_eq!(fs::read(place.path("precious")).unwrap(), vec![7; 50 * 4096]);

    let made = ["blocks.log", "--size", "10", "--closed", "--json", "--disc", "file:made"];
    let first = document(&replay(&place, &made));
    assert_eq!(fs::metadata(place.path("made")).unwrap().len(), 50 * 4096);
    // What the cache decides is the same in real time and in virtual time.
    let modelled = document(&replay(&place, &["blocks.log", "--size", "10", "--closed", "--json"]));
    assert_eq!(first["requests"], modelled["requests"]);
    assert_eq!(first["unit_hits"], modelled["unit_hits"]);
    assert!(first["elapsed_seconds"].as_f64().unwrap() > 0.0);

    let destroyed = replay(&place, &[&precious[..], &["--destroy"]].concat());
    assert!(destroyed.status.success(), "{destroyed:?}");
    let bytes = fs::read(place.path("precious")).unwrap();
    assert!(bytes.contains(&0) && bytes.len() == 50 * 4096);

    // What only reads may read what is there.
    let reading = ["uniform:keys=50,requests=200", "--disc", "file:made", "--size", "5"];
    assert!(replay(&place, &reading).status.success());
    fs::write(place.path("small"), "x").unwrap();
    for (disc, want) in [
        ("file:/dev/null", "is no regular file"),
        ("file:.", "is no regular file"),
        ("file:small", "small has 1 B"),
        ("file:nowhere/at/all", "nowhere/at/all: No such file"),
        ("file:", "write --disc file:PATH"),
    ] {
        let asked = ["uniform:keys=50,requests=200", "--size", "5", "--destroy", "--disc", disc];
        refused_with(if disc == "file:" { 2 } else { 125 }, &place, &asked, want);
        let told = replay(&place, &asked).stderr;
        assert_eq!(String::from_utf8_lossy(&told).lines().count(), 1, "{disc}");
    }
    // More than any file system holds.
    for requests in ["10000000000", "18446744073709551615"] {
        let scan = format!("scan:requests={requests}");
        refused(&place, &[&scan, "--unit", "1GiB", "--size", "5", "--disc", "file:huge"], "huge: ");
        assert!(!place.path("huge").exists());
    }
    misused(&place, &["uniform", "--size", "5", "--destroy"], "--destroy is for a real file");
    let few = "uniform:keys=50,requests=200";
    let range = [few, "--size", "0..20:10", "--disc", "file:made"];
    misused(&place, &range, "give one --size");
}

#[test]
fn a_pipe_writes_over_nothing_either() {
    let place = Place::new();
    blocks(&place);
    // One that writes only when it has been read for long.
    let mut late = "fio version 2 iolog\n/a add\n/a open\n".to_owned();
    for at in 0..40_000_u64 {
        let action = if at < 39_999 { "read" } else { "write" };
        writeln!(late, "/a {action} {} 512", at % 50 * 512).unwrap();
    }
    fs::write(place.path("late.log"), late).unwrap();
    fs::write(place.path("precious"), vec![7; 50 * 4096]).unwrap();
    for trace in ["blocks.log", "late.log"] {
        let script =
            format!("cat {trace} | $0 replay - --cpu free --closed --size 60 --disc file:precious");
        let output = shell(&place, &script);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{trace}: {told}");
        assert!(told.contains("permit that with --destroy"), "{trace}: {told}");
        assert!(output.stdout.is_empty(), "{trace}: {output:?}");
        assert_eq!(fs::read(place.path("precious")).unwrap(), vec![7; 50 * 4096]);
        let given = document(&shell(&place, &format!("{script} --destroy --json")));
        assert_eq!(given["requests"][1]["failed"], 0, "{given:#}");
        fs::write(place.path("precious"), vec![7; 50 * 4096]).unwrap();
    }
}

#[test]
fn keys_take_a_unit_each_of_the_disc() {
    let place = Place::new();
    keys(&place);
    let of = |more: &[&'static str]| [&["keys.csv", "--size", "10"], more].concat();
    fs::write(place.path("small"), vec![7; 100_000]).unwrap();
    let small = of(&["--destroy", "--disc", "file:small"]);
    refused(&place, &small, "the workload needs a disc of 120 KiB, and small has 97.7 KiB");
    assert_eq!(fs::read(place.path("small")).unwrap(), vec![7; 100_000]);
    refused(&place, &of(&["--unit", "64KiB", "--disc", "rs11"]), "and rs11 has 512 KiB");

    let real = document(&replay(&place, &of(&["--disc", "file:made", "--json"])));
    assert_eq!(fs::metadata(place.path("made")).unwrap().len(), 30 * 4096);
    let modelled = document(&replay(&place, &of(&["--disc", "null", "--json", "--figures"])));
    assert_eq!(real["requests"], modelled["requests"]);
    let tracks = &modelled["figures"]["tracks"];
    let [pieces, bytes] = ["tracks", "track_bytes"].map(|field| tracks[field].as_u64().unwrap());
    assert!((30 * 4096..31 * 4096).contains(&(pieces * bytes)), "{tracks}");
}

/// A signal comes while nothing is asked of a real file for an hour.
#[test]
fn ctrl_c_is_heard_in_front_of_a_real_file() {
    let place = Place::new();
    let hours = "offset,size,time\n0,4096,0\n4096,4096,3600\n8192,4096,7200\n";
    fs::write(place.path("hours.csv"), hours).unwrap();
    let think = ["--set", "think_ms=3600000", "--set", "compute_us=0", "--users", "1"];
    for workload in [&["hours.csv"][..], &[&["tools"], &think[..]].concat()] {
        let mut command = place.nbuf(["replay"]);
        command.args(workload).args(["--size", "5", "--json", "--disc", "file:made"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // What it says of the file it says after it has begun to listen.
        let mut told = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("created ") {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "it ended before");
        }
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = document["warnings"][0].as_str().unwrap();
        assert!(said.starts_with("interrupted after"), "{said}");
        assert!(document["elapsed_seconds"].as_f64().unwrap() < 3_600.0, "{document:#}");
        fs::remove_file(place.path("made")).unwrap();
    }
}

#[test]
fn a_policy_may_have_its_parameter() {
    let place = Place::new();
    let hits = |policy: &str| {
        let made = ["zipf:keys=100,requests=5000", "--size", "8", "--json", "--policy", policy];
        let document = document(&replay(&place, &made));
        assert_eq!(document["policy"], policy);
        document["unit_hits"].clone()
    };
    assert_eq!(hits("v1:busy=0"), hits("lru"));
    assert_eq!(hits("v1:busy=1"), hits("v1"));
    assert_ne!(hits("v1:busy=30"), hits("v1"));
    for (policy, want) in [
        ("v1:busy=x", "write v1:busy=N"),
        ("lru:busy=1", "lru has no parameter: write lru alone"),
        ("opt", "write one of lru, fifo,"),
        ("max-iv:busy=1", "did you mean max-iv? Write that, or another of lru, fifo,"),
    ] {
        let output = replay(&place, &["zipf", "--size", "8", "--policy", policy]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(want) && said.lines().count() == 1, "{said}");
    }
}

/// `DiskSim` has the seek times of a drive in a file of their own, which is no drive.
#[test]
fn the_seek_times_of_a_drive_are_no_drive() {
    let place = Place::new();
    fs::write(place.path("X.seek"), "Seek distances measured: 2\n1,\t1.9\n2,\t2.1\n").unwrap();
    let output = replay(&place, &["zipf", "--size", "8", "--disc", "X.seek"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("X.seek: these are the seek times of a drive alone: give the .model"),
        "{said}"
    );
    assert!(output.status.code() == Some(2) || output.status.code() == Some(125), "{output:?}");
}

#[test]
fn what_would_change_nothing_is_refused() {
    let place = Place::new();
    blocks(&place);
    for (options, want) in [
        (&["--policy", "lru", "--size", "8", "--lists", "3"][..], "are for max-iv"),
        (&["--size", "8", "--address", "plain"], "are for max-iv"),
        (&["--positions", "3"], "are for max-iv"),
        (&["--policy", "none", "--size", "8"], "--size is for a cache"),
        (&["--policy", "none", "--size", "0..8:4"], "--size is for a cache"),
        (&["--writes", "evict"], "--writes is for a cache"),
        (&["--writes", "fill", "--policy", "max-iv", "--size", "8"], "--writes is for a cache"),
        (&["--policy", "max-iv", "--size", "0"], "hits nothing: write 1 or more"),
        (&["--policy", "lru", "--size", "4095B"], "hits nothing: write 1 or more"),
    ] {
        misused(&place, &[&["blocks.log"], options].concat(), want);
    }
    for options in [
        &["--size", "0"][..],
        &["--policy", "none", "--size", "0"],
        &["--policy", "lru", "--size", "0..8:4"],
        &["--policy", "max-iv", "--size", "8", "--lists", "3", "--positions", "3"],
    ] {
        let output = replay(&place, &[&["blocks.log"], options].concat());
        assert!(output.status.success(), "{options:?}: {output:?}");
    }
}

/// A command line that makes no sense: status 2, a line, and what is to be written.
#[test]
fn what_makes_no_sense_is_said_in_a_line() {
    let place = Place::new();
    for (arguments, want) in [
        (&["zipf:keys=0"][..], "`0` is nothing that keys of zipf can be: write keys= and"),
        (&["zipf:writes=2"], "writes= and a share of the requests from 0 to 1"),
        (&["scan:alpha=1"], "`alpha=1` is no option of scan: write keys=10000"),
        (&["tools", "--from", "csv"], "--from is for traces in files: leave it out"),
        (&["zipf", "--from", "csv"], "--from is for traces in files: leave it out"),
    ] {
        let output = replay(&place, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(want) && said.lines().count() == 1, "{said}");
    }
}

/// A disc that fails requests fails the run; a page that has no room is named.
#[test]
fn a_full_disc_is_an_error_with_a_name() {
    if !is_root() {
        return support::skip("a small file system of its own needs root");
    }
    let place = Place::new();
    fs::create_dir(place.path("full")).unwrap();
    // Sizes a little above what a page takes, and below what the requests write.
    let script = "mount -t tmpfs -o size=256k none full && \
                  $0 replay uniform:keys=1000,requests=3000,writes=0.5 --unit 4KiB --disc file:full/disc > report; \
                  echo $?; rm -f full/*; head -c 260000 /dev/zero > full/filler; \
                  $0 replay loop:keys=20,requests=500 --size 0..40:10 --html full/page.html; echo $?";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, NBUF])
        .current_dir(place.path("."))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (told, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if said.contains("unshare failed") || said.contains("permission denied") {
        return support::skip("no mount namespace of its own here");
    }
    let statuses: Vec<&str> = told.lines().filter(|line| line.parse::<u8>().is_ok()).collect();
    assert_eq!(statuses, ["125", "125"], "{told}{said}");
    // What cannot be written as a page is printed all the same.
    assert!(told.contains("worth it: from 20 chunks"), "{told}");
    let line = said.lines().find(|line| line.contains("the disc file:full/disc failed"));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("No space left on device") && line.contains("--disc"), "{line}");
    let line = said.lines().last().unwrap_or_default();
    assert!(line.contains("full/page.html") && line.contains("--html"), "{said}");
    assert!(fs::read_to_string(place.path("report")).unwrap().contains("the disc failed"));
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[test]
fn a_page_is_never_written_over() {
    let place = Place::new();
    let made = ["loop:keys=20,requests=500", "--size", "0..40:10", "--html", "page.html"];
    assert!(replay(&place, &made).status.success());
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("saves nothing more"));
    refused(&place, &made, "page.html exists");
    assert_eq!(fs::read_to_string(place.path("page.html")).unwrap(), page);
}

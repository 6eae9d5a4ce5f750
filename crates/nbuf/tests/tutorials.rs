//! The tutorials, run as a reader runs them: their programs make their files, and their commands run on these.
//!
//! Counts that are the same on every machine are compared with the page. For the others a test makes
//! a smaller workload, and looks for the lines that no machine changes.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nbuf::experiment::result::BenchDocument;
use support::{NBUF, Need, Place, missing, requires_shared, skip};

/// A stand-in for the sockets of Python: a Redis that keeps all values, and writes the lines of MONITOR.
const REDIS: &str = r#"
kept, count, lines = {}, 0, []
log = open("redis.monitor", "w")

class create_connection:
    def __init__(self, address):
        pass

    def makefile(self, mode):
        return self

    def sendall(self, asked):
        global count, lines
        count += 1
        words = asked.decode().split("\r\n")[2::2]
        quoted = " ".join('"%s"' % word for word in words)
        log.write("%.6f [0 127.0.0.1:5000] %s\n" % (1.7e9 + count / 1e4, quoted))
        if words[0] == "SET":
            kept[words[1]] = words[2].encode()
            lines = [b"+OK\r\n"]
        elif words[1] in kept:
            value = kept[words[1]]
            lines = [b"$%d\r\n" % len(value), value + b"\r\n"]
        else:
            lines = [b"$-1\r\n"]

    def readline(self):
        return lines.pop(0)

    def read(self, length):
        return lines.pop(0)
"#;

fn page(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials");
    folder.join(name).canonicalize().unwrap()
}

/// The blocks of a page in a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let mark = format!("```{language}\n");
    let rests = text.split(&*mark).skip(1);
    rests.map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The commands of a page that begin so, as a shell gets them.
fn commands<'a>(text: &'a str, begin: &str) -> Vec<&'a str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.filter(|line| line.starts_with(begin)).collect()
}

/// Runs a script of a page where its files are.
fn shell(script: &str, folder: &Path) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

/// Compares the transcripts of a page, whose files are in the place's `page.in`.
fn compare(page: &Path, place: &Place) {
    symlink(page, place.path("page.md")).unwrap();
    trycmd::TestCases::new().env("COLUMNS", "80").case(place.path("page.md")).run();
}

#[test]
fn the_tutorial_on_a_production_trace_shows_what_the_program_says() {
    if let Some(reason) = missing(Need::Program("awk")) {
        return skip(&reason);
    }
    let page = page("choose-a-cache-size.md");
    let text = fs::read_to_string(&page).unwrap();
    let place = Place::new();
    fs::create_dir(place.path("page.in")).unwrap();
    let trace = File::create(place.path("page.in/volume.csv")).unwrap();
    let mut awk = Command::new("awk");
    assert!(awk.arg(blocks(&text, "awk")[0]).stdout(trace).status().unwrap().success());
    compare(&page, &place);
}

#[test]
fn the_tutorial_on_redis_shows_what_the_program_says() {
    if let Some(reason) = missing(Need::Program("python3")) {
        return skip(&reason);
    }
    let page = page("size-a-redis-cache.md");
    let text = fs::read_to_string(&page).unwrap();
    let place = Place::new();
    let folder = place.path("page.in");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("app.py"), blocks(&text, "python")[0]).unwrap();
    // Python looks for modules next to the program first.
    fs::write(folder.join("socket.py"), REDIS).unwrap();
    let app = text.lines().find(|line| line.starts_with("python3 app.py ")).unwrap();
    let ran = shell(&app.replace("python3", "python3 -B"), &folder);
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(blocks(&text, "console").len(), 1);
    compare(&page, &place);
}

#[test]
fn the_tests_of_the_tutorial_on_io_uring_run() {
    let text = fs::read_to_string(page("is-io-uring-faster.md")).unwrap();
    let [command] = commands(&text, "nbuf bench r-")[..] else { panic!("one list of tests") };
    let tests: Vec<&str> = command.split_whitespace().skip(2).collect();
    assert!(tests.len() >= 4, "{command}");
    let place = Place::new();
    fs::create_dir(place.path("disc")).unwrap();
    // In small: no comparisons, and less time for each.
    let options =
        ["-q", "bench", "--rows", "--quick", "--size", "10MiB", "--dir", "disc", "--json"];
    let mut command = place.nbuf(options.iter().chain(&tests));
    let ran = command.env("XDG_STATE_HOME", place.path("state")).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let document: BenchDocument = serde_json::from_slice(&ran.stdout).unwrap();
    if !document.is_complete {
        return skip("this machine was too busy for four rows of nbuf bench");
    }
    let shown = blocks(&text, "console")[0];
    for test in tests {
        assert!(shown.lines().any(|line| line.starts_with(&format!("  {test} "))), "{test}");
        // A busy machine leaves a row without a number, and an old kernel has no ring.
        let refused = document.refused.iter().map(|refused| refused.test.as_str());
        let mut names = document.rows.iter().map(|row| row.test.as_str()).chain(refused);
        assert!(names.any(|name| name == test), "{test}: {document:?}");
    }
}

#[test]
fn the_service_of_the_tutorial_runs_and_is_sized() {
    let needs = [Need::Tracepoints, Need::Program("python3")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let text = fs::read_to_string(page("size-a-service.md")).unwrap();
    let place = Place::new();
    // In small, and at a port that is free here.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let small = |script: &str| {
        let small = script.replace("8042", &free).replace("range(1500)", "range(300)");
        small.replace("head -c 1M", "head -c 64K")
    };
    let scripts = blocks(&text, "sh");
    let script = |begin: &str| small(scripts.iter().find(|it| it.starts_with(begin)).unwrap());
    let made = shell(&script("mkdir service"), &place.path("."));
    assert!(made.status.success(), "{made:?}");
    let folder = place.path("service");
    assert_eq!(fs::read_dir(folder.join("data")).unwrap().count(), 256);
    fs::write(folder.join("load.py"), small(blocks(&text, "python")[0])).unwrap();
    fs::write(folder.join("run.sh"), script("#!/bin/sh")).unwrap();

    let silent = shell("sh run.sh", &folder);
    assert!(silent.status.success() && silent.stdout.is_empty(), "{silent:?}");

    let commands = commands(&text, "sudo nbuf size --no-verify ");
    assert_eq!(commands.len(), 2);
    for command in commands {
        let arguments = command.strip_prefix("sudo nbuf ").unwrap();
        let ran = shell(&format!("{NBUF} {arguments}"), &folder);
        let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{command}: {said}");
        let target = arguments.split_once("--target ").unwrap().1.split(' ').next().unwrap();
        // Most files are read once or twice, so most accesses are the first to their page.
        let end = if target == "hit=0.95" { " is not met: " } else { "" };
        assert!(said.contains(&format!("--target {target}{end}")), "{command}: {said}");
    }
}

//! `nbuf bench` as people meet it: rows with their label checks, machines that refuse, and ends before the
//! end, of which nothing is left.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use nbuf::experiment::result::{AdviceDocument, BenchDocument, CheckedWay};
use nbuf::internal::sys::process;
use support::{NBUF, Place, skip, until, with_word};

/// Returns the output of a run, and checks that the run leaves its directory empty.
fn bench(place: &Place, arguments: &[&str]) -> Output {
    let directory = place.path("disc");
    fs::create_dir_all(&directory).unwrap();
    let mut command = place.nbuf(["-q", "bench", "--rows", "--quick", "--dir"]);
    command.arg(&directory).args(arguments).env("XDG_STATE_HOME", place.path("state"));
    let output = command.output().unwrap();
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    output
}

#[track_caller]
fn document(output: &Output) -> BenchDocument {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Repeats a run until it has its rows, which a busy machine leaves without a number.
/// Returns none, and counts a skipped test, if the machine is never steady.
fn steady<T>(mut run: impl FnMut() -> Option<T>) -> Option<T> {
    let found = (0..8).find_map(|_| run());
    if found.is_none() {
        skip("this machine was never steady enough for a row of nbuf bench");
    }
    found
}

/// Returns a document that has `count` rows.
fn document_with(count: usize, mut run: impl FnMut() -> Output) -> Option<BenchDocument> {
    steady(|| Some(document(&run())).filter(|document| document.rows.len() == count))
}

/// Its child, once it has one.
fn child_of(bench: &Child) -> Option<i32> {
    let is_ours = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent =
            stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        parent == Some(bench.id())
    };
    with_word("bench-child").into_iter().find(is_ours)
}

/// All tests there are, which takes long enough to be stopped.
fn long(place: &Place) -> Child {
    let directory = place.path("disc");
    fs::create_dir_all(&directory).unwrap();
    let mut command = place.nbuf(["-q", "bench", "--rows", "--json", "--dir"]);
    command.arg(directory).env("XDG_STATE_HOME", place.path("state"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn rows_have_numbers_and_their_label_checks() {
    let place = Place::new();
    let tests = ["r01-byte", "r02-block4096", "r04-stdiobyte", "r07-strideblock", "w04-block4096"];
    let output = bench(&place, &[&tests[..], &["--json", "--samples-out", "s.jsonl"]].concat());
    assert!(output.status.success(), "{output:?}");
    let document = document(&output);
    assert!(document.is_complete, "{document:?}");
    // A busy machine may leave a row without a number, and never without a reason.
    let is_unsteady = |test: &&str| {
        let refused = document.refused.iter().find(|refused| refused.test == **test);
        refused.is_some_and(|refused| refused.reason.starts_with("too unsteady for a number"))
    };
    let steady: Vec<&str> = tests.into_iter().filter(|test| !is_unsteady(test)).collect();
    let names: Vec<&str> = document.rows.iter().map(|row| row.test.as_str()).collect();
    assert_eq!(names, steady);
    for row in &document.rows {
        let (name, check) = (&row.test, &row.label_check);
        assert!(row.low > 0.0 && row.low <= row.bytes_per_second, "{name}");
        assert!(row.bytes_per_second <= row.high && row.clean <= row.samples, "{name}");
        assert!(row.processes >= 5 && row.imac_2011.is_some(), "{name}");
        if row.path == "read" {
            let calls = check.calls_per_operation;
            assert!((0.999..1.001).contains(&calls), "{name}: {calls} calls an operation");
        } else {
            assert!(check.calls_per_operation < 0.01, "{name}: stdio gathers bytes");
        }
        if row.direction == "read" {
            // What the program itself allows: a page of its own that had to be read.
            assert!(check.resident_before_least >= 0.999, "{name}: {check:?}");
            assert!(check.device_read_bytes <= 64 << 10, "{name}: {check:?}");
        }
    }
    let lines = fs::read_to_string(place.path("s.jsonl")).unwrap();
    let samples: u64 = document.rows.iter().map(|row| row.samples).sum();
    let lines = lines.lines().count() as u64; // A row without a number has samples all the same.
    assert!(lines == samples || lines > samples && steady.len() < tests.len());
}

#[test]
fn rates_through_different_libraries_are_not_compared() {
    let place = Place::new();
    let both = ["r01-byte", "r-read-raw-seq-1-hot", "--json"];
    let Some(mut document) = document_with(2, || bench(&place, &both)) else { return };
    let here = nbuf::internal::sys::calls::c_library();
    assert!(document.rows.iter().all(|row| row.c_library == here));
    let write = |name: &str, document: &BenchDocument| {
        fs::write(place.path(name), serde_json::to_vec(document).unwrap()).unwrap();
    };
    write("a.json", &document);
    document.rows[1].c_library = "another 1.0".to_owned();
    write("b.json", &document);
    let compare = |a: &str, b: &str| place.nbuf(["bench", "--compare", a, b]).output().unwrap();
    assert!(compare("a.json", "a.json").status.success());
    for (a, b) in [("a.json", "b.json"), ("b.json", "a.json"), ("b.json", "b.json")] {
        let refused = compare(a, b);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(125), "{said}");
        assert!(said.contains(&here) && said.contains("another 1.0"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn advice_names_its_conditions_and_is_checked_by_doing() {
    let place = Place::new();
    let directory = place.path("disc");
    fs::create_dir_all(&directory).unwrap();
    let pattern = "1, sequential, hot, file 1MiB, touches 64KiB";
    let mut command =
        place.nbuf(["-q", "bench", "advise", "--check", "--json", "--pattern", pattern]);
    let output = command.arg("--dir").arg(&directory).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let advice: AdviceDocument = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((advice.file_bytes, advice.touched_bytes), (1 << 20, 64 << 10));
    // A call a byte is slower by hundreds of times, whatever else runs.
    assert!(advice.ways.iter().all(|way| way.ratio > 5.0), "{:?}", advice.ways);
    let check = advice.check.as_ref().unwrap();
    // A slow machine does a part of the job.
    assert!((1..=64 << 10).contains(&check.job_bytes), "{check:?}");
    assert!(check.ways[0].ratio > 5.0, "{check:?}");
    // On a busy machine the ranges may be too wide for any advice.
    if let Some(best) = advice.advised() {
        let is_advised =
            |way: &CheckedWay| (&way.path, way.block_bytes) == (&best.path, best.block_bytes);
        assert!(check.ways.iter().any(is_advised), "{best:?} {check:?}");
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn a_file_of_the_users_is_read_and_left_as_it_is() {
    let place = Place::new();
    let mine = place.path("mine");
    let bytes: Vec<u8> = (0..300_000_u32).map(|at| at.to_le_bytes()[0]).collect();
    fs::write(&mine, &bytes).unwrap();
    let before = fs::metadata(&mine).unwrap();
    let run = |more: &[&str]| {
        let mut command = place.nbuf(["-q", "bench", "--file", "mine", "--json"]);
        command.args(more).env("XDG_STATE_HOME", place.path("state")).output().unwrap()
    };
    if let Some(document) = document_with(2, || run(&["r01-byte", "r-read-rnd-4096-cold"])) {
        assert!(document.rows.iter().all(|row| row.size_bytes == 300_000));
    }
    assert_eq!(fs::read(&mine).unwrap(), bytes);
    assert_eq!(fs::metadata(&mine).unwrap().modified().unwrap(), before.modified().unwrap());
    let refused = |more: &[&str], want: &str| {
        let output = run(more);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(want), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    };
    refused(&["w03-byte"], "writes, and --file is only read");
    refused(&["--size", "1MiB", "r01-byte"], "--size is more than the 300000 bytes");
}

#[test]
fn tables_are_in_the_form_of_the_course() {
    let place = Place::new();
    let text_of = |format: &[&str]| {
        let text = String::from_utf8(bench(&place, &[&["r01-byte"], format].concat()).stdout);
        Some(text.unwrap()).filter(|text| !text.contains("too unsteady"))
    };
    let Some(text) = steady(|| text_of(&[])) else { return };
    let header = text.lines().nth(1).unwrap_or_default();
    assert!(header.contains("test") && header.contains("iMac 2011"), "{text}");
    let row = text.lines().find(|line| line.contains("r01-byte")).unwrap();
    assert!(row.contains("2.2 MB/s"), "the iMac's: {row}");
    assert!(text.contains("no noise floor was measured"), "{text}");
    let Some(csv) = steady(|| text_of(&["--csv"])) else { return };
    assert!(csv.starts_with("test,path,") && csv.contains("\nr01-byte,read,"), "{csv}");
    let page = bench(&place, &["r01-byte", "--html", "p.html", "--csv"]);
    assert!(page.status.success(), "{page:?}");
    let page = fs::read_to_string(place.path("p.html")).unwrap();
    assert!(page.contains("r01-byte") && !page.contains("https:"));
}

#[test]
fn what_cannot_be_cold_is_refused_and_the_rest_goes_on() {
    if fs::write("/dev/shm/nbuf-bench-test", "").is_err() {
        return skip("no tmpfs at /dev/shm to be written to");
    }
    fs::remove_file("/dev/shm/nbuf-bench-test").unwrap();
    let place = Place::new();
    let mut command = place.nbuf(["-q", "bench", "--rows", "--quick", "--json", "--size", "1MiB"]);
    command.args(["--dir", "/dev/shm", "r-read-seq-4096-cold", "w01-syncbyte", "r02-block4096"]);
    command.env("XDG_STATE_HOME", place.path("state"));
    let Some((output, document)) = steady(|| {
        let output = command.output().unwrap();
        let document = document(&output);
        Some((output, document)).filter(|(_, document)| !document.rows.is_empty())
    }) else {
        return;
    };
    let rows: Vec<&str> = document.rows.iter().map(|row| row.test.as_str()).collect();
    assert_eq!(rows, ["r02-block4096"]);
    let refused =
        |test: &str| document.refused.iter().find(|refused| refused.test == test).unwrap();
    let cold = refused("r-read-seq-4096-cold");
    assert!(cold.reason.contains("cannot be made cold") && !cold.is_contradiction, "{cold:?}");
    // Memory keeps no one waiting, so that this row is not what it says: the run fails.
    let synced = refused("w01-syncbyte");
    assert!(synced.reason.contains("of the operations waited"), "{synced:?}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn killed_it_leaves_no_child_and_no_file() {
    let place = Place::new();
    let mut nbuf = long(&place);
    let mut child = None;
    until("a child", || {
        child = child_of(&nbuf);
        child.is_some()
    });
    // The program that was started is `env`, which became nbuf.
    nbuf.kill().unwrap();
    nbuf.wait().unwrap();
    until("the child is gone", || !support::is_alive(&child.unwrap().to_string()));
    assert_eq!(fs::read_dir(place.path("disc")).unwrap().count(), 0);
}

#[test]
fn interrupted_it_tells_what_it_has() {
    let place = Place::new();
    let nbuf = long(&place);
    until("a child", || child_of(&nbuf).is_some());
    let pid = i32::try_from(nbuf.id()).unwrap();
    process::signal(pid, 2).unwrap();
    let output = nbuf.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{:?} {output:?}", output.status.signal());
    let document = document(&output);
    assert!(!document.is_complete, "{document:?}");
    assert_eq!(fs::read_dir(place.path("disc")).unwrap().count(), 0);
}

#[test]
fn a_full_disc_is_said_in_a_line() {
    if !process::is_root() {
        return skip("mounting a small tmpfs needs root");
    }
    let place = Place::new();
    let disc = place.path("disc");
    fs::create_dir(&disc).unwrap();
    // In a mount namespace of its own, which goes with the shell.
    let script = format!(
        "mount -t tmpfs -o size=2m nbuf-test {0} && cd / && exec {NBUF} -q bench --rows --dir {0} \
         r02-block4096 --html {1}",
        disc.display(),
        place.path("p.html").display()
    );
    let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.starts_with("nbuf: no room for 20.0 MiB in "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!Path::new(&place.path("p.html")).exists());
}

#[test]
fn a_page_that_finds_no_room_does_not_cost_the_report() {
    if !process::is_root() {
        return skip("mounting a small tmpfs needs root");
    }
    let place = Place::new();
    let (disc, small) = (place.path("disc"), place.path("small"));
    fs::create_dir(&disc).unwrap();
    fs::create_dir(&small).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=8k nbuf-test {1} && {NBUF} -q bench --rows --quick --size 1MiB --dir {0} \
         r02-block4096 --html {1}/p.html; status=$?; ls {1}; exit $status",
        disc.display(),
        small.display()
    );
    let mut shell = Command::new("unshare");
    shell.args(["-m", "sh", "-c", &script]).env("XDG_STATE_HOME", place.path("state"));
    let output = shell.output().unwrap();
    let [told, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(told.contains("r02-block4096") && !told.contains("p.html"), "{told}");
    assert!(said.contains("small/p.html") && said.contains("--html"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

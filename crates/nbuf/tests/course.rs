//! `nbuf writer`, `reader` and `memreader` on real files: what they write, say, and refuse.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileTypeExt;
use std::process::{Command, Output, Stdio};

use nbuf::internal::path::data::Data;
use nbuf::internal::sys::process::signal;
use support::{Need, Place, requires};

/// Runs it there; what it wrote to both outputs, and its status.
fn run(place: &Place, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = place.nbuf(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn every_form_of_the_options_writes_the_same_file_and_reads_it() {
    let place = Place::new();
    let want = Data::new(100_000).at(0, 100_000).to_vec();
    let writers: [&[&str]; 7] = [
        &["-n", "100000"],
        &["-n100000", "-b512"],
        &["-n", "100000", "-b", "4096", "-S", "1"],
        &["-n", "100000", "-s", "10000", "-b", "1000"],
        &["-n100000", "-s4096", "-b4096", "-S1"],
        &["-n", "100000", "-b", "50000", "-y", "1"],
        &["-n", "100000", "-b", "50000", "-y1", "-S1", "-s", "50000"],
    ];
    for options in writers {
        let arguments = [&["writer"], options, &["file"]].concat();
        let (status, said, wrong) = run(&place, &arguments);
        assert_eq!((status, wrong.as_str()), (0, ""), "{arguments:?}");
        assert!(said.starts_with("100000 bytes, ") && said.ends_with("B/s\n"), "{said}");
        assert!(fs::read(place.path("file")).unwrap() == want, "{arguments:?}");
    }
    for verb in ["reader", "memreader"] {
        for options in [&["-b", "512"][..], &["-s10000"], &["-s", "4096", "-b4096"], &[]] {
            let arguments = [&[verb, "-n", "100000"], options, &["file"]].concat();
            let (status, said, wrong) = run(&place, &arguments);
            assert_eq!((status, wrong.as_str()), (0, ""), "{arguments:?}");
            assert_eq!(said.lines().count(), 1);
        }
    }
    let (_, said, _) = run(&place, &["reader", "-n100000", "-S1", "-p", "30000", "file"]);
    let bytes: Vec<_> = said.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(bytes, ["30000", "60000", "90000", "100000"]);
}

#[test]
fn an_interrupted_writer_leaves_no_part_of_a_file() {
    let place = Place::new();
    let mut writer = place.nbuf(["writer", "-n", "1TiB", "-p", "1MiB", "part"]);
    let mut child = writer.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    // Open until the end: who stops listening ends it, too.
    let mut told = BufReader::new(child.stdout.take().unwrap());
    told.read_line(&mut line).unwrap();
    assert!(line.ends_with("B/s\n") && !place.path("part").exists(), "{line}");
    signal(i32::try_from(child.id()).unwrap(), 2).unwrap();
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(
        (status.code(), stderr.as_str()),
        (Some(130), "nbuf: interrupted; part: it was not made\n")
    );
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0);
}

#[test]
fn killed_or_unheard_a_writer_leaves_what_was_there() {
    let place = Place::new();
    assert_eq!(run(&place, &["writer", "-n", "100000", "-b", "512", "old"]).0, 0);
    let before = fs::read(place.path("old")).unwrap();
    for name in ["old", "new"] {
        // Strides leave holes, which no user would take for ours.
        let mut writer =
            place.nbuf(["writer", "-n", "1TiB", "-s", "1MiB", "-b", "4096", "-p", "1MiB", name]);
        let mut child = writer.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        let mut told = BufReader::new(child.stdout.take().unwrap());
        told.read_line(&mut line).unwrap();
        signal(i32::try_from(child.id()).unwrap(), 9).unwrap();
        child.wait().unwrap();
        // Who stops listening is no failure, and has no half of a file.
        let mut writer = place.nbuf(["writer", "-n", "300000000", "-b4096", "-p1000000", name]);
        let mut child = writer.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        assert_eq!((status.code(), stderr.as_slice()), (Some(0), &b""[..]));
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 1);
    assert!(fs::read(place.path("old")).unwrap() == before);
    assert_eq!(run(&place, &["writer", "-n", "7", "old"]).0, 0);
}

#[test]
fn a_file_that_is_whole_stays_when_standard_output_is_full() {
    let place = Place::new();
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let mut writer = place.nbuf(["writer", "-n", "100000", "-b", "512", "file"]);
    let Output { status, stderr, .. } = writer.stdout(full()).output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!((status.code(), said.lines().count()), (Some(125), 1), "{said}");
    assert!(said.contains("standard output") && !said.contains("file"), "{said}");
    assert_eq!(fs::metadata(place.path("file")).unwrap().len(), 100_000);
    let (status, _, said) = run(&place, &["writer", "--force", "/proc/version"]);
    assert_eq!(status, 125);
    assert!(said.contains("cannot write /proc/version") && !said.contains("removed"), "{said}");
}

#[test]
fn the_defaults_are_those_of_the_course() {
    let place = Place::new();
    assert_eq!(run(&place, &["writer", "-S", "1"]).0, 0);
    assert_eq!(fs::metadata(place.path("data")).unwrap().len(), 10 << 20);
    let (status, said, _) = run(&place, &["memreader"]);
    assert!(status == 0 && said.starts_with("10485760 bytes, "), "{said}");
}

#[test]
fn what_others_wrote_is_kept() {
    let place = Place::new();
    let others = place.file("others", 10);
    let (status, said, wrong) = run(&place, &["writer", "-n", "5", "others"]);
    assert_eq!((status, said.as_str(), wrong.lines().count()), (125, "", 1), "{wrong}");
    assert!(wrong.contains("--force"), "{wrong}");
    assert_eq!(fs::read(&others).unwrap(), [b'a'; 10]);
    assert_eq!(run(&place, &["writer", "-n", "5", "--force", "others"]).0, 0);
    assert_eq!(fs::metadata(&others).unwrap().len(), 5);
    // It is ours now.
    assert_eq!(run(&place, &["writer", "-n", "7", "others"]).0, 0);

    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for verb in ["writer", "reader", "memreader"] {
        let (status, _, wrong) = run(&place, &[verb, "-n", "5", "pipe"]);
        assert_eq!((status, wrong.lines().count()), (125, 1), "{verb}: {wrong}");
    }
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn a_full_disc_leaves_nothing_half_written() {
    let Some(_lock) = requires(&[Need::Program("unshare")]) else { return };
    let place = Place::new();
    fs::create_dir(place.path("small")).unwrap();
    let script = "mount -t tmpfs -o size=64k none small || exit 77
        for options in '-b 4096' '-S 1' '-b 4096 -S 1' '-y 1 -b 512'; do
            $NBUF writer -n 1000000 $options small/data; echo $?; ls small
        done
        ln -s small/real link
        $NBUF writer -n 1000000 -b 4096 link; echo $?; ls small; readlink link
        $NBUF writer -n 1000 link; $NBUF writer -n 1000000 -b 4096 link; echo $?; wc -c <small/real";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    let output = command.env("NBUF", support::NBUF).current_dir(place.path("")).output().unwrap();
    let (said, wrong) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    if output.status.code() == Some(77) || said.is_empty() {
        support::skip(&format!("no tmpfs of one's own: {wrong}"));
        return;
    }
    let (first, rest) = said.split_at(5 * 4);
    assert_eq!(first, "125\n".repeat(5), "{wrong}");
    let rest: Vec<&str> = rest.lines().collect();
    assert!(rest[1].starts_with("1000 bytes, "), "{rest:?}");
    assert_eq!([rest[0], rest[2], rest[3]], ["small/real", "125", "1000"]);
    assert_eq!(wrong.lines().filter(|line| line.contains("it was not made")).count(), 5, "{wrong}");
    assert!(wrong.lines().last().unwrap().contains("it is as it was"), "{wrong}");
    assert_eq!(wrong.lines().count(), 6, "{wrong}");
}

//! `nbuf record` end to end: what the command sees, what the trace holds.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use nbuf::trace::{CacheEvent, Record};
use support::{
    NBUF, Need, Place, Recorded, bytes, is_alive, requires, requires_shared, skip, until,
};

const PAGE: u64 = 4096;

#[test]
fn the_exit_status_is_the_commands() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    for (script, want) in [("true", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
    {
        let recorded = Place::new().record(script);
        assert_eq!(recorded.status, want, "{recorded:?}");
        assert_eq!(recorded.trace().facts.exit_status, Some(want));
    }
}

#[test]
fn interrupted_it_ends_as_the_signal_has_it() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    // What takes the signal and ends by itself has its own status.
    for (number, (trap, want)) in [("", 130), ("trap 'exit 3' INT TERM;", 3)].iter().enumerate() {
        let (began, trace) = (format!("began{number}"), format!("t{number}.parquet"));
        let script = format!("{trap} touch {began}; while :; do sleep 0.1; done");
        let mut command = place.nbuf(["record", "-q", "-o", &trace, "--", "sh", "-c", &script]);
        let child = command.spawn().unwrap();
        until("the command runs", || place.path(&began).exists());
        nbuf::internal::sys::process::signal(i32::try_from(child.id()).unwrap(), 2).unwrap();
        let recorded = Recorded::of(child.wait_with_output().unwrap(), &place.path(&trace));
        assert_eq!(recorded.status, *want, "{}", recorded.stderr);
        let warnings = &recorded.trace().facts.warnings;
        assert!(warnings.iter().any(|told| told.contains("by signal 2")), "{warnings:?}");
    }
}

#[test]
fn standard_streams_are_the_commands_own() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let mut command = place.nbuf(["record", "-q", "-o", "t.parquet", "--", "cat"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"x\ny\n").unwrap();
    let recorded = Recorded::of(child.wait_with_output().unwrap(), &place.path("t.parquet"));
    assert_eq!((recorded.status, recorded.stdout.as_str()), (0, "x\ny\n"));
    assert_eq!(recorded.stderr, "");

    let recorded = Place::new().record("echo out; echo err >&2");
    assert_eq!(recorded.stdout, "out\n");
    let lines: Vec<&str> = recorded.stderr.lines().collect();
    let [err, events, place] = lines[..] else { panic!("{lines:?}") };
    assert_eq!((err, place), ("err", "nbuf: the trace is t.parquet"));
    assert!(events.ends_with("files recorded, nothing lost"), "{events}");
}

#[test]
fn every_page_of_a_file_is_in_the_trace_under_its_path() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let known = place.file("known file", 300 * 4096 - 100);
    let recorded = place.record("cat 'known file' >/dev/null; cat 'known file' >/dev/null");
    let trace = recorded.trace();
    assert_eq!(bytes(trace, &known, CacheEvent::Read), Some(2 * (300 * PAGE - 100)));
    assert_eq!(trace.facts.capture.lost, 0);
    assert!(!place.path("t.parquet.log").exists(), "the log has served");
    let named = trace.files.iter().filter(|file| file.starts_with("unknown")).count();
    assert_eq!(named, 0, "{:?}", trace.files);
}

#[test]
fn a_task_goes_by_its_number_where_nbuf_runs() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("unshare")]) else {
        return;
    };
    let record = "exec \"$0\" record -q -o t.parquet -- sh -c 'echo $$ >pid; exec cat one'";
    let place = Place::new();
    let one = place.file("one", 40 * 4096);
    for namespaces in [&["--mount"][..], &["--mount", "--pid", "--fork", "--mount-proc"]] {
        let mut command = Command::new("unshare");
        command.args(namespaces).args(["sh", "-c", record, NBUF]).current_dir(place.path(""));
        let recorded = Recorded::of(command.output().unwrap(), &place.path("t.parquet"));
        assert_eq!(recorded.status, 0, "{}", recorded.stderr);
        let pid = fs::read_to_string(place.path("pid")).unwrap();
        let trace = recorded.trace();
        let of_one = |r: &Record| trace.files[r.file.0 as usize] == one.to_string_lossy();
        let tasks: HashSet<u32> =
            trace.records.iter().filter(of_one).map(|record| record.task).collect();
        assert_eq!(tasks, HashSet::from([pid.trim().parse().unwrap()]), "{namespaces:?}");
        fs::remove_file(place.path("t.parquet")).unwrap();
    }
}

#[test]
fn files_are_named_however_the_command_came_by_them() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    for name in ["early", "inherited"] {
        place.file(name, 8 * 4096);
    }
    // Opened before anybody listened: as standard input, and as a descriptor handed down.
    let script = "exec 7<inherited; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", NBUF, "record", "-o", "t.parquet", "--"]);
    command.args(["sh", "-c", "cat >/dev/null; cat <&7 >/dev/null"]);
    command.current_dir(place.path("")).stdin(File::open(place.path("early")).unwrap());
    let recorded = Recorded::of(command.output().unwrap(), &place.path("t.parquet"));
    for name in ["early", "inherited"] {
        let got = bytes(recorded.trace(), &place.path(name), CacheEvent::Read);
        assert_eq!(got, Some(8 * PAGE), "{name}: {recorded:?}");
    }

    let place = Place::new();
    let script = "head -c 40960 /dev/zero > gone; exec 3<gone; rm gone; cat <&3 >/dev/null";
    let recorded = place.record(script);
    let path = place.path("gone");
    let is_ours = |file: &&String| file.starts_with(path.to_str().unwrap());
    let names: Vec<_> = recorded.trace().files.iter().filter(is_ours).collect();
    assert_eq!(names.len(), 1, "{:?}", recorded.trace().files);
    let got = bytes(recorded.trace(), names[0].as_ref(), CacheEvent::Read);
    assert_eq!(got, Some(10 * PAGE));
}

#[test]
fn a_script_that_does_not_say_who_reads_it_is_read_by_the_shell() {
    use std::os::unix::fs::PermissionsExt;
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    fs::write(place.path("script"), "echo \"$0: $# $1\"; exit 3\n").unwrap();
    fs::set_permissions(place.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    // Named, and found.
    let path = format!("{}:/usr/bin:/bin", place.path("").display());
    for (name, zero) in
        [("./script", std::path::PathBuf::from("./script")), ("script", place.path("script"))]
    {
        let mut command = place.nbuf(["record", "-o", "t.parquet", "--", name, "a b", "c"]);
        let output = command.env("PATH", &path).output().unwrap();
        let recorded = Recorded::of(output, &place.path("t.parquet"));
        let told = format!("{}: 2 a b\n", zero.display());
        assert_eq!((recorded.status, recorded.stdout.as_str()), (3, told.as_str()), "{recorded:?}");
        fs::remove_file(place.path("t.parquet")).unwrap();
    }
}

#[test]
fn overwrites_of_cached_pages_are_writes() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let path = place.file("cached", 16 * 4096);
    let recorded =
        place.record("dd if=/dev/zero of=cached bs=4096 count=4 conv=notrunc status=none");
    let trace = recorded.trace();
    let elsewhere = trace.facts.file_devices.iter().find(|(name, _)| path.ends_with(name));
    let device = elsewhere.map_or(0, |&(_, device)| device as usize);
    if trace.facts.devices.get(device).is_none_or(|device| device.filesystem != "ext4") {
        skip("overwrites are seen on ext4 only");
        return;
    }
    assert_eq!(bytes(trace, &path, CacheEvent::Write), Some(4 * PAGE));
    assert_eq!(bytes(trace, &path, CacheEvent::Fill), Some(0), "they were in the cache");
}

#[test]
fn daemons_are_recorded_to_their_end_or_ended_with_the_command() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    // Twice forked, in a session of its own, its parents gone.
    let daemon = |work: &str| format!("(setsid sh -c '{work}' >/dev/null 2>&1 &)");
    let place = Place::new();
    let late = place.file("late", 8 * 4096);
    let recorded = place.record(&daemon("sleep 0.3; cat late"));
    assert_eq!(bytes(recorded.trace(), &late, CacheEvent::Read), Some(8 * PAGE));

    let place = Place::new();
    let wait = "while ! [ -s pid ]; do sleep 0.01; done; exit 5";
    let script = format!("{}; {wait}", daemon("echo $$ > pid; exec sleep 1000"));
    let recorded = place.record_with(&["--until", "main"], &script);
    assert_eq!(recorded.status, 5);
    assert!(recorded.trace.is_some());
    let pid = fs::read_to_string(place.path("pid")).unwrap();
    assert!(!is_alive(&pid), "ended with the command");
}

#[test]
fn under_sudo_the_command_and_the_trace_are_the_sudo_users() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Nobody]) else { return };
    let Some(place) = Place::open_to_all() else { return };
    let mut command = place.nbuf(["record", "--", "sh", "-c", "id -u; id -g; id -G"]);
    command.env("SUDO_UID", "65534").env("SUDO_GID", "65534");
    command.env("XDG_STATE_HOME", place.path("state"));
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "65534\n65534\n65534\n");
    for directory in ["state", "state/nbuf"] {
        let found = fs::metadata(place.path(directory)).unwrap();
        assert_eq!((found.uid(), found.gid()), (65534, 65534), "{directory}");
    }
    let made: Vec<_> = fs::read_dir(place.path("state/nbuf")).unwrap().flatten().collect();
    let [trace] = &made[..] else { panic!("{made:?}") };
    let found = trace.metadata().unwrap();
    assert_eq!((found.uid(), found.gid()), (65534, 65534));
    let name = trace.file_name().into_string().unwrap();
    assert!(name.starts_with("20") && name.ends_with("-sh.parquet"), "{name}");
    assert!(String::from_utf8_lossy(&output.stderr).contains(&name));

    // Root that was called by root stays root.
    let mut command = place.nbuf(["record", "-o", "t.parquet", "--", "id", "-u"]);
    let output = command.env("SUDO_UID", "0").output().unwrap();
    assert_eq!(output.stdout, b"0\n");
}

#[test]
fn losses_are_counted_and_told() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("one", 4096);
    let script = "for i in 1 2 3 4 5 6 7 8 9; do cat one one one one one one one one one; done; \
                  dd if=/dev/zero of=two bs=1M count=64 status=none; \
                  for i in 1 2 3; do dd if=two bs=256 count=200000 status=none; done";
    // A million events a second into a ring that holds 56: no recorder keeps up with that.
    let script = format!("{{ {script}; }} >/dev/null");
    let recorded = place.record_with(&["-q", "--ring-bytes", "4096"], &script);
    let capture = &recorded.trace().facts.capture;
    assert!(capture.lost > 0 && capture.lost < capture.events, "{capture:?}");
    let told = format!("nbuf: LOST {} of {} events", capture.lost, capture.events);
    assert!(recorded.stderr.starts_with(&told), "{}", recorded.stderr);
    assert_eq!(recorded.stderr.lines().count(), 1);
    // Each later reading of the trace says so, too.
    let stat = place.nbuf(["trace", "stat", "t.parquet"]).output().unwrap();
    let said = String::from_utf8(stat.stderr).unwrap();
    let want = format!("{} of {} events were lost", capture.lost, capture.events);
    assert!(said.contains(&want), "{said}");
}

#[test]
fn a_file_made_meanwhile_is_not_overwritten() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let recorded = {
        let mut command = place.nbuf(["record", "-o", "t.parquet", "--"]);
        let output = command.args(["sh", "-c", "echo mine > t.parquet"]).output().unwrap();
        Recorded::of(output, &place.path("none"))
    };
    assert_eq!(recorded.status, 125);
    assert_eq!(fs::read_to_string(place.path("t.parquet")).unwrap(), "mine\n");
    assert!(recorded.stderr.contains("nbuf trace recover t.parquet.log"), "{recorded:?}");
    let recover = ["trace", "recover", "t.parquet.log", "-o", "u.parquet"];
    assert!(place.nbuf(recover).status().unwrap().success());
    let recovered =
        Recorded::of(place.nbuf(["--version"]).output().unwrap(), &place.path("u.parquet"));
    assert!(!recovered.trace().records.is_empty());
}

#[test]
fn what_a_dead_nbuf_left_is_removed_and_told() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let Some(parent) = nbuf::internal::sys::cgroup::Hierarchies::of_this_process().memory_v1 else {
        skip("no memory controller of version 1");
        return;
    };
    let namespace = nbuf::internal::sys::process::pid_namespace();
    let left = parent.join(format!("nbuf-{namespace}-{}-1-0", i32::MAX));
    if let Err(error) = fs::create_dir(&left) {
        skip(&format!("cannot make a cgroup: {error}"));
        return;
    }
    let recorded = Place::new().record("true");
    let told = format!("nbuf: removed what a killed nbuf left behind: {}", left.display());
    assert!(recorded.stderr.contains(&told), "{}", recorded.stderr);
    until("the group is gone", || !left.exists());
}

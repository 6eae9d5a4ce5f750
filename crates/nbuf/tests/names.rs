//! Names of files that others open meanwhile are written nowhere, and their file systems are not
//! held.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::{Child, Command, Stdio};

use nbuf::trace::CacheEvent;
use support::{NBUF, Need, Place, Recorded, bytes, requires, requires_shared, skip, until};

/// No file of the command has this in its name.
const SECRET: &str = "a-letter-of-resignation";

/// Reads one file, waits for others to read theirs, reads another one.
const COMMAND: &str = "cat first >/dev/null; touch running
    while ! [ -e go ]; do sleep 0.01; done; cat second >/dev/null
    while ! [ -e stop ]; do sleep 0.01; done";

/// A recording under way, which is ended with this value.
struct Recording(Child);

impl Drop for Recording {
    fn drop(&mut self) {
        // What it records ends with it.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Whether the log has these bytes by now.
fn log_has(place: &Place, text: &str) -> bool {
    let log = fs::read(place.path("t.parquet.log")).unwrap_or_default();
    log.windows(text.len()).any(|part| part == text.as_bytes())
}

/// A recording that goes on: a process has read a secret, and the log has the reads after it.
fn beside_a_secret(place: &Place) -> Recording {
    for name in ["first", "second", SECRET] {
        place.file(name, 8 * 4096);
    }
    let mut nbuf = place.nbuf(["record", "-q", "-o", "t.parquet", "--", "sh", "-c", COMMAND]);
    let nbuf = Recording(nbuf.stdout(Stdio::null()).spawn().unwrap());
    until("the command runs", || place.path("running").exists());
    let read = Command::new("cat").arg(place.path(SECRET)).output().unwrap();
    assert_eq!(read.stdout.len(), 8 * 4096);
    fs::write(place.path("go"), "").unwrap();
    until("the log has what was read after it", || log_has(place, "/second"));
    assert!(log_has(place, "/first"));
    nbuf
}

#[test]
fn what_others_open_is_in_no_log_and_in_no_trace() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let mut nbuf = beside_a_secret(&place);
    assert!(!log_has(&place, SECRET), "while it runs");
    fs::write(place.path("stop"), "").unwrap();
    assert!(nbuf.0.wait().unwrap().success());
    let recorded =
        Recorded::of(place.nbuf(["--version"]).output().unwrap(), &place.path("t.parquet"));
    let trace = recorded.trace();
    for name in ["first", "second"] {
        assert_eq!(
            bytes(trace, &place.path(name), CacheEvent::Read),
            Some(8 * 4096),
            "{:?}",
            trace.files
        );
    }
    assert!(!format!("{:?} {:?}", trace.files, trace.facts).contains(SECRET));
}

#[test]
fn a_killed_recording_leaves_no_name_of_what_others_opened() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    drop(beside_a_secret(&place));
    assert!(!log_has(&place, SECRET), "in the log that is left");
    let recover = ["trace", "recover", "t.parquet.log", "-o", "u.parquet"];
    let recorded = Recorded::of(place.nbuf(recover).output().unwrap(), &place.path("u.parquet"));
    let trace = recorded.trace();
    assert_eq!(
        bytes(trace, &place.path("first"), CacheEvent::Read),
        Some(8 * 4096),
        "{:?}",
        trace.files
    );
    assert!(!format!("{:?} {:?}", trace.files, trace.facts).contains(SECRET));
}

/// Runs a script among mounts that no other process sees; 99 is that nothing can be mounted.
fn among_private_mounts(place: &Place, script: &str) -> Option<std::process::Output> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", script, NBUF]);
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    let output = command.current_dir(place.path("")).output().unwrap();
    if output.status.code() == Some(99) {
        skip(&format!("nothing can be mounted: {}", String::from_utf8_lossy(&output.stderr)));
        return None;
    }
    Some(output)
}

#[test]
fn a_stopped_recording_holds_nobodys_file_system() {
    let needs = ["unshare", "mkfs.ext4", "losetup"].map(Need::Program);
    let Some(_lock) = requires_shared(&[&[Need::Tracepoints, Need::Loop], &needs[..]].concat())
    else {
        return;
    };
    let place = Place::new();
    place.file("file", 8 * 4096);
    // `used` is read by the command too, `early` is there as the recording begins, `late` is not.
    let script = "for disc in used early late; do
            truncate -s 8M $disc.image && mkfs.ext4 -qF $disc.image && mkdir $disc || exit 99
            mount -o loop $disc.image $disc || exit 99; cp file $disc; sync -f $disc
        done; umount late || exit 98
        \"$0\" record -q -o t.parquet -- sh -c 'cat used/file >/dev/null; touch running
            while ! [ -e stop ]; do sleep 0.01; done' &
        nbuf=$!
        while ! [ -e running ]; do sleep 0.01; kill -0 $nbuf || exit 97; done; sleep 0.1
        mount -o loop late.image late || exit 99
        kill -STOP $nbuf
        while ! grep -q '^State:.T' /proc/$nbuf/status; do sleep 0.01; done
        for disc in used early late; do
            cat $disc/file $disc/file >/dev/null; umount $disc || echo $disc >>held
        done
        kill -CONT $nbuf; touch stop; wait $nbuf";
    let Some(output) = among_private_mounts(&place, script) else { return };
    let held = fs::read_to_string(place.path("held")).unwrap_or_default();
    assert_eq!(held, "", "cannot be unmounted: {}", String::from_utf8_lossy(&output.stderr));
    let recorded = Recorded::of(output, &place.path("t.parquet"));
    assert_eq!(recorded.status, 0, "{recorded:?}");
    let read = bytes(recorded.trace(), &place.path("used/file"), CacheEvent::Read);
    assert_eq!(read, Some(8 * 4096), "{:?}", recorded.trace().files);
}

#[test]
fn a_log_in_memory_is_not_the_commands() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("unshare")]) else {
        return;
    };
    let place = Place::new();
    let script = "mkdir memory && mount -t tmpfs -o size=64m none memory || exit 99
        head -c 4096 /dev/zero >memory/own
        \"$0\" record -o memory/t.parquet -- cat memory/own >/dev/null; status=$?
        cp memory/t.parquet . && exit $status";
    let Some(output) = among_private_mounts(&place, script) else { return };
    let recorded = Recorded::of(output, &place.path("t.parquet"));
    assert_eq!(recorded.status, 0, "{recorded:?}");
    let shown: Vec<_> = recorded.trace().facts.uncached.iter().map(|of| of.file.clone()).collect();
    assert_eq!(shown, [place.path("memory/own").to_str().unwrap()]);
}

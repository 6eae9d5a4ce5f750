//! Recording by system calls, as an ordinary user: the effects that the command notices, the
//! contents of the trace, and whether the curve agrees with the curve of the tracepoints.

#![expect(clippy::print_stderr, reason = "the figures are wanted beside the verdict")]

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use nbuf::internal::cache::kernel::{Replacement, Stream, simulate};
use nbuf::internal::sys::{process, seccomp};
use nbuf::internal::workload::record::traced;
use nbuf::trace::{CacheEvent, Detour};
use nbuf::units::Pages;
use support::{
    Need, Place, Recorded, bytes, is_alive, requires, requires_shared, skip, until, with_word,
};

const PAGE: u64 = 4096;

/// A place that anybody may write to, with the program, that anybody may execute.
struct Ordinary {
    place: Place,
    nbuf: PathBuf,
}

impl Ordinary {
    /// None, with a message, where processes cannot be traced or `nobody` cannot walk to a disc.
    fn new() -> Option<Self> {
        if let Err(error) = traced::probe() {
            skip(&format!("recording by system calls: {error}"));
            return None;
        }
        let Some(place) = Place::open_to_all() else {
            skip("/var/tmp is not on a disc");
            return None;
        };
        let nbuf = place.program();
        Some(Self { place, nbuf })
    }

    /// `nbuf` as `nobody`, about to run here.
    fn nbuf(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.nbuf);
        command.args(arguments).current_dir(self.place.path("")).env("HOME", "/nonexistent");
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env_remove("SUDO_UID").env_remove("SUDO_GID").env_remove("XDG_STATE_HOME");
        if process::is_root() {
            command.uid(65534).gid(65534);
        }
        command
    }

    /// Records as `nobody` into `calls.parquet`.
    fn record(&self, command: &[&str]) -> Recorded {
        let mut nbuf = self.nbuf(&["record", "-o", "calls.parquet", "--"]);
        let output = nbuf.args(command).output().unwrap();
        Recorded::of(output, &self.place.path("calls.parquet"))
    }

    fn run(&self, script: &str) -> Recorded {
        self.record(&["sh", "-c", script])
    }

    /// Records as ourselves, by tracepoints.
    fn record_by_tracepoints(&self, command: &[&str]) -> Recorded {
        let mut nbuf = self.place.nbuf(["record", "--capture", "perf", "-o", "perf.parquet", "--"]);
        nbuf.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", "/nonexistent");
        let output: Output = nbuf.args(command).output().unwrap();
        Recorded::of(output, &self.place.path("perf.parquet"))
    }
}

#[test]
fn where_tracing_is_refused_it_is_said_and_nothing_is_left() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let Some(ordinary) = Ordinary::new() else { return };
    let arguments = ["record", "--capture", "calls", "-o", "calls.parquet", "--", "true"];
    // A filter applies to the thread that sets it, and to the processes that it starts.
    let refused = || {
        seccomp::refuse(&[libc::SYS_ptrace]).unwrap();
        ordinary.nbuf(&arguments).output().unwrap()
    };
    let output = std::thread::scope(|scope| scope.spawn(refused).join().unwrap());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(125), "{told}");
    assert!(told.starts_with("nbuf: not permitted to trace a command ("), "{told}");
    assert!(told.contains("run `nbuf doctor`") && told.lines().count() == 1, "{told}");
    let left = |name| ordinary.place.path(name).exists();
    assert!(!left("calls.parquet") && !left("calls.parquet.log"), "{told}");
}

#[test]
fn an_ordinary_users_first_run_works_and_says_what_it_cannot_see() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let Some(here) = Ordinary::new() else { return };
    let read = here.place.file("read", 100 * 4096 - 7);
    let recorded = here.run("cat read >/dev/null; exit 3");
    assert_eq!(recorded.status, 3, "{recorded:?}");
    let trace = recorded.trace();
    assert_eq!(trace.facts.capture.backend, "calls");
    assert_eq!(bytes(trace, &read, CacheEvent::Read), Some(100 * PAGE - 7));
    assert!(trace.facts.memory.anonymous_bytes.0 > 0, "estimated: {:?}", trace.facts.memory);
    let lines: Vec<&str> = recorded.stderr.lines().collect();
    assert!(
        lines[0].starts_with("nbuf: recording by system calls, because tracepoints are closed"),
        "{lines:?}"
    );
    assert!(lines[0].contains("sudo") || lines[0].contains("--privileged"), "{lines:?}");
    assert!(lines[1].starts_with("nbuf: not seen: touches of mapped pages"), "{lines:?}");

    here.place.file("large", 16 << 20);
    let script = "cat large large large large large >/dev/null";
    let mut nbuf = here.nbuf(&["size", "--json", "--", "sh", "-c", script]);
    let sized = Recorded::of(nbuf.output().unwrap(), &here.place.path("none"));
    assert_eq!(sized.status, 0, "{sized:?}");
    let document = sized.json();
    assert_eq!(document["capture"]["backend"], "calls");
    // The file is root's: `nobody` cannot see whether it is in memory, and nbuf does not assume it.
    let distinct = document["capture"]["distinct_pages"].as_u64().unwrap();
    assert!((4096..6000).contains(&distinct), "{document}");
    let limit =
        document["recommend"]["limit_bytes"].as_u64().unwrap_or_else(|| panic!("{document}"));
    assert!(limit < 64 << 20, "{document}");
    assert!(sized.stderr.contains("nothing will be verified"), "{}", sized.stderr);
    assert!(sized.stderr.contains("not seen: touches of mapped pages"), "{}", sized.stderr);
}

#[test]
fn statuses_and_signals_are_the_commands_own() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let cases = [
        ("true", 0),
        ("exit 3", 3),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("trap 'exit 9' TERM; kill -TERM $$; exit 1", 9),
        ("trap '' TERM; kill -TERM $$; exit 4", 4),
        // A stopped job goes on at SIGCONT, and its shell is notified of both.
        (
            "sh -c 'kill -STOP $$; exit 6' & p=$!
            while sleep 0.2; kill -CONT $p 2>/dev/null; do :; done; wait $p",
            6,
        ),
        ("nothing-by-this-name", 127),
    ];
    for (script, want) in cases {
        let Some(here) = Ordinary::new() else { return };
        let recorded = here.run(script);
        assert_eq!(recorded.status, want, "{script}: {recorded:?}");
        assert_eq!(recorded.trace().facts.exit_status, Some(want));
    }
    // A folder that may not be searched does not make a program of a name that is nowhere.
    let Some(here) = Ordinary::new() else { return };
    fs::create_dir(here.place.path("closed")).unwrap();
    fs::set_permissions(here.place.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let mut nbuf = here.nbuf(&["record", "-o", "none.parquet", "--", "nothing-by-this-name"]);
    let path = format!("{}:/usr/bin:/bin", here.place.path("closed").display());
    let output = nbuf.env("PATH", path).output().unwrap();
    fs::set_permissions(here.place.path("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(127), "{told}");

    let Some(here) = Ordinary::new() else { return };
    let jobs =
        "set -m; sleep 0.3 & kill -STOP $!; sleep 0.1; jobs; kill -CONT $!; wait $!; echo $?";
    let recorded = here.record(&["bash", "-c", jobs]);
    if recorded.status == 127 {
        skip("no bash");
        return;
    }
    assert!(recorded.stdout.contains("Stopped"), "{recorded:?}");
}

#[test]
fn threads_forks_and_daemons_are_followed() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let Some(here) = Ordinary::new() else { return };
    let late = here.place.file("late", 8 * 4096);
    let daemon = "(setsid sh -c 'sleep 0.3; cat late' >/dev/null 2>&1 &)";
    let recorded = here.run(daemon);
    assert_eq!(bytes(recorded.trace(), &late, CacheEvent::Read), Some(8 * PAGE), "{recorded:?}");

    let Some(here) = Ordinary::new() else { return };
    let many = here.place.file("many", 16 * 4096);
    let recorded = here.run("for i in 1 2 3 4 5 6 7 8; do cat many >/dev/null & done; wait");
    assert_eq!(bytes(recorded.trace(), &many, CacheEvent::Read), Some(8 * 16 * PAGE));

    let Some(here) = Ordinary::new() else { return };
    let path = here.place.file("threads", 64 * 4096);
    let script = "
import os, threading
f = os.open('threads', 0)
def read(at):
    for i in range(16): os.pread(f, 4096, (at * 16 + i) * 4096)
threads = [threading.Thread(target=read, args=(at,)) for at in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
# A thread that executes ends all others, and takes the process's number.
threading.Thread(target=lambda: os.execvp('sh', ['sh', '-c', 'cat threads; exit 5'])).start()
import time; time.sleep(60)";
    let recorded = here.record(&["/usr/bin/python3", "-c", script]);
    if recorded.status == 127 {
        skip("threads: no /usr/bin/python3");
        return;
    }
    assert_eq!(recorded.status, 5, "{recorded:?}");
    assert_eq!(bytes(recorded.trace(), &path, CacheEvent::Read), Some(2 * 64 * PAGE));
}

#[test]
fn the_command_dies_with_its_recorder() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let Some(here) = Ordinary::new() else { return };
    let script = "(setsid sh -c 'sleep 987651' &) ; echo $$ > pid; sleep 987652";
    let mut nbuf = here.nbuf(&["record", "-o", "t.parquet", "--", "sh", "-c", script]);
    let mut child = nbuf.stderr(Stdio::null()).spawn().unwrap();
    let running = || with_word("987651").len() + with_word("987652").len();
    // The script itself has both words in one argument, which is neither.
    until("both sleep", || running() == 2);
    let pid = fs::read_to_string(here.place.path("pid")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    until("nothing of the command is left", || running() == 0 && !is_alive(&pid));
    // What was seen until then is not lost.
    let recover = ["trace", "recover", "t.parquet.log", "-o", "t.parquet"];
    assert!(here.nbuf(&recover).stderr(Stdio::null()).status().unwrap().success());
}

#[test]
fn advice_is_heard() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let Some(here) = Ordinary::new() else { return };
    let file = here.place.file("file", 64 * 4096);
    let script = "cat file >/dev/null; dd if=file of=/dev/null bs=4k count=4 status=none
        dd if=file iflag=nocache count=0 status=none";
    let recorded = here.run(script);
    assert_eq!(recorded.status, 0, "{recorded:?}");
    let trace = recorded.trace();
    let number = trace.files.iter().position(|name| *name == file.to_str().unwrap()).unwrap();
    let of_file = trace.records.iter().filter(|record| record.file.0 as usize == number);
    let (mut told, mut left) = (Vec::new(), 0);
    for record in of_file {
        match record.op {
            CacheEvent::Advise => told.push(record.length_bytes),
            CacheEvent::Evict => left += u64::from(record.length_bytes) / PAGE,
            _ => {}
        }
    }
    // `cat` says that it reads in sequence, `dd` says nothing, or that nothing will be wanted again.
    assert_eq!((told, left), (vec![2], 64), "{:?}", trace.files);
}

#[test]
fn what_is_not_followed_is_named() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let Some(here) = Ordinary::new() else { return };
    here.place.file("past", 64 * 4096);
    let recorded = here.run("dd if=past of=/dev/null bs=64k iflag=direct status=none");
    if recorded.status != 0 {
        skip("no O_DIRECT here");
        return;
    }
    let past = here.place.path("past");
    let [uncached] = &recorded.trace().facts.uncached[..] else { panic!("{recorded:?}") };
    assert_eq!((uncached.detour, uncached.calls), (Detour::Direct, 5), "{uncached:?}");
    let told =
        format!("nbuf: warning: 5 calls of {} went past the page cache (O_DIRECT)", past.display());
    assert!(recorded.stderr.contains(&told), "{recorded:?}");
}

#[test]
fn the_curve_of_short_processes_is_near_that_of_the_tracepoints() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Nobody]) else { return };
    let steps = "i=0; while [ $i -lt 80 ]; do
        dd if=a of=/dev/null bs=4k count=480 skip=$((i * 37 % 49 * 32)) status=none; i=$((i + 1)); done";
    let tree = "for i in 1 2 3; do grep -r nothing tree; done; grep -c x a; true";
    for script in [steps, tree] {
        let Some(here) = Ordinary::new() else { return };
        here.place.file("a", 8 << 20);
        fs::create_dir(here.place.path("tree")).unwrap();
        for i in 0..400 {
            here.place.file(&format!("tree/{i}"), 1000 + 97 * i);
        }
        // The recorder looks now and then at the maps of these processes, which are gone in a
        // millisecond. Any two recordings differ by some percent, whatever process makes them. A
        // cliff of the curve is at a size that is a little larger or smaller.
        compare(&here, &["sh", "-c", script], Apart { up: 20, along: 15 });
    }
}

#[test]
fn the_curve_of_a_database_is_near_that_of_the_tracepoints() {
    let needs = [Need::Tracepoints, Need::Nobody, Need::Program("sqlite3")];
    let Some(_lock) = requires(&needs) else { return };
    let Some(here) = Ordinary::new() else { return };
    let make = "create table t(k integer primary key, v text); with recursive c(i) as \
                (select 1 union all select i + 1 from c where i < 60000) \
                insert into t select i, hex(randomblob(60)) from c;";
    let status = Command::new("sqlite3").arg(here.place.path("db")).arg(make).status().unwrap();
    assert!(status.success());
    let queries =
        (0..4000u64).map(|i| format!("select v from t where k={};\n", i * i % 59_999 + 1));
    fs::write(here.place.path("queries"), queries.collect::<String>()).unwrap();
    // It passed in six runs of six next to two busy loops.
    let apart = Apart { up: 10, along: 3 };
    compare(&here, &["sqlite3", "-readonly", "db", ".read queries"], apart);
}

/// How far two curves may be apart.
#[derive(Clone, Copy)]
struct Apart {
    /// In fills, percent.
    up: u64,
    /// In sizes, percent of the footprint: where a curve falls steeply, its fills say little.
    along: u64,
}

/// Records both ways and compares the fills, from a quarter of the footprint on. The recorder looks
/// at mapped pages when it gets a processor: next to four busy loops and a writer, one of many
/// recordings was 11 % away, and next to a compiler two in a row. It must be near in one of four.
#[track_caller]
fn compare(here: &Ordinary, command: &[&str], apart: Apart) {
    let mut compared = near(here, command, apart);
    for _ in 1..4 {
        let Err(why) = &compared else { break };
        eprintln!("again: {why}");
        for name in ["calls.parquet", "perf.parquet"] {
            fs::remove_file(here.place.path(name)).unwrap();
        }
        compared = near(here, command, apart);
    }
    assert_eq!(compared, Ok(()), "{command:?}");
}

fn near(here: &Ordinary, command: &[&str], apart: Apart) -> Result<(), String> {
    let by_calls = here.record(command);
    let by_tracepoints = here.record_by_tracepoints(command);
    assert_eq!((by_calls.status, by_tracepoints.status), (0, 0), "{by_calls:?}");
    // Where one window of readahead is larger than the cache, a single fault decides everything:
    // the usual 128 KiB, whatever this disc has.
    let stream = |recorded: &Recorded| {
        let mut trace = recorded.trace().clone();
        trace.facts.devices.iter_mut().for_each(|device| device.readahead_bytes = 128 << 10);
        Stream::of(trace.records, &trace.files, &trace.facts, &[])
    };
    let (calls, tracepoints) = (stream(&by_calls), stream(&by_tracepoints));
    let footprint = simulate(&tracepoints, Replacement::Lru, Pages(u64::from(u32::MAX))).peak.0;
    for part in [25, 40, 50, 60, 75, 90, 100] {
        for order in [Replacement::Lru, Replacement::ActiveInactive] {
            let fills = |stream, part| simulate(stream, order, Pages(footprint * part / 100)).fills;
            let got = fills(&calls, part);
            let near = [part - apart.along, part, part + apart.along];
            let near = near.map(|part| fills(&tracepoints, part));
            let (least, most) = (near.iter().min().unwrap(), near.iter().max().unwrap());
            let what = format!("{order:?} at {part} % of {footprint} pages: {got}, not {near:?}");
            if got * 100 < least * (100 - apart.up) || got * 100 > most * (100 + apart.up) {
                return Err(what);
            }
            eprintln!("{what}");
        }
    }
    Ok(())
}

//! Everything ends: fork bombs, whatever ends nbuf; and commands of an nbuf that was started oddly.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nbuf::internal::clock::Stopwatch;
use nbuf::internal::sys::process::signal;
use support::pids::{NOT_JOINED, Pids};
use support::{NBUF, Need, Place, groups_of, requires, requires_shared, skip, until};

const NEEDS: [Need; 3] = [Need::Tracepoints, Need::Nobody, Need::Program("python3")];
const PROCESSES: u32 = 400;
/// Pairs of a limit and a command that run at once.
const LIMIT_LANES: usize = 3;
/// Ten times what is promised.
const DEADLINE: Duration = Duration::from_secs(20);

/// Forks as long as it may, and does not end when it is asked to.
const BOMB: &str = "import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.001)
    try:
        os.waitpid(-1, os.WNOHANG)
    except OSError:
        pass
";

/// What ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Signal(i32),
    MaxTime,
}

/// Starts a bomb under `nbuf`, as root or as `nobody`, and waits until it is large, or its time is over.
fn start(place: &Place, pids: &Pids, trace: &str, end: End, capture: &str, user: &[&str]) -> Child {
    let program = place.path("nbuf");
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,QUIT"]).args(user).arg(program);
    match end {
        End::Signal(_) => command.args(["record", "-o", trace]),
        End::MaxTime => command.args(["size", "-y", "--no-verify", "--max-time", "2s"]),
    };
    command.args(["--capture", capture, "--", "python3", "-c", BOMB]);
    command.current_dir(place.path("")).env("XDG_STATE_HOME", place.path("his"));
    command.env_remove("SUDO_UID");
    let mut command = pids.within(&command);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).spawn();
    let mut child = child.unwrap();
    until("the bomb is large", || {
        let is_over = end == End::MaxTime && child.try_wait().unwrap().is_some();
        is_over || pids.processes().len() >= 300
    });
    child
}

#[test]
fn fork_bombs_end_with_nbuf_and_when_they_are_told_to() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let Some(place) = Place::open_to_all() else { return };
    place.program();
    fs::create_dir(place.path("his")).unwrap();
    std::os::unix::fs::chown(place.path("his"), Some(65534), Some(65534)).unwrap();
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let ends = [End::Signal(9), End::Signal(15), End::Signal(2), End::MaxTime];
    let whos: [(&str, &[&str]); 3] = [("perf", &[]), ("calls", &[]), ("calls", &nobody)];
    if Pids::of(1).is_none() {
        skip("no pids controller of cgroup v1");
        return;
    }
    // Two ends at a time: a bomb waits for its processes most of the time.
    std::thread::scope(|scope| {
        for (lane, ends) in ends.chunks(2).enumerate() {
            let place = &place;
            scope.spawn(move || {
                for (end, (capture, user)) in
                    ends.iter().flat_map(|&end| whos.map(|who| (end, who)))
                {
                    bomb_ends(place, lane, end, capture, user);
                }
            });
        }
    });
}

/// One bomb, until nothing is left of it.
fn bomb_ends(place: &Place, lane: usize, end: End, capture: &str, user: &[&str]) {
    let pids = Pids::of(PROCESSES).unwrap();
    let trace = format!("his/{lane}.parquet");
    let mut child = start(place, &pids, &trace, end, capture, user);
    let began = Stopwatch::start();
    let us = i32::try_from(child.id()).unwrap();
    if let End::Signal(number) = end {
        signal(us, number).unwrap();
    }
    until("the bomb is gone", || pids.processes().iter().all(|&pid| pid == us));
    let took = began.elapsed();
    assert!(took < DEADLINE, "{end:?} {capture} {user:?}: {took:?}");
    let status = child.wait().unwrap();
    assert_ne!(status.code(), Some(NOT_JOINED), "{end:?} {capture} {user:?}");
    until("no group is left", || groups_of(child.id()).is_empty());
    for name in [trace.clone(), format!("{trace}.log")] {
        let _ = fs::remove_file(place.path(&name));
    }
}

#[test]
fn a_time_limit_holds_while_nbuf_is_stopped() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = Place::new();
    let mut command = Command::new(NBUF);
    command.args(["size", "-y", "--no-verify", "--max-time", "2s", "--capture", "perf", "--"]);
    let script = "echo $$ >number; mv number started; exec sleep 600";
    command.args(["sh", "-c", script]).env_remove("SUDO_UID");
    command.current_dir(place.path("")).env("XDG_STATE_HOME", place.path(""));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).stdin(Stdio::null()).spawn();
    let child = child.unwrap();
    let us = i32::try_from(child.id()).unwrap();
    until("the command runs", || place.path("started").exists());
    signal(us, 19).unwrap();
    let began = Stopwatch::start();
    let sleep = fs::read_to_string(place.path("started")).unwrap();
    until("the command has ended", || !Path::new("/proc").join(sleep.trim()).exists());
    let took = began.elapsed();
    signal(us, 18).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(took < DEADLINE, "{took:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("the time is up"), "{output:?}");
}

/// Runs `"$@"` of a shell that was set up so, bare and under both captures.
fn compare(place: &Place, setup: &str, command: &[&str]) {
    let run = |prefix: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{setup} \"$@\""), "sh"]).args(prefix).args(command);
        shell.current_dir(place.path("")).env_remove("SUDO_UID").output().unwrap()
    };
    let bare = run(&[]);
    for capture in ["perf", "calls"] {
        let under = run(&[NBUF, "record", "-o", "t.parquet", "--capture", capture, "--"]);
        let same = (under.status.code(), &under.stdout) == (bare.status.code(), &bare.stdout);
        assert!(same, "{setup} {command:?}, {capture}: {bare:?} {under:?}");
        fs::remove_file(place.path("t.parquet")).unwrap();
    }
}

#[test]
fn a_command_is_started_as_nbuf_was() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = Place::new();
    let signals = ["grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"];
    for setup in [
        "exec",
        "exec env --ignore-signal=CHLD",
        "exec env --ignore-signal=PIPE,INT,HUP,TSTP,XFSZ",
        "exec env --default-signal=PIPE",
        "exec env --block-signal=INT,TERM,CHLD,USR1,PIPE",
    ] {
        compare(&place, setup, &signals);
    }
    let open = [
        "python3",
        "-c",
        "import os\nfor fd in range(3):\n try: os.fstat(fd); print(fd)\n \
                except OSError: pass",
    ];
    for setup in ["exec", "exec <&-", "exec 2>&-", "exec <&- 2>&-"] {
        compare(&place, setup, &open);
    }
    compare(&place, "exec env --default-signal=PIPE", &["sh", "-c", "yes | head -1; echo $?"]);
    compare(&place, "exec env --ignore-signal=PIPE", &["sh", "-c", "yes 2>/dev/null | head -1"]);
    compare(&place, "exec env -u HOME", &["sh", "-c", "echo ${HOME-none}"]);
    let parent = "import ctypes; v = ctypes.c_int(9); ctypes.CDLL(None).prctl(2, ctypes.byref(v)); \
                  print(v.value)";
    compare(&place, "exec", &["python3", "-c", parent]);
}

/// What has gone wrong is said in a line or two, with a status of ours.
fn is_graceful(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    let is_plain = !["panicked", "BACKTRACE", "core dumped"].iter().any(|word| said.contains(word));
    is_plain
        && output.status.code().is_some_and(|status| status <= 2 || (125..128).contains(&status))
}

/// The least address space with which the kernel lets a program begin: test builds map 34 to 55 MB themselves.
fn least_kib(program: &str) -> u64 {
    let begins = |kib: &u64| {
        let bound = format!("--as={}", kib << 10);
        let output = Command::new("prlimit").args([&bound, program, "--version"]).output().unwrap();
        output.status.signal().is_none()
    };
    (20_000..200_000).step_by(2_000).find(begins).expect("some address space is enough")
}

#[test]
fn small_limits_are_borne_or_named() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let Some(place) = Place::open_to_all() else { return };
    let program = place.program();
    let program = program.to_str().unwrap();
    let lines: Vec<String> = (0..2000).map(|line| (line * 7919 % 1009).to_string()).collect();
    fs::write(place.path("keys.csv"), format!("key\n{}\n", lines.join("\n"))).unwrap();
    let verbs = [
        "record -o t.parquet --capture perf -- true",
        "record -o t.parquet --capture calls -- true",
        "size -y --no-verify -- cat /etc/passwd",
        "curve --policy all --from csv:key=key keys.csv",
        "ping --quick --only futex",
        "trace stat --from csv:key=key keys.csv",
        "doctor",
    ];
    let least = least_kib(program);
    let memory = [0, 4_000, 54_000].map(|more| format!("-v {}", least + more));
    let others = ["-f 0", "-f 8", "-n 4", "-n 9", "-n 20", "-u 1", "-u 3"];
    let limits = memory.iter().map(String::as_str).chain(others);
    let pairs: Vec<_> = limits.flat_map(|limit| verbs.map(|verb| (limit, verb))).collect();
    // The last lane has all pairs that bound the processes of one account, one after another.
    std::thread::scope(|scope| {
        for (lane, pairs) in pairs.chunks(pairs.len().div_ceil(LIMIT_LANES)).enumerate() {
            let place = &place;
            scope.spawn(move || {
                let state = place.path(&format!("state-{lane}"));
                fs::create_dir(&state).unwrap();
                fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
                for (limit, verb) in pairs {
                    let trace = format!("t-{lane}.parquet");
                    let verb = verb.replace("t.parquet", &trace);
                    is_borne_or_named(place, &state, limit, &format!("{program} {verb}"));
                    for name in [trace.clone(), format!("{trace}.log")] {
                        let _ = fs::remove_file(place.path(&name));
                    }
                }
            });
        }
    });
}

/// Runs a command under a limit, which is written as for `ulimit`.
fn is_borne_or_named(place: &Place, state: &Path, limit: &str, command: &str) {
    let (letter, number) = limit.split_once(' ').unwrap();
    let number: u64 = number.parse().unwrap();
    let bound = match letter {
        "-v" => format!("--as={}", number << 10),
        "-f" => format!("--fsize={}", number << 9),
        "-n" => format!("--nofile={number}"),
        _ => format!("--nproc={number}"),
    };
    let user =
        if letter == "-u" { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "" };
    let script = format!("exec timeout 60 {user} prlimit {bound} {command}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(place.path("")).env_remove("SUDO_UID");
    let output = shell.env("XDG_STATE_HOME", state).output().unwrap();
    assert!(is_graceful(&output), "{script}: {output:?}");
}

#[test]
fn what_stays_stopped_and_what_asks_to_be_traced_holds_nobody_up() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = Place::new();
    let stopped = "sh -c 'kill -STOP $$' & echo on";
    let traced = "import ctypes, os, sys; ctypes.CDLL(None).ptrace(0, 0, 0, 0); \
                  os.execv('/bin/echo', ['echo', 'on'])";
    for (command, said) in [
        (["sh", "-c", stopped], "killed 1 process of the command that stayed stopped"),
        (["python3", "-c", traced], ""),
    ] {
        for capture in ["perf", "calls"] {
            let mut nbuf = place.nbuf(["record", "-o", "t.parquet", "--capture", capture, "--"]);
            let output = nbuf.args(command).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert_eq!(output.stdout, b"on\n", "{output:?}");
            assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{output:?}");
            fs::remove_file(place.path("t.parquet")).unwrap();
        }
    }
    assert!(Path::new(NBUF).exists());
}

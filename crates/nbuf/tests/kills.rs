//! Five hundred kills at random moments, over the verbs and both captures: nothing is left.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nbuf::internal::clock::{Random, Stopwatch};
use nbuf::internal::sys::process::signal;
use support::apart::Apart;
use support::pids::{NOT_JOINED, Pids};
use support::{Need, Place, groups_of, requires, skip};

const NEEDS: [Need; 5] = [
    Need::Tracepoints,
    Need::Nobody,
    Need::Loop,
    Need::Program("mkfs.ext4"),
    Need::Program("python3"),
];
const KILLS: u64 = 500;
/// As many at a time, in groups apart: a kill waits for its moment most of the time.
const WORKERS: usize = 4;
const PROMISED: Duration = Duration::from_secs(2);
/// Ten times what is promised: a busy machine is no defect.
const DEADLINE: Duration = Duration::from_secs(20);
const DELAY_MS_MAX: u64 = 700;

/// What runs when it is killed; the two bombs are not neighbours. `BOMB` in it becomes a fork bomb of 300 processes.
const TARGETS: [&str; 16] = [
    "record -o his/N.parquet --capture calls -- BOMB",
    "record -o his/N.parquet --capture perf -- sh -c 'cat /usr/bin/*sh* >/dev/null; sleep 9 & sleep 9'",
    "record -o his/N.parquet --capture calls -- sh -c 'cat /usr/bin/*sh* >/dev/null; sleep 9 & sleep 9'",
    "record -o his/N.parquet --capture perf -- sh -c '(setsid sleep 9 &) ; (setsid sleep 9 &); sleep 9'",
    "size -y --capture perf -- sh -c 'cat /usr/bin/git /usr/bin/git | wc -c'",
    "size -y --capture calls -- sh -c 'cat /usr/bin/git /usr/bin/git | wc -c'",
    "size -y --html his/N.html --loop 32MiB --data data -- cat data/file",
    "size -y --prepare 'sleep 0.1' --verify-at 50% -- cat data/file",
    "record -o his/N.parquet --capture perf -- BOMB",
    "sweep --param n=1,2,3 -- sh -c 'sleep 0.{n}'",
    "trace generate zipf -n 3000000 --keys 100000 -o his/N.bin",
    "curve --policy all --size 10%,20% zipf.bin",
    "replay --size 1MiB --disc sata-ssd zipf.bin",
    "ping --quick",
    "bench --rows --quick",
    "doctor",
];

/// Names in a directory that a killed nbuf must not leave.
fn remains(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path("his")).unwrap().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.contains(".part-")).collect()
}

/// Runs one target, kills it, and waits until nothing is left. How long that took.
fn kill_one(place: &Place, apart: &Apart, number: u64, random: u64) -> Duration {
    let target = TARGETS[usize::try_from(number).unwrap() % TARGETS.len()];
    let bomb = "python3 -c 'import os, time\nwhile True:\n try: os.fork()\n except OSError: time.sleep(0.01)'";
    let target = target.replace('N', &number.to_string()).replace("BOMB", bomb);
    let is_bomb = target.contains("os.fork");
    let pids = Pids::of(300).unwrap();
    let program = place.path("nbuf");
    let as_sudo = random.is_multiple_of(3);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec {} {target}", program.display())]);
    shell.current_dir(place.path("")).env("XDG_STATE_HOME", place.path("his"));
    shell.env_remove("SUDO_UID").env_remove("SUDO_GID");
    if as_sudo {
        shell.env("SUDO_UID", "65534").env("SUDO_GID", "65534");
    }
    let mut command = apart.within(&pids.within(&shell));
    let standard = || Stdio::null();
    let child = command.stdin(standard()).stdout(standard()).stderr(standard()).spawn();
    let mut child = child.unwrap();
    let delay = if is_bomb { 1000 + random % 1000 } else { random % DELAY_MS_MAX };
    std::thread::sleep(Duration::from_millis(delay));
    signal(i32::try_from(child.id()).unwrap(), 9).unwrap();
    let began = Stopwatch::start();
    let status = child.wait().unwrap();
    assert_ne!(status.code(), Some(NOT_JOINED), "{target}");
    let is_left = || {
        let groups = apart.groups_of(child.id());
        !pids.processes().is_empty() || !groups.is_empty()
    };
    while is_left() && began.elapsed() < DEADLINE {
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = began.elapsed();
    let (left, groups) = (pids.processes(), apart.groups_of(child.id()));
    assert!(left.is_empty() && groups.is_empty(), "{target}: {left:?} {groups:?}");
    // Nor where it would have made them without a group of its own.
    assert_eq!(groups_of(child.id()), [""; 0], "{target}");
    took
}

/// Loop devices whose files lie in a place.
fn loops(place: &Place) -> String {
    let output = Command::new("losetup").args(["-nO", "NAME,BACK-FILE"]).output().unwrap();
    let all = String::from_utf8(output.stdout).unwrap();
    all.lines().filter(|line| line.contains(place.path("").to_str().unwrap())).collect()
}

#[test]
fn nothing_is_left_of_five_hundred_killed() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let Some(place) = Place::open_to_all() else { return };
    if Pids::of(1).is_none() {
        skip("no pids controller of cgroup v1");
        return;
    }
    let lanes = Apart::lanes(WORKERS);
    place.program();
    for name in ["his", "data"] {
        fs::create_dir(place.path(name)).unwrap();
        std::os::unix::fs::chown(place.path(name), Some(65534), Some(65534)).unwrap();
    }
    place.file("data/file", 4 << 20);
    let generate =
        ["trace", "generate", "zipf", "-n", "200000", "--keys", "20000", "-o", "zipf.bin"];
    assert!(place.nbuf(generate).stderr(Stdio::null()).status().unwrap().success());
    let (count, late) = (AtomicU64::new(0), AtomicU64::new(0));
    let slowest = Mutex::new(Duration::ZERO);
    std::thread::scope(|scope| {
        for (worker, apart) in (0..).zip(&lanes) {
            let (place, count, late, slowest) = (&place, &count, &late, &slowest);
            scope.spawn(move || {
                let mut random = Random::new(worker);
                loop {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    if number >= KILLS {
                        break;
                    }
                    let took = kill_one(place, apart, number, random.next());
                    late.fetch_add(u64::from(took > PROMISED), Ordering::Relaxed);
                    let mut most = slowest.lock().unwrap();
                    *most = took.max(*most);
                }
            });
        }
    });
    assert_eq!(remains(&place), [""; 0]);
    assert_eq!(loops(&place), "");
    let (late, slowest) = (late.into_inner(), slowest.into_inner().unwrap());
    // Past what the harness holds back of tests that pass.
    let mut err = std::io::stderr();
    writeln!(err, "{KILLS} kills, nothing left; {late} took over 2 s, the slowest {slowest:?}")
        .unwrap();
    assert!(Path::new("/proc/self").exists());
}

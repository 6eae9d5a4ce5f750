//! `nbuf run` against a program that has known times, and that measures its own waits.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

#[path = "run/programs.rs"]
mod programs;

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use nbuf::experiment::result::{RunComparison, RunDocument, RunParts, RunVerdict};
use nbuf::internal::sys::cgroup::{Group, Hierarchies, Throttle};
use support::truth::{in_four_tries, truth};
use support::{Need, Place, requires, until, with_word};

const NEEDS: [Need; 2] = [Need::Tracepoints, Need::Program("cc")];

/// What the start of a program takes, beyond the 2 % that a part may be off: so parts are made long.
const TOLERANCE_SECONDS: f64 = 0.012;

/// What the start of a cold program may take of all other parts together.
const START_SECONDS: f64 = 0.025;

type Part = fn(&RunParts) -> f64;

/// What is added to a script, the parts that it lengthens with their shares, and a figure that moves.
type Planted = (&'static str, &'static [(&'static str, f64)], &'static str);

/// Runs it, and gives the document with the wait that the program measured.
fn run(place: &Place, words: &[&str]) -> (RunDocument, f64) {
    let program = truth(place);
    let words = [&["run", "--json", "--", program.to_str().unwrap()], words].concat();
    let output = place.nbuf(words).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let waited = error.lines().find_map(|line| line.strip_prefix("waited ")?.parse().ok());
    let ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
    assert_eq!(ran.exit_status, 0, "{error}");
    assert!(ran.notes.is_empty(), "{:?}", ran.notes);
    let real = ran.real_time.unwrap();
    assert!((real.sum_seconds() - ran.real_seconds).abs() < 1e-6, "{ran:?}");
    assert!(real.unknown_seconds <= 0.01 * ran.real_seconds, "{ran:?}");
    (ran, waited.expect(&error))
}

fn check(name: &str, got: f64, want: f64) {
    // A thread that may run may have to wait for a processor: that is not a wait of the program's.
    let room = TOLERANCE_SECONDS + 0.02 * want;
    assert!((got - want).abs() <= room, "{name}: {got}, not {want}");
}

/// The same for a wait after which a thread may have waited for a processor, too.
fn check_wait(name: &str, got: f64, runnable: f64, want: f64) {
    let room = TOLERANCE_SECONDS + 0.02 * want;
    assert!(got <= want + room, "{name}: {got}, not {want}");
    assert!(got + runnable >= want - room, "{name}: {got} and {runnable}, not {want}");
}

#[test]
fn each_part_is_what_the_program_did() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let parts: [(&str, Part, &str); 6] = [
        ("compute", |parts| parts.on_cpu_seconds, "1.5"),
        ("sleep", |parts| parts.asleep_seconds, "1.5"),
        ("poll", |parts| parts.asleep_seconds, "1.5"),
        ("wait", |parts| parts.asleep_seconds, "1.5"),
        ("pipe", |parts| parts.lock_or_pipe_seconds, "1.5"),
        ("futex", |parts| parts.lock_or_pipe_seconds, "1.5"),
    ];
    for (what, part, amount) in parts {
        in_four_tries(|| {
            let (ran, _) = run(&place, &[what, amount]);
            let real = ran.real_time.unwrap();
            check(what, part(&real), amount.parse().unwrap());
            let rest = real.sum_seconds() - part(&real) - real.runnable_seconds;
            assert!(rest < START_SECONDS, "{what}: {real:?}");
        });
    }
}

#[test]
fn real_time_goes_to_the_first_part_and_thread_time_to_all() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    in_four_tries(|| {
        let (ran, _) = run(&place, &["beside", "1.0"]);
        let (real, threads) = (ran.real_time.unwrap(), ran.thread_time.unwrap());
        assert_eq!((ran.processes, ran.threads), (Some(1), Some(2)));
        check("computing", threads.on_cpu_seconds, 1.0);
        check("asleep, of all threads", threads.asleep_seconds, 2.0);
        check_wait("asleep alone", real.asleep_seconds, real.runnable_seconds, 1.0);
    });
}

#[test]
fn two_processes_in_turn_wait_for_each_other() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    in_four_tries(|| {
        let (ran, waited) = run(&place, &["ping", "1.5"]);
        let threads = ran.thread_time.unwrap();
        assert_eq!(ran.processes, Some(2));
        // The program has measured the waits of one of the two, and sleeps as long as the other one.
        let runnable = threads.runnable_seconds;
        check_wait("waits", threads.lock_or_pipe_seconds, runnable, 2.0 * waited);
        check_wait("sleeps", threads.asleep_seconds, runnable, 2.0 * waited);
    });
}

/// One rule computes for a second, the other sleeps for one and a half.
#[test]
fn both_splits_of_make_are_those_of_its_rules_in_turn_and_at_once() {
    let Some(_lock) = requires(&[&NEEDS[..], &[Need::Program("make")]].concat()) else { return };
    let place = Place::new();
    truth(&place);
    let rules = "all: a b\na:\n\t@./truth compute 1\nb:\n\t@./truth sleep 1.5\n";
    fs::write(place.path("Makefile"), rules).unwrap();
    // make itself waits for both rules: as long as they take in turn, or as long as the longer one.
    for (jobs, asleep_alone, asleep_of_all) in [("-j1", 1.5, 1.5 + 2.5), ("-j2", 0.5, 1.5 + 1.5)] {
        in_four_tries(|| {
            let output = place.nbuf(["run", "--json", "--", "make", jobs]).output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            let ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
            let (real, threads) = (ran.real_time.unwrap(), ran.thread_time.unwrap());
            assert_eq!((ran.exit_status, ran.processes), (0, Some(3)), "{error}");
            check(&format!("{jobs}: computing"), real.on_cpu_seconds, 1.0);
            check(&format!("{jobs}: computing, of all threads"), threads.on_cpu_seconds, 1.0);
            let runnable = real.runnable_seconds;
            check_wait(&format!("{jobs}: asleep"), real.asleep_seconds, runnable, asleep_alone);
            // make waits for longer where a rule waits for a processor.
            let (got, room) = (threads.asleep_seconds, TOLERANCE_SECONDS + 0.02 * asleep_of_all);
            let apart = (got - asleep_of_all).abs();
            assert!(
                apart <= room + threads.runnable_seconds,
                "{jobs}: asleep, of all: {threads:?}"
            );
            assert!(real.unknown_seconds <= 0.01 * ran.real_seconds, "{real:?}");
        });
    }
}

#[test]
fn faults_are_counted() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    in_four_tries(|| {
        let (none, _) = run(&place, &["touch", "0"]);
        let (all, _) = run(&place, &["touch", "5000"]);
        let more = all.faults_minor - none.faults_minor;
        // The addresses of a program vary, and so do a few faults of its start.
        assert!((4980..5030).contains(&more), "{more} faults");
        // A process begins as a copy of nbuf, which is the least that its peak can be.
        let (none, all) = (none.memory_bytes_max.0, all.memory_bytes_max.0);
        assert!(none < 8 << 20, "{none}");
        assert!((5000 * 4096..5000 * 4096 + (8 << 20)).contains(&all), "{all}");
    });
}

#[test]
fn each_line_of_output_has_its_cost() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let program = truth(&place);
    let run = |lines: &str| -> RunDocument {
        let options = ["run", "--json", "--per-line", "--", program.to_str().unwrap()];
        let output = place.nbuf([&options[..], &["print", lines]].concat()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        // What it wrote is passed on, whole and in its order.
        let want = format!("{}waited ", "a line\n".repeat(lines.parse().unwrap()));
        assert!(error.starts_with(&want), "{error}");
        serde_json::from_slice(&output.stdout).expect(&error)
    };
    in_four_tries(|| {
        let (none, some) = (run("0"), run("200"));
        let (few, many) = (none.per_line.unwrap(), some.per_line.unwrap());
        assert_eq!((few.lines, many.lines), (1, 201));
        assert_eq!(many.bytes - few.bytes, 200 * 7);
        // The time of a thread is a call on some machines.
        let calls = many.calls.unwrap() - few.calls.unwrap();
        let clocks = calls.checked_sub(200 * 4).unwrap();
        assert!(clocks == 0 || clocks > 200, "{calls}");
        let faults = some.faults_minor - none.faults_minor;
        assert!(faults.abs_diff(200) < 20, "{faults}");
        let each = many.user_seconds_per_line.unwrap() + many.system_seconds_per_line.unwrap();
        let cpu = (some.user_seconds + some.system_seconds) / 201.0;
        assert!((each - cpu).abs() < 1e-9 && (0.9e-3..3e-3).contains(&each), "{each}");
        let per_line = many.calls_per_line.unwrap() * 201.0;
        assert!((per_line - many.calls.unwrap() as f64).abs() < 1e-6);
    });
}

#[test]
fn lines_are_counted_on_their_way_to_a_terminal_and_to_a_closed_pipe() {
    let Some(_lock) = requires(&[Need::Program("script")]) else { return };
    let place = Place::new();
    let nbuf = support::NBUF;
    // At a terminal the command has one, too, of the same size.
    let shell = "test -t 1 && stty size <&1; printf 'end'";
    let line = format!("stty rows 33 cols 77; '{nbuf}' run --per-line -- sh -c \"{shell}\"");
    let output = Command::new("script").args(["-qec", &line, "/dev/null"]).output().unwrap();
    let screen = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    assert!(screen.contains("33 77\nend"), "{screen}");
    let words: Vec<&str> = screen.split_whitespace().collect();
    assert!(words.join(" ").contains("2 lines, each "), "{screen}");
    // Who reads no more ends the command, as without us.
    let line = format!("'{nbuf}' run --per-line -- yes | head -2; echo ${{PIPESTATUS[0]}}");
    let output = Command::new("bash").args(["-c", &line]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "y\ny\n141\n", "{output:?}");
    let _ = place;
}

#[test]
fn the_figures_go_to_a_new_file_for_an_exporter() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    truth(&place);
    let run = || {
        let words =
            ["run", "--json", "--meters", "--openmetrics", "run.prom", "./truth", "calls", "300"];
        place.nbuf(words).output().unwrap()
    };
    let ran: RunDocument = serde_json::from_slice(&run().stdout).unwrap();
    let text = fs::read_to_string(place.path("run.prom")).unwrap();
    let value = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.expect(name).parse().unwrap()
    };
    assert!((value("nbuf_run_real_seconds") - ran.real_seconds).abs() < 1e-12);
    let calls = value("nbuf_run_call_seconds_count{call=\"getppid\"}");
    assert!((calls - 300.0).abs() < 0.5, "{calls}");
    let parts = text.lines().filter_map(|line| line.strip_prefix("nbuf_run_real_part_seconds{"));
    let sum: f64 = parts.map(|line| line.split(' ').nth(1).unwrap().parse::<f64>().unwrap()).sum();
    assert!((sum - ran.real_seconds).abs() < 1e-6, "{sum}: {text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    // It is not written again, and the command does not run in vain.
    let again = run();
    assert_eq!((again.status.code(), again.stdout.len()), (Some(125), 0));
    assert_eq!(fs::read_to_string(place.path("run.prom")).unwrap(), text);
}

/// A rate for the disc, in a group of our own: 100 reads a second make each wait known.
#[test]
fn waits_for_a_slow_disc_are_waits_for_a_disc() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    place.file("file", 1 << 20);
    let device = fs::metadata(place.path("file")).unwrap().dev();
    let devices = vec![(libc::major(device), libc::minor(device))];
    let hierarchies = Hierarchies::of_this_process();
    let throttle = Throttle { devices, iops: Some(100), ..Throttle::default() };
    let Ok(group) = Group::create_with(&hierarchies, Some(&throttle)) else {
        support::skip("a rate for a disc: no group can have one");
        return;
    };
    let joins = group.join_files().unwrap();
    let program = truth(&place);
    in_four_tries(|| {
        let mut nbuf =
            place.nbuf(["run", "--json", "--", program.to_str().unwrap(), "direct", "250", "file"]);
        let output = in_group(&mut nbuf, &joins).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        let ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
        let waited: f64 =
            error.lines().find_map(|l| l.strip_prefix("waited ")?.parse().ok()).unwrap();
        let real = ran.real_time.unwrap();
        assert!(waited > 1.5, "the rate was not kept: {waited}");
        let name = format!("disc in {real:?}");
        check_wait(&name, real.disc_seconds, real.runnable_seconds, waited);
        assert!(real.unknown_seconds <= 0.01 * ran.real_seconds, "{real:?}");
        assert_eq!(ran.device_read_bytes.0 / 4096, 250);
    });
}

/// The process joins the groups before it executes.
fn in_group<'a>(nbuf: &'a mut Command, joins: &[OwnedFd]) -> &'a mut Command {
    let paths: Vec<String> = joins
        .iter()
        .map(|join| {
            let path = format!("/proc/self/fd/{}", join.as_raw_fd());
            fs::read_link(path).unwrap().display().to_string()
        })
        .collect();
    let script = paths.iter().fold(String::new(), |all, path| format!("{all}echo $$ >{path}; "));
    let words: Vec<_> = nbuf.get_args().map(std::ffi::OsStr::to_owned).collect();
    let program = nbuf.get_program().to_owned();
    let directory = nbuf.get_current_dir().map(std::path::Path::to_owned);
    *nbuf = Command::new("sh");
    nbuf.args(["-c", &format!("{script} exec \"$@\""), "sh"]).arg(program).args(words);
    if let Some(directory) = directory {
        nbuf.current_dir(directory);
    }
    nbuf
}

#[test]
fn a_cold_file_is_filled_and_a_warm_one_hit() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 4 << 20);
    let read = || {
        let output = place.nbuf(["run", "--json", "--", "cat", "file"]).output().unwrap();
        serde_json::from_slice::<RunDocument>(&output.stdout).unwrap()
    };
    let warm = read();
    // Dirty pages are not dropped.
    fs::File::open(place.path("file")).unwrap().sync_all().unwrap();
    let mut drops = Command::new("dd");
    drops.args(["if=file", "iflag=nocache", "count=0"]).current_dir(place.path("."));
    assert!(drops.output().unwrap().status.success());
    let cold = read();
    let (warm, cold) = (warm.cache.unwrap(), cold.cache.unwrap());
    // With whatever else the programs read.
    assert!((1024..1224).contains(&cold.fills) && warm.fills < 200, "{cold:?} {warm:?}");
    assert!(cold.hits < cold.lookups, "{cold:?}");
    assert!(warm.lookups >= warm.hits && warm.hits > 0, "{warm:?}");
}

#[test]
fn the_line_comes_after_the_command_and_the_status_is_the_commands() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let output =
        place.nbuf(["run", "sh", "-c", "echo out; echo err >&2; exit 7"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"out\n");
    let error = String::from_utf8(output.stderr).unwrap();
    let (first, line) = error.split_once('\n').unwrap();
    assert_eq!(first, "err");
    assert!(line.starts_with("nbuf: real ") && line.ends_with("exit status 7\n"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    let killed = place.nbuf(["run", "sh", "-c", "kill -9 $$"]).output().unwrap();
    assert_eq!(killed.status.code(), Some(128 + 9));
    for (command, status) in [("/nowhere", 127), ("/etc/passwd", 126)] {
        let output = place.nbuf(["run", command]).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{command}");
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1, "{command}");
    }
}

#[test]
fn an_ordinary_user_sees_what_he_may_and_what_is_missing() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Nobody, Need::Program("setpriv")]) else {
        return;
    };
    let place = Place::open_to_all().unwrap();
    let nbuf = place.program();
    in_four_tries(|| {
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&nbuf)
            .args(["run", "--json", "--", "sleep", "1.5"])
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
        assert!(ran.real_seconds > 1.5 && ran.faults_minor > 0, "{ran:?}");
        assert_eq!(ran.cache, None);
        let notes: Vec<String> = ran.notes.iter().map(ToString::to_string).collect();
        assert!(notes[0].contains("no permission") && notes[0].contains("sudo"), "{notes:?}");
        if let Some(real) = ran.real_time {
            check("waits of a kind that is not known", real.unknown_seconds, 1.5);
        }
    });
}

#[test]
fn nothing_is_left_running() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let word = format!("86400.7{}", std::process::id());
    let script = format!("sleep {word} & exit 0");
    let output = place.nbuf(["run", "--until", "main", "sh", "-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    // The process that closes the tracepoints ends too.
    until("all have ended", || with_word(&word).is_empty() && with_word(&script).is_empty());
    let mut nbuf = place.nbuf(["run", "sleep", &word]);
    let mut child = nbuf.spawn().unwrap();
    until("the command runs", || with_word(&word).len() > 1);
    nbuf::internal::sys::process::signal(i32::try_from(child.id()).unwrap(), 9).unwrap();
    child.wait().unwrap();
    until("all have ended", || with_word(&word).is_empty());
}

/// A script whose path stays while its content changes: the command of all documents is the same. Other
/// programs on the machine wait meanwhile, if that is allowed.
fn job() -> Vec<&'static str> {
    let first = ["chrt", "-f", "1"];
    let may = Command::new(first[0]).args(&first[1..]).arg("true").output();
    let first: &[&str] = if may.is_ok_and(|may| may.status.success()) { &first } else { &[] };
    [first, &["sh", "job.sh"]].concat()
}

fn measured(place: &Place, script: &str, document: &str) {
    fs::write(place.path("job.sh"), format!("{script}\n")).unwrap();
    let words = [vec!["run", "--runs", "9", "--json", "--"], job()].concat();
    let output = place.nbuf(words).output().unwrap();
    let ran: RunDocument = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((ran.runs.len(), ran.exit_status), (9, 0));
    let real: Vec<f64> = ran.runs.iter().map(|run| run.real_seconds).collect();
    assert!(real.contains(&ran.real_seconds), "the run in the middle is one of them: {ran:?}");
    fs::write(place.path(document), output.stdout).unwrap();
}

fn compared(place: &Place, words: &[&str]) -> RunComparison {
    let words = [&["run", "--json", "--compare", "a.json", "b.json"], words].concat();
    let output = place.nbuf(words).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{error}");
    serde_json::from_slice(&output.stdout).expect(&error)
}

#[test]
fn a_planted_slowdown_is_named_with_its_share() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    truth(&place);
    let base = "./truth compute 0.06 >/dev/null";
    let planted: [Planted; 4] = [
        ("./truth sleep 0.08", &[("asleep", 1.0)], ""),
        ("./truth compute 0.08", &[("on CPU", 1.0)], ""),
        ("./truth touch 40000 free", &[("on CPU", 1.0)], "minor faults"),
        ("./truth sleep 0.09; ./truth compute 0.03", &[("asleep", 0.75), ("on CPU", 0.25)], ""),
    ];
    for (more, want, moved) in planted {
        in_four_tries(|| {
            measured(&place, base, "a.json");
            measured(&place, &format!("{base}; ({more}) >/dev/null"), "b.json");
            let found = compared(&place, &[]);
            assert_eq!(found.verdict, RunVerdict::Slower, "{more}: {found:#?}");
            // That other programs had the processors was not planted.
            let planted = found.parts.iter().filter(|row| row.part != "runnable");
            let all: f64 = planted.clone().map(|row| row.difference_seconds).sum();
            for (row, (part, share)) in planted.zip(want) {
                assert_eq!(row.part, *part, "{more}: {found:#?}");
                let off = row.difference_seconds / all - share;
                assert!(off.abs() <= 0.1, "{more}: {part}: {found:#?}");
            }
            let names: Vec<&str> = found.moved.iter().map(|row| row.name.as_str()).collect();
            assert!(moved.is_empty() || names.contains(&moved), "{more}: {names:?}");
        });
    }
    in_four_tries(|| {
        measured(&place, base, "a.json");
        measured(&place, base, "b.json");
        let found = compared(&place, &[]);
        assert_eq!(found.verdict, RunVerdict::NotSeen, "{found:#?}");
        assert!(found.noise.is_some_and(|noise| noise < 0.5), "{found:#?}");
    });
}

#[test]
fn a_baseline_is_compared_after_the_command() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    measured(&place, "sleep 0.02", "a.json");
    let job = job();
    let run = |words: &[&str]| {
        let output =
            place.nbuf([&["run", "--baseline", "a.json"], words].concat()).output().unwrap();
        let [out, error] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), out, error)
    };
    fs::write(place.path("job.sh"), "sleep 0.2; echo out; exit 0\n").unwrap();
    let (status, out, error) = run(&[&["--html", "page.html", "--"], &job[..]].concat());
    // As often as the baseline.
    assert_eq!((status, out), (Some(0), "out\n".repeat(9)), "{error}");
    let wanted = ["nbuf: real ", "the middle of 9 runs", "  Slower: now ", "asleep", "Why slower"];
    assert!(wanted.iter().all(|part| error.contains(part)), "{error}");
    assert!(fs::read_to_string(place.path("page.html")).unwrap().contains("Slower: now"));
    let (status, _, error) = run(&[&["--runs", "1", "--"], &job[..]].concat());
    assert!(status == Some(0) && error.contains("The noise is unknown"), "{error}");
    // Refused before the command runs.
    let (status, out, error) = run(&["--", "sh", "-c", "echo ran"]);
    assert_eq!((status, out.as_str()), (Some(125), ""));
    assert!(error.contains("the commands differ") && error.lines().count() == 1, "{error}");
    let (status, out, _) = run(&["--force", "--runs", "1", "--", "sh", "-c", "echo ran"]);
    assert_eq!((status, out.as_str()), (Some(0), "ran\n"));
    let (status, _, error) = run(&["--", "sh", "-c", "exit 3"]);
    assert!(status == Some(125) && error.contains("--force"), "{error}");
    fs::write(place.path("a.json"), "{\"schema\": \"nbuf.run/9\"}").unwrap();
    let (status, _, error) = run(&[&["--"], &job[..]].concat());
    assert_eq!(status, Some(125));
    assert!(error.contains("has the schema nbuf.run/9, not nbuf.run/1"), "{error}");
    let differ =
        place.nbuf(["run", "--runs", "2", "--", "sh", "-c", "test -e was || { >was; exit 3; }"]);
    let error = String::from_utf8({ differ }.output().unwrap().stderr).unwrap();
    assert!(error.contains("status 3 in run 1 and with 0 in run 2"), "{error}");
}

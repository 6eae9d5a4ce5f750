//! What a user can get wrong, and what can go wrong around them: a line that says what to do next,
//! and nothing left behind.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::{Command, Stdio};

use nbuf::internal::sys::process;
use nbuf::internal::workload::record::traced;
use support::{NBUF, Need, Place, Recorded, groups_of, requires, requires_shared, skip};

/// Runs a shell script here, `nbuf` being `$0`.
fn shell(place: &Place, script: &str) -> Recorded {
    let mut command = Command::new("sh");
    command.args(["-c", script, NBUF]).current_dir(place.path("")).stdin(Stdio::null());
    Recorded::of(command.output().unwrap(), &place.path("t.parquet"))
}

/// Everything in a place but what was put there.
fn left(place: &Place, known: &[&str]) -> Vec<String> {
    let names = fs::read_dir(place.path("")).unwrap().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !known.contains(&name.as_str())).collect()
}

#[test]
fn what_makes_no_sense_is_told_in_a_line_and_runs_nothing() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    fs::write(place.path("there.parquet"), "").unwrap();
    let cases: [(&[&str], i32, &str); 24] = [
        (&["size", "--trace-out", "there.parquet", "--"], 125, "exists; move it away"),
        (&["size", "--svg", "no/such/place.svg", "--"], 125, "give another place with --svg"),
        (&["size", "--html", "a/", "--"], 125, "is the name of a directory"),
        (&["size", "--html", "x", "--svg", "x", "--"], 125, "cannot be two files"),
        (&["size", "--trace", "there.parquet"], 125, "there.parquet"),
        (&["size", "--trace", "missing.parquet"], 125, "cannot open missing.parquet"),
        (&["size", "--html", "-", "--"], 125, "cannot write this to standard output; name a file"),
        (&["size", "--svg", "-", "--"], 125, "name a file with --svg (./- for one named -)"),
        (&["record", "-o", "-", "--"], 125, "name a file with -o"),
        (&["size", "--max-time", "0", "--"], 2, "no command can run in a time of 0"),
        (&["size", "--readahead", "3", "--"], 2, "a window is a multiple of 4KiB"),
        (&["size", "--loop-readahead", "6KiB", "--"], 2, "a window is a multiple of 4KiB"),
        (&["size", "--budget", "1.05", "--"], 2, "needs --compare A.json B.json"),
        (&["size", "--max-time", "soon", "--"], 2, "write 90, 90s, 10m or 1h"),
        (&["size", "--samples", "0", "--"], 2, "--samples"),
        (&["size", "--verify-at", "five", "--"], 2, "--verify-at"),
        (&["size", "--target", "hit=2", "--"], 2, "hit=2"),
        (&["size"], 2, "<COMMAND>"),
        // An option that is not obeyed is refused.
        (&["run", "--runs", "2", "--folded", "f", "--"], 2, "cannot be used with"),
        (&["run", "--compare", "a", "b", "--by", "process"], 2, "cannot be used with"),
        (&["load", "s", "--server", "http://x"], 2, "cannot be used with"),
        (&["load", "--from", "s", "--json"], 2, "cannot be used with"),
        (&["size", "--jsom", "touch", "ran"], 2, "'--json'"),
        (&["size", "touch ran"], 127, "has spaces: leave out the quotes, or let a shell run it"),
    ];
    for (arguments, status, told) in cases {
        let mut nbuf = place.nbuf(arguments);
        if arguments.ends_with(&["--"]) {
            nbuf.args(["touch", "ran"]);
        }
        let ended = Recorded::of(nbuf.output().unwrap(), &place.path("none"));
        assert_eq!(ended.status, status, "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(told), "{arguments:?}: {ended:?}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
        // What clap says of a command line has a hint and the usage behind it.
        let lines = ended.stderr.lines().count();
        assert!(lines == 1 || status == 2, "{arguments:?}: {ended:?}");
        assert_eq!(left(&place, &["there.parquet"]), [""; 0], "{arguments:?}");
    }
}

#[test]
fn output_that_nobody_takes_costs_nothing_else() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let cases = [
        // No process reads on: nbuf ends without a message, as `cat` would.
        (
            "{ \"$0\" size -y --no-verify -- sh -c 'cat file >/dev/null'; echo $? >status; } | true",
            "0",
        ),
        ("{ \"$0\" size -y --no-verify --json -- cat file; echo $? >status; } | true", "0"),
        ("\"$0\" size -y --no-verify -- cat file >&-; echo $? >status", "0"),
        ("\"$0\" size -y --no-verify -- cat file 2>&-; echo $? >status", "0"),
        ("\"$0\" size -y --no-verify -- cat file <&- >&- 2>&-; echo $? >status", "0"),
        // The command has them closed, too.
        ("\"$0\" record -o t.parquet -- cat file <&- >&- 2>&-; echo $? >status", "1"),
        ("{ \"$0\" record -o t.parquet -- sh -c 'exit 3' 2>&1; echo $? >status; } | true", "3"),
        ("\"$0\" size -y --no-verify -o - -- true >/dev/full; echo $? >status", "125"),
        ("\"$0\" size -y --no-verify --json -- true >/dev/full; echo $? >status", "125"),
    ];
    for (script, status) in cases {
        let place = Place::new();
        place.file("file", 1 << 20);
        let ended = shell(&place, script);
        let got = fs::read_to_string(place.path("status")).unwrap();
        assert_eq!(got.trim(), status, "{script}: {ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{script}: {ended:?}");
        assert_eq!(ended.trace.is_some(), script.contains("record"), "{script}");
        let known = ["file", "status", "t.parquet"];
        assert_eq!(left(&place, &known), [""; 0], "{script}: {ended:?}");
        if status == "125" {
            assert!(ended.stderr.contains("cannot write to standard output"), "{ended:?}");
        }
    }
}

#[test]
fn a_trace_that_finds_no_room_costs_itself_alone() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("unshare")]) else {
        return;
    };
    let place = Place::new();
    place.file("file", 4096);
    // The mount is private to `unshare` and goes with it.
    let script = "mkdir small && mount -t tmpfs -o size=64k none small || exit 99
        \"$0\" size -y --no-verify --trace-out small/t.parquet --html small/page.html -- \
            sh -c 'for i in $(seq 40); do dd if=file of=/dev/null bs=1 status=none; done'
        echo status $?; ls small";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, NBUF]).current_dir(place.path(""));
    let ended = Recorded::of(command.output().unwrap(), &place.path("none"));
    // The report is there, the files are not, not even in part.
    assert!(ended.stderr.contains("Workload\n"), "{ended:?}");
    assert!(ended.stdout.ends_with("status 125\n"), "{ended:?}");
    let told = |text: &str| ended.stderr.lines().filter(|line| line.contains(text)).count();
    assert_eq!(told("give another place with --trace-out: "), 1, "{ended:?}");
    assert_eq!(told("give another place with --html: "), 1, "{ended:?}");
    assert_eq!(told("No space left on device"), 2, "{ended:?}");
}

#[test]
fn a_recording_that_finds_no_room_is_sent_to_another_place() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("unshare")]) else {
        return;
    };
    let place = Place::new();
    place.file("file", 4096);
    // Where the log took all there was, the trace has no room either.
    let script = "mkdir small && mount -t tmpfs -o size=64k none small || exit 99
        \"$0\" record -o small/t.parquet -- \
            sh -c 'for i in $(seq 100); do dd if=file of=/dev/null bs=1 status=none; done'
        echo status $?";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, NBUF]).current_dir(place.path(""));
    let ended = Recorded::of(command.output().unwrap(), &place.path("none"));
    assert_eq!(ended.stdout, "status 125\n", "{ended:?}");
    let advice = "`nbuf trace recover small/t.parquet.log -o ANOTHER/PLACE.parquet`";
    assert!(ended.stderr.contains(advice), "{ended:?}");
}

#[test]
fn a_log_that_finds_no_room_says_where_it_is_looked_for() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("unshare")]) else {
        return;
    };
    let place = Place::new();
    place.file("file", 4096);
    let script = "mkdir state && mount -t tmpfs -o size=1m none state || exit 99
        export XDG_STATE_HOME=$PWD/state
        \"$0\" size -y --no-verify --log-memory 65536 -- \
            sh -c 'for i in $(seq 100); do dd if=file of=/dev/null bs=1 status=none; done; touch ran'
        echo status $?; find state -type f";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, NBUF]).current_dir(place.path(""));
    let ended = Recorded::of(command.output().unwrap(), &place.path("none"));
    assert_eq!(ended.stdout, "status 125\n", "{ended:?}");
    assert!(place.path("ran").exists(), "the command is not ours to stop");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    let told = format!("is kept in {}", place.path("state/nbuf").display());
    for part in ["the log broke off: No space left on device", &told, "set XDG_STATE_HOME"] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
}

#[test]
fn a_run_that_thrashes_is_ended_and_said_to_be() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 1 << 20);
    // Under a limit, and only there, it never ends.
    let script = "n=$(cat n 2>/dev/null); echo $((n + 1)) >n; cat file >/dev/null
        [ \"$n\" ] && exec sleep 1000; true";
    for (options, told) in [
        (&["--patience", "1.5s"][..], "ended after "),
        (&["--patience", "1.5s", "--max-time", "8s"], "time"),
    ] {
        let _ = fs::remove_file(place.path("n"));
        let options = [options, &["--force", "--verify-at", "90%"]].concat();
        let sized = place.size(&options, &["sh", "-c", script]);
        assert_eq!(sized.status, 0, "{sized:?}");
        assert!(sized.stdout.contains("ended early"), "{sized:?}");
        let shown = sized.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(told), "{sized:?}");
        assert!(shown.contains("--max-time allows more"), "{sized:?}");
    }
}

#[test]
fn a_narrow_terminal_gets_narrow_lines() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 8 << 20);
    for columns in [40, 60] {
        let mut nbuf = place.nbuf(["size", "-y", "--force", "--samples", "2", "-o", "-"]);
        nbuf.args(["--", "sh", "-c", "cat file file >/dev/null"]).stdin(Stdio::null());
        let output = nbuf.env("COLUMNS", columns.to_string()).output().unwrap();
        let sized = Recorded::of(output, &place.path("none"));
        // What is to be pasted stays whole, and so do words.
        assert!(sized.stdout.contains("To paste"), "{sized:?}");
        let wide = |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
        let wide: Vec<&str> = sized.stdout.lines().filter(wide).collect();
        assert!(wide.is_empty(), "{columns}: {wide:#?}");
    }
}

#[test]
fn what_ends_at_once_and_what_fails_is_passed_on() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    for (script, recorded, sized) in
        [("exit 0", 0, 0), ("exit 9", 9, 0), ("kill -SEGV $$", 139, 139), ("exit 255", 255, 0)]
    {
        let place = Place::new();
        assert_eq!(place.record(script).status, recorded, "{script}");
        let ended = place.size(&["--no-verify"], &["sh", "-c", script]);
        assert_eq!(ended.status, sized, "{script}: {ended:?}");
        // What is sized though it failed is said to have failed.
        assert_eq!(ended.stderr.is_empty(), script == "exit 0", "{ended:?}");
    }
    assert_eq!(groups_of(std::process::id()), [""; 0]);
}

#[test]
fn a_limit_on_processes_is_named() {
    let needs = [Need::Nobody, Need::Program("prlimit"), Need::Program("setpriv")];
    let Some(_lock) = requires(&needs) else { return };
    if !process::is_root() || traced::probe().is_err() {
        return skip("a limit on processes: neither root nor permitted to trace");
    }
    let Some(place) = Place::open_to_all() else { return skip("/var/tmp is not on a disc") };
    place.program();
    place.file("file", 1 << 20);
    // Ours, its supervisor, the command, and the thread that watches it: the last limit is enough.
    for most in 1..=4 {
        let mut nbuf = Command::new("prlimit");
        // A user who has nothing else running.
        nbuf.arg(format!("--nproc={most}")).args(["setpriv", "--reuid=54321", "--regid=54321"]);
        nbuf.args(["--clear-groups", "./nbuf", "record", "--capture", "calls", "-o", "t.parquet"]);
        nbuf.args(["--", "cat", "file"]).current_dir(place.path("")).stdin(Stdio::null());
        let ended = Recorded::of(nbuf.output().unwrap(), &place.path("t.parquet"));
        let told = ended.stderr.contains("raise the limit on processes");
        let (status, is_told) = if most < 4 { (125, true) } else { (0, false) };
        assert_eq!((ended.status, told), (status, is_told), "{most}: {}", ended.stderr);
    }
}

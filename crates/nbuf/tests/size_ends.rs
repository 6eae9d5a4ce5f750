//! How `nbuf size` ends: with the right status, and, however it is ended, with nothing left.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use nbuf::internal::sys::process::signal;
use support::{
    Need, Place, Recorded, groups_of, is_alive, requires, requires_shared, until, with_word,
};

#[test]
fn the_exit_status_tells_who_failed() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let cases = [
        (&["no-such-command-anywhere"][..], 127, "command not found; check the spelling and PATH"),
        (&[""], 127, "'': command not found"),
        (&["/etc/passwd"], 126, "cannot be executed"),
        (&["/"], 126, "cannot be executed"),
        (&["sh", "-c", "kill -TERM $$"], 143, "killed by signal 15; cannot size it"),
        (&["sh", "-c", "exit 3"], 0, "the command ended with status 3; nbuf sizes it all the same"),
        (&["sh", "-c", "exit 125"], 0, "as if its work never began"),
    ];
    for (command, status, told) in cases {
        let sized = place.size(&["--no-verify"], command);
        assert_eq!(sized.status, status, "{command:?}: {sized:?}");
        assert!(sized.stderr.contains(told), "{command:?}: {sized:?}");
        assert_eq!(sized.stderr.lines().count(), 1, "{sized:?}");
    }
}

#[test]
fn a_preparation_that_fails_is_told_and_nothing_is_run() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let sized = place.size(&["--prepare", "exit 7"], &["touch", "ran"]);
    assert_eq!(sized.status, 125);
    assert!(sized.stderr.starts_with("nbuf: --prepare `exit 7` ended with status 7; "));
    assert_eq!(sized.stderr.lines().count(), 1);
    assert!(!place.path("ran").exists());

    // Between the runs: what was recorded is reported all the same.
    let options = ["--verify-at", "50%", "--prepare", "[ ! -e ran ]"];
    let sized = place.size(&options, &["touch", "ran"]);
    assert_eq!(sized.status, 125, "{sized:?}");
    assert!(sized.stdout.contains("Workload\n"), "{sized:?}");
}

#[test]
fn time_that_is_up_and_commands_that_leave_daemons() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 1 << 20);
    let sized = place.size(&["--max-time", "1s"], &["sh", "-c", "cat file; exec sleep 1000"]);
    assert_eq!(sized.status, 0, "{sized:?}");
    assert!(sized.stderr.contains("nbuf: the time is up: "), "{sized:?}");
    assert!(sized.stdout.contains("Workload\n"), "{sized:?}");

    let script = "(setsid sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 &)
        while ! [ -s pid ]; do sleep 0.01; done; cat file";
    let sized = place.size(&["--no-verify", "--until", "main"], &["sh", "-c", script]);
    assert_eq!(sized.status, 0, "{sized:?}");
    let pid = fs::read_to_string(place.path("pid")).unwrap();
    assert!(!is_alive(&pid), "ended with the command");
}

/// A sizing of which one run stays: the recording, or a later one.
struct Staying {
    place: Place,
    child: Child,
    /// An argument that no process but the staying one has.
    word: String,
}

impl Staying {
    /// The run with this number stays, the recording being 0.
    fn at(run: usize, name: &str) -> Self {
        let place = Place::new();
        place.file("file", 8 << 20);
        fs::write(place.path("n"), "0\n").unwrap();
        let word = format!("{}.{run}{name}", 86_400 + std::process::id());
        let script = format!(
            "read n <n; echo $((n + 1)) >n; cat file >/dev/null; [ $n -lt {run} ] && exit 0
             echo $$ >pid; exec sleep {word}"
        );
        let options =
            ["size", "-y", "-o", "-", "--verify-at", "50%,25%", "--", "sh", "-c", &script];
        let mut nbuf = place.nbuf(options);
        nbuf.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = nbuf.process_group(0).spawn().unwrap();
        Self { place, child, word }
    }

    fn pid(&self) -> i32 {
        let read = || fs::read_to_string(self.place.path("pid")).unwrap_or_default();
        until("the run stays", || read().ends_with('\n') && !with_word(&self.word).is_empty());
        read().trim().parse().unwrap()
    }

    fn end(self) -> Recorded {
        let nbuf = self.child.id();
        let output = self.child.wait_with_output().unwrap();
        until("no process is left", || with_word(&self.word).is_empty());
        until("no group is left", || groups_of(nbuf).is_empty());
        let status = output.status.code().unwrap_or(-1);
        Recorded {
            status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            trace: None,
        }
    }
}

/// The parent of a process: of the command, the supervisor.
fn parent(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    rest.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn killed_under_a_limit_it_leaves_nothing() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    // The second of three runs in random order, or the one before it, is under a limit.
    for run in [1, 2] {
        let staying = Staying::at(run, "1");
        staying.pid();
        signal(i32::try_from(staying.child.id()).unwrap(), 9).unwrap();
        assert_eq!(staying.end().status, -1);

        let staying = Staying::at(run, "2");
        signal(parent(staying.pid()), 9).unwrap();
        let ended = staying.end();
        assert_eq!(ended.status, 125, "{}", ended.stderr);
        assert!(
            ended.stderr.contains("the supervisor process of nbuf was killed"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn interrupted_it_prints_what_it_has() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let staying = Staying::at(0, "3");
    staying.pid();
    signal(-i32::try_from(staying.child.id()).unwrap(), 2).unwrap();
    let ended = staying.end();
    assert_eq!(ended.status, 130, "{}", ended.stderr);
    assert!(ended.stdout.contains("Workload\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("nbuf: interrupted: recording stops"));

    let staying = Staying::at(2, "4");
    staying.pid();
    signal(-i32::try_from(staying.child.id()).unwrap(), 2).unwrap();
    let ended = staying.end();
    assert_eq!(ended.status, 130, "{}", ended.stderr);
    assert!(ended.stdout.contains("Verified: pages filled\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("nbuf: interrupted: 1 of 3 runs made"), "{}", ended.stderr);
    let warning = "Warning: interrupted by signal 2 before every run was made.";
    assert!(ended.stdout.contains(warning), "{}", ended.stdout);
}

#[test]
fn what_is_written_to_a_file_is_written_again_by_every_run() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 8 << 20);
    let out = fs::File::create(place.path("out")).unwrap();
    let mut nbuf = place.nbuf(["size", "-y", "--force", "--verify-at", "100%"]);
    nbuf.args(["--", "cat", "file", "file"]).stdout(out);
    let sized = nbuf.output().unwrap();
    let told = String::from_utf8_lossy(&sized.stderr);
    assert_eq!(sized.status.code(), Some(0), "all fills were in band: {told}");
    let names = fs::read_dir(place.path("")).unwrap().count();
    assert_eq!(names, 2, "what a run wrote has no name");
    assert!(told.contains("its output goes to an unnamed file"), "{told}");
}

/// A command that warns would warn once for every run.
#[test]
fn errors_of_repeated_runs_are_not_shown_again() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 8 << 20);
    let mut nbuf = place.nbuf(["size", "-y", "--force", "--verify-at", "100%"]);
    nbuf.args(["--", "sh", "-c", "echo a warning >&2; cat file file"]);
    let sized = nbuf.output().unwrap();
    let [output, errors] = [&sized.stdout, &sized.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(format!("{output}{errors}").contains("Verified: pages filled"), "{errors}");
    assert_eq!(errors.matches("a warning\n").count(), 1, "{errors}");
}

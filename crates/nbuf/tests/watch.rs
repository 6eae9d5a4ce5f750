//! `nbuf watch` against programs that know what they did.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use nbuf::experiment::result::{WatchDocument, WatchMeter};
use nbuf::experiment::session::Stopwatch;
use nbuf::internal::sys::cgroup::{Group, Hierarchies, Throttle};
use support::truth::{built, in_four_tries};
use support::{Need, Place, listens, requires, skip, until};

const NEEDS: [Need; 2] = [Need::Tracepoints, Need::Program("cc")];

/// A program that does what it is asked.
struct Truth {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Truth {
    /// Builds it once for a place, and starts it in these groups.
    fn start(place: &Place, joins: &[OwnedFd]) -> Self {
        let program = truth(place);
        let paths = joins.iter().map(|join| {
            fs::read_link(format!("/proc/self/fd/{}", join.as_raw_fd()))
                .unwrap()
                .display()
                .to_string()
        });
        let script = paths.fold(String::new(), |all, path| format!("{all}echo $$ >{path}; "));
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script} exec \"$0\"")]).arg(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut this = Self { child, answers };
        // Its own pages are there from then on.
        this.does("touch 2");
        this.does("compute 0.01");
        this
    }

    fn says(&mut self, line: &str) {
        // In one write, which is one read there.
        self.child.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn answer(&mut self) -> f64 {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }

    fn does(&mut self, line: &str) -> f64 {
        self.says(line);
        self.answer()
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }
}

impl Drop for Truth {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn truth(place: &Place) -> PathBuf {
    let program = place.path("truth");
    if program.exists() { program } else { built(place, "watch") }
}

/// Watches one interval of two seconds while `work` is done.
fn watch<T>(place: &Place, options: &[&str], work: impl FnOnce() -> T) -> (WatchDocument, T) {
    let mut nbuf = place.nbuf(["watch", "--once", "--json", "--interval", "2s"]);
    let child = nbuf.args(options).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("nbuf listens", || listens(child.id()));
    // Signals are blocked before the first reading, and tracepoints are opened meanwhile.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let done = work();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{error}");
    let seen: WatchDocument = serde_json::from_slice(&output.stdout).expect(&error);
    let all = seen.seconds * seen.processors as f64;
    assert!((seen.cpu.sum_seconds() - all).abs() < 1e-6 * all, "{:?} of {all}", seen.cpu);
    (seen, done)
}

#[test]
fn the_faults_and_the_time_of_a_process_are_those_that_it_had() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let mut truth = Truth::start(&place, &[]);
    let pid = truth.pid();
    let (seen, _) = watch(&place, &["--pid", &pid], || truth.does("touch 3000"));
    let chosen = seen.chosen.unwrap();
    assert_eq!((chosen.faults_minor, chosen.faults_major), (3000, 0));
    assert_eq!(chosen.processes, [pid.parse::<u32>().unwrap()]);
    assert_eq!(chosen.thread_states.sleeping, 1);
    assert!(seen.faults.minor >= 3000, "{:?}", seen.faults);
    let between = seen.faults.between.unwrap();
    assert!(between.count > 300 && between.p50_seconds <= between.p99_seconds, "{between:?}");

    let tries = std::cell::RefCell::new(truth);
    in_four_tries(|| {
        let mut truth = tries.borrow_mut();
        let (seen, _) = watch(&place, &["--pid", &pid], || truth.does("compute 0.4"));
        let chosen = seen.chosen.unwrap();
        let ran = chosen.user_seconds + chosen.system_seconds;
        // By ticks of the kernel, of 10 ms at most.
        assert!((ran - 0.4).abs() < 0.03, "{chosen:?}");
        assert_eq!(chosen.faults_minor, 0);
        assert!(seen.cpu.user_seconds + seen.cpu.system_seconds > 0.37, "{:?}", seen.cpu);
        assert!(seen.queue.samples >= 5 && seen.queue.length_mean > 0.05, "{:?}", seen.queue);
        assert!(seen.own.lost > 0 || seen.notes.is_empty(), "{:?}", seen.notes);
    });
}

/// A rate for the disc, in a group of our own: 100 reads a second make each wait known.
#[test]
fn idle_time_while_readers_wait_for_a_slow_disc_is_apart() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let file = place.file("file", 1 << 20);
    fs::File::open(&file).unwrap().sync_all().unwrap();
    let device = fs::metadata(&file).unwrap().dev();
    let devices = vec![(libc::major(device), libc::minor(device))];
    let throttle = Throttle { devices, iops: Some(100), ..Throttle::default() };
    let Ok(group) = Group::create_with(&Hierarchies::of_this_process(), Some(&throttle)) else {
        return skip("a rate for a disc: no group can have one");
    };
    let joins = group.join_files().unwrap();
    let read = format!("direct 40 {}", file.display());
    for readers in [0, 1, 2] {
        in_four_tries(|| {
            let mut truths: Vec<Truth> =
                (0..readers).map(|_| Truth::start(&place, &joins)).collect();
            let (seen, waited) = watch(&place, &[], || {
                for truth in &mut truths {
                    truth.says(&read);
                }
                truths.iter_mut().map(Truth::answer).sum::<f64>()
            });
            let cpu = seen.cpu;
            assert_eq!(cpu.idle_by, WatchMeter::Tracepoints);
            assert!(readers == 0 || waited > 0.2 * f64::from(readers), "no rate: {waited}");
            // Other programs wait too.
            let waits = cpu.disc_wait_seconds.unwrap();
            assert!(
                waits >= 0.98 * waited - 0.01,
                "{waits} of {waited}, {readers} readers: {cpu:?}"
            );
            assert!(
                waits <= 1.02 * waited + 0.2,
                "{waits} of {waited}, {readers} readers: {cpu:?}"
            );
            // As long as a processor was free for each of them.
            let idle = cpu.multiprogramming_idle_seconds;
            let busy = cpu.sum_seconds() - cpu.true_idle_seconds - idle;
            assert!(idle <= waits + 1e-6, "{idle} of {waits}: {cpu:?}");
            assert!(idle >= 0.98 * waited - busy, "{idle} of {waited}, {readers} readers: {cpu:?}");
        });
    }
}

/// Each sleep of a thread takes it off the run queue once. Others of the machine only add to that.
#[test]
fn a_thread_that_sleeps_leaves_the_run_queue() {
    const SLEEPS: u64 = 300;
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let sleeps = || {
        let watch = Stopwatch::start();
        for _ in 0..SLEEPS {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        watch.elapsed()
    };
    let (seen, took) = watch(&place, &[], sleeps);
    let queue = &seen.queue;
    // On a very slow machine the interval ends before.
    let is_whole = seen.own.lost == 0 && took.as_secs_f64() < 1.5;
    assert!(!is_whole || queue.exits >= Some(SLEEPS), "{queue:?}");
    // A thread that leaves its processor is a switch, and not each switch is an exit.
    assert!(queue.exits <= Some(queue.switches + queue.switches / 10 + 100), "{queue:?}");
    assert!(!is_whole || queue.entries > Some(0), "{queue:?}");
}

#[test]
fn a_file_is_shown_as_cached_as_it_is() {
    let Some(_lock) = requires(&[Need::Program("dd")]) else { return };
    let place = Place::new();
    place.file("file", 100 * 4096);
    fs::File::open(place.path("file")).unwrap().sync_all().unwrap();
    let look = || {
        let options = ["watch", "--once", "--json", "--interval", "100ms", "--file", "file"];
        let output = place.nbuf(options).output().unwrap();
        let mut seen: WatchDocument = serde_json::from_slice(&output.stdout).unwrap();
        seen.files.remove(0)
    };
    let whole = look();
    if whole.error.is_some() {
        return skip("no cachestat");
    }
    assert_eq!((whole.pages, whole.cached, whole.map), (100, 100, vec![1.0; 50]));
    let mut drops = Command::new("dd");
    drops.args(["if=file", "iflag=nocache", "count=0"]).current_dir(place.path("."));
    assert!(drops.output().unwrap().status.success());
    let none = look();
    assert_eq!((none.pages, none.cached, none.map), (100, 0, vec![0.0; 50]));
}

#[test]
fn a_replay_shows_what_was_shown_and_a_recording_is_never_overwritten() {
    let place = Place::new();
    let record = ["watch", "--interval", "100ms", "--count", "2", "--record", "w.jsonl"];
    let shown = place.nbuf(record).output().unwrap();
    assert!(shown.status.success(), "{shown:?}");
    let replayed = place.nbuf(["watch", "--replay", "w.jsonl"]).output().unwrap();
    assert_eq!(
        String::from_utf8(replayed.stdout).unwrap(),
        String::from_utf8(shown.stdout).unwrap()
    );
    let json = place.nbuf(["watch", "--replay", "w.jsonl", "--json"]).output().unwrap();
    assert_eq!(json.stdout, fs::read(place.path("w.jsonl")).unwrap());
    let first = place.nbuf(["watch", "--replay", "w.jsonl", "--once"]).output().unwrap();
    assert!(first.stdout.len() < replayed_bytes(&place), "{first:?}");
    let again = place.nbuf(record).output().unwrap();
    assert_eq!(again.status.code(), Some(125));
    let error = String::from_utf8(again.stderr).unwrap();
    assert!(error.contains("w.jsonl exists; move it away"), "{error}");
    // What a killed nbuf leaves behind.
    let text = fs::read(place.path("w.jsonl")).unwrap();
    fs::write(place.path("cut.jsonl"), &text[..text.len() - 20]).unwrap();
    let cut = place.nbuf(["watch", "--replay", "cut.jsonl", "--json"]).output().unwrap();
    assert_eq!(cut.stdout, text.split_inclusive(|byte| *byte == b'\n').next().unwrap());
    assert!(String::from_utf8(cut.stderr).unwrap().contains("cut off"));
}

fn replayed_bytes(place: &Place) -> usize {
    place.nbuf(["watch", "--replay", "w.jsonl"]).output().unwrap().stdout.len()
}

#[test]
fn a_signal_or_a_closed_output_ends_it_in_order() {
    let place = Place::new();
    let start = || {
        let mut nbuf = place.nbuf(["watch", "--json", "--interval", "500ms"]);
        nbuf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for signal in ["-TERM", "-INT"] {
        let mut child = start();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
        // The interval under way is shown, for as long as it took.
        let last: WatchDocument = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
        assert!(last.number >= 2 && last.seconds < 0.9, "{last:?}");
    }
    let mut child = start();
    drop(child.stdout.take());
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!((child.wait().unwrap().code(), error.as_str()), (Some(0), ""));
}

/// Idle seconds of all processors since the machine started, by the kernel's ticks.
fn idle_by_ticks() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap();
    let words: Vec<f64> =
        text.lines().next().unwrap().split(' ').filter_map(|word| word.parse().ok()).collect();
    // Idle, and idle in what the kernel calls iowait.
    (words[3] + words[4]) / rustix::param::clock_ticks_per_second() as f64
}

#[test]
fn idle_time_is_the_idle_time_of_the_kernel() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let program = built(&place, "run");
    let check = |command: &mut Command| {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let before = idle_by_ticks();
        let output = place.nbuf(["watch", "--once", "--json"]).output().unwrap();
        let by_ticks = idle_by_ticks() - before;
        child.kill().unwrap();
        child.wait().unwrap();
        let seen: WatchDocument = serde_json::from_slice(&output.stdout).unwrap();
        let idle = seen.cpu.true_idle_seconds + seen.cpu.multiprogramming_idle_seconds;
        // The ticks include the start of nbuf.
        assert!((idle - by_ticks).abs() < 0.3, "{idle} s, by ticks {by_ticks} s");
    };
    // Nothing to do, and one processor busy.
    in_four_tries(|| check(Command::new("sleep").arg("9")));
    in_four_tries(|| check(Command::new(&program).args(["compute", "9"])));
}

/// Status and body of a request.
fn asked(address: &str, method: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{method} {path} HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Names of figures in the queries of the Grafana dashboard.
fn names_of_the_dashboard() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana/nbuf-watch.json");
    let text = fs::read_to_string(path).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut names = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let query = target["expr"].as_str().unwrap();
            let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            names.extend(words.filter(|word| word.starts_with("nbuf_")).map(str::to_owned));
        }
    }
    names
}

#[test]
fn prometheus_gets_what_its_dashboard_shows() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let mut nbuf = place.nbuf(["watch", "--metrics", "0", "--interval", "200ms", "--pid", "1"]);
    let mut child = nbuf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut error = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    error.read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("nbuf: metrics at http://").expect(&line);
    let address = url.strip_suffix("/metrics").unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    let watched = || {
        let (status, text) = asked(address, "GET", "/metrics");
        assert_eq!(status, 200);
        assert!(text.ends_with("# EOF\n"), "{text}");
        let seconds =
            text.lines().find_map(|line| line.strip_prefix("nbuf_watched_seconds_total "));
        (seconds.map_or(0.0, |seconds| seconds.parse::<f64>().unwrap()), text)
    };
    until("an interval", || watched().0 > 0.1);
    let (before, _) = watched();
    until("another interval", || watched().0 > before + 0.1);
    let mut names = names_of_the_dashboard();
    // Not every kernel measures pressure.
    names.retain(|name| name != "nbuf_pressure_ratio" || fs::exists("/proc/pressure/cpu").unwrap());
    assert!(names.len() > 15, "{names:?}");
    let file = place.file("file", 4096);
    until("every figure of the dashboard", || {
        // A disc that does nothing has no figures.
        fs::File::open(&file).unwrap().sync_all().unwrap();
        fs::write(&file, "more").unwrap();
        let (_, text) = watched();
        names.iter().all(|name| text.contains(&format!("\n{name}")))
    });
    assert_eq!(asked(address, "GET", "/").0, 404);
    assert_eq!(asked(address, "POST", "/metrics").0, 405);
    // A second server cannot have the port.
    let second = place.nbuf(["watch", "--metrics", address]).output().unwrap();
    let refused = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(125), "{refused}");
    assert!(refused.contains("give another port"), "{refused}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!((child.wait().unwrap().code(), out.as_str()), (Some(0), ""));
}

#[test]
fn an_ordinary_user_sees_samples_and_what_is_missing() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Nobody, Need::Program("setpriv")]) else {
        return;
    };
    let place = Place::open_to_all().unwrap();
    let nbuf = place.program();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(nbuf);
    let output = command.args(["watch", "--once", "--json"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let seen: WatchDocument = serde_json::from_slice(&output.stdout).expect(&error);
    assert_eq!(seen.cpu.idle_by, WatchMeter::Samples);
    assert_eq!((seen.service, seen.queue.entries, seen.cpu.disc_wait_seconds), (None, None, None));
    let notes: Vec<String> = seen.notes.iter().map(ToString::to_string).collect();
    assert!(notes[0].contains("by samples") && notes[0].contains("sudo"), "{notes:?}");
    assert!(seen.queue.switches > 0 && seen.states.sleeping > 0, "{:?}", seen.states);
}

#[test]
fn what_cannot_be_watched_is_refused_with_what_to_write_instead() {
    let place = Place::new();
    fs::write(place.path("other"), "{}\n").unwrap();
    fs::write(place.path("empty"), "").unwrap();
    let cases: [(&[&str], i32, &str); 10] = [
        (&["--interval", "5ms"], 2, "from 100ms to 1h"),
        (&["--interval", "x"], 2, "write 500ms, 2s or 1m"),
        (&["--count", "0"], 2, "0 is less than 1"),
        (&["--once", "--count", "3"], 2, "cannot be used with"),
        (&["--replay", "other", "--pid", "1"], 2, "cannot be used with"),
        (&["--once", "--pid", "4194304"], 125, "there is no process 4194304"),
        (&["--once", "--file", "/dev/null"], 125, "name a regular file"),
        (&["--once", "--cgroup", "/proc"], 125, "below /sys/fs/cgroup"),
        (&["--replay", "other"], 125, "other: line 1 does not name the schema nbuf.watch/1"),
        (&["--replay", "empty"], 125, "is empty"),
    ];
    for (options, status, want) in cases {
        let output = place.nbuf([&["watch"], options].concat()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{options:?}: {error}");
        assert!(error.contains(want) && output.stdout.is_empty(), "{options:?}: {error}");
    }
}

#[test]
fn no_recording_is_left_of_what_was_never_watched() {
    let place = Place::new();
    let options = ["watch", "--once", "--pid", "4194304", "--record", "w.jsonl"];
    assert_eq!(place.nbuf(options).output().unwrap().status.code(), Some(125));
    assert!(!place.path("w.jsonl").exists());
}

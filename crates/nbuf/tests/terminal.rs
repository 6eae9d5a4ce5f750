//! Commands at a terminal: they have it as without us, keys and foreground and all, and what they
//! need of it is not forgotten when they are run again.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

use support::truth::truth;
use support::{NBUF, Need, Place, Recorded, requires, requires_shared, until, with_word};

/// A command line at a terminal of its own.
struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    screen: Arc<Mutex<Vec<u8>>>,
    /// How much of the screen has been looked at.
    seen: usize,
}

impl Terminal {
    fn start(place: &Place, line: &str) -> Self {
        fs::write(place.path("rc"), "PS1='ready> '\n").unwrap();
        let mut command = Command::new("script");
        command.args(["-qec", line, "/dev/null"]).current_dir(place.path(""));
        command.env("TERM", "dumb").env("NBUF", NBUF).env_remove("COLUMNS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let keyboard = child.stdin.take().unwrap();
        let mut output = child.stdout.take().unwrap();
        let screen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(got @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().extend(&bytes[..got]);
            }
        });
        Self { child, keyboard, screen, seen: 0 }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).replace('\r', "")
    }

    /// Waits until a text appears behind what was waited for before.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let mut screen = String::new();
        for _ in 0..2000 {
            screen = self.screen();
            if let Some(at) = screen[self.seen.min(screen.len())..].find(text) {
                self.seen += at + text.len();
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("`{text}` never came: {screen}");
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Its exit status, and all that was on the screen.
    fn end(mut self) -> (Option<i32>, String) {
        for _ in 0..2000 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), self.screen());
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("it never ended: {}", self.screen());
    }
}

const NEEDS: [Need; 3] = [Need::Tracepoints, Need::Program("script"), Need::Program("bash")];
const NBUF_LINE: &str = "exec env --default-signal=INT,QUIT,TSTP \"$NBUF\" ";

#[test]
fn a_shell_has_its_keys_and_its_jobs() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    std::thread::scope(|scope| {
        for capture in ["perf", "calls"] {
            scope.spawn(move || has_its_keys(capture));
        }
    });
}

fn has_its_keys(capture: &str) {
    let place = Place::new();
    place.file("known", 20 * 4096);
    let line = format!(
        "{NBUF_LINE} record -q --capture {capture} -o t.parquet -- bash --rcfile rc --noediting -i"
    );
    let mut terminal = Terminal::start(&place, &line);
    terminal.wait_for("ready> ");
    // Each would have ended a command that does not use the terminal.
    for _ in 0..2 {
        terminal.press("\x03");
        terminal.wait_for("ready> ");
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
    // A time of each, for which no other process sleeps.
    let word = format!("86400.{}{}", capture.len(), std::process::id());
    terminal.press(&format!("cat known >/dev/null; sleep {word}\n"));
    until("the job runs", || !with_word(&word).is_empty());
    std::thread::sleep(std::time::Duration::from_millis(300));
    terminal.press("\x1a");
    terminal.wait_for("Stopped");
    terminal.wait_for("ready> ");
    terminal.press("kill -9 %1; /bin/sleep 0.3\n");
    terminal.wait_for("Killed");
    terminal.press("exit 7\n");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(7), "{screen}");
    let trace = File::open(place.path("t.parquet")).unwrap();
    let trace = nbuf::workload::format::native::read(trace).unwrap();
    let known = place.path("known");
    assert!(trace.files.iter().any(|file| known.ends_with(file)), "{:?}", trace.files);
    let warnings = &trace.facts.warnings;
    assert!(!warnings.iter().any(|text| text.contains("interrupted")), "{warnings:?}");
}

#[test]
fn a_job_that_is_stopped_goes_on() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = Place::new();
    let mut terminal = Terminal::start(&place, "exec bash --rcfile rc --noediting -i");
    terminal.wait_for("ready> ");
    terminal.press("\"$NBUF\" record -o t.parquet -- sh -c 'echo began; sleep 1; echo d''one'\n");
    terminal.wait_for("\nbegan");
    terminal.press("\x1a");
    terminal.wait_for("Stopped");
    terminal.wait_for("ready> ");
    terminal.press("fg\n");
    terminal.wait_for("\ndone");
    terminal.wait_for("the trace is t.parquet");
    terminal.wait_for("ready> ");
    terminal.press("exit $?\n");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
}

#[test]
fn three_keys_end_what_will_not_end() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = Place::new();
    let deaf = "trap '' INT; stty -icanon -echo; echo began; while :; do sleep 0.1; done";
    fs::write(place.path("deaf"), deaf).unwrap();
    let line =
        "\"$NBUF\" record -q -o t.parquet -- sh deaf; echo status $?; stty -a | grep -o '.icanon'";
    let line =
        format!("env --default-signal=INT,QUIT sh -c 'trap : INT; {}'", line.replace('\'', "\""));
    let mut terminal = Terminal::start(&place, &line);
    terminal.wait_for("began");
    std::thread::sleep(std::time::Duration::from_millis(300));
    // Two that come before it is scheduled are one signal.
    for pressed in 0..6 {
        if pressed >= 3 && terminal.screen().contains("status ") {
            break;
        }
        terminal.press("\x03");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    // It was killed for our SIGINT.
    terminal.wait_for("status 130");
    let (_, screen) = terminal.end();
    assert!(!screen.contains("-icanon"), "the mode is what it was: {screen}");
    assert!(place.path("t.parquet").exists());
}

#[test]
fn what_used_the_terminal_is_not_run_again_unasked() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = Place::new();
    place.file("file", 8 << 20);
    fs::write(place.path("asks"), "echo name?; read name; cat file >/dev/null; echo +$name >>ran")
        .unwrap();
    for (options, runs) in [("", 1), ("-y", 3)] {
        let _ = fs::remove_file(place.path("ran"));
        let line = format!("{NBUF_LINE} size {options} --force --verify-at 50% -- sh asks");
        let mut terminal = Terminal::start(&place, &line);
        terminal.wait_for("name?");
        // Until it has been seen to wait for the terminal.
        std::thread::sleep(std::time::Duration::from_secs(1));
        terminal.press("bart\n");
        let (status, screen) = terminal.end();
        // A prediction that missed by little is put to the test again.
        let ran = fs::read_to_string(place.path("ran")).unwrap().lines().count();
        assert!(ran == runs || runs == 3 && ran > runs, "{screen}");
        // Whether the fills are in band is another matter.
        assert!([Some(0), Some(1), Some(4)].contains(&status), "{screen}");
        let told = match runs {
            1 => "nbuf: not verified: the command used the terminal",
            _ => "its input is /dev/null instead of the terminal",
        };
        assert!(screen.contains(told), "{screen}");
        assert!(screen.contains("To paste"), "{screen}");
    }
}

#[test]
fn every_run_is_given_the_same_file_to_read() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 8 << 20);
    fs::write(place.path("names"), "skipped\nfile\nfile\n").unwrap();
    let script = "while read name; do cat $name >/dev/null; echo $name >>ran; done";
    let size = ["size", "-y", "--force", "--verify-at", "50%", "--", "sh", "-c", script];
    // Input that another process has read before us is not read again.
    let ours = "read first; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", ours, "sh", NBUF]).args(size).current_dir(place.path(""));
    let output = command.stdin(File::open(place.path("names")).unwrap()).output().unwrap();
    let sized = Recorded::of(output, &place.path("none"));
    assert!(sized.stderr.contains("its input is the same file again"), "{sized:?}");
    let ran = fs::read_to_string(place.path("ran")).unwrap();
    // Two files a run, of which there are three or more: a miss by little is tried again.
    let runs = ran.lines().count() / 2;
    assert!(runs >= 3 && ran == "file\n".repeat(2 * runs), "{sized:?}");

    let _ = fs::remove_file(place.path("ran"));
    let mut nbuf = place.nbuf(size);
    nbuf.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = nbuf.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"file\n").unwrap();
    let sized = Recorded::of(child.wait_with_output().unwrap(), &place.path("none"));
    assert!(sized.stderr.contains("because a pipe cannot be read twice"), "{sized:?}");
    assert_eq!(fs::read_to_string(place.path("ran")).unwrap(), "file\n", "{sized:?}");
}

/// The next line of the hook.
fn session_line(terminal: &mut Terminal) -> String {
    terminal.wait_for("nbuf: real ");
    let begin = terminal.seen;
    terminal.wait_for("\n");
    terminal.screen()[begin..terminal.seen].to_owned()
}

/// A time of the line, in seconds; the word before or after it names it.
fn seconds(line: &str, before: &str) -> f64 {
    let rest = line.split(before).nth(1).unwrap_or_else(|| panic!("no {before}: {line}"));
    let mut words = rest.split([' ', ';', ',', '\n']).filter(|word| !word.is_empty());
    let number: f64 = words.next().unwrap().parse().expect(line);
    number * if words.next() == Some("ms") { 1e-3 } else { 1.0 }
}

/// Time of processors; the line divides a longer one.
fn cpu(line: &str) -> f64 {
    let system = if line.contains(" user, ") { seconds(line, " user, ") } else { 0.0 };
    seconds(line, "CPU ") + system
}

/// Number and place of the helper, as the hook's variables have them.
fn helper(terminal: &mut Terminal) -> (i32, String) {
    terminal.press("echo 'is' at $__nbuf_helper $__nbuf_place;\n");
    terminal.wait_for("\nis at ");
    let begin = terminal.seen;
    terminal.wait_for("\n");
    let text = terminal.screen()[begin..terminal.seen].trim().to_owned();
    let (pid, place) = text.split_once(' ').unwrap();
    session_line(terminal);
    (pid.parse().unwrap(), place.to_owned())
}

fn is_gone(pid: i32, place: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let is_over = status.is_empty() || status.contains(") Z ");
    is_over && !std::path::Path::new(place).exists()
}

#[test]
fn every_command_of_a_session_has_its_line() {
    let needs = [Need::Program("script"), Need::Program("bash"), Need::Program("cc")];
    let Some(_lock) = requires(&needs) else { return };
    let place = Place::new();
    truth(&place);
    let mut terminal = Terminal::start(&place, "exec bash --rcfile rc --noediting -i");
    terminal.wait_for("ready> ");
    terminal.press("eval \"$(\"$NBUF\" run --shell bash)\"\n");
    terminal.wait_for("ready> ");
    let mut run = |line: &str| {
        terminal.press(&format!("{line}\n"));
        session_line(&mut terminal)
    };
    run("./truth compute 0.01");
    let line = run("./truth compute 0.3 >/dev/null");
    assert!((0.28..0.6).contains(&cpu(&line)), "{line}");
    let line = run("./truth sleep 0.2");
    assert!(seconds(&line, "") >= 0.2 && cpu(&line) < 0.1, "{line}");
    // Both ends of a pipeline, and a page fault for each page.
    let line = run("./truth compute 0.15 | ./truth compute 0.15");
    assert!((0.28..0.7).contains(&cpu(&line)), "{line}");
    let faults = |line: &str| -> u64 {
        let (_, rest) = line.split_once(" major, ").unwrap();
        rest.split(' ').next().unwrap().replace(',', "").parse().unwrap()
    };
    let (few, many) = (faults(&run("./truth touch 0")), faults(&run("./truth touch 5000")));
    assert!((many - few).abs_diff(5000) < 200, "{few} {many}");
    // The status is the command's; an empty line has no message.
    terminal.press("(exit 3)\n");
    session_line(&mut terminal);
    terminal.press("echo status $?;\n");
    terminal.wait_for("\nstatus 3\n");
    session_line(&mut terminal);
    // A job in the background is named where the kernel lets us see it, or named as not seen.
    terminal.press("./truth compute 30 & sleep 0.5\n");
    let line = session_line(&mut terminal);
    assert!(line.contains("jobs in the background"), "{line}");
    if nbuf::experiment::start::is_root() {
        assert!(line.contains(" CPU more"), "{line}");
    }
    assert!(cpu(&line) < 0.3, "{line}");
    terminal.press("kill %1; wait\n");
    session_line(&mut terminal);
    // A prompt costs under 5 ms; ten times that is no test of the machine.
    terminal.press(
        "t=${EPOCHREALTIME/./}; for i in {1..100}; do __nbuf_began=$t; __nbuf_prompt; done 2>/dev/null; \
         echo 'each' took $(( (${EPOCHREALTIME/./} - t) / 100 )) us;\n",
    );
    terminal.wait_for("\neach took ");
    let begin = terminal.seen;
    terminal.wait_for(" us\n");
    let each: u64 = terminal.screen()[begin..terminal.seen - 4].parse().unwrap();
    assert!(each < 50_000, "{each} us");
    let (pid, directory) = helper(&mut terminal);
    assert!(!is_gone(pid, &directory));
    // No end of a shell leaves its helper.
    terminal.press("kill -9 $$\n");
    terminal.end();
    until("the helper has ended", || is_gone(pid, &directory));
}

#[test]
fn other_shells_have_their_lines() {
    let shells = [
        ("zsh", "exec zsh -f -u -i", "eval \"$($NBUF run --shell zsh)\""),
        ("fish", "exec fish --no-config -i", "$NBUF run --shell fish | source"),
    ];
    // A helper that stops must not stop its shell either.
    let ends = |shell| [(shell, libc::SIGKILL), (shell, libc::SIGSTOP)];
    for ((name, start, hook), end) in shells.into_iter().flat_map(ends) {
        let needs = [Need::Program("script"), Need::Program(name), Need::Program("cc")];
        let Some(_lock) = requires(&needs) else { continue };
        let place = Place::new();
        truth(&place);
        let mut terminal = Terminal::start(&place, start);
        terminal.press(&format!("{hook}\n"));
        terminal.press("./truth compute 0.3; sh -c 'exit 3'\n");
        // fish says the end of its own hook's line, too.
        let mut line = session_line(&mut terminal);
        if cpu(&line) < 0.2 {
            line = session_line(&mut terminal);
        }
        assert!((0.28..0.7).contains(&cpu(&line)), "{name}: {line}");
        let status = if name == "fish" { "$status" } else { "$?" };
        terminal.press(&format!("echo 'it' was {status} by $__nbuf_helper $__nbuf_place\n"));
        terminal.wait_for("it was 3 by ");
        let begin = terminal.seen;
        terminal.wait_for("\n");
        let text = terminal.screen()[begin..terminal.seen].trim().to_owned();
        let (pid, directory) = text.split_once(' ').unwrap();
        let pid = pid.parse().unwrap();
        // Without its helper a shell goes on, and nothing is left.
        nbuf::internal::sys::process::signal(pid, end).unwrap();
        terminal.press("true\n");
        terminal.wait_for("the helper of this session has ended");
        let _ = nbuf::internal::sys::process::signal(pid, libc::SIGKILL);
        until("the directory is gone", || is_gone(pid, directory));
        terminal.press("echo still 'here'\n");
        terminal.wait_for("\nstill here\n");
        terminal.press("exit\n");
        terminal.end();
    }
}

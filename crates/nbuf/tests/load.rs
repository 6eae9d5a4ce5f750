//! `nbuf load` against services of known service time, and its ends.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use expect_test::expect;
use nbuf::experiment::load::Think;
use nbuf::experiment::result::{LoadBottleneck, LoadDocument, LoadFigure, LoadLabel, LoadLine};
use nbuf::internal::sys::cgroup::Hierarchies;
use nbuf::internal::sys::process::signal;
use support::pids::Pids;
use support::truth::in_four_tries;
use support::{Need, Place, requires, until, with_word};

fn run(place: &Place, script: &str, words: &[&str]) -> (i32, String, String) {
    fs::write(place.path("users.toml"), script).unwrap();
    let mut nbuf = place.nbuf(["load", "users.toml"]);
    let Output { status, stdout, stderr } = nbuf.args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[track_caller]
fn measured(place: &Place, script: &str, words: &[&str]) -> LoadDocument {
    let (status, said, wrong) = run(place, script, &[words, &["--json"]].concat());
    assert_eq!((status, wrong.as_str()), (0, ""), "{said}");
    serde_json::from_str(&said).unwrap()
}

/// One server: a user who has the lock sleeps for the service time.
fn served(seconds: f64, class: &str) -> String {
    format!(
        "[[class]]\nname = 'users'\n{class}\n\
         command = [{{ run = ['flock', 'lock', 'sleep', '{seconds}'] }}]\n"
    )
}

/// The throughput of the machine repairman: a closed system of one exponential server and users who think,
/// by exact mean value analysis.
fn repairman(users: u32, service: f64, think: f64) -> f64 {
    let (mut queue, mut throughput) = (0.0, 0.0);
    for population in 1..=users {
        let response = service * (1.0 + queue);
        throughput = f64::from(population) / (think + response);
        queue = throughput * response;
    }
    throughput
}

#[test]
fn closed_users_of_one_server_are_machine_repairmen() {
    let Some(_lock) = requires(&[Need::Program("flock")]) else { return };
    let place = Place::new();
    let think = "think = { kind = 'exponential', mean_seconds = 0.4 }";
    in_four_tries(|| {
        let script = served(0.1, think);
        let load = measured(&place, &script, &["--users", "1,12", "--duration", "5s"]);
        let [one, many] = &load.steps[..] else { panic!("{load:?}") };
        // Starting a command takes time, too: alone, it is measured as part of the service.
        let service = one.response.unwrap().mean_seconds;
        assert!((0.1..0.25).contains(&service), "{one:?}");
        // At saturation the server never idles, whatever its distribution.
        let want = repairman(12, service, 0.4);
        let ratio = many.throughput_per_second / want;
        assert!((0.7..1.5).contains(&ratio), "{ratio}: {many:?}");
        let little = 12.0 / many.throughput_per_second - many.think_seconds.unwrap();
        let ratio = many.response.unwrap().mean_seconds / little;
        assert!((0.7..1.3).contains(&ratio), "{ratio}: {many:?}");
        let knee = load.knee.unwrap();
        assert_eq!(knee.bottleneck, LoadBottleneck::Elsewhere);
        if let Some(split) = many.split {
            assert_eq!(many.label, LoadLabel::LockBound, "{many:?}");
            // The parts are those of the service, and the lock is what all others hold.
            let ratio = split.sum_seconds() / many.service.unwrap().mean_seconds;
            assert!((0.9..1.1).contains(&ratio), "{ratio}: {many:?}");
            assert!(split.lock_seconds > 3.0 * service, "{many:?}");
            assert_ne!(one.label, LoadLabel::LockBound);
        }
        assert!((3.0..9.0).contains(&knee.users), "{knee:?}");
    });
}

#[test]
fn arrivals_at_one_server_wait_as_in_m_d_1_and_the_service_hides_it() {
    let place = Place::new();
    let script = "
        [[class]]
        name = 'arrivals'
        arrivals = 'open'
        rate_per_second = 4
        command = [{ run = ['sleep', '0.15'] }]";
    in_four_tries(|| {
        let load = measured(&place, script, &["--users", "1", "--duration", "15s", "--seed", "5"]);
        let step = &load.steps[0];
        let (response, service) =
            (step.response.unwrap().mean_seconds, step.service.unwrap().mean_seconds);
        assert!((0.15..0.22).contains(&service), "{step:?}");
        // M/D/1: the mean wait is rho s / 2 (1 - rho).
        let rho = step.throughput_per_second * service;
        let wait = rho * service / (2.0 * (1.0 - rho).max(0.05));
        let ratio = (response - service) / wait;
        assert!((0.2..5.0).contains(&ratio), "{ratio}: {step:?}");
        assert!(load.knee.is_none());
    });
}

/// A group whose reads of the disc of a file are held to a rate; nothing where none can be made.
struct SlowDisc(PathBuf);

impl SlowDisc {
    fn of(file: &Path) -> Option<Self> {
        let parent = Hierarchies::of_this_process().blkio_v1?;
        let slow = Self(parent.join(format!("nbuftest-load-{}", std::process::id())));
        fs::create_dir(&slow.0).ok()?;
        let device = fs::metadata(file).ok()?.dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let rate = format!("{major}:{minor} 200");
        fs::write(slow.0.join("blkio.throttle.read_iops_device"), rate).ok()?;
        Some(slow)
    }
}

impl Drop for SlowDisc {
    fn drop(&mut self) {
        until("the group is gone", || fs::remove_dir(&self.0).is_ok());
    }
}

#[test]
fn labels_are_those_of_known_bottlenecks() {
    let Some(_lock) = requires(&[]) else { return };
    let place = Place::new();
    let of = |run: &str| {
        format!("[[class]]\nname = 'users'\ncommand = [{{ run = ['sh', '-c', '{run}'] }}]\n")
    };
    let words = ["--users", "4", "--duration", "3s"];
    let burn = of("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    in_four_tries(|| {
        let load = measured(&place, &burn, &words);
        let step = &load.steps[0];
        assert_eq!(step.label, LoadLabel::CpuBound, "{step:?}");
        assert!(step.idle.is_some_and(|idle| idle.running_share > 0.7), "{step:?}");
        if let Some(split) = step.split {
            let share = (split.on_cpu_seconds + split.runnable_seconds) / split.sum_seconds();
            assert!(share > 0.7, "{step:?}");
        }
    });
    fs::write(place.path("data"), vec![7; 160 << 10]).unwrap();
    File::open(place.path("data")).unwrap().sync_all().unwrap();
    let Some(slow) = SlowDisc::of(&place.path("data")) else {
        return support::skip("no blkio cgroup of version 1");
    };
    // The shell of each command joins the slow group: only its reads are held back.
    let procs = slow.0.join("cgroup.procs");
    let procs = procs.display();
    let read =
        of(&format!("echo $$ >{procs} && dd if=data of=/dev/null bs=4k iflag=direct 2>/dev/null"));
    in_four_tries(|| {
        let load = measured(&place, &read, &words);
        let step = &load.steps[0];
        assert!(step.interactions > 0, "{step:?}");
        let Some(split) = step.split else { return };
        assert_eq!(step.label, LoadLabel::DiscBound, "{step:?}");
        let figures = [LoadFigure::DiscWait, LoadFigure::DiscBusy];
        assert!(figures.contains(&step.evidence[0].figure), "{step:?}");
        assert!(split.disc_seconds > 0.5 * split.sum_seconds(), "{step:?}");
    });
}

#[test]
fn a_history_grows_by_a_run_and_think_times_come_from_a_file() {
    let place = Place::new();
    fs::write(place.path("think.txt"), "50ms\n0.1 # seconds\n").unwrap();
    let script = "[[class]]\nname = 'a'\nthink = { kind = 'recorded', file = 'think.txt' }\n\
                  command = [{ run = ['true'] }]\n";
    let words = ["--users", "1", "--duration", "1s", "--history", "steps.jsonl"];
    for label in ["first", "second"] {
        let load = measured(&place, script, &[&words[..], &["--label", label]].concat());
        let think = load.steps[0].think_seconds.unwrap();
        assert!((0.05..=0.1).contains(&think), "{load:?}");
    }
    let (status, said, wrong) = run(&place, script, &words);
    assert_eq!((status, wrong.as_str()), (0, ""), "{said}");
    let table: Vec<&str> = said.split("Steps:\n").nth(1).unwrap().lines().collect();
    assert!(table.len() == 4 && table[2].contains("second"), "{said}");
    fs::write(place.path("steps.jsonl"), "precious\n").unwrap();
    let (status, _, wrong) = run(&place, script, &words);
    assert!(status == 125 && wrong.contains("steps.jsonl: line 1 is not of nbuf's"), "{wrong}");
    assert_eq!(fs::read_to_string(place.path("steps.jsonl")).unwrap(), "precious\n");
    let words = ["--users", "1", "--duration", "1s", "--history", "none/steps.jsonl"];
    let touched = script.replace("'true'", "'touch', 'ran'");
    let (status, said, wrong) = run(&place, &touched, &words);
    assert!(status == 125 && said.is_empty() && wrong.contains("none/steps.jsonl"), "{wrong}");
    assert!(!place.path("ran").exists(), "the load began");
    fs::write(place.path("think.txt"), "50ms\nsoon\n").unwrap();
    let (status, _, wrong) = run(&place, script, &[]);
    assert!(status == 125 && wrong.starts_with("nbuf: think.txt: line 2: `soon`"), "{wrong}");
}

/// The log of a real server, which two users asked the same question five times.
fn log_of_postgresql(place: &Place) -> Option<PathBuf> {
    let programs = Path::new("/usr/lib/postgresql/15/bin");
    // The server refuses to be root.
    let own = tempfile::Builder::new().prefix("nbuftest-pg").tempdir_in("/tmp").ok()?;
    std::os::unix::fs::chown(own.path(), Some(65534), Some(65534)).ok()?;
    let here = own.path().display();
    let settings = format!(
        "listen_addresses = ''\nunix_socket_directories = '{here}'\n\
         log_line_prefix = '%m [%p] %c '\nlog_min_duration_statement = 0\n"
    );
    fs::write(own.path().join("settings"), settings).ok()?;
    fs::write(own.path().join("q.sql"), "\\sleep 50 ms\nselect 1,\n 2;\n").ok()?;
    let steps = format!(
        "cd {here} && P={programs} && $P/initdb -D d -A trust -U postgres -N >out 2>&1 && \
         cat settings >>d/postgresql.conf && $P/pg_ctl -D d -l log -w start >>out 2>&1 && \
         $P/pgbench -h {here} -U postgres -n -c 2 -t 5 -f q.sql postgres >>out 2>&1; \
         $P/pg_ctl -D d -m immediate stop >>out 2>&1; grep -q duration log",
        programs = programs.display()
    );
    let words = ["--reuid=65534", "--regid=65534", "--clear-groups", "env", "LC_ALL=C"];
    let mut server = Command::new("setpriv");
    let done = server.args(words).args(["sh", "-c", &steps]).status().ok()?;
    if !done.success() {
        let said = fs::read_to_string(own.path().join("out")).unwrap_or_default();
        support::skip(&format!("no log of PostgreSQL 15: {said}"));
        return None;
    }
    fs::copy(own.path().join("log"), place.path("pg.log")).ok()?;
    Some(place.path("pg.log"))
}

#[test]
fn a_script_is_drafted_from_the_log_of_a_real_postgresql() {
    if !Path::new("/usr/lib/postgresql/15/bin/initdb").exists() {
        return support::skip("no PostgreSQL 15");
    }
    let Some(_lock) = requires(&[Need::Program("setpriv")]) else { return };
    let place = Place::new();
    let Some(log) = log_of_postgresql(&place) else { return };
    let output = place.nbuf(["load", "--from"]).arg(&log).output().unwrap();
    let drafted = String::from_utf8(output.stdout).unwrap();
    let wrong = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), wrong.as_str()), (Some(0), ""), "{drafted}");
    let script = nbuf::experiment::load::Script::parse(&drafted).unwrap();
    let [action] = &script.classes[0].actions[..] else { panic!("{drafted}") };
    assert_eq!(action.what.name(), "psql -X -q -c select 1,\n 2");
    assert_eq!(action.weight.to_bits(), 10_f64.to_bits());
    let Think::Lognormal { mean_seconds, .. } = script.classes[0].think else {
        panic!("{drafted}")
    };
    assert!((0.045..0.5).contains(&mean_seconds), "{drafted}");
}

#[test]
fn requests_go_over_a_real_socket() {
    let place = Place::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    std::thread::spawn(move || {
        for (count, stream) in server.incoming().flatten().enumerate() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
            let status = if count % 2 == 0 { "200 OK" } else { "503 Busy" };
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let script = format!(
        "[[class]]\nname = 'web'\nthink = {{ kind = 'fixed', seconds = 0.02 }}\n\
         request = [{{ get = 'http://{address}/x' }}]\n"
    );
    let load =
        measured(&place, &script, &["--users", "2", "--duration", "2s", "--warmup", "100ms"]);
    let step = &load.steps[0];
    assert!(step.interactions > 3 && step.failed > 3, "{step:?}");
    assert!(step.interactions.abs_diff(step.failed) <= 4, "{step:?}");
    assert!(step.failure.as_ref().unwrap().ends_with("status 503"), "{step:?}");
    assert!(step.cpu_seconds_per_interaction.is_none(), "{step:?}");
}

#[test]
fn errors_say_where_and_what_was_meant() {
    let place = Place::new();
    let mut said = String::new();
    for script in [
        "[[class]]\nname = 'a'\nthink = { kind = 'exponental', mean_seconds = 1 }\n",
        "[[class]]\nname = 'a'\n\ncommands = []\n",
        "seed = ",
    ] {
        let (status, out, wrong) = run(&place, script, &[]);
        assert_eq!((status, out.as_str()), (125, ""), "{wrong}");
        said += &wrong;
    }
    expect![[r#"
        nbuf: users.toml: line 3, column 18: there is no think time `exponental`: did you mean `exponential`? Known are `fixed`, `exponential`, `lognormal`, `recorded`
        nbuf: users.toml: line 4, column 1: a class has no key `commands`: did you mean `command`? Known are `name`, `share`, `think`, `arrivals`, `rate_per_second`, `command`, `request`
        nbuf: users.toml: line 1, column 8: this is no TOML: string values must be quoted, expected literal string
    "#]].assert_eq(&said);
    let none = "[[class]]\nname = 'a'\ncommand = [{ run = ['no-such-program'] }]\n";
    let (status, out, wrong) = run(&place, none, &["--users", "3"]);
    assert_eq!((status, out.as_str()), (127, ""), "{wrong}");
    assert!(wrong.starts_with("nbuf: no-such-program: command not found"), "{wrong}");
    let (status, _, wrong) = run(&place, none, &["--users", "0"]);
    assert_eq!(status, 2, "{wrong}");
    let missing = place.nbuf(["load", "absent.toml"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(125), "{missing:?}");
}

#[test]
fn every_interaction_has_a_line_in_a_file_that_is_never_overwritten() {
    let place = Place::new();
    let script = "[[class]]\nname = 'a'\nthink = { kind = 'fixed', seconds = 0.02 }\n\
                  command = [{ run = ['true'] }, { run = ['false'] }]\n";
    let words = ["--users", "2,3", "--duration", "1s", "--lines-out", "lines.jsonl"];
    let load = measured(&place, script, &words);
    let text = fs::read_to_string(place.path("lines.jsonl")).unwrap();
    let lines: Vec<LoadLine> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut known, mut off) = (0_u64, 0_u64);
    for (number, step) in (1_u64..).zip(&load.steps) {
        let own = lines.iter().filter(|line| line.step == number);
        assert_eq!(own.clone().filter(|line| line.is_counted).count() as u64, step.interactions);
        for line in own {
            assert!((1..=step.users).contains(&line.user) && line.users == step.users, "{line:?}");
            assert_eq!((line.class.as_str(), line.has_failed), ("a", line.action == "false"));
            assert!(line.began_ns >= line.intended_ns && line.ended_ns > line.began_ns, "{line:?}");
            assert!(line.cpu_ns > Some(0) && line.minor_faults > Some(0), "{line:?}");
            // The parts are those of the process, which begins a little after its service.
            if let Some(parts) = line.real_time {
                let sum: f64 = parts.named().iter().map(|(_, seconds)| seconds).sum();
                let service = (line.ended_ns - line.began_ns) as f64 / 1e9;
                known += 1;
                off += u64::from(sum <= 0.0 || sum > service * 1.02);
            }
        }
    }
    // The kernel may lose a record of a busy machine.
    assert!(off * 20 <= known, "{off} of {known}: {text}");
    assert!(lines.iter().any(|line| line.action == "true"), "{text}");
    let (status, _, wrong) = run(&place, script, &words);
    assert!(status != 0 && wrong.contains("lines.jsonl"), "{wrong}");
    assert_eq!(fs::read_to_string(place.path("lines.jsonl")).unwrap(), text);
    // Without a document there is no file.
    let none = "[[class]]\nname = 'a'\ncommand = [{ run = ['no-such-program'] }]\n";
    let (status, _, wrong) = run(&place, none, &["--lines-out", "other.jsonl"]);
    assert_eq!(status, 127, "{wrong}");
    assert!(!place.path("other.jsonl").exists());
}

/// Users who sleep for as many seconds as no other process does.
fn sleepers(seconds: &str) -> String {
    format!(
        "[[class]]\nname = 'a'\ncommand = [{{ run = ['sh', '-c', 'sleep {seconds} & wait'] }}]\n\
         [[class]]\nname = 'b'\ncommand = [{{ run = ['true'] }}]\nthink = {{ kind = 'fixed', seconds = 0.1 }}\n"
    )
}

#[test]
fn the_certifier_does_not_think() {
    let place = Place::new();
    let script = "[[class]]\nname = 'users'\nthink = { kind = 'fixed', seconds = 600 }\n\
                  command = [{ run = ['true'] }]\n";
    let of = |words: &[&str]| measured(&place, script, &[&["--duration", "1s"], words].concat());
    let thinking = of(&["--users", "3"]);
    assert_eq!((thinking.thinks, thinking.steps[0].interactions), (true, 0));
    // Other programs may keep the processors busy; that is a label of its own.
    assert_ne!(thinking.steps[0].label, LoadLabel::NoQueue);
    let certified = of(&["--certify", "3"]);
    assert_eq!((certified.thinks, certified.steps.len()), (false, 1));
    assert_eq!(certified.steps[0].users, 3);
    assert!(certified.steps[0].interactions > 3, "{:?}", certified.steps[0]);
    assert_eq!(certified.knee, None);
    // The users of the script have an N* of their own, which a table of versions may not mix with this.
    of(&["--certify", "2", "--history", "steps.jsonl"]);
    let line = fs::read_to_string(place.path("steps.jsonl")).unwrap();
    assert!(line.contains("\"knee_users\":null"), "{line}");
}

#[test]
fn ctrl_c_gives_what_was_measured_and_a_kill_leaves_nothing() {
    let place = Place::new();
    for (number, seconds) in [(2, "98761.25"), (9, "98762.25")] {
        fs::write(place.path("users.toml"), sleepers(seconds)).unwrap();
        let words = ["load", "users.toml", "--users", "4", "--duration", "10m", "--json"];
        let mut nbuf = place.nbuf(words);
        let lines = format!("{number}.jsonl");
        nbuf.args(["--lines-out", &lines]);
        let child = nbuf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until("both users sleep", || with_word(seconds).len() == 2);
        std::thread::sleep(std::time::Duration::from_millis(500));
        signal(i32::try_from(child.id()).unwrap(), number).unwrap();
        let output = child.wait_with_output().unwrap();
        if number == 2 {
            assert_eq!(output.status.code(), Some(130), "{output:?}");
            let load: LoadDocument = serde_json::from_slice(&output.stdout).unwrap();
            let step = &load.steps[0];
            assert!(!load.is_complete && step.interactions > 0 && step.unfinished >= 2, "{load:?}");
            let lines = fs::read_to_string(place.path(&lines)).unwrap();
            let counted = lines.lines().filter(|line| line.contains("\"is_counted\":true"));
            assert_eq!(counted.count() as u64, step.interactions, "{lines}");
        }
        until("nothing is left", || with_word(seconds).is_empty());
        assert_eq!(place.path(&lines).exists(), number == 2);
    }
}

#[test]
fn more_users_than_processes_is_an_error_after_what_was_measured() {
    let Some(_lock) = requires(&[]) else { return };
    let Some(pids) = Pids::of(30) else {
        support::skip("no pids cgroup");
        return;
    };
    let place = Place::new();
    let script = "[[class]]\nname = 'a'\ncommand = [{ run = ['sleep', '0.1'] }]\n";
    fs::write(place.path("users.toml"), script).unwrap();
    let nbuf = place.nbuf(["load", "users.toml", "--users", "2,500", "--duration", "1s"]);
    let output = pids.within(&nbuf).output().unwrap();
    let wrong = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(125), "{wrong}");
    assert!(wrong.contains("cannot start") && wrong.contains("pids.max"), "{wrong}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("per second"), "{wrong}");
    until("nothing is left", || pids.processes().is_empty());
}

#[test]
fn an_output_that_is_closed_early_is_no_error() {
    let place = Place::new();
    let script = "[[class]]\nname = 'a'\ncommand = [{ run = ['true'] }]\n";
    fs::write(place.path("users.toml"), script).unwrap();
    let words = ["load", "users.toml", "--users", "1", "--duration", "500ms"];
    let mut child =
        place.nbuf(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn the_example_of_the_page_runs() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/load.md"));
    let page = page.unwrap();
    let script = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    let words = ["--users", "1,4", "--duration", "2s", "--html", "load.html"];
    let load = measured(&place, script, &words);
    assert!(load.is_complete && load.seed == 1969, "{load:?}");
    let users: Vec<u32> = load.steps[1].classes.iter().map(|class| class.users).collect();
    assert_eq!(users, [1, 3]);
    let knee = load.knee.as_ref().unwrap();
    let carried: Vec<&str> = knee.classes.iter().map(|class| class.name.as_str()).collect();
    let users = knee.classes.iter().map(|class| f64::from(class.users)).sum::<f64>();
    assert_eq!(carried, ["programmer", "calculator"]);
    assert!((users - knee.users.floor()).abs() < 0.5, "{knee:?}");
    let costs: Vec<&str> = load.costs.iter().map(|cost| cost.class.as_str()).collect();
    assert_eq!(costs, ["programmer", "calculator"]);
    for (at, cost) in load.costs.iter().enumerate() {
        let all: u64 = load.steps.iter().map(|step| step.classes[at].interactions).sum();
        assert!(cost.used.commands == all && cost.used.cpu_seconds > 0.0, "{cost:?}");
        // Without a limit the group is unknown. A queue elsewhere is of no class.
        assert_eq!((cost.used.page_seconds, cost.price_per_user_hour), (None, None));
        let is_elsewhere = knee.bottleneck == LoadBottleneck::Elsewhere;
        assert_eq!(cost.alone.is_none(), is_elsewhere, "{cost:?} {knee:?}");
    }
    assert!(load.steps.iter().all(|step| step.interactions > 0 && step.failed == 0), "{load:?}");
    assert!(fs::read_to_string(place.path("load.html")).unwrap().contains("<svg"));
}

//! Probes of a service in a group of the test: what they measure, and that the limit comes back whatever happens.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nbuf::experiment::result::{LiveDocument, LivePressureOf, LiveProbeEnd};
use nbuf::internal::clock::Random;
use nbuf::internal::sys::cgroup::Hierarchies;
use rustix::process::{Pid, Signal, kill_process};

use super::service::{Group, Service, children};
use super::support::{
    Lock, NBUF, Need, Place, is_alive, requires, requires_shared, skip, until, with_word,
};

const PAGES: usize = 4000;
/// Moments at which nbuf is killed, by stages that run at once: each waits most of the time.
const KILLS: u64 = 24;
const STAGES: u64 = 4;

/// [`requires`] or [`requires_shared`].
type Takes = fn(&[Need]) -> Option<Lock>;

/// A service in groups of its own, its limit, and a place for what nbuf leaves.
struct Stage {
    service: Service,
    group: Group,
    /// For pressure of its own.
    _unified: Option<Group>,
    before: String,
    place: Place,
    _lock: Option<Lock>,
}

/// Leaves out a test that cannot run here. `takes` says whether others run next to it: each probe limits a group of
/// its own, makes none, and is waited for. But a limit must be lifted before memory that grows reaches it.
fn lock(takes: Takes) -> Option<Lock> {
    let lock = takes(&[Need::Tracepoints, Need::Program("python3")])?;
    if Hierarchies::of_this_process().memory_v1.is_none() {
        skip("no memory controller of version 1 to limit a group of our own");
        return None;
    }
    Some(lock)
}

impl Stage {
    /// The only one of its test.
    fn new(takes: Takes, name: &str, how: &str) -> Option<Self> {
        let lock = lock(takes)?;
        Some(Self { _lock: Some(lock), ..Self::below(name, how) })
    }

    /// One of several, whose test has the lock.
    fn below(name: &str, how: &str) -> Self {
        let Hierarchies { memory_v1, unified, .. } = Hierarchies::of_this_process();
        let parent = memory_v1.unwrap();
        let name = format!("probe-{name}");
        let group = Group::make(&parent, &name);
        let place = Place::new();
        let path = place.file("data", PAGES * 4096);
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        // Its pages are to be charged to the service.
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let service = Service::start_how(&group.0, &path, how);
        let unified = unified.map(|parent| Group::make(&parent, &name));
        if let Some(unified) = &unified {
            fs::write(unified.0.join("cgroup.procs"), service.pid()).unwrap();
        }
        let before = limit(&group.0);
        Self { service, group, _unified: unified, before, place, _lock: None }
    }

    fn nbuf(&self, options: &[&str]) -> Command {
        let mut nbuf = self.place.nbuf(["size"]);
        nbuf.args(options).env("XDG_STATE_HOME", self.place.path("state"));
        nbuf
    }

    /// A probe of the group.
    fn probe(&self, options: &[&str]) -> Command {
        let group = self.group.0.to_str().unwrap();
        let mut nbuf = self.nbuf(&["--cgroup", group, "--probe", "--may-kill"]);
        nbuf.args(["--target", "hit=0.6", "--for", "3s", "--json"]).args(options);
        nbuf
    }

    fn spawn(&self, options: &[&str]) -> Child {
        let mut nbuf = self.probe(options);
        nbuf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn limit(&self) -> String {
        limit(&self.group.0)
    }

    /// Waits until the probe has lowered the limit.
    fn lowered(&self) {
        until("the limit is lowered", || self.limit() != self.before);
    }

    fn states(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.place.path("state/nbuf")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Nothing of nbuf is left, and the service runs on.
    #[track_caller]
    fn is_as_before(&self, what: &str) {
        until(what, || self.limit() == self.before);
        let word = self.group.0.to_str().unwrap();
        until("no process of nbuf is left", || with_word(word).is_empty());
        assert_eq!(self.states(), Vec::<PathBuf>::new(), "{what}");
        assert!(is_alive(&self.service.pid()), "{what}");
    }
}

fn limit(group: &Path) -> String {
    fs::read_to_string(group.join("memory.limit_in_bytes")).unwrap()
}

fn document(output: &Output) -> LiveDocument {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn signal(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process.cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn each_step_has_what_was_predicted_and_what_was_measured() {
    let Some(stage) = Stage::new(requires_shared, "steps", "skewed") else { return };
    let output = stage.probe(&["--max-pressure", "100%", "--probe-hold", "3s"]).output().unwrap();
    let live = document(&output);
    let text = String::from_utf8_lossy(&output.stderr);
    let probe = live.probe.expect("it was probed");
    assert_eq!((probe.end, probe.is_restored), (LiveProbeEnd::Complete, true), "{probe:?} {text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(probe.pressure_of, LivePressureOf::Group, "{probe:?}");
    assert!(
        text.contains("Probing: limiting the memory of") && text.contains("may kill"),
        "{text}"
    );
    assert!(probe.steps.len() >= 2, "{probe:?}");
    assert!(probe.steps.windows(2).all(|pair| pair[0].limit_bytes > pair[1].limit_bytes));
    let last = probe.steps.last().unwrap();
    assert_eq!(last.limit_bytes.0 >> 20, live.answer.unwrap().limit_bytes.0.div_ceil(1 << 20));
    let measured = last.measured.unwrap();
    // The service asks for each page by a call, without readahead.
    let times = measured.fills_per_second / last.expected_per_second.unwrap();
    assert!((0.7..1.4).contains(&times), "{times}: {last:?}");
    assert!(last.taken_bytes.0 > 4 << 20 && measured.pressure() > 0.0, "{last:?}");
    assert!(last.back_seconds.is_some() || last.back_watched_seconds >= 15.0, "{last:?}");
    stage.is_as_before("the probe is over");
}

#[test]
fn pressure_ends_a_probe_and_the_report_says_so() {
    let Some(stage) = Stage::new(requires_shared, "pressure", "skewed") else { return };
    let group = stage.group.0.to_str().unwrap();
    let words = ["--cgroup", group, "--probe", "--may-kill", "--target", "hit=0.6", "--for", "3s"];
    let mut nbuf = stage.nbuf(&words);
    let output = nbuf.args(["--max-pressure", "0.2%", "--probe-hold", "1.5s"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    for part in ["pressure of the group was above", "The limit is what it was: no limit"] {
        assert!(text.replace('\n', " ").contains(part), "{part}: {text}");
    }
    stage.is_as_before("the pressure was too high");
}

#[test]
fn sigkill_at_any_moment_leaves_the_limit_as_it_was() {
    let Some(_lock) = lock(requires_shared) else { return };
    let under: u32 = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..STAGES).map(|lane| scope.spawn(move || kills(lane))).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).sum()
    });
    assert!(under >= 3, "{under} kills met a limit that was lowered");
}

/// The share of a lane in the kills. How many met a limit that was lowered.
fn kills(lane: u64) -> u32 {
    let stage = Stage::below(&format!("kills-{lane}"), "skewed");
    let mut random = Random::new(22 + lane);
    let mut under = 0;
    for number in lane * KILLS / STAGES..(lane + 1) * KILLS / STAGES {
        let mut nbuf = stage.spawn(&["--max-pressure", "100%", "--probe-hold", "0.5s"]);
        // Two of three while a limit holds, or shortly after.
        if number % 3 > 0 {
            stage.lowered();
            std::thread::sleep(Duration::from_micros(random.below(700_000)));
        } else {
            std::thread::sleep(Duration::from_millis(random.below(5_000)));
        }
        under += u32::from(stage.limit() != stage.before);
        nbuf.kill().unwrap();
        nbuf.wait().unwrap();
        stage.is_as_before(&format!("kill {number}"));
    }
    under
}

#[test]
fn signals_and_a_stop_bring_the_limit_back() {
    let Some(_lock) = lock(requires_shared) else { return };
    std::thread::scope(|scope| {
        for (name, number) in [("int", Signal::INT), ("term", Signal::TERM)] {
            scope.spawn(move || {
                let stage = Stage::below(name, "skewed");
                let nbuf = stage.spawn(&["--max-pressure", "100%"]);
                stage.lowered();
                signal(nbuf.id(), number);
                let output = nbuf.wait_with_output().unwrap();
                let probe = document(&output).probe.unwrap();
                let ended = (probe.end, probe.is_restored);
                assert_eq!(ended, (LiveProbeEnd::Interrupted, true), "{probe:?}");
                stage.is_as_before("a signal came");
            });
        }
        scope.spawn(|| {
            let stage = Stage::below("stop", "skewed");
            // Stopped, it gives no sign of life.
            let mut nbuf = stage.spawn(&["--max-pressure", "100%", "--probe-hold", "1m"]);
            stage.lowered();
            signal(nbuf.id(), Signal::STOP);
            until("the guard lifts the limit", || stage.limit() == stage.before);
            nbuf.kill().unwrap();
            nbuf.wait().unwrap();
            stage.is_as_before("nbuf was stopped and killed");
        });
    });
}

#[test]
fn a_limit_that_another_program_sets_is_left_alone() {
    let Some(_lock) = lock(requires_shared) else { return };
    std::thread::scope(|scope| {
        for is_killed in [false, true] {
            scope.spawn(move || is_left_alone(is_killed));
        }
    });
}

fn is_left_alone(is_killed: bool) {
    let stage = Stage::below(&format!("other-{is_killed}"), "skewed");
    let other = (300 << 20).to_string();
    let mut nbuf = stage.spawn(&["--max-pressure", "100%"]);
    stage.lowered();
    fs::write(stage.group.0.join("memory.limit_in_bytes"), &other).unwrap();
    if is_killed {
        nbuf.kill().unwrap();
    }
    let output = nbuf.wait_with_output().unwrap();
    if !is_killed {
        let probe = document(&output).probe.unwrap();
        assert_eq!((probe.end, probe.is_restored), (LiveProbeEnd::Changed, false), "{probe:?}");
        assert_eq!(output.status.code(), Some(1));
    }
    let word = stage.group.0.to_str().unwrap();
    until("no process of nbuf is left", || with_word(word).is_empty());
    assert_eq!(stage.limit().trim(), other);
    assert!(stage.states().is_empty(), "{:?}", stage.states());
    fs::write(stage.group.0.join("memory.limit_in_bytes"), "-1").unwrap();
    stage.is_as_before("the test has lifted it");
}

#[test]
fn a_later_run_restores_what_was_left_when_both_died() {
    let Some(_lock) = lock(requires_shared) else { return };
    std::thread::scope(|scope| {
        for by_command in [true, false] {
            scope.spawn(move || is_restored_later(by_command));
        }
    });
}

fn is_restored_later(by_command: bool) {
    let stage = Stage::below(&format!("both-{by_command}"), "skewed");
    let mut nbuf = stage.spawn(&["--max-pressure", "100%", "--probe-hold", "1m"]);
    stage.lowered();
    // The guard first: nothing else is left that could lift the limit.
    let guards = children(nbuf.id());
    assert_eq!(guards.len(), 1, "{guards:?}");
    signal(guards[0].cast_unsigned(), Signal::KILL);
    nbuf.kill().unwrap();
    nbuf.wait().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(stage.limit() != stage.before && stage.states().len() == 1);
    let output = if by_command {
        let output = stage.nbuf(&["--restore-limits"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        output
    } else {
        let group = stage.group.0.to_str().unwrap();
        let output = stage.nbuf(&["--cgroup", group, "--probe"]).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        output
    };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("restored no limit"), "{text}");
    stage.is_as_before("a later run came");
    let output = stage.nbuf(&["--restore-limits"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("no probe has left a limit"));
}

#[test]
fn memory_that_grows_under_the_hard_limit_lifts_it() {
    let Some(stage) = Stage::new(requires, "grows", "grows") else { return };
    let nbuf = stage.spawn(&["--max-pressure", "100%", "--probe-hold", "20s"]);
    // The service grows when it is asked to.
    stage.lowered();
    fs::write(stage.place.path("data.grow"), "").unwrap();
    let output = nbuf.wait_with_output().unwrap();
    let probe = document(&output).probe.unwrap();
    assert_eq!((probe.end, probe.is_restored), (LiveProbeEnd::Grew, true), "{probe:?}");
    stage.is_as_before("memory grew");
}

#[test]
fn what_may_not_be_probed_is_refused() {
    let Some(stage) = Stage::new(requires_shared, "refused", "skewed") else { return };
    let group = stage.group.0.to_str().unwrap().to_owned();
    let check = |words: &[&str], status: i32, want: &str| {
        let output = stage.nbuf(words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(want), "{words:?}: {text}");
        assert_eq!(output.status.code(), Some(status), "{words:?}: {text}");
    };
    check(
        &["--cgroup", &group, "--probe"],
        125,
        "--may-kill permits that, and nothing was changed",
    );
    check(&["--pid", "1", "--probe"], 2, "cannot be used with");
    check(&["--cgroup", &group, "--probe", "--follow"], 2, "cannot be used with");
    check(&["--cgroup", &format!("{group}*"), "--probe"], 2, "--probe is for one cgroup");
    check(&["--cgroup", &group, "--max-pressure", "5%"], 2, "--probe");
    check(&["--cgroup", &group, "--probe", "--max-pressure", "0"], 2, "write a share of the time");
    check(&["--cgroup", &group, "--restore-limits"], 2, "leave out --cgroup");
    let ours = Hierarchies::of_this_process().memory_v1.unwrap();
    let ours = ours.to_str().unwrap();
    check(&["--cgroup", ours, "--probe", "--may-kill"], 125, "would be limited itself");
    stage.is_as_before("nothing was probed");
}

#[test]
fn a_user_without_the_right_to_write_the_limit_is_refused() {
    let Some(stage) = Stage::new(requires_shared, "rights", "skewed") else { return };
    let needs = [Need::Program("setpriv"), Need::Nobody];
    if let Some(reason) = needs.iter().find_map(|need| super::support::missing(*need)) {
        return skip(&reason);
    }
    let Some(place) = Place::open_to_all() else { return };
    // A service of that account, in a group of its own whose files are root's.
    let group = Group(stage.group.0.join("theirs"));
    fs::create_dir(&group.0).unwrap();
    let script = "echo $$ >$0/cgroup.procs && exec setpriv --reuid 65534 --regid 65534 --clear-groups sleep 20";
    let mut shell = Command::new("sh");
    let mut sleep = shell.args(["-c", script]).arg(&group.0).spawn().unwrap();
    let owner = format!("/proc/{}", sleep.id());
    let is_theirs = || {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(&owner).is_ok_and(|facts| facts.uid() == 65534)
    };
    until("the service is theirs", is_theirs);
    let program = place.program();
    let refused = || {
        let mut nbuf = Command::new("setpriv");
        nbuf.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).arg(&program);
        nbuf.args(["size", "--probe", "--may-kill", "--cgroup"]).arg(&group.0);
        nbuf.current_dir(place.path("")).env("XDG_STATE_HOME", place.path("state"));
        let output = nbuf.env_remove("SUDO_UID").env_remove("SUDO_GID").output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{NBUF}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let before = limit(&group.0);
    let text = refused();
    assert!(text.contains("you may not write memory.limit_in_bytes"), "{text}");
    // With the right, the next obstacle is another one.
    std::os::unix::fs::chown(group.0.join("memory.limit_in_bytes"), Some(65534), None).unwrap();
    let text = refused();
    assert!(!text.contains("you may not write"), "{text}");
    assert_eq!(limit(&group.0), before);
    sleep.kill().unwrap();
    sleep.wait().unwrap();
}
